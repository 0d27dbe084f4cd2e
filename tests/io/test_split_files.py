"""The files of splits are found by their names."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import nnmfaug as na
from tests.io.toys import TEST, TRAIN, digests, text, toy_folder


@pytest.mark.parametrize(
    ("train", "valid", "test"),
    [
        ("train.txt", "valid.txt", "test.txt"),
        ("train.tsv", "valid.tsv", "test.tsv"),
        ("training.csv", "validation.csv", "testing.csv"),
        ("toy-train.txt", "toy-valid.txt", "toy-test.txt"),
        ("toy_train.txt", "toy_dev.txt", "toy_test.txt"),
        ("my.toy.train.txt", "my.toy.val.txt", "my.toy.test.txt"),
        ("train", "dev", "test"),
        ("TRAIN.TXT", "Val.txt", "Test.Txt"),
        ("train.txt.gz", "valid.tsv.bz2", "test.csv.zst"),
        ("train.txt.gz", "dev.txt", "test.gz"),
    ],
)
def test_the_spellings_of_splits_are_understood(
    toy: na.Splits, tmp_path: Path, train: str, valid: str, test: str
) -> None:
    folder = toy_folder(tmp_path / "toy", train, valid, test)
    (folder / "README.md").write_text("not\ta\ttriple\n")
    (folder / ".train.txt").write_text("hidden\ta\tb\n")
    found = na.read_splits(folder)
    assert digests(found) == digests(toy)
    assert found.name == "toy"


def test_a_folder_without_valid_and_test_has_empty_ones(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text(text(TRAIN))
    found = na.read_splits(tmp_path)
    assert [len(part) for _, part in found.items()] == [2, 0, 0]


@pytest.mark.parametrize("other", ["train.tsv", "training.txt", "train.txt.gz", "train"])
def test_two_files_for_one_split_are_an_error_that_names_both(tmp_path: Path, other: str) -> None:
    toy_folder(tmp_path)
    data = text(TRAIN).encode()
    (tmp_path / other).write_bytes(gzip.compress(data) if other.endswith(".gz") else data)
    with pytest.raises(na.DataError, match="are files of one split") as caught:
        na.read_splits(tmp_path)
    assert other in str(caught.value)
    assert "train.txt" in str(caught.value)


def test_two_data_sets_in_one_folder_are_an_error_that_names_both(tmp_path: Path) -> None:
    toy_folder(tmp_path, "a-train.txt", "a-valid.txt", "a-test.txt")
    toy_folder(tmp_path, "b-train.txt", "b-valid.txt", "b-test.txt")
    with pytest.raises(na.DataError, match=r"belong together.*a-train.*b-train"):
        na.read_splits(tmp_path)
    (tmp_path / "test.txt").write_text(text(TEST))
    with pytest.raises(na.DataError, match=r"belong together.*a-train.*b-train"):
        na.read_splits(tmp_path)


@pytest.mark.parametrize(
    ("train", "valid", "test"),
    [("toy-train.txt", "valid.txt", "test.txt"), ("train.txt", "toy-valid.txt", "toy-test.txt")],
)
def test_splits_with_unlike_prefixes_are_not_lost_silently(
    toy: na.Splits, tmp_path: Path, train: str, valid: str, test: str
) -> None:
    toy_folder(tmp_path, train, valid, test)
    try:
        found = na.read_splits(tmp_path)
    except na.DataError:
        return
    assert digests(found) == digests(toy)


def test_a_folder_without_train_is_an_error_that_says_what_is_needed(tmp_path: Path) -> None:
    (tmp_path / "test.txt").write_text(text(TEST))
    with pytest.raises(na.DataError, match=r"train\.txt.*; found none") as caught:
        na.read_splits(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_two_subfolders_with_train_are_an_error_that_names_both(tmp_path: Path) -> None:
    one, two = toy_folder(tmp_path / "one"), toy_folder(tmp_path / "two")
    with pytest.raises(na.DataError, match="; found") as caught:
        na.read_splits(tmp_path)
    assert str(one) in str(caught.value)
    assert str(two) in str(caught.value)
