"""How often an entity is head or tail of a relation: the matrices A and B of the paper."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack

from nnmfaug.graph import IntArray, KnowledgeGraph


@dataclass(frozen=True)
class Counts:
    """A (Eq. 3) and B (Eq. 4), sparse, with shape (n_entities, n_relations). Self-loops do not count.

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
        h, r, t = graph.triples[graph.triples[:, 0] != graph.triples[:, 2]].T
        shape = (graph.n_entities, graph.n_relations)
        return cls(_count(h, r, shape), _count(t, r, shape))

    def n_distinct_rows(self) -> int:
        """Number of different rows of [A B] among entities that have a triple."""
        rows = csr_array(hstack([self.heads, self.tails]))
        rows.sort_indices()
        ends = rows.indptr.tolist()
        spans = itertools.pairwise(ends)
        return len({(rows.indices[a:b].tobytes(), rows.data[a:b].tobytes()) for a, b in spans if a < b})


def _count(entities: IntArray, relations: IntArray, shape: tuple[int, int]) -> csr_array:
    ones = np.ones(len(entities), dtype=np.int64)
    return csr_array((ones, (entities, relations)), shape=shape)
