"""A folder of files that belong together, with a manifest that has their checksums."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nnmfaug.core.errors import DataError
from nnmfaug.io.files import checksum, exists_already, new_folder, open_text, replacing_all

MANIFEST = "manifest.json"
FORMAT = "nnmfaug splits"
VERSION = 1


def write_folder(
    folder: Path, files: Mapping[str, Iterable[str]], about: Mapping[str, Any], *, overwrite: bool
) -> None:
    """Write several files of lines, all of them or none; nobody reads the others without the first."""
    obsolete = check_set(folder, files, overwrite=overwrite)
    if not folder.exists():
        with new_folder(folder) as draft:
            _write_drafts({draft / name: lines for name, lines in files.items()}, draft / MANIFEST, files, about)
        return
    names = [*files, MANIFEST]
    unused = [folder / name for name in obsolete if name not in names]
    with replacing_all([folder / name for name in names], overwrite=overwrite, obsolete=unused) as drafts:
        *drafts_of_files, manifest = drafts
        contents = dict(zip(drafts_of_files, files.values(), strict=True))
        _write_drafts(contents, manifest, files, about)


def check_set(folder: Path, files: Iterable[str], *, overwrite: bool) -> list[str]:
    """Return the names of the files in a folder; raise if they may not be replaced by ``files``."""
    if folder.exists() and not folder.is_dir():
        raise DataError("this is a file: name a new folder", path=folder)
    present = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    visible = sorted(name for name in present if not name.startswith("."))
    replaceable = {*files, *_files_of_manifest(folder)}
    others = [name for name in visible if name not in replaceable]
    if others:
        shown = ", ".join(others[:5])
        raise DataError(f"the folder contains other files ({shown}): name a new folder", path=folder)
    if visible and not overwrite:
        raise exists_already(folder)
    return visible


def _files_of_manifest(folder: Path) -> set[str]:
    """Return the names of the files that the manifest of a folder lists."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        return {MANIFEST, *manifest["files"]} if manifest["format"] == FORMAT else set()
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return set()


def _write_drafts(
    contents: Mapping[Path, Iterable[str]], manifest: Path, names: Iterable[str], about: Mapping[str, Any]
) -> None:
    checksums = {}
    for (draft, lines), name in zip(contents.items(), names, strict=True):
        with open_text(draft, Path(name)) as file:
            file.writelines(lines)
        checksums[name] = checksum(draft)
    document = {"format": FORMAT, "version": VERSION, **about, "files": checksums}
    text = json.dumps(document, indent=2)
    manifest.write_text(text + "\n", encoding="ascii")
