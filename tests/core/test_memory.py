"""A limit of memory: how it is typed, where it holds, and that it changes no result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.core.memory import memory_budget, parse_size, within_memory
from nnmfaug.io.formats.duckdb import connect


@pytest.mark.parametrize(
    ("text", "n_bytes"), [("4GB", 4 * 10**9), ("1.5g", 15 * 10**8), (" 200 MiB ", 2 * 10**8), ("1T", 10**12)]
)
def test_sizes_are_typed_in_many_ways(text: str, n_bytes: int) -> None:
    assert parse_size(text) == n_bytes


@pytest.mark.parametrize("text", ["", "4", "GB", "-4GB", "4GBB", "4 bytes", "1e9GB", "٤GB"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be a size such as 4GB or 500MB"):
        parse_size(text)


@pytest.mark.parametrize("size", ["99MB", "1kB", 5])
def test_too_little_is_refused(size: str | int) -> None:
    with pytest.raises(ValueError, match="must be at least 100MB"), within_memory(size):
        pass


def test_the_limit_ends_with_its_block() -> None:
    with within_memory("300MB"):
        assert memory_budget() == 300 * 10**6
        with within_memory(None):
            assert memory_budget() == 300 * 10**6
    assert memory_budget() is None


def test_a_database_has_the_limit(tmp_path: Path) -> None:
    with within_memory(200 * 2**20), connect(tmp_path) as db:
        assert db.execute("SELECT current_setting('memory_limit')").fetchall() == [("200.0 MiB",)]


@pytest.mark.slow
def test_a_graph_whose_table_is_larger_than_the_limit_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "big.parquet"
    world = na.synthesize(200_000, 2_000_000, 20, seed=0)
    na.write_triples(world.given, path)
    expected = na.read_triples(path)
    with within_memory("100MB"):
        graph = na.read_triples(path)
    np.testing.assert_array_equal(graph.triples, expected.triples)
    assert graph.vocabulary == expected.vocabulary
