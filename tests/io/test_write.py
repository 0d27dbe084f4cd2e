"""What is written comes back, or is refused; and a file is there whole or not at all."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from nnmfaug import DataError, KnowledgeGraph, ReadOptions, Vocabulary, read_generated, read_triples, write_triples
from tests.io.files import FEW, FUZZ, Triple
from tests.names import TAME_NAMES, WILD_NAMES

PREFIX = "https://example.org/"
OPTIONS = ReadOptions(prefix=PREFIX)
SUFFIXES = [".tsv", ".txt", ".csv", ".nt", ".parquet"]
PACKED = [".tsv.gz", ".txt.bz2", ".csv.zst", ".csv.bz2", ".nt.gz", ".tsv.zst"]
NASTY = [*TAME_NAMES, *WILD_NAMES, PREFIX, PREFIX + "x", PREFIX + "a%20b"]


def prefix_for(path: Path) -> str | None:
    return PREFIX if ".nt" in path.suffixes else None


def cannot_hold(path: Path, graph: KnowledgeGraph) -> list[str]:
    if not {".tsv", ".txt"} & set(path.suffixes):
        return []
    return [name for row in graph.labels() for name in row if re.search(r"[\t\n\r]", name)]


def check_round_trip(graph: KnowledgeGraph, path: Path) -> None:
    """Equal in both readers, or refused by name with nothing left behind."""
    before = sorted(path.parent.iterdir())
    refused = cannot_hold(path, graph)
    if refused:
        with pytest.raises(DataError) as caught:
            write_triples(graph, path, prefix=prefix_for(path), overwrite=True)
        assert repr(refused[0]) in str(caught.value)
        assert str(caught.value).startswith(f"{path}: ")
        assert sorted(path.parent.iterdir()) == before
        return
    write_triples(graph, path, prefix=prefix_for(path), overwrite=True)
    assert sorted(path.parent.iterdir()) == sorted({*before, path})
    assert read_triples(path, OPTIONS).digest() == graph.digest(), graph.labels()[:9]
    again = read_generated(path, graph.vocabulary, OPTIONS)
    assert again == graph, f"in the same order: {graph.labels()[:9]}"
    assert again.report is not None
    assert (again.report.rejected, again.report.blank, again.report.comment) == (0, 0, 0)


def test_a_wild_name_on_the_first_line_comes_back_or_is_refused(tmp_path: Path) -> None:
    for name in WILD_NAMES:
        alone = KnowledgeGraph.from_labels([(name, name, name)])
        check_round_trip(alone, tmp_path / "alone.txt")


@pytest.mark.parametrize("suffix", [*SUFFIXES, *PACKED])
def test_all_nasty_names_come_back_together(tmp_path: Path, suffix: str) -> None:
    rng = random.Random(5)
    rows = [(rng.choice(NASTY), rng.choice(NASTY), rng.choice(NASTY)) for _ in range(300)]
    rows += [(name, rng.choice(NASTY), rng.choice(NASTY)) for name in NASTY]
    if suffix.startswith((".tsv", ".txt")):
        rows = [row for row in rows if not re.search(r"[\t\n\r]", "".join(row))]
    rng.shuffle(rows)
    check_round_trip(KnowledgeGraph.from_labels(rows, sort=False), tmp_path / f"g{suffix}")


HEADERS: list[Triple] = [
    ("head", "relation", "tail"),
    ("tail", "relation", "head"),
    ("Subject", "predicate", "OBJECT"),
    ("node1", "label", "node2"),
    ("#node1", "label", "node2"),
    (' "head"', "relation", "tail"),
    ("# head", "relation", "tail"),
    ("\ufeffhead", "relation", "tail"),
    ("\ufeff", "relation", "tail"),
    ("from", "type", "to"),
]


@pytest.mark.parametrize("suffix", [".tsv", ".csv"])
@pytest.mark.parametrize("first", [("a", "r", "b"), ("# a", "r", "b"), None])
def test_a_triple_like_a_header_is_not_lost(tmp_path: Path, first: Triple | None, suffix: str) -> None:
    for row in HEADERS:
        rows = [row, ("x", "r", "y")] if first is None else [first, row, ("x", "r", "y")]
        check_round_trip(KnowledgeGraph.from_labels(rows, sort=False), tmp_path / f"g{suffix}")


GUESSES: list[list[Triple]] = [
    [("<a>", "<b>", "<c> .")],
    [("_:a", "<b>", "<c>.")],
    [("prefix x:", "<x:>", "<c>.")],
    [("a,b", "c", "d")],
    [("@base", "<x:>", ".")],
    [("<a>", "<b>", '"c" .')],
]


@pytest.mark.parametrize("rows", GUESSES, ids=ascii)
def test_triples_like_another_format_come_back_from_a_text_file(tmp_path: Path, rows: list[Triple]) -> None:
    check_round_trip(KnowledgeGraph.from_labels(rows), tmp_path / "g.txt")


@pytest.mark.parametrize("n_lines", [10, 63, 64, 65, 200])
def test_a_name_of_many_lines_comes_back_from_csv_or_is_refused(tmp_path: Path, n_lines: int) -> None:
    name = "x\n" * n_lines
    graph = KnowledgeGraph.from_labels([(name, "r", "b"), ("a", "r", name)])
    path = tmp_path / "g.csv"
    try:
        write_triples(graph, path, overwrite=True)
    except DataError:
        assert not path.exists()
        assert n_lines > 60, "few lines are held"
        return
    assert read_triples(path) == graph


TEXT = st.text(min_size=1, max_size=6)
SPICY = st.text(st.sampled_from(list('ab",\n\r #é\0\ufeff\u2028%/:_<>\\\t')), min_size=1, max_size=5)
ROWS = st.lists(st.tuples(TEXT | SPICY, TEXT | SPICY, TEXT | SPICY), min_size=1, max_size=8)


@FUZZ
@given(rows=ROWS)
def test_any_text_comes_back_from_n_triples(scratch: Path, rows: list[Triple]) -> None:
    check_round_trip(KnowledgeGraph.from_labels(rows, sort=False), scratch / "g.nt")


@FEW
@given(rows=ROWS)
def test_any_text_comes_back_from_csv(scratch: Path, rows: list[Triple]) -> None:
    check_round_trip(KnowledgeGraph.from_labels(rows, sort=False), scratch / "g.csv")


@settings(FEW, max_examples=max(FEW.max_examples // 4, 1))
@given(rows=ROWS)
def test_any_text_comes_back_from_parquet(scratch: Path, rows: list[Triple]) -> None:
    check_round_trip(KnowledgeGraph.from_labels(rows, sort=False), scratch / "g.parquet")


@FEW
@given(rows=ROWS)
def test_any_text_comes_back_from_tsv_or_is_refused(scratch: Path, rows: list[Triple]) -> None:
    folder = scratch / "tsv"
    folder.mkdir(exist_ok=True)
    check_round_trip(KnowledgeGraph.from_labels(rows, sort=False), folder / "g.tsv")


def many(n_triples: int, seed: int = 6) -> KnowledgeGraph:
    rng = np.random.default_rng(seed)
    names = Vocabulary.from_names((f"e{i} é" for i in range(2000)), (f"r{i}" for i in range(20)))
    keys = rng.choice(2000 * 20 * 2000, n_triples, replace=False)
    return KnowledgeGraph(names, names.from_keys(keys))


@pytest.mark.parametrize("suffix", [*SUFFIXES, *PACKED])
def test_the_order_of_triples_survives(tmp_path: Path, suffix: str) -> None:
    graph = many(3000)
    path = tmp_path / f"g{suffix}"
    write_triples(graph, path, prefix=prefix_for(path), overwrite=True)
    again = read_generated(path, graph.vocabulary, OPTIONS)
    assert np.array_equal(again.triples, graph.triples)


def test_the_order_survives_many_row_groups_of_parquet(tmp_path: Path) -> None:
    graph = many(300_000)
    write_triples(graph, tmp_path / "g.parquet", overwrite=True)
    assert np.array_equal(read_generated(tmp_path / "g.parquet", graph.vocabulary).triples, graph.triples)


@pytest.mark.parametrize("suffix", [*SUFFIXES, *PACKED])
def test_the_same_graph_is_the_same_bytes(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = many(3000)
    one, other = tmp_path / f"one{suffix}", tmp_path / f"other name{suffix}"
    write_triples(graph, one, prefix=prefix_for(one), overwrite=True)
    monkeypatch.setattr("time.time", lambda: 2e9)
    write_triples(graph, other, prefix=prefix_for(other), overwrite=True)
    assert one.read_bytes() == other.read_bytes()
    write_triples(many(3000, seed=7), other, prefix=prefix_for(other), overwrite=True)
    assert one.read_bytes() != other.read_bytes()


def test_packed_files_hold_the_plain_bytes(tmp_path: Path) -> None:
    graph = many(500)
    write_triples(graph, tmp_path / "g.tsv", overwrite=True)
    plain = (tmp_path / "g.tsv").read_bytes()
    for packed in ("gz", "bz2", "zst"):
        path = tmp_path / f"g.tsv.{packed}"
        write_triples(graph, path, overwrite=True)
        assert len(path.read_bytes()) < len(plain) / 2
        assert read_triples(path) == read_triples(tmp_path / "g.tsv")


@pytest.mark.parametrize("suffix", [".tsv", ".tsv.gz"])
def test_a_refusal_midway_leaves_the_old_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"g{suffix}"
    write_triples(many(100), path, overwrite=True)
    old = path.read_bytes()
    rows = [(f"a{i}", "r", "b") for i in range(30_000)] + [("a\tb", "r", "c")]
    with pytest.raises(DataError, match="tab or line end"):
        write_triples(KnowledgeGraph.from_labels(rows, sort=False), path, overwrite=True)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", [".tsv", ".tsv.gz", ".parquet"])
@pytest.mark.parametrize("old", [True, False])
def test_a_full_disk_leaves_the_old_file_or_none(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch, *, old: bool
) -> None:
    path = tmp_path / f"g{suffix}"
    if old:
        write_triples(many(100), path, prefix=prefix_for(path), overwrite=True)
    before = {found: found.read_bytes() for found in tmp_path.iterdir()}

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_triples(many(200), path, prefix=prefix_for(path), overwrite=True)
    assert {found: found.read_bytes() for found in tmp_path.iterdir()} == before


def test_an_old_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "g.tsv"
    write_triples(many(1000), path, overwrite=True)
    write_triples(KnowledgeGraph.from_labels([("a", "r", "b")]), path, overwrite=True)
    assert path.read_bytes() == b"a\tr\tb\n"


def test_a_refusal_leaves_no_new_folders(tmp_path: Path) -> None:
    graph = KnowledgeGraph.from_labels([("a\tb", "r", "c")])
    with pytest.raises(DataError, match="tab or line end"):
        write_triples(graph, tmp_path / "new" / "folder" / "g.tsv", overwrite=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["g", "g.gz", "g.xlsx", "g.parquet.gz", "g.nt.zip", "g.ttl", "g.tsv.xz", ".tsv"])
def test_an_unknown_suffix_is_refused_with_the_known_ones(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=r"name the file \.tsv") as caught:
        write_triples(many(10), tmp_path / name, overwrite=True)
    assert str(caught.value).startswith(f"{tmp_path / name}: ")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "g.tsv").mkdir()
    with pytest.raises(DataError, match="this is a folder"):
        write_triples(many(10), tmp_path / "g.tsv", overwrite=True)
    assert list(tmp_path.iterdir()) == [tmp_path / "g.tsv"]


@pytest.mark.parametrize("name", ["it's.parquet", 'a"b.parquet', "a*b?.parquet", "a%b{}.parquet", "[x].csv"])
def test_odd_file_names_are_written_and_read(tmp_path: Path, name: str) -> None:
    graph = KnowledgeGraph.from_labels([("a", "r", "b")])
    write_triples(graph, tmp_path / name, overwrite=True)
    assert read_triples(tmp_path / name) == graph
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["alice", "a b", "<x:a>", "x:a b", "7:x", "_:", "x:a\nb", 'x:"', "NA", "#"])
def test_n_triples_without_a_prefix_refuse_what_is_not_an_iri(tmp_path: Path, name: str) -> None:
    for row in ((name, "x:r", "x:t"), ("x:h", name, "x:t"), ("x:h", "x:r", name)):
        with pytest.raises(DataError, match="cannot be an IRI") as caught:
            write_triples(KnowledgeGraph.from_labels([row]), tmp_path / "g.nt", overwrite=True)
        assert repr(name) in str(caught.value)
        assert "--prefix" in str(caught.value)
        assert list(tmp_path.iterdir()) == []


def test_iris_and_blank_nodes_keep_their_names(tmp_path: Path) -> None:
    rows = [("http://x.org/ä#f", "urn:r", "_:b1"), ("_:b.2", "x:é🧀", "http://x.org/%20?a=1&b=2")]
    graph = KnowledgeGraph.from_labels(rows)
    for prefix in (None, PREFIX):
        path = tmp_path / "g.nt"
        write_triples(graph, path, prefix=prefix, overwrite=True)
        assert "<http://x.org/ä#f> <urn:r> _:b1 .\n" in path.read_text(encoding="utf-8")
        assert read_triples(path) == graph
        assert read_triples(path, OPTIONS) == graph


def test_names_behind_a_prefix_are_iris_for_everyone(tmp_path: Path) -> None:
    path = tmp_path / "g.nt"
    write_triples(KnowledgeGraph.from_labels([("a b", "é", "c/d")]), path, prefix=PREFIX, overwrite=True)
    assert path.read_bytes() == (
        b"<https://example.org/a%20b> <https://example.org/%C3%A9> <https://example.org/c%2Fd> .\n"
    )


@pytest.mark.parametrize("prefix", ["", "no iri", "https://x.org/<", "/relative/"])
def test_a_prefix_that_is_no_iri_is_refused(tmp_path: Path, prefix: str) -> None:
    with pytest.raises(ValueError, match="prefix="):
        write_triples(many(10), tmp_path / "g.nt", prefix=prefix, overwrite=True)
    assert list(tmp_path.iterdir()) == []
