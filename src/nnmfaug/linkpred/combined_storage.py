"""A combined model as a folder of files."""

from __future__ import annotations

from pathlib import Path

from nnmfaug.linkpred.combined import Combined


def save_combined(combined: Combined, folder: Path, *, overwrite: bool) -> None:
    """Write a combined model; see :meth:`Combined.save`."""
    raise NotImplementedError


def load_combined(folder: str | Path) -> Combined:
    """Read what :meth:`Combined.save` wrote; anything else is a ``DataError``."""
    raise NotImplementedError
