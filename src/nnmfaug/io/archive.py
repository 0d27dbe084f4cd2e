"""Archives that are not trusted, unpacked into one folder and nowhere else."""

from __future__ import annotations

import errno
import lzma
import os
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

from nnmfaug.core.errors import DataError
from nnmfaug.io.resources import DiskError, disk_error, temporary_file
from nnmfaug.io.stream import BLOCK, Limits, open_stream

Member = tuple[str, IO[bytes]]

ZIP_END = struct.Struct("<4s4H2LH")
"""The record at the end of a zip file: signature, two disk numbers, two numbers of entries, and so on."""

DAMAGED = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    IndexError,
    RuntimeError,
    MemoryError,  # a damaged or hostile header asks for gigabytes
)
"""Errors of the standard library for damaged archives."""

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
"""Errors of a disk, not of a name."""

HEADER_TYPES = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)
"""Types of the headers of a tar file that precede the member they describe."""
MAX_HEADER = 1 << 20
"""Largest size of such a header in bytes."""
MAX_GLOBAL_WORDS = 1000
"""Largest number of words that headers define for all members; tarfile copies them for each."""
LONG_NUMBER = re.compile(rb"[0-9]{100}")


def unpack(path: Path, folder: Path, limits: Limits) -> None:
    """Write the regular files of a tar (packed or not) or zip archive below ``folder``.

    Links, devices, absolute paths, paths with ``..``, repeated names, and an unpacked size above the limits are
    errors. Folders are created as files need them; modes and owners are ignored.
    """
    open_members = _zip_members if zipfile.is_zipfile(path) else _tar_members
    try:
        with open_members(path, limits) as members:
            for count, (name, file) in enumerate(members, start=1):
                if count > limits.max_members:
                    raise DataError(f"more than {limits.max_members:,} files in the archive", path=path)
                member = _member_path(name, path, limits)
                _write(file, _target(member, folder, path))
    except (DataError, DiskError):
        raise
    except DAMAGED as error:
        raise DataError(f"not a readable archive ({error}): download it again", path=path) from error


def _member_path(name: str, path: Path, limits: Limits) -> PurePosixPath:
    """Return the path of a member; raise if it leads out of the archive, or too deep into it."""
    member = PurePosixPath(name.replace("\\", "/"))
    if not _is_safe(member) or "\0" in name:
        raise DataError(f"{name!r} points outside the archive: do not trust this file", path=path)
    if len(member.parts) > limits.max_depth:
        msg = f"{name[:80]!r} is more than {limits.max_depth} folders deep: do not trust this file"
        raise DataError(msg, path=path)
    return member


def _target(member: PurePosixPath, folder: Path, path: Path) -> Path:
    """Return the path of a member below ``folder``, and create the folders above it."""
    name = str(member)
    target = folder / member
    try:
        if target.exists():
            raise DataError(f"{name!r} occurs twice in the archive", path=path)
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if error.errno in FULL:
            raise disk_error(error.strerror, folder, error.errno) from error
        raise DataError(
            f"{name[:80]!r} cannot be the name of a file on this system ({error.strerror})", path=path
        ) from error
    return target


def _is_safe(member: PurePosixPath) -> bool:
    """Whether a path stays below the folder it is joined to, on any system."""
    if not member.parts or member.is_absolute():
        return False
    has_drive = ":" in member.parts[0]
    return ".." not in member.parts and not has_drive


def _write(file: IO[bytes], target: Path) -> None:
    with temporary_file(target) as write:
        while block := file.read(BLOCK):
            write(block)


@contextmanager
def _tar_members(path: Path, limits: Limits) -> Iterator[Iterator[Member]]:
    with open_stream(path, limits) as stream:
        source = _Measured(stream)
        with tarfile.open(fileobj=cast("IO[bytes]", source), mode="r|", tarinfo=_CheckedInfo) as tar:
            with closing(_regular_members(tar, path)) as members:
                yield members
            while source.read(BLOCK):  # to the end, so that checksums are verified
                pass
            # tarfile reads a damaged header, or a file cut between two members, as the end of the archive
            has_more_data = source.end_of_data > tar.offset
            has_end_mark = source.n_read >= tar.offset + tarfile.BLOCKSIZE
            if has_more_data or not has_end_mark:
                raise DataError("truncated or damaged: no end mark; download it again", path=path)


