"""Archives of strangers, unpacked into a folder of ours and nowhere else."""

from __future__ import annotations

import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

from nnmfaug.core.errors import DataError
from nnmfaug.io.stream import BLOCK, Limits, open_stream

Member = tuple[str, IO[bytes]]

ZIP_END = struct.Struct("<4s4H2LH")
"""The record at the end of a zip file: mark, two numbers of disks, two numbers of entries, and so on."""

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
)
"""What the standard library raises for archives that are broken in one way or another."""


def unpack(path: Path, folder: Path, limits: Limits) -> None:
    """Write the regular files of a tar (packed or not) or zip archive below ``folder``.

    Links, devices, absolute paths, paths with ``..`` and repeated names are errors, and so is an archive that
    unpacks to too much. Folders are made as files need them; modes and owners are not taken over.
    """
    opened = _zip_members(path, limits) if zipfile.is_zipfile(path) else _tar_members(path, limits)
    try:
        with opened as members:
            for count, (name, file) in enumerate(members, start=1):
                if count > limits.max_members:
                    raise DataError(f"more than {limits.max_members:,} files in the archive", path=path)
                _write(file, _place(name, folder, path))
    except DataError:
        raise
    except DAMAGED as error:
        raise DataError(f"not an archive that can be read ({error}): fetch it again", path=path) from error


def _place(name: str, folder: Path, path: Path) -> Path:
    """Return where a member goes, and make the folders above it."""
    pure = PurePosixPath(name.replace("\\", "/"))
    if not pure.parts or pure.is_absolute() or ".." in pure.parts or "\0" in name or ":" in pure.parts[0]:
        raise DataError(f"{name!r} points outside the archive: do not trust this file", path=path)
    target = folder / pure
    try:
        if target.exists():
            raise DataError(f"{name!r} is in the archive twice", path=path)
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{name[:80]!r} cannot be a file's name here ({error.strerror})", path=path) from error
    return target


def _write(file: IO[bytes], target: Path) -> None:
    with target.open("xb") as out:
        while block := file.read(BLOCK):
            out.write(block)


@contextmanager
def _tar_members(path: Path, limits: Limits) -> Iterator[Iterator[Member]]:
    with open_stream(path, limits) as stream:
        source = _Measured(stream)
        with tarfile.open(fileobj=cast("IO[bytes]", source), mode="r|") as tar:
            with closing(_regular(tar, path)) as members:
                yield members
            while source.read(BLOCK):  # to the end, so that checksums are checked
                pass
            # tarfile takes a damaged header, or a file cut between two members, for the end of the archive
            if source.filled > tar.offset or source.place < tar.offset + tarfile.BLOCKSIZE:
                raise DataError("truncated or damaged: the archive has no end mark, fetch it again", path=path)


def _regular(tar: tarfile.TarFile, path: Path) -> Generator[Member, None, None]:
    for info in tar:
        if info.isdir():
            continue
        plain = info.isreg() and not info.issparse()  # a sparse file unpacks to more than was read
        file = tar.extractfile(info) if plain else None
        if file is None:
            raise DataError(f"{info.name!r} is a link, a device or sparse: do not trust this", path=path)
        yield info.name, file


class _Measured:
    """Reads through and knows how far it is, and where the last byte was that is not zero."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.place = self.filled = 0

    def read(self, size: int = -1, /) -> bytes:
        data = self._stream.read(size)
        if said := data.rstrip(b"\0"):
            self.filled = self.place + len(said)
        self.place += len(data)
        return data


@contextmanager
def _zip_members(path: Path, limits: Limits) -> Iterator[Iterator[Member]]:
    with zipfile.ZipFile(path) as archive:
        # Damage in the directory of the archive can swallow entries, which zipfile does not notice.
        with path.open("rb") as file:
            file.seek(-ZIP_END.size - len(archive.comment), os.SEEK_END)
            mark, _, _, _, n_entries, *_ = ZIP_END.unpack(file.read(ZIP_END.size))
        if mark != b"PK\5\6" or (n_entries != 0xFFFF and n_entries != len(archive.infolist())):
            raise DataError(
                "truncated or damaged: files are missing from its directory, fetch it again", path=path
            )
        with closing(_zipped(archive, path, limits)) as members:
            yield members


def _zipped(archive: zipfile.ZipFile, path: Path, limits: Limits) -> Generator[Member, None, None]:
    total = 0
    for info in archive.infolist():
        kind = info.external_attr >> 28  # the file type of Unix: 8 is a regular file, 10 a link
        if info.is_dir():
            continue
        if kind not in (0, 8) or info.flag_bits & 1:
            raise DataError(f"{info.filename!r} is a link or encrypted: do not trust this", path=path)
        total += info.file_size  # zipfile never yields more than this
        if total > limits.max_bytes or total > limits.free_bytes + limits.max_ratio * path.stat().st_size:
            raise DataError("unpacks to too much: if you trust it, unpack it yourself first", path=path)
        with archive.open(info) as file:
            yield info.filename, file
