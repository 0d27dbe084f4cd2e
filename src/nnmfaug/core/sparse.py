"""Sparse matrices: distinct rows, entries, and products that are added in a fixed order.

``np.unique(axis=0)`` finds distinct rows of dense matrices only, and scipy has no such function.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nnmfaug.core.arrays import Array, Ids, IntArray, Places
from nnmfaug.core.blocks import BLOCK_ROWS, blocks, tree_sum


@dataclass(frozen=True)
class DistinctRows:
    """The distinct rows of a matrix.

    Parameters
    ----------
    rows : sparse array of shape (n_distinct, n_columns)
        The distinct rows; ``rows[inverse]`` is the matrix.
    inverse : ndarray of shape (n_rows,)
        For each row of the matrix, its position in ``rows``.
    counts : ndarray of shape (n_distinct,)
        The number of occurrences of each distinct row.

    Examples
    --------
    >>> distinct = DistinctRows.of(csr_array([[1, 0], [0, 2], [1, 0]]))
    >>> distinct.inverse.tolist(), distinct.counts.tolist()
    ([0, 1, 0], [2, 1])
    """

    rows: csr_array
    inverse: Places
    counts: Ids

    @classmethod
    def of(cls, matrix: csr_array) -> DistinctRows:
        """Return the distinct rows in the order in which they first occur."""
        matrix = matrix.copy()
        matrix.sum_duplicates()
        hashes = _row_hashes(matrix)
        _, first, groups = np.unique(hashes, return_index=True, return_inverse=True)
        order = np.argsort(first)
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        distinct = cls._from(matrix, first[order], places[groups.ravel()])
        if _equal(distinct.rows[distinct.inverse], matrix):
            return distinct
        return cls._one_by_one(matrix)  # two different rows have the same hash

    @classmethod
    def _one_by_one(cls, matrix: csr_array) -> DistinctRows:
        """Compare rows byte by byte, without hashes of our own."""
        numbers: dict[tuple[bytes, bytes], int] = {}
        inverse = np.empty(matrix.shape[0], dtype=np.intp)
        first: list[int] = []
        for row, (start, end) in enumerate(itertools.pairwise(matrix.indptr.tolist())):
            content = (matrix.indices[start:end].tobytes(), matrix.data[start:end].tobytes())
            number = numbers.setdefault(content, len(first))
            if number == len(first):
                first.append(row)
            inverse[row] = number
        return cls._from(matrix, np.array(first, dtype=np.intp), inverse)

    @classmethod
    def _from(cls, matrix: csr_array, first: Places, inverse: Places) -> DistinctRows:
        counts = np.bincount(inverse, minlength=len(first)).astype(np.int64)
        return cls(matrix[first], inverse, counts)

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def weights(self) -> Array:
        """``counts`` as floating-point numbers."""
        return self.counts.astype(np.float64)

    @cached_property
    def _transposed(self) -> list[tuple[slice, csr_array]]:
        """Return the blocks of rows, transposed."""
        return [(block, csr_array(self.rows[block].T)) for block in blocks(len(self))]

    def cross(self, x: Array) -> Array:
        """Return rowsᵀ·X like :func:`cross`; faster from the second call on."""
        return tree_sum(np.asarray(part @ x[block]) for block, part in self._transposed)


def entries(matrix: csr_array, rows: IntArray | Ids, columns: IntArray | Ids) -> Array:
    """Return matrix[rows[i], columns[i]] for each i.

    Examples
    --------
    >>> entries(csr_array([[1, 0], [0, 2]]), np.array([1, 0]), np.array([1, 1]))
    array([2., 0.])
    """
    if not len(rows):
        return np.zeros(0)
    return np.asarray(matrix[rows, columns], dtype=np.float64).ravel()


def cross(matrix: csr_array, x: Array, weights: Ids | None = None) -> Array:
    """Return matrixᵀ·diag(weights)·X, added over blocks of rows in a fixed order.

    Parameters
    ----------
    matrix : sparse array of shape (n_rows, n_columns)
    x : ndarray of shape (n_rows, n_vectors)
    weights : ndarray of shape (n_rows,), optional
        Default: ones.
    """
    x = x if weights is None else x * weights[:, None]
    if not len(x):
        return np.zeros((matrix.shape[1], x.shape[1]))
    if len(x) <= BLOCK_ROWS:  # the same result, without a copy of the only block
        return np.asarray(matrix.T @ x, dtype=np.float64)
    parts = (np.asarray(matrix[block].T @ x[block], dtype=np.float64) for block in blocks(len(x)))
    return tree_sum(parts)


def _row_hashes(matrix: csr_array) -> NDArray[np.uint64]:
    """Return a number per row, equal for equal rows and rarely for others: a sum of hashes of its entries."""
    mixed = matrix.indices.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed += matrix.data.astype(np.float64).view(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    running = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    hashes: NDArray[np.uint64] = running[matrix.indptr[1:]] - running[matrix.indptr[:-1]]
    return hashes


def _equal(a: csr_array, b: csr_array) -> bool:
    return all(np.array_equal(getattr(a, part), getattr(b, part)) for part in ("indptr", "indices", "data"))
