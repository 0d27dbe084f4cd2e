"""The format of a file is detected."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.io.files import (
    PACKERS,
    put,
    read,
    refusal,
)


@pytest.mark.parametrize("packer", PACKERS)
def test_a_file_packed_twice_is_refused_with_the_cure(tmp_path: Path, packer: str) -> None:
    data = PACKERS[packer](gzip.compress(b"a\tr\tb\n"))
    assert "packed twice" in str(refusal(put(tmp_path, data, f"g.tsv.{packer}")))


def test_an_archive_is_refused_where_one_file_is_needed(tmp_path: Path) -> None:

    with zipfile.ZipFile(tmp_path / "g.zip", "w") as archive:
        archive.writestr("train.tsv", "a\tr\tb\n")
    with tarfile.open(tmp_path / "g.tar.gz", "w:gz") as tar:
        tar.add(put(tmp_path, "a\tr\tb\n"), "train.tsv")
    for name in ("g.zip", "g.tar.gz"):
        assert "archive" in str(refusal(tmp_path / name))


def test_a_protein_called_par1_is_not_a_parquet_file(tmp_path: Path) -> None:
    path = put(tmp_path, "PAR1\tactivates\tF2R\n")
    assert read(path)[0] == [("PAR1", "activates", "F2R")]


def test_a_name_that_opens_like_bzip2_is_not_packed(tmp_path: Path) -> None:
    path = put(tmp_path, "BZh\tr\tb\n")
    assert read(path)[0] == [("BZh", "r", "b")]


@pytest.mark.parametrize("name", ["prefix", "base", "base pair", "Prefix", "BASE"])
def test_a_name_like_a_turtle_keyword_does_not_make_a_turtle_file(tmp_path: Path, name: str) -> None:
    path = put(tmp_path, f"{name}\tr\tb\n", "g.txt")
    assert read(path)[0] == [(name, "r", "b")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\tr\tb\n", "tsv"),
        ("a,r,b\n", "csv"),
        ("<x:a> <x:r> <x:b> .\n", "nt"),
        ("# c\n\n<x:a>\t<x:r>\t<x:b>\t.\n", "nt"),
        ("<x:a> <x:r> <x:b> <x:g> .\n", "nq"),
        ("@prefix x: <x:> .\nx:a x:r x:b .\n", "ttl"),
        ("PREFIX x: <x:>\nx:a x:r x:b .\n", "ttl"),
        ("<x:a>\t<x:r>\t<x:b>\n", "tsv"),
        ("a, b\tr, s\tc\n", "tsv"),
    ],
)
def test_a_file_without_a_known_suffix_is_told_by_its_first_lines(
    tmp_path: Path, text: str, expected: str
) -> None:
    assert read(put(tmp_path, text, "g.txt"))[1].format == expected
