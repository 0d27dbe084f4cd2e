"""Arrays in one ``.npz`` file without pickles: the same bytes every time, verified when read."""

from __future__ import annotations

import io
import math
import struct
import tokenize
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nnmfaug.core.checks import require

Arrays = dict[str, NDArray[Any]]
SUFFIX = ".npy"
NPY_VERSION = (1, 0)

BROKEN: tuple[type[Exception], ...] = (
    *(ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, OSError, RuntimeError, SyntaxError),
    *(TypeError, ValueError, struct.error, tokenize.TokenError, zipfile.BadZipFile),
)
"""Errors of zipfile, numpy and json for a damaged file."""


def write_arrays(draft: Path, arrays: Mapping[str, NDArray[Any]], *, compress: bool = False) -> None:
    """Write arrays to a file, sorted by name."""
    with zipfile.ZipFile(draft, "w") as archive:
        for name in sorted(arrays):
            entry = zipfile.ZipInfo(name + SUFFIX)  # dated 1980, so that the bytes do not depend on the time
            entry.create_system = 3  # … nor on the operating system
            entry.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
            content = io.BytesIO()
            np.lib.format.write_array(content, arrays[name], version=NPY_VERSION, allow_pickle=False)
            archive.writestr(entry, content.getvalue())


def read_arrays(
    path: Path, types: Mapping[str, str], default: str = "<f8", *, max_bytes: int | None = None
) -> Arrays:
    """Read all arrays of a file; a damaged file raises one of the errors in ``BROKEN``.

    Parameters
    ----------
    types
        Name of an array → its data type; the others have the type ``default``.
    max_bytes
        The arrays may be compressed, and have together at most so many bytes. Default: they are not compressed.
    """
    arrays: Arrays = {}
    with zipfile.ZipFile(path) as archive:
        _check_entries(archive.infolist(), path, max_bytes)
        for entry in archive.infolist():
            name = entry.filename.removesuffix(SUFFIX)
            arrays[name] = _parse_array(name, archive.read(entry), np.dtype(types.get(name, default)))
    return arrays


def _check_entries(entries: Sequence[zipfile.ZipInfo], path: Path, max_bytes: int | None) -> None:
    """Raise if entries are compressed or too large: a small file must not unpack to a large one."""
    total = sum(entry.file_size for entry in entries)
    if max_bytes is None:
        is_stored = all(entry.compress_type == zipfile.ZIP_STORED for entry in entries)
        require(is_stored and total < path.stat().st_size, "it is compressed")
    else:
        known_types = all(entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries)
        require(known_types and total <= max_bytes, f"it unpacks to more than {max_bytes:,} bytes")
    names = {entry.filename for entry in entries if entry.filename.endswith(SUFFIX)}
    require(len(names) == len(entries), "entries with equal names, or that are not arrays")


def _parse_array(name: str, data: bytes, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array that shares the memory of ``data``, and so cannot be written to."""
    file = io.BytesIO(data)
    require(np.lib.format.read_magic(file) == NPY_VERSION, f"{name}: another version of numpy's format")
    shape, is_fortran, actual_dtype = np.lib.format.read_array_header_1_0(file)
    require(actual_dtype == dtype, f"{name} has type {actual_dtype}")
    size = math.prod(shape) * dtype.itemsize  # the header may promise more than there is
    fits = not is_fortran and size == len(data) - file.tell()
    require(fits, f"{name} has shape {shape}, but {len(data) - file.tell()} bytes")
    values: NDArray[Any] = np.ndarray(shape, dtype, buffer=data, offset=file.tell())
    is_valid = dtype != np.bool_ or not values.tobytes().strip(b"\0\1")
    require(is_valid, f"{name} is not true or false")
    return values
