"""Sparse matrices against the same computation on dense ones."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from nnmfaug.core import sparse
from nnmfaug.core.arrays import Ids
from nnmfaug.core.sparse import DistinctRows, cross, entries

MATRICES = st.tuples(st.integers(0, 12), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.sampled_from([0, 0, 0, 1, 2]))
)


def check_distinct(distinct: DistinctRows, dense: Ids) -> None:
    rows = list(dict.fromkeys(map(tuple, dense.tolist())))
    assert [tuple(row) for row in distinct.rows.toarray().tolist()] == rows, "in the order of first occurrence"
    np.testing.assert_array_equal(distinct.rows.toarray()[distinct.inverse].reshape(dense.shape), dense)
    np.testing.assert_array_equal(distinct.counts, [dense.tolist().count(list(row)) for row in rows])
    assert len(distinct) == len(rows)


@given(dense=MATRICES)
def test_distinct_rows_are_those_of_the_dense_matrix(dense: Ids) -> None:
    check_distinct(DistinctRows.of(csr_array(dense)), dense)


@given(dense=MATRICES)
def test_rows_with_one_hash_are_still_told_apart(dense: Ids) -> None:
    with mock.patch.object(sparse, "_row_hashes", lambda matrix: np.zeros(matrix.shape[0], dtype=np.uint64)):
        check_distinct(DistinctRows.of(csr_array(dense)), dense)


def test_entries_that_are_stored_twice_are_added_first() -> None:
    twice = csr_array((np.array([1, 1, 2]), np.array([0, 0, 0]), np.array([0, 2, 3])), shape=(2, 1))
    check_distinct(DistinctRows.of(twice), np.array([[2], [2]]))


def test_the_matrix_itself_is_not_changed() -> None:
    matrix = csr_array((np.array([1, 1]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    DistinctRows.of(matrix)
    assert matrix.nnz == 2


def test_entries_are_those_of_the_dense_matrix() -> None:
    dense = np.array([[1, 0, 2], [0, 3, 0]])
    rows, columns = np.indices(dense.shape).reshape(2, -1)
    np.testing.assert_array_equal(entries(csr_array(dense), rows, columns), dense.ravel())
    nothing = np.empty(0, dtype=np.int64)
    assert entries(csr_array(dense), nothing, nothing).shape == (0,)


@pytest.mark.parametrize("block_rows", [2, 1 << 16])
@pytest.mark.parametrize("n_rows", [0, 1, 2, 7])
def test_a_cross_product_is_that_of_dense_matrices(n_rows: int, block_rows: int) -> None:
    rng = np.random.default_rng(0)
    dense = rng.integers(0, 3, size=(n_rows, 4))
    x = rng.random((n_rows, 2))
    weights = rng.integers(1, 5, size=n_rows)
    matrix = csr_array(dense)
    with mock.patch.object(sparse, "BLOCK_ROWS", block_rows):
        np.testing.assert_allclose(cross(matrix, x), dense.T @ x)
        np.testing.assert_allclose(cross(matrix, x, weights), dense.T @ np.diag(weights) @ x)


def test_the_cross_product_of_distinct_rows_has_the_bits_of_the_plain_one() -> None:
    rng = np.random.default_rng(1)
    distinct = DistinctRows.of(csr_array(rng.integers(0, 2, size=(50, 5))))
    x = rng.random((len(distinct), 3))
    np.testing.assert_array_equal(distinct.cross(x), cross(distinct.rows, x))
    np.testing.assert_array_equal(distinct.weights, distinct.counts)
    assert distinct.weights.dtype == np.float64
