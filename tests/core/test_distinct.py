"""Distinct rows against numpy's, whatever the hashes and the blocks."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from nnmfaug.core import distinct as module
from nnmfaug.core.arrays import Array
from nnmfaug.core.blocks import blocks
from nnmfaug.core.distinct import distinct_rows

NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 1e300, 5e-324])
MATRICES = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6), elements=NUMBERS)


def check(matrix: Array) -> None:
    """Compare with numpy's distinct rows, which are in the order of numbers."""
    places = np.arange(0, len(matrix), 2)
    rows, inverse, counts = distinct_rows(matrix, places)
    np.testing.assert_array_equal(rows[inverse], matrix[places])
    np.testing.assert_array_equal(counts, np.bincount(inverse))
    assert len(rows) == len(np.unique(matrix[places] + 0.0, axis=0))
    keys = [row.tobytes() for row in rows]
    assert keys == sorted(keys)
    assert not np.signbit(rows[rows == 0]).any()


@given(MATRICES)
def test_they_are_those_of_numpy(matrix: Array) -> None:
    check(matrix)


@given(MATRICES)
def test_hashes_may_be_equal_by_chance(matrix: Array) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "hashes", lambda rows: np.zeros(len(rows), dtype=np.uint64))
        check(matrix)


@given(MATRICES)
def test_blocks_may_be_small(matrix: Array) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "blocks", partial(blocks, size=2))
        check(matrix)
