"""The files of train, valid and test in a folder, found by their names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from nnmfaug.core.errors import DataError
from nnmfaug.io.detect import PACKED_SUFFIXES, SUFFIXES
from nnmfaug.io.formats.ids import LIBKGE, OPENKE, IdLayout, has_names

SPELLINGS = {"train": "train|training", "valid": "valid|validation|val|dev", "test": "test|testing"}
"""Split → its names in the names of files."""

_NAMED_SPLITS = "|".join(f"(?P<{split}>{spellings})" for split, spellings in SPELLINGS.items())
SPLIT_FILE = re.compile(rf"(?P<prefix>.*[-_.])?(?:{_NAMED_SPLITS})", re.IGNORECASE)
"""The name of a file of a split without its suffixes: an optional prefix, and the split."""

FilesOfPrefix = dict[str, list[Path]]
"""Split → its files, all with one prefix."""


class SplitFiles(NamedTuple):
    """The file of each split, and the layout if they are files of ids."""

    files: dict[str, Path]
    layout: IdLayout | None = None


def find_split_files(folder: Path) -> SplitFiles:
    """Return the files of the splits directly in a folder; none if there is no file of train."""
    for layout in (OPENKE, LIBKGE):
        files = {split: folder / layout.split.format(split) for split in SPELLINGS}
        if files["train"].is_file() and has_names(folder, layout):
            return SplitFiles({split: path for split, path in files.items() if path.is_file()}, layout)
    groups = _group_by_prefix(folder)
    if not any("train" in group for group in groups.values()):
        return SplitFiles({})
    group = _choose_group(groups, folder)
    return SplitFiles({split: _only(paths) for split, paths in group.items()})


def _group_by_prefix(folder: Path) -> dict[str, FilesOfPrefix]:
    """Return prefix → split → files."""
    groups: dict[str, FilesOfPrefix] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or not path.is_file():
            continue
        match = SPLIT_FILE.fullmatch(_stem(path))
        if match is not None:
            split = next(split for split in SPELLINGS if match[split])
            group = groups.setdefault(match["prefix"] or "", {})
            group.setdefault(split, []).append(path)
    return groups


def _choose_group(groups: dict[str, FilesOfPrefix], folder: Path) -> FilesOfPrefix:
    """Return the group without a prefix if it has train, and the only group with train if not."""
    with_train = [group for group in groups.values() if "train" in group]
    plain = groups.get("", {})
    has_plain_train = "train" in plain
    group = plain if has_plain_train else with_train[0]
    has_strays = any(split not in group for other in groups.values() for split in other)
    is_ambiguous = len(with_train) > 1 and not has_plain_train
    if has_strays or is_ambiguous:
        paths = [path for other in groups.values() for files in other.values() for path in files]
        names = ", ".join(path.name for path in paths)
        raise DataError(
            f"it is not clear which of these files belong together: {names}; keep one train, valid and test",
            path=folder,
        )
    return group


def _stem(path: Path) -> str:
    """Return the name without the suffixes of known formats; with an unknown suffix it matches no split."""
    name = path.name
    for suffixes in (PACKED_SUFFIXES, (".txt", *SUFFIXES)):
        suffix = next((suffix for suffix in suffixes if name.lower().endswith(suffix)), "")
        name = name[: len(name) - len(suffix)]
    return name


def _only(paths: list[Path]) -> Path:
    if len(paths) > 1:
        names = " and ".join(path.name for path in paths)
        raise DataError(f"{names} are files of one split: keep one of them", path=paths[0].parent)
    return paths[0]
