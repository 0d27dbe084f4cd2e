"""Archives of strangers, unpacked into a folder of ours and nowhere else."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

from nnmfaug.errors import DataError
from nnmfaug.io.stream import BLOCK, Limits, open_stream

Member = tuple[str, IO[bytes]]


def unpack(path: Path, folder: Path, limits: Limits) -> None:
    """Write the regular files of a tar (packed or not) or zip archive below ``folder``.

    Links, devices, absolute paths, paths with ``..`` and repeated names are errors, and so is an archive that
    unpacks to too much. Folders are made as files need them; modes and owners are not taken over.
    """
    opened = _zip_members(path, limits) if zipfile.is_zipfile(path) else _tar_members(path, limits)
    with opened as members:
        for count, (name, file) in enumerate(members, start=1):
            if count > limits.max_members:
                raise DataError(f"more than {limits.max_members:,} files in the archive", path=path)
            target = folder / _safe(name, path)
            if target.exists():
                raise DataError(f"{name!r} is in the archive twice", path=path)
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as out:
                while block := file.read(BLOCK):
                    out.write(block)


def _safe(name: str, path: Path) -> PurePosixPath:
    pure = PurePosixPath(name.replace("\\", "/"))
    if pure.is_absolute() or ".." in pure.parts or "\0" in name or ":" in pure.parts[0]:
        raise DataError(f"{name!r} points outside the archive: do not trust this file", path=path)
    return pure


@contextmanager
def _tar_members(path: Path, limits: Limits) -> Iterator[Iterator[Member]]:
    with open_stream(path, limits) as stream:
        tail = _Tail(stream)
        try:
            with tarfile.open(fileobj=cast("IO[bytes]", tail), mode="r|") as tar:
                yield _regular(tar, path)
        except tarfile.TarError as error:
            raise DataError(f"not an archive that can be read ({error}): fetch it again", path=path) from error
        while tail.read(BLOCK):  # to the end, so that checksums are checked
            pass
        if any(tail.last):  # tarfile takes a file cut between two members for a whole one
            raise DataError("truncated or damaged: the archive has no end mark, fetch it again", path=path)


def _regular(tar: tarfile.TarFile, path: Path) -> Iterator[Member]:
    for info in tar:
        if info.isdir():
            continue
        plain = info.isreg() and not info.issparse()  # a sparse file unpacks to more than was read
        file = tar.extractfile(info) if plain else None
        if file is None:
            raise DataError(f"{info.name!r} is a link, a device or sparse: do not trust this", path=path)
        yield info.name, file


class _Tail:
    """Reads through and remembers the last block of a tar file."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.last = b""

    def read(self, size: int = -1, /) -> bytes:
        data = self._stream.read(size)
        self.last = (self.last + data)[-512:]
        return data


@contextmanager
def _zip_members(path: Path, limits: Limits) -> Iterator[Iterator[Member]]:
    def regular(archive: zipfile.ZipFile) -> Iterator[Member]:
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

    try:
        with zipfile.ZipFile(path) as archive:
            yield regular(archive)
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise DataError(f"not an archive that can be read ({error}): fetch it again", path=path) from error
