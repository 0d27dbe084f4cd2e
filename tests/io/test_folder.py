"""The folder of a split: complete, with checksums, and replaced only when asked."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import nnmfaug as na
from nnmfaug.io.write import Layout


@pytest.fixture
def nations() -> na.Splits:
    return na.read_splits("nations")


@pytest.mark.parametrize("layout", ["pykeen", "dglke", "libkge", "openke"])
def test_the_manifest_has_the_checksum_of_every_file(nations: na.Splits, tmp_path: Path, layout: Layout) -> None:
    na.write_splits(nations, tmp_path / "out", layout, settings={"seed": 7})
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    files = [path for path in (tmp_path / "out").iterdir() if path.name != "manifest.json"]
    assert manifest["files"] == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    assert manifest["triples"] == {"train": 1592, "valid": 199, "test": 201}
    assert manifest["seed"] == 7
    assert na.read_splits(tmp_path / "out").train.digest() == nations.train.digest()


def test_an_existing_split_is_refused_unless_it_may_be_overwritten(nations: na.Splits, tmp_path: Path) -> None:
    na.write_splits(nations, tmp_path / "out")
    with pytest.raises(FileExistsError, match="out"):
        na.write_splits(nations, tmp_path / "out")
    na.write_splits(nations, tmp_path / "out", overwrite=True)


def test_another_layout_replaces_all_files_of_the_first(nations: na.Splits, tmp_path: Path) -> None:
    na.write_splits(nations, tmp_path / "out", "libkge")
    na.write_splits(nations, tmp_path / "out", overwrite=True)
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["manifest.json", "test.txt", "train.txt", "valid.txt"]


def test_a_split_without_valid_does_not_keep_the_valid_of_another(nations: na.Splits, tmp_path: Path) -> None:
    na.write_splits(nations, tmp_path / "out")
    both = na.split(nations.train, valid=0, test=100, seed=0)
    na.write_splits(both, tmp_path / "out", overwrite=True)
    assert len(na.read_splits(tmp_path / "out").valid) == 0


@pytest.mark.parametrize("overwrite", [True, False])
def test_files_of_others_are_never_replaced(nations: na.Splits, tmp_path: Path, *, overwrite: bool) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(na.DataError, match=r"other files \(notes\.txt\): name a new folder"):
        na.write_splits(nations, tmp_path, overwrite=overwrite)


@pytest.mark.parametrize("manifest", ["", "[]", "{}", "[" * 100_000, '{"format": "nnmfaug splits", "files": 3}'])
def test_a_manifest_of_others_lists_nothing(nations: na.Splits, tmp_path: Path, manifest: str) -> None:
    (tmp_path / "manifest.json").write_text(manifest)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(na.DataError, match="other files"):
        na.write_splits(nations, tmp_path, overwrite=True)
