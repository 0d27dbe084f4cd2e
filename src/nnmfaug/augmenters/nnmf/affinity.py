"""The affinity C = A·Bᵀ of the paper (Eq. 5), which is never formed.

scipy's ``LinearOperator`` has products alone: no weights for equal rows, no mean, no norm, no number of non-zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from nnmfaug.augmenters.nnmf.many_relations import squared_norm
from nnmfaug.core.arrays import Array, Ids
from nnmfaug.core.blocks import blocks
from nnmfaug.core.sparse import DistinctRows, cross
from nnmfaug.graph.counts import Counts


@dataclass(frozen=True)
class Affinity:
    """The matrix C = A·Bᵀ (Eq. 5) as its two factors, for products and statistics in O(nnz(A) + nnz(B)).

    Parameters
    ----------
    a : sparse matrix of shape (n_rows, n_relations)
        A, or its distinct rows.
    b : sparse matrix of shape (n_columns, n_relations)
        B, or its distinct rows.
    row_weights, column_weights
        How many equal rows of the full matrices each row of ``a`` and of ``b`` represents; None for one each.
        Sums, means, norms and products count it as often.

    Examples
    --------
    >>> from nnmfaug import KnowledgeGraph
    >>> graph = KnowledgeGraph.from_labels([("a", "likes", "b"), ("a", "likes", "c"), ("c", "likes", "b")])
    >>> c = Affinity.of(graph.counts)
    >>> c.row(0), c.entry(0, 1), c.sum(), c.n_nonzero()
    (array([0., 4., 2.]), 4.0, 9.0, 4)
    """

    a: csr_array
    b: csr_array
    row_weights: Ids | None = None
    column_weights: Ids | None = None

    @classmethod
    def of(cls, counts: Counts) -> Affinity:
        """Return C for the counts A and B of a graph."""
        return cls(counts.heads, counts.tails)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns, each set of equal ones counted once."""
        return int(self.a.shape[0]), int(self.b.shape[0])

    def matmul(self, x: Array) -> Array:
        """C·X = A·(Bᵀ·X), summed over all columns of the full matrix."""
        return np.asarray(self.a @ cross(self.b, x, self.column_weights))

    def rmatmul(self, x: Array) -> Array:
        """Cᵀ·X = B·(Aᵀ·X), summed over all rows of the full matrix."""
        return np.asarray(self.b @ cross(self.a, x, self.row_weights))

    def entry(self, i: int, j: int) -> float:
        """C[i, j]."""
        return float(self.row(i)[j])

    def row(self, i: int) -> Array:
        """C[i]."""
        return np.asarray(self.b @ self.a[[i]].toarray()[0], dtype=np.float64)

    def sum(self) -> float:
        """Sum of all entries of the full matrix, (1ᵀA)·(1ᵀB)ᵀ."""
        sum_a = _weighted_sum(self.a, self.row_weights)
        sum_b = _weighted_sum(self.b, self.column_weights)
        return float(sum_a @ sum_b)

    def mean(self) -> float:
        """Mean of all entries of the full matrix."""
        n_rows = _total(self.a, self.row_weights)
        n_columns = _total(self.b, self.column_weights)
        return self.sum() / (n_rows * n_columns)

    def squared_norm(self) -> float:
        """‖C‖² of the full matrix, by ‖A·Bᵀ‖² = tr(AᵀA·BᵀB)."""
        row_weights = _ones(self.a) if self.row_weights is None else self.row_weights
        column_weights = _ones(self.b) if self.column_weights is None else self.column_weights
        return squared_norm(self.a, self.b, row_weights, column_weights)

    def n_nonzero(self) -> int:
        """Number of non-zero entries of the full matrix.

        Rows with the same pattern of non-zeros are counted together.
        """
        left = _patterns(self.a, self.row_weights)
        right = _patterns(self.b, self.column_weights)
        total = 0
        for block in blocks(len(left), size=1024):
            is_nonzero = (left.rows[block] @ right.rows.T).toarray() > 0
            total += int(left.counts[block] @ (is_nonzero @ right.counts))
        return total


def _weighted_sum(matrix: csr_array, weights: Ids | None) -> Array:
    """Sum of the rows, 1ᵀ·diag(weights)·M, shape (n_relations,)."""
    ones = np.ones((matrix.shape[0], 1))
    return cross(matrix, ones, weights)[:, 0]


def _ones(matrix: csr_array) -> Ids:
    """A weight of 1 for each row."""
    return np.ones(matrix.shape[0], dtype=np.int64)


def _total(matrix: csr_array, weights: Ids | None) -> int:
    """Number of rows of the full matrix."""
    return int(matrix.shape[0] if weights is None else weights.sum())


def _patterns(matrix: csr_array, weights: Ids | None) -> DistinctRows:
    """Distinct patterns of non-zeros of the rows, counted with their weights."""
    ones: Any = matrix.astype(bool).astype(np.int64)
    patterns = DistinctRows.of(csr_array(ones))
    if weights is None:
        return patterns
    counts = np.bincount(patterns.inverse, weights=weights, minlength=len(patterns)).astype(np.int64)
    return DistinctRows(patterns.rows, patterns.inverse, counts)
