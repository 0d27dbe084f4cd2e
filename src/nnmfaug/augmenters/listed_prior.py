"""Any list of triples with confidences as a prior over the answers to a query."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from nnmfaug.augmenters.base import Answers, Evidence
from nnmfaug.augmenters.listed import Listed
from nnmfaug.core.arrays import Ids
from nnmfaug.graph.completions import Completions
from nnmfaug.graph.knowledge_graph import KnowledgeGraph


@dataclass(frozen=True, eq=False)
class ListedPrior:
    """The listed triples that complete a query; the probability of each is its confidence.

    Triples of train are never listed, so they get no probability.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("a", "likes", "b"), ("b", "likes", "c")])
    >>> dist = Listed(graph, np.array([[0, 0, 2], [1, 0, 0]], dtype=np.int32), np.array([0.75, 0.25]))
    >>> tails = ListedPrior(dist).answers(np.array([[0, 0]]), heads=False)
    >>> tails.entities.tolist(), tails.probability.tolist()
    ([2], [0.75])
    """

    dist: Listed

    @property
    def graph(self) -> KnowledgeGraph:
        """The train graph."""
        return self.dist.graph

    @cached_property
    def _heads(self) -> Completions:
        triples = self.dist.triples.astype(np.int64)
        return Completions(triples[:, [2, 1]], triples[:, 0], self.graph.n_relations)

    @cached_property
    def _tails(self) -> Completions:
        triples = self.dist.triples.astype(np.int64)
        return Completions(triples[:, [0, 1]], triples[:, 2], self.graph.n_relations)

    def answers(self, pairs: Ids, *, heads: bool) -> Answers:
        """Return the listed heads of (?, relation, entity), or tails of (entity, relation, ?)."""
        completions = self._heads if heads else self._tails
        rows, places = completions.triples_of(pairs)
        entities = self.dist.triples[places, 0 if heads else 2].astype(np.int64)
        return Answers(rows, entities, self.dist.confidence[places])

    def explain(self, triples: ArrayLike) -> list[Evidence]:
        """Return the evidence for each row of ids, shape (n, 3)."""
        return self.dist.explain(triples)
