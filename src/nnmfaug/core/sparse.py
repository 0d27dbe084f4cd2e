"""Sparse matrices: their distinct rows, their entries, and products that are added in a fixed order."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nnmfaug.core.arrays import Array, IntArray
from nnmfaug.core.parallel import BLOCK_ROWS, blocks, tree_sum


@dataclass(frozen=True)
class DistinctRows:
    """The different rows of a matrix: ``rows[inverse]`` is the matrix, ``counts`` how often each stands there."""

    rows: csr_array
    inverse: NDArray[np.intp]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, matrix: csr_array) -> DistinctRows:
        """Find them; they keep the order in which they first occur."""
        matrix = matrix.copy()
        matrix.sum_duplicates()
        _, first, groups = np.unique(_row_hashes(matrix), return_index=True, return_inverse=True)
        order = np.argsort(first)
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        found = cls._from(matrix, first[order], places[groups.ravel()])
        if _equal(found.rows[found.inverse], matrix):
            return found
        return cls._one_by_one(matrix)  # two different rows with one hash

    @classmethod
    def _one_by_one(cls, matrix: csr_array) -> DistinctRows:
        ends, indices, data = matrix.indptr, matrix.indices, matrix.data
        numbers: dict[tuple[bytes, bytes], int] = {}
        inverse = np.empty(matrix.shape[0], dtype=np.intp)
        first: list[int] = []
        for row, (a, b) in enumerate(itertools.pairwise(ends.tolist())):
            number = numbers.setdefault((indices[a:b].tobytes(), data[a:b].tobytes()), len(first))
            if number == len(first):
                first.append(row)
            inverse[row] = number
        return cls._from(matrix, np.array(first, dtype=np.intp), inverse)

    @classmethod
    def _from(cls, matrix: csr_array, first: NDArray[np.intp], inverse: NDArray[np.intp]) -> DistinctRows:
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
        """The blocks of rows, transposed."""
        return [(block, csr_array(self.rows[block].T)) for block in blocks(len(self))]

    def cross(self, x: Array) -> Array:
        """Rowsᵀ·X, as :func:`cross`, faster when asked again."""
        return tree_sum(np.asarray(part @ x[block]) for block, part in self._transposed)


def entries(matrix: csr_array, rows: IntArray | NDArray[np.int64], columns: IntArray | NDArray[np.int64]) -> Array:
    """matrix[rows[i], columns[i]] for each i."""
    if not len(rows):
        return np.zeros(0)
    return np.asarray(matrix[rows, columns], dtype=np.float64).ravel()


def cross(matrix: csr_array, x: Array, weights: NDArray[np.int64] | None = None) -> Array:
    """Matrixᵀ·diag(weights)·X over blocks of rows, added in a fixed order."""
    x = x if weights is None else x * weights[:, None]
    if 0 < len(x) <= BLOCK_ROWS:  # the same, without a copy of the only block
        return np.asarray(matrix.T @ x, dtype=np.float64)
    parts = (np.asarray(matrix[block].T @ x[block], dtype=np.float64) for block in blocks(len(x)))
    return tree_sum(parts) if len(x) else np.zeros((matrix.shape[1], x.shape[1]))


def _row_hashes(matrix: csr_array) -> NDArray[np.uint64]:
    """A number per row, equal for equal rows and hardly ever for others: a sum of scrambled entries."""
    mixed = matrix.indices.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed += matrix.data.astype(np.float64).view(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    running = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    hashes: NDArray[np.uint64] = running[matrix.indptr[1:]] - running[matrix.indptr[:-1]]
    return hashes


def _equal(a: csr_array, b: csr_array) -> bool:
    return all(np.array_equal(getattr(a, part), getattr(b, part)) for part in ("indptr", "indices", "data"))
