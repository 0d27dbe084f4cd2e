"""The memory and the disk of this machine, which reading may use up: errors that say so, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nnmfaug.core.errors import DataError

Write = Callable[[bytes], None]


class DiskError(OSError):
    """A temporary file could not be written. The input is not to blame."""


def disk_error(reason: str | None, folder: Path, number: int | None = None) -> DiskError:
    """Return an error that names the folder of temporary files and says what to do."""
    return DiskError(number, f"{reason}: set TMPDIR to a folder with more space", str(folder))


@contextmanager
def temporary_file(path: Path) -> Iterator[Write]:
    """Create a temporary file; yield a function that appends to it.

    An error of that function is a :class:`DiskError`, so it is not mistaken for one of the input.
    """
    with _disk_errors(path):
        file = path.open("xb")

    def write(data: bytes) -> None:
        try:
            file.write(data)
        except OSError as error:
            raise disk_error(error.strerror, path.parent, error.errno) from error

    try:
        yield write
        with _disk_errors(path):
            file.flush()
    finally:
        with suppress(OSError):  # what could not be flushed was reported above
            file.close()


@contextmanager
def _disk_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise disk_error(error.strerror, path.parent, error.errno) from error


@contextmanager
def memory_errors(path: str | Path) -> Iterator[None]:
    """Turn memory that does not suffice into an error of the input that asked for it."""
    try:
        yield
    except MemoryError as error:
        msg = "does not fit into the memory of this machine: read a part of it, or use a larger machine"
        raise DataError(msg, path=path) from error
    except RecursionError as error:
        raise DataError("nested too deeply", path=path) from error
