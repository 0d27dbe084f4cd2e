"""Files of ids, as OpenKE and LibKGE write them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import nnmfaug as na
from nnmfaug.io.write import Layout
from tests.io.toys import TEST, TRAIN, VALID, digests, graph


@pytest.mark.parametrize("layout", ["libkge", "openke"])
def test_files_of_ids_keep_names_that_no_triple_uses(tmp_path: Path, layout: Layout) -> None:
    vocabulary = na.Vocabulary.from_names(["a", "b", "c", "unused"], ["likes", "knows", "unused too"])
    unused = na.Splits.merge("t", train=graph(*TRAIN), valid=graph(*VALID), test=graph(*TEST), names=vocabulary)
    na.write_splits(unused, tmp_path / "out", layout)
    assert na.read_splits(tmp_path / "out").vocabulary == vocabulary


@pytest.fixture
def openke(toy: na.Splits, tmp_path: Path) -> Path:
    na.write_splits(toy, tmp_path / "openke", "openke")
    return tmp_path / "openke"


@pytest.fixture
def libkge(toy: na.Splits, tmp_path: Path) -> Path:
    na.write_splits(toy, tmp_path / "libkge", "libkge")
    return tmp_path / "libkge"


@pytest.mark.parametrize("file", ["train2id.txt", "test2id.txt", "entity2id.txt", "relation2id.txt"])
@pytest.mark.parametrize("count", ["1", "99", "-2", "two", "2 2"])
def test_a_wrong_openke_count_is_an_error_with_its_line(openke: Path, file: str, count: str) -> None:
    path = openke / file
    first, *rest = path.read_text().splitlines()
    if first == count:
        count = "7"
    path.write_text("\n".join([count, *rest]) + "\n")
    with pytest.raises(na.DataError, match=re.escape(f"{path}:1: ") + f".*{len(rest)}.*{count}") as caught:
        na.read_splits(openke)
    assert caught.value.line == 1


def test_an_openke_file_without_its_count_is_an_error(openke: Path) -> None:
    path = openke / "train2id.txt"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))
    with pytest.raises(na.DataError, match="number of lines"):
        na.read_splits(openke)


@pytest.mark.parametrize("row", ["3 0 0", "0 3 0", "0 0 2", "0 0 99999999999"])
def test_an_openke_id_out_of_range_is_an_error_with_its_line(openke: Path, row: str) -> None:
    path = openke / "train2id.txt"
    path.write_text(f"2\n0 1 0\n{row}\n")
    with pytest.raises(
        na.DataError, match=re.escape(f"{path}:3: ") + "an id is too large.*3 entities.*2 relations"
    ):
        na.read_splits(openke)


@pytest.mark.parametrize("row", ["3\t0\t0", "0\t2\t0", "0\t0\t3", "-1\t0\t0", "a\t0\t0", "0\t0", "0\t0\t0\t0"])
def test_a_bad_libkge_row_is_an_error_with_its_line(libkge: Path, row: str) -> None:
    path = libkge / "valid.del"
    path.write_text(f"0\t1\t0\n{row}\n")
    with pytest.raises(na.DataError, match=re.escape(f"{path}:2: ")):
        na.read_splits(libkge)


def test_an_id_of_five_thousand_digits_is_an_error_with_its_line(libkge: Path) -> None:
    path = libkge / "train.del"
    path.write_text(f"0\t1\t0\n{'1' * 5000}\t0\t0\n")
    with pytest.raises(na.DataError, match=re.escape(f"{path}:2: ")):
        na.read_splits(libkge)
    (libkge / "train.del").write_text("0\t1\t0\n")
    (libkge / "entity_ids.del").write_text(f"{'1' * 5000}\ta\n")
    with pytest.raises(na.DataError, match=r"entity_ids\.del:1: "):
        na.read_splits(libkge)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("0\ta\n0\tb\n2\tc\n", ":2: .*id 0 occurs twice"),
        ("0\ta\n1\tb\n3\tc\n", "ids must be 0 to 2"),
        ("0\ta\n1\ta\n2\tc\n", "name occurs twice"),
        ("0\ta\nx\tb\n2\tc\n", ":2: expected a name and an id"),
        ("0\ta\n1\t\n2\tc\n", ":2: expected a name and an id"),
        ("0\ta\n1\n2\tc\n", ":2: expected a name and an id"),
    ],
)
def test_a_bad_file_of_names_is_an_error(libkge: Path, lines: str, message: str) -> None:
    (libkge / "entity_ids.del").write_text(lines)
    with pytest.raises(na.DataError, match=rf"entity_ids\.del.*{message}|entity_ids\.del{message}"):
        na.read_splits(libkge)


def test_openke_files_separated_by_spaces_and_with_crlf_are_read(openke: Path, toy: na.Splits) -> None:
    for path in openke.iterdir():
        path.write_bytes(path.read_bytes().replace(b"\t", b" ").replace(b"\n", b"\r\n"))
    assert digests(na.read_splits(openke)) == digests(toy)


def test_names_in_openke_files_may_hold_spaces(openke: Path) -> None:
    (openke / "entity2id.txt").write_text("3\nNew York 0\nb\t1\n c \t2\n")
    assert na.read_splits(openke).vocabulary.entities == (" c ", "New York", "b")


def test_one_file_of_a_layout_of_ids_is_read_with_its_names(openke: Path, libkge: Path) -> None:
    for path in (openke / "train2id.txt", libkge / "train.del"):
        found = na.read_any(path)
        assert isinstance(found, na.KnowledgeGraph)
        assert found.labels() == TRAIN


def test_three_paths_of_a_layout_of_ids_are_read_with_its_names(
    openke: Path, libkge: Path, toy: na.Splits
) -> None:
    for paths in (
        [openke / f"{part}2id.txt" for part in ("train", "valid", "test")],
        [libkge / f"{part}.del" for part in ("train", "valid", "test")],
    ):
        assert digests(na.read_splits(paths)) == digests(toy)
