"""The affinity C = A·Bᵀ of the paper, which is never formed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nnmfaug.core.arrays import Array
from nnmfaug.core.parallel import blocks
from nnmfaug.core.sparse import DistinctRows, cross
from nnmfaug.graph.counts import Counts


@dataclass(frozen=True)
class Affinity:
    """The matrix C = A·Bᵀ (Eq. 5) as its two factors, for products and statistics in O(nnz(A) + nnz(B)).

    Rows of A and B may stand for several equal rows of the full matrices: ``row_weights`` and ``column_weights``
    say for how many, and sums, means, norms and products over rows or columns count them as often.

    Examples
    --------
    >>> from nnmfaug import KnowledgeGraph
    >>> graph = KnowledgeGraph.from_labels([("a", "likes", "b"), ("a", "likes", "c"), ("c", "likes", "b")])
    >>> c = Affinity.of(Counts.of(graph))
    >>> c.row(0), c.entry(0, 1), c.sum(), c.n_nonzero()
    (array([0., 4., 2.]), 4.0, 9.0, 4)
    """

    a: csr_array
    b: csr_array
    row_weights: NDArray[np.int64] | None = None
    column_weights: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, counts: Counts) -> Affinity:
        """Return C of the counts of a graph."""
        return cls(counts.heads, counts.tails)

    @property
    def shape(self) -> tuple[int, int]:
        """Of the matrix as it is held, equal rows and columns once."""
        return int(self.a.shape[0]), int(self.b.shape[0])

    def matmul(self, x: Array) -> Array:
        """C·X, summing over all columns of the full matrix."""
        return np.asarray(self.a @ cross(self.b, x, self.column_weights))

    def rmatmul(self, x: Array) -> Array:
        """Cᵀ·X, summing over all rows of the full matrix."""
        return np.asarray(self.b @ cross(self.a, x, self.row_weights))

    def entry(self, i: int, j: int) -> float:
        """C[i, j]."""
        return float(self.row(i)[j])

    def row(self, i: int) -> Array:
        """C[i]."""
        return np.asarray(self.b @ self.a[[i]].toarray()[0], dtype=np.float64)

    def sum(self) -> float:
        """Sum of all entries of the full matrix."""
        return float(_weighted_sum(self.a, self.row_weights) @ _weighted_sum(self.b, self.column_weights))

    def mean(self) -> float:
        """Mean of all entries of the full matrix."""
        return self.sum() / (_total(self.a, self.row_weights) * _total(self.b, self.column_weights))

    def squared_norm(self) -> float:
        """‖C‖² of the full matrix, by ‖A·Bᵀ‖² = tr(AᵀA·BᵀB)."""
        grams = [cross(m, m.toarray(), w) for m, w in ((self.a, self.row_weights), (self.b, self.column_weights))]
        return float(np.sum(grams[0] * grams[1]))

    def n_nonzero(self) -> int:
        """Number of entries of the full matrix that are not zero; rows of one sign pattern count together."""
        left, right = _patterns(self.a, self.row_weights), _patterns(self.b, self.column_weights)
        total = 0
        for block in blocks(len(left), size=1024):
            hits = (left.rows[block] @ right.rows.T).toarray() > 0
            total += int(left.counts[block] @ (hits @ right.counts))
        return total


def _weighted_sum(matrix: csr_array, weights: NDArray[np.int64] | None) -> Array:
    rows = matrix.shape[0]
    return cross(matrix, np.ones((rows, 1)), weights)[:, 0]


def _total(matrix: csr_array, weights: NDArray[np.int64] | None) -> int:
    return int(matrix.shape[0] if weights is None else weights.sum())


def _patterns(matrix: csr_array, weights: NDArray[np.int64] | None) -> DistinctRows:
    """Distinct rows of where the matrix is not zero, counted with their weights."""
    ones: Any = matrix.astype(bool).astype(np.int64)
    found = DistinctRows.of(csr_array(ones))
    if weights is None:
        return found
    counts = np.bincount(found.inverse, weights=weights, minlength=len(found)).astype(np.int64)
    return DistinctRows(found.rows, found.inverse, counts)