def _regular_members(tar: tarfile.TarFile, path: Path) -> Generator[Member, None, None]:
    for info in tar:
        if info.isdir():
            continue
        is_plain = info.isreg() and not info.issparse()  # a sparse file unpacks to more than was read
        file = tar.extractfile(info) if is_plain else None
        if file is None:
            raise DataError(f"{info.name!r} is a link, a device or sparse: do not trust this file", path=path)
        yield info.name, file


class _CheckedInfo(tarfile.TarInfo):
    """A member of a tar file, whose headers are checked before tarfile parses them.

    tarfile reads a header of any size into memory. Before Python 3.11.10 and 3.12.6 it also searches it with
    regular expressions that take quadratic time for a long run of digits (CVE-2024-6232).
    """

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        """Parse the header; tarfile says that this method may be overridden."""
        if self.type not in HEADER_TYPES:
            return self._parse(tar)
        if self.size > MAX_HEADER or len(tar.pax_headers) > MAX_GLOBAL_WORDS:
            raise tarfile.ReadError("a header is too long")
        source = tar.fileobj
        data = cast("IO[bytes]", source).read(self._n_stored())
        if LONG_NUMBER.search(data):
            raise tarfile.ReadError("a number in a header is too long")
        tar.fileobj = _Replayed(data, source)  # type: ignore[assignment]
        try:
            return self._parse(tar)
        finally:
            tar.fileobj = source

    def _parse(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        return cast("tarfile.TarInfo", super()._proc_member(tar))  # type: ignore[misc]

    def _n_stored(self) -> int:
        """Return the number of bytes of whole blocks."""
        return -(-self.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE


class _Replayed:
    """A stream of which a part was read already: the first read gives that part, the others go on."""

    def __init__(self, data: bytes, stream: object) -> None:
        self._data: bytes | None = data
        self._stream = cast("IO[bytes]", stream)

    def read(self, size: int = -1, /) -> bytes:
        if self._data is None:
            return self._stream.read(size)
        data = self._data
        self._data = None
        return data

    def tell(self) -> int:
        return self._stream.tell()

    def seek(self, position: int, /) -> int:
        return self._stream.seek(position)


class _Measured:
    """Reads a stream; counts the bytes read, and records the end of the last byte that is not zero."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.n_read = 0
        self.end_of_data = 0

    def read(self, size: int = -1, /) -> bytes:
        data = self._stream.read(size)
        n_before_zeros = len(data.rstrip(b"\0"))
        if n_before_zeros:
            self.end_of_data = self.n_read + n_before_zeros
        self.n_read += len(data)
        return data


@contextmanager
def _zip_members(path: Path, limits: Limits) -> Iterator[Iterator[Member]]:
    with zipfile.ZipFile(path) as archive:
        _check_directory(archive, path)
        with closing(_unpacked_members(archive, path, limits)) as members:
            yield members


def _check_directory(archive: zipfile.ZipFile, path: Path) -> None:
    """Raise if entries are missing from a damaged directory, which zipfile does not notice."""
    with path.open("rb") as file:
        file.seek(-ZIP_END.size - len(archive.comment), os.SEEK_END)
        signature, _, _, _, n_entries, *_ = ZIP_END.unpack(file.read(ZIP_END.size))
    is_complete = n_entries in (0xFFFF, len(archive.infolist()))  # 0xFFFF: the number is elsewhere
    if signature != b"PK\5\6" or not is_complete:
        raise DataError("truncated or damaged: files are missing from the directory; download it again", path=path)


def _unpacked_members(archive: zipfile.ZipFile, path: Path, limits: Limits) -> Generator[Member, None, None]:
    total = 0
    for info in archive.infolist():
        if info.is_dir():
            continue
        unix_type = info.external_attr >> 28  # 0 is unknown, 8 a regular file, 10 a link
        is_encrypted = bool(info.flag_bits & 1)
        if unix_type not in (0, 8) or is_encrypted:
            raise DataError(f"{info.filename!r} is a link or encrypted: do not trust this file", path=path)
        total += info.file_size  # zipfile never yields more than this
        reason = limits.excess(total, path.stat().st_size)
        if reason:
            raise DataError(f"{reason}: if you trust it, unpack it yourself first", path=path)
        with archive.open(info) as file:
            yield info.filename, file
