"""Encodings and packed files."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from unittest import mock

import pytest

from nnmfaug import (
    KnowledgeGraph,
    ReadOptions,
    read_generated,
    read_triples,
)
from nnmfaug.io import stream
from tests.io.files import (
    BOM,
    PACKERS,
    SKIP,
    put,
    read,
    refusal,
    ten_thousand,
    tsv,
)


def test_latin_1_is_refused_with_the_byte_the_line_and_the_cure(tmp_path: Path) -> None:
    path = put(tmp_path, "a\tr\tb\ncafé\tr\tb\n".encode("latin-1"))
    error = refusal(path)
    assert error.line == 2
    assert "0xE9" in str(error)
    assert "--encoding" in str(error)
    assert "latin-1" in str(error)
    assert read(path, ReadOptions(encoding="latin-1"))[0] == [("a", "r", "b"), ("café", "r", "b")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
def test_utf_16_is_refused_with_the_cure_and_read_when_named(tmp_path: Path, encoding: str) -> None:
    text = "a\tr\tb\nkäse 🧀\tr\tb\n"
    mark = "" if encoding == "utf-16" else "\ufeff"
    path = put(tmp_path, (mark + text).encode(encoding))
    assert "pass --encoding utf-16" in str(refusal(path))
    assert read(path, ReadOptions(encoding="utf-16"))[0] == [("a", "r", "b"), ("käse 🧀", "r", "b")]


@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-be", "utf-32-le"])
@pytest.mark.parametrize("marked", [True, False])
def test_utf_32_is_not_taken_for_utf_16(tmp_path: Path, encoding: str, *, marked: bool) -> None:
    mark = "\ufeff" if marked and encoding != "utf-32" else ""
    path = put(tmp_path, f"{mark}a\tr\tb\nc\tr\td\n".encode(encoding))
    message = str(refusal(path))
    cure = message.rpartition(" ")[2]
    assert "this is UTF-32: pass --encoding utf-32" in message
    assert read(path, ReadOptions(encoding=cure))[0] == [("a", "r", "b"), ("c", "r", "d")]


@pytest.mark.parametrize("encoding", ["utf-16-be", "utf-16-le"])
def test_utf_16_without_a_mark_is_refused_with_the_cure(tmp_path: Path, encoding: str) -> None:
    path = put(tmp_path, "a\tr\tb\nc\tr\td".encode(encoding))
    assert "--encoding utf-16" in str(refusal(path))
    assert read(path, ReadOptions(encoding=encoding))[0] == [("a", "r", "b"), ("c", "r", "d")]


def test_the_wrong_named_encoding_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path, "a\tr\tbé\n")
    assert "pass another --encoding" in str(refusal(path, ReadOptions(encoding="ascii")))


@pytest.mark.parametrize("encoding", ["UTF-8", "utf_8", "utf8", "U8", "utf-8-sig", "cp65001"])
def test_every_spelling_of_utf_8_takes_off_the_mark_and_names_the_bad_line(tmp_path: Path, encoding: str) -> None:
    options = ReadOptions(encoding=encoding)
    graph = KnowledgeGraph.from_labels([("é", "r", "b"), ("c", "r", "d")])
    good = put(tmp_path, BOM + "é\tr\tb\nc\tr\td\n".encode(), "good.tsv")
    assert read_triples(good, options) == graph
    assert set(read_generated(good, graph.vocabulary, options).labels()) == set(graph.labels())


@pytest.mark.parametrize("encoding", ["hex", "rot13", "zlib"])
def test_a_codec_that_is_no_text_encoding_is_refused_as_an_argument(tmp_path: Path, encoding: str) -> None:
    path = put(tmp_path, "a\tr\tb\n")
    with pytest.raises(ValueError, match="encoding"):
        read_triples(path, ReadOptions(encoding=encoding))


def test_a_character_cut_by_a_block_is_not_a_bad_one(scratch: Path) -> None:
    path = put(scratch, "é🧀\tr\tü\n" * 50)
    for block in range(1, 12):
        with mock.patch.object(stream, "BLOCK", block):
            assert read(path)[1].accepted == 50
            assert read(path, ReadOptions(encoding="utf-8-sig"))[1].accepted == 50


def test_a_second_byte_order_mark_belongs_to_the_name(tmp_path: Path) -> None:
    path = put(tmp_path, BOM + BOM + b"a\tr\tb\n")
    assert read(path)[0] == [("\ufeffa", "r", "b")]


def test_a_mark_after_the_header_belongs_to_the_name(tmp_path: Path) -> None:
    path = put(tmp_path, b"head\trelation\ttail\n" + BOM + b"a\tr\tb\n")
    assert read(path)[0] == [("\ufeffa", "r", "b")]


@pytest.mark.parametrize("packer", PACKERS)
def test_a_small_packed_file_cut_anywhere_is_an_error(tmp_path: Path, packer: str) -> None:
    whole = PACKERS[packer](tsv(ten_thousand()[:25]))
    path = put(tmp_path, whole, f"g.tsv.{packer}")
    assert len(read(path, SKIP)[0]) == 25
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        refusal(path, SKIP)


@pytest.mark.parametrize("packer", PACKERS)
def test_a_large_packed_file_cut_anywhere_is_an_error(tmp_path: Path, packer: str) -> None:
    rng = random.Random(3)
    text = "".join(f"{rng.getrandbits(64):x}\tr{i % 7}\t{rng.getrandbits(32):x}\n" for i in range(50_000))
    whole = PACKERS[packer](text.encode())
    path = tmp_path / f"g.tsv.{packer}"
    for size in [len(whole) - 1, len(whole) - 4, len(whole) - 8, *(rng.randrange(len(whole)) for _ in range(10))]:
        path.write_bytes(whole[:size])
        message = str(refusal(path, SKIP))
        if size > 4:
            assert "truncated or damaged" in message


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path, gzip.compress(b"a\tr\tb\n" * 6_000_000, 9), "g.tsv.gz")
    assert "times its size" in str(refusal(path))
