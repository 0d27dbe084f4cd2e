"""Blocks cover all rows, and sums have a fixed order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from nnmfaug.core.blocks import BLOCK_ROWS, blocks, tree_sum


@given(n_rows=st.integers(0, 300), size=st.integers(1, 50))
def test_blocks_cover_every_row_once_in_order(n_rows: int, size: int) -> None:
    rows = [row for block in blocks(n_rows, size) for row in range(n_rows)[block]]
    assert rows == list(range(n_rows))
    assert all(0 < block.stop - block.start <= size for block in blocks(n_rows, size))


def test_the_default_block_does_not_change() -> None:
    assert BLOCK_ROWS == 65_536, "another size changes the rounding of sums, and so published results"


@given(n_parts=st.integers(1, 40))
def test_a_tree_sum_adds_every_part_once(n_parts: int) -> None:
    parts = [np.eye(1, n_parts, i) for i in range(n_parts)]
    np.testing.assert_array_equal(tree_sum(parts), np.ones((1, n_parts)))


def test_a_tree_sum_adds_neighbours_first() -> None:
    parts = [np.array([value]) for value in (1e16, 1.0, -1e16, 1.0, 0.5)]
    assert tree_sum(parts)[0] == ((1e16 + 1.0) + (-1e16 + 1.0)) + 0.5


def test_a_tree_sum_leaves_its_parts_alone() -> None:
    part = np.ones(2)
    tree_sum([part, part, part])
    np.testing.assert_array_equal(part, np.ones(2))


def test_nothing_cannot_be_added() -> None:
    with pytest.raises(ValueError, match="nothing to add"):
        tree_sum([])
