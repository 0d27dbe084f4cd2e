"""Arrays in one uncompressed ``.npz`` without pickles: the same bytes every time, checked before they are read."""

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
"""What zipfile, numpy and json raise at a file that is not what it says."""


def write_arrays(draft: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays to a file, sorted by name."""
    with zipfile.ZipFile(draft, "w") as archive:
        for name in sorted(arrays):
            entry, content = zipfile.ZipInfo(f"{name}.npy"), io.BytesIO()  # dated 1980 …
            entry.create_system = 3  # … and of no machine in particular
            np.lib.format.write_array(content, arrays[name], version=(1, 0), allow_pickle=False)
            archive.writestr(entry, content.getvalue())


def read_arrays(path: Path, types: Mapping[str, str], default: str = "<f8") -> Arrays:
    """Read all arrays of a file; anything odd about it is one of the errors ``BROKEN``."""
    with zipfile.ZipFile(path) as archive:  # a small file must not unpack to a large one
        stored = all(e.compress_type == zipfile.ZIP_STORED for e in archive.infolist())
        require(stored and sum(e.file_size for e in archive.infolist()) < path.stat().st_size, "it is packed")
    with np.load(path, allow_pickle=False) as entries:
        arrays: Arrays = {name: entries[name] for name in entries.files}
    for name, values in arrays.items():
        require(values.dtype == np.dtype(types.get(name, default)), f"{name} has type {values.dtype}")
        require(values.dtype != np.bool_ or not values.tobytes().strip(b"\0\1"), f"{name} is not yes or no")
        values.setflags(write=False)
    return arrays
