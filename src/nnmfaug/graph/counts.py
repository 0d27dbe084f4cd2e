"""Numbers of triples of each entity with each relation: the matrices A and B of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, hstack

from nnmfaug.core.arrays import Bools, Ids, IntArray
from nnmfaug.core.sparse import DistinctRows, entries
from nnmfaug.graph.knowledge_graph import KnowledgeGraph, check_graph


@dataclass(frozen=True)
class Counts:
    """The matrices A (Eq. 3) and B (Eq. 4) of a graph G. Self-loops do not count.

    A[e, r] = |{t : (e, r, t) ∈ G, t ≠ e}|,  B[e, r] = |{h : (h, r, e) ∈ G, h ≠ e}|

    Parameters
    ----------
    heads : sparse array of shape (n_entities, n_relations)
        A.
    tails : sparse array of shape (n_entities, n_relations)
        B.

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
        """Return the counts of a graph."""
        check_graph(graph)
        h, r, t = graph.triples.T
        times = (h != t).astype(np.int64)
        shape = (graph.n_entities, graph.n_relations)
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
    def seen(self) -> Bools:
        """Mask of the entities that have a triple that is not a self-loop, shape (n_entities,)."""
        return (np.diff(self.heads.indptr) > 0) | (np.diff(self.tails.indptr) > 0)

    @cached_property
    def head_rows(self) -> DistinctRows:
        """The distinct rows of A."""
        return DistinctRows.of(self.heads)

    @cached_property
    def tail_rows(self) -> DistinctRows:
        """The distinct rows of B."""
        return DistinctRows.of(self.tails)

    def reachable(self, triples: IntArray) -> Bools:
        """Return for each row of ids whether h ≠ t, A[h, r] > 0 and B[t, r] > 0.

        Only such triples can be generated without smoothing, and only if head and tail are in one cluster.
        """
        h, r, t = triples.T
        is_head = entries(self.heads, h, r) > 0
        is_tail = entries(self.tails, t, r) > 0
        return np.asarray((h != t) & is_head & is_tail)

    def n_reachable(self) -> int:
        """Return the number of reachable triples, Σ_r |heads(r)|·|tails(r)| − |heads(r) ∩ tails(r)|."""
        is_head = self.heads.astype(bool)
        is_tail = self.tails.astype(bool)
        n_heads = _column_sums(is_head)
        n_tails = _column_sums(is_tail)
        n_both = _column_sums(csr_array(is_head.multiply(is_tail)))
        return int((n_heads * n_tails - n_both).sum())

    def n_distinct_rows(self) -> int:
        """Return the number of distinct rows of [A B] among entities that have a triple."""
        both = csr_array(hstack([self.heads, self.tails]))[self.seen]
        return len(DistinctRows.of(both))


def _column_sums(matrix: csr_array) -> Ids:
    return np.asarray(matrix.sum(axis=0), dtype=np.int64).ravel()


def _count(entities: IntArray, relations: IntArray, times: Ids, shape: tuple[int, int]) -> csr_array:
    """Return the sum of ``times`` over the triples of each entity and relation."""
    counts = csr_array((times, (entities, relations)), shape=shape)
    counts.eliminate_zeros()
    return counts
