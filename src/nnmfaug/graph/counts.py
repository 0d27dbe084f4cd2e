"""How often an entity is head or tail of a relation, A and B, and the affinity C = A·Bᵀ that is never formed."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from nnmfaug.core.parallel import BLOCK_ROWS, blocks, tree_sum
from nnmfaug.graph.knowledge_graph import KnowledgeGraph, check_graph
from nnmfaug.graph.vocabulary import IntArray

Array = NDArray[np.float64]


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


@dataclass(frozen=True)
class Counts:
    """A (Eq. 3) and B (Eq. 4), sparse, of shape (n_entities, n_relations). Self-loops do not count.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("a", "likes", "b"), ("a", "likes", "c"), ("a", "likes", "a")])
    >>> counts = Counts.of(graph)
    >>> counts.heads.toarray().ravel(), counts.tails.toarray().ravel()
    (array([2, 0, 0]), array([0, 1, 1]))
    >>> counts.n_distinct_rows()
    2
    """

    heads: csr_array
    tails: csr_array

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> Counts:
        """Count the triples of a graph."""
        check_graph(graph)
        h, r, t = graph.triples.T
        times, shape = (h != t).astype(np.int64), (graph.n_entities, graph.n_relations)
        return cls(_count(h, r, times, shape), _count(t, r, times, shape))

    @property
    def n_entities(self) -> int:
        """Number of rows."""
        return int(self.heads.shape[0])

    @property
    def n_relations(self) -> int:
        """Number of columns."""
        return int(self.heads.shape[1])

    @cached_property
    def seen(self) -> NDArray[np.bool_]:
        """Which entities have a triple that counts."""
        return (np.diff(self.heads.indptr) > 0) | (np.diff(self.tails.indptr) > 0)

    @cached_property
    def head_rows(self) -> DistinctRows:
        """The distinct rows of A."""
        return DistinctRows.of(self.heads)

    @cached_property
    def tail_rows(self) -> DistinctRows:
        """The distinct rows of B."""
        return DistinctRows.of(self.tails)

    @cached_property
    def affinity(self) -> Affinity:
        """C = A·Bᵀ (Eq. 5)."""
        return Affinity(self.heads, self.tails)

    def reachable(self, triples: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Say for each row of ids whether head and tail differ and each occurs with the relation in its place.

        Only such triples can be generated without smoothing, and only if head and tail share a cluster.
        """
        h, r, t = triples.T
        return np.asarray((h != t) & (entries(self.heads, h, r) > 0) & (entries(self.tails, t, r) > 0))

    def n_reachable(self) -> int:
        """Number of such triples: Σ over relations of |heads|·|tails| − |both|."""
        heads, tails = (matrix.astype(bool) for matrix in (self.heads, self.tails))
        both = np.asarray(heads.multiply(tails).sum(axis=0), dtype=np.int64).ravel()
        n_heads, n_tails = (np.asarray(m.sum(axis=0), dtype=np.int64).ravel() for m in (heads, tails))
        return int((n_heads * n_tails - both).sum())

    def n_distinct_rows(self) -> int:
        """Number of different rows of [A B] among entities that have a triple."""
        both = csr_array(hstack([self.heads, self.tails]))[self.seen]
        return len(DistinctRows.of(both))


@dataclass(frozen=True)
class Affinity:
    """The matrix C = A·Bᵀ (Eq. 5) as its two factors, for products and statistics in O(nnz(A) + nnz(B)).

    Rows of A and B may stand for several equal rows of the full matrices: ``row_weights`` and ``column_weights``
    say for how many, and sums, means, norms and products over rows or columns count them as often.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("a", "likes", "b"), ("a", "likes", "c"), ("c", "likes", "b")])
    >>> c = Counts.of(graph).affinity
    >>> c.row(0), c.entry(0, 1), c.sum(), c.n_nonzero()
    (array([0., 4., 2.]), 4.0, 9.0, 4)
    """

    a: csr_array
    b: csr_array
    row_weights: NDArray[np.int64] | None = None
    column_weights: NDArray[np.int64] | None = None

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


def _count(entities: IntArray, relations: IntArray, times: NDArray[np.int64], shape: tuple[int, int]) -> csr_array:
    """How often each entity stands with each relation, when each triple counts so many times, or not at all."""
    counts = csr_array((times, (entities, relations)), shape=shape)
    counts.eliminate_zeros()
    return counts
