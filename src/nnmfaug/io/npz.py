"""Arrays in one uncompressed ``.npz`` file without pickles: the same bytes every time, verified when read."""

from __future__ import annotations

import io
import struct
import tokenize
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nnmfaug.core.checks import require

Arrays = dict[str, NDArray[Any]]

BROKEN: tuple[type[Exception], ...] = (
    *(ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, OSError, RuntimeError, SyntaxError),
    *(TypeError, ValueError, struct.error, tokenize.TokenError, zipfile.BadZipFile),
)
"""Errors of zipfile, numpy and json for a damaged file."""


def write_arrays(draft: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays to a file, sorted by name."""
    with zipfile.ZipFile(draft, "w") as archive:
        for name in sorted(arrays):
            entry = zipfile.ZipInfo(f"{name}.npy")  # dated 1980, so that the bytes do not depend on the time
            entry.create_system = 3  # … nor on the operating system
            content = io.BytesIO()
            np.lib.format.write_array(content, arrays[name], version=(1, 0), allow_pickle=False)
            archive.writestr(entry, content.getvalue())


def read_arrays(path: Path, types: Mapping[str, str], default: str = "<f8") -> Arrays:
    """Read all arrays of a file; a damaged file raises one of the errors in ``BROKEN``.

    ``types`` maps the name of an array to its data type; the others have the type ``default``.
    """
    _check_uncompressed(path)
    with np.load(path, allow_pickle=False) as entries:
        arrays: Arrays = {name: entries[name] for name in entries.files}
    for name, values in arrays.items():
        require(values.dtype == np.dtype(types.get(name, default)), f"{name} has type {values.dtype}")
        is_valid = values.dtype != np.bool_ or not values.tobytes().strip(b"\0\1")
        require(is_valid, f"{name} is not true or false")
        values.setflags(write=False)
    return arrays


def _check_uncompressed(path: Path) -> None:
    """Raise if entries are compressed: a small file must not unpack to a large one."""
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
    is_stored = all(entry.compress_type == zipfile.ZIP_STORED for entry in entries)
    total = sum(entry.file_size for entry in entries)
    require(is_stored and total < path.stat().st_size, "it is compressed")
