"""Parquet."""

from __future__ import annotations

import gzip
import math
import random
from pathlib import Path

import duckdb
import pytest

from nnmfaug import (
    KnowledgeGraph,
    Limits,
    ReadOptions,
    read_generated,
)
from tests.io.files import (
    SKIP,
    lines_and_reasons,
    put,
    read,
    refusal,
)
from tests.limited import answer


def put_parquet(path: Path, select: str) -> Path:
    target = str(path).replace("'", "''")
    with duckdb.connect() as db:
        db.execute(f"COPY ({select}) TO '{target}' (FORMAT parquet)")
    return path


def test_parquet_cells_that_are_null_or_empty_are_rejected_with_their_row(tmp_path: Path) -> None:
    rows = "VALUES ('a','r','b'), (NULL,'r','b'), ('a','','b'), ('c','r','d'), ('a','r',NULL), (NULL,NULL,NULL)"
    path = put_parquet(tmp_path / "g.parquet", f"SELECT * FROM ({rows}) AS v(head, relation, tail)")
    error = refusal(path)
    assert error.line == 2
    labels, report = read(path, SKIP)
    assert labels == [("a", "r", "b"), ("c", "r", "d")]
    assert lines_and_reasons(report) == [
        (2, "the head is empty"),
        (3, "the relation is empty"),
        (5, "the tail is empty"),
        (6, "the head is empty"),
    ]
    assert (report.accepted, report.rejected, report.lines) == (2, 4, 6)


def test_parquet_numbers_become_text_and_columns_are_found_by_name(tmp_path: Path) -> None:
    select = "SELECT 1.5 AS score, 12::BIGINT AS tail, 'NA' AS \"relation\", '007' AS head"
    assert read(put_parquet(tmp_path / "g.parquet", select))[0] == [("007", "NA", "12")]


def test_parquet_columns_of_other_names_are_taken_in_order(tmp_path: Path) -> None:
    path = put_parquet(tmp_path / "g.parquet", "SELECT 'a' AS \"x\"\"y\", 'r' AS z, 'b' AS \"select\"")
    assert read(path)[0] == [("a", "r", "b")]
    path = put_parquet(tmp_path / "four.parquet", "SELECT 'a' AS w, 'r' AS x, 'b' AS y, 'c' AS z")
    assert "name three of them head, relation and tail" in str(refusal(path))
    path = put_parquet(tmp_path / "two.parquet", "SELECT 'a' AS w, 'r' AS x")
    assert "name three of them head, relation and tail" in str(refusal(path))


@pytest.mark.parametrize(
    "name", ["a*b.parquet", 'it\'s "x".parquet', "[ab].parquet", "?.parquet", "a,b %{}.parquet"]
)
def test_a_parquet_name_is_no_pattern(tmp_path: Path, name: str) -> None:
    put_parquet(tmp_path / "axb.parquet", "SELECT 'wrong' AS head, 'r' AS relation, 'b' AS tail")
    put_parquet(tmp_path / "a.parquet", "SELECT 'wrong' AS head, 'r' AS relation, 'b' AS tail")
    made = put_parquet(tmp_path / "made", "SELECT 'right' AS head, 'r' AS relation, 'b' AS tail")
    assert read(made.rename(tmp_path / name))[0] == [("right", "r", "b")]


def test_a_parquet_file_is_told_by_its_bytes(tmp_path: Path) -> None:
    made = put_parquet(tmp_path / "made", "SELECT 'a' AS head, 'r' AS relation, 'b' AS tail")
    for name in ("g.tsv", "g", "g.parquet.gz"):
        data = gzip.compress(made.read_bytes()) if name.endswith("gz") else made.read_bytes()
        assert read(put(tmp_path, data, name))[1].format == "parquet"


def test_a_parquet_file_cut_anywhere_is_an_error(tmp_path: Path) -> None:
    select = "SELECT 'h' || range AS head, 'r' || range % 7 AS relation, 't' || range AS tail FROM range(5000)"
    path = put_parquet(tmp_path / "g.parquet", select)
    whole = path.read_bytes()
    assert len(read(path)[0]) == 5000
    rng = random.Random(4)
    for size in [0, 3, 4, 8, 12, len(whole) - 1, len(whole) - 4, *(rng.randrange(len(whole)) for _ in range(40))]:
        path.write_bytes(whole[:size])
        refusal(path, SKIP)


@pytest.mark.parametrize("data", [b"a\tr\tb\n", b"\0" * 100, b"PAR1" + b"x" * 100 + b"PAR1", b""])
def test_what_is_only_called_parquet_is_an_error(tmp_path: Path, data: bytes) -> None:
    error = refusal(put(tmp_path, data, "g.parquet"))
    assert "not a readable Parquet file" in str(error)
    assert "nnmfaug-" not in str(error), "a message names the user's file, not ours"


def test_an_empty_parquet_table_is_an_error(tmp_path: Path) -> None:
    path = put_parquet(tmp_path / "g.parquet", "SELECT 'a' AS head, 'r' AS relation, 'b' AS tail LIMIT 0")
    assert "no triples" in str(refusal(path))


def test_generated_parquet_keeps_the_order_of_the_file(tmp_path: Path) -> None:
    generated = [("c", "r", "a"), ("a", "r", "b"), ("c", "r", "a"), ("b", "s", "a")]
    rows = ", ".join(str(row) for row in generated)
    path = put_parquet(tmp_path / "g.parquet", f"SELECT * FROM (VALUES {rows}) AS v(head, relation, tail)")
    graph = read_generated(path, KnowledgeGraph.from_labels(generated).vocabulary)
    assert graph.labels() == list(dict.fromkeys(generated))


SAME_ROWS = "SELECT 'a' AS head, 'r' AS relation, 'b' AS tail FROM range({})"


def test_a_bomb_of_equal_rows_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = put_parquet(tmp_path / "bomb.parquet", SAME_ROWS.format(50_000_000))
    assert path.stat().st_size < 300_000
    assert "unpacks to more than 200 times its size" in answer(path, cpu=20, memory=2 << 30)


def test_a_bomb_of_one_long_name_is_refused_before_it_is_read(tmp_path: Path) -> None:
    long_name = "SELECT repeat('a', 100000) AS head, 'r' AS relation, 'b' AS tail FROM range(100000)"
    path = put_parquet(tmp_path / "bomb.parquet", long_name)
    assert "unpacks to more than 200 times its size" in answer(path, cpu=20, memory=2 << 30)


def test_a_packed_bomb_is_measured_by_its_packed_size(tmp_path: Path) -> None:
    path = put_parquet(tmp_path / "rows.parquet", SAME_ROWS.format(30_000))
    packed = put(tmp_path, gzip.compress(path.read_bytes()), "rows.parquet.gz")
    n_bytes = 30_000 * len("a\tr\tb\n")
    limits = Limits(free_bytes=0, max_ratio=math.ceil(n_bytes / path.stat().st_size))
    assert limits.max_ratio * packed.stat().st_size < n_bytes, "or this shows nothing"
    assert read(path, ReadOptions(limits=limits))[1].accepted == 30_000
    assert "times its size" in str(refusal(packed, ReadOptions(limits=limits)))


def test_a_limit_that_is_raised_lets_equal_rows_pass(tmp_path: Path) -> None:
    path = put_parquet(tmp_path / "rows.parquet", SAME_ROWS.format(4_000_000))
    assert "times its size" in str(refusal(path))
    labels, report = read(path, ReadOptions(limits=Limits(max_ratio=100_000)))
    assert labels == [("a", "r", "b")]
    assert report.accepted == 4_000_000
