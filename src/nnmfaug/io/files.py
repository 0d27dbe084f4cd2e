"""Files that are written completely or not at all, packed by suffix, with the same bytes every time."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

from nnmfaug.core.errors import DataError
from nnmfaug.io.stream import zstd


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a draft beside ``path`` that replaces it at the end, or is removed on an error."""
    if path.is_dir():
        raise DataError("this is a folder, but a file is needed", path=path)
    path = path.resolve()  # the target of a link is replaced, not the link
    new_folders = [folder for folder in path.parents if not folder.exists()]
    draft = _create_draft(path)
    try:
        yield draft
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.chmod(0o666 & ~_umask())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        for folder in new_folders:
            with suppress(OSError):  # another program has written into it
                folder.rmdir()
        raise


def _create_draft(path: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:64]}.", suffix=".tmp", dir=path.parent)
    except OSError as error:  # the message must name the file of the user, not the draft
        raise type(error)(error.errno, error.strerror, str(path)) from None
    os.close(handle)
    return Path(name)


@contextmanager
def open_text(draft: Path, path: Path) -> Iterator[IO[str]]:
    """Open ``draft`` to write UTF-8, packed according to the suffix of ``path``."""
    with draft.open("wb") as file:
        packed = _packer(file, path.suffix.lower())
        text = io.TextIOWrapper(packed, encoding="utf-8", newline="")
        yield text
        text.flush()
        text.detach()
        if packed is not file:
            packed.close()


def _packer(file: IO[bytes], suffix: str) -> IO[bytes]:
    if suffix == ".gz":  # without name and time, which would change the bytes
        return cast("IO[bytes]", gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0))
    if suffix == ".bz2":
        return cast("IO[bytes]", bz2.BZ2File(file, "wb"))
    if suffix == ".zst":
        return cast("IO[bytes]", zstd.ZstdFile(file, "wb"))
    return file


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
