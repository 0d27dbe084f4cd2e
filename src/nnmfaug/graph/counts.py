"""How often each entity is head or tail of each relation: the matrices A and B of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from nnmfaug.core.arrays import IntArray
from nnmfaug.core.sparse import DistinctRows, entries
from nnmfaug.graph.knowledge_graph import KnowledgeGraph, check_graph


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


def _count(entities: IntArray, relations: IntArray, times: NDArray[np.int64], shape: tuple[int, int]) -> csr_array:
    """How often each entity stands with each relation, when each triple counts so many times, or not at all."""
    counts = csr_array((times, (entities, relations)), shape=shape)
    counts.eliminate_zeros()
    return counts
