"""Checks that output can be written, made before the work that leads to it."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from nnmfaug.core.errors import DataError
from nnmfaug.io.files import explained, find_target, naming
from nnmfaug.io.temporary import sweep, temporary_name

PROBE = b"\0" * 4096
MARGIN = 1 << 16
"""Bytes that must be free besides the estimate."""


def check_files(paths: Sequence[Path], *, overwrite: bool, size: int = 0) -> None:
    """Raise if one of the files could not be written, or together they would be larger than the free space.

    Parameters
    ----------
    size
        Estimate of all bytes that will be written.
    """
    for path in paths:
        find_target(path, overwrite=overwrite)
    check_folder(paths[0].parent, size=size, of=paths)


def check_folder(folder: Path, *, size: int = 0, of: Sequence[Path] = ()) -> None:
    """Raise if files could not be written into a folder, which need not exist yet."""
    place = next(parent for parent in (folder, *folder.absolute().parents) if _exists(parent))
    if not place.is_dir():
        raise DataError("this is a file, but a folder is needed: name another", path=place)
    for path in of or (folder,):
        _check_names(path.absolute(), place.absolute())
    shown = of[0] if of else folder
    _check_space(place, size, shown)
    _write_something(place, shown)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return False
        raise explained(error, path) from None


def _check_names(path: Path, place: Path) -> None:
    """Raise if a part of the path that does not exist yet has too long a name."""
    longest = os.pathconf(place, "PC_NAME_MAX") if hasattr(os, "pathconf") else 255
    for part in path.relative_to(place).parts:
        if len(os.fsencode(part)) > longest:
            raise explained(OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG)), path)


def _check_space(place: Path, size: int, shown: Path) -> None:
    free = shutil.disk_usage(place).free
    if size + MARGIN > free:
        reason = f"about {_megabytes(size + MARGIN)} are needed, {_megabytes(free)} are free"
        raise explained(OSError(errno.ENOSPC, reason), shown)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def _write_something(place: Path, shown: Path) -> None:
    sweep(place)
    probe = place / temporary_name()
    try:
        with naming(shown), probe.open("xb") as file:
            file.write(PROBE)
            file.flush()
            os.fsync(file.fileno())
    finally:
        probe.unlink(missing_ok=True)
