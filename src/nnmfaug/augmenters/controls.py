"""Generators that know next to nothing, to compare others with: any triple, or any of the right types."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnmfaug.augmenters.uniform import EntitySets, RelationProduct
from nnmfaug.core.arrays import Ids
from nnmfaug.graph.knowledge_graph import KnowledgeGraph, check_graph


@dataclass(frozen=True)
class RandomTriples:
    """Any triple of two different entities and a relation that occur in train, all equally probable.

    A triple of an entity with itself does not count as occurring.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("a", "likes", "b"), ("b", "knows", "c")])
    >>> dist = RandomTriples().fit(graph)
    >>> dist.support_size, dist.n_new
    (12, 10)
    >>> len(dist.sample(10, seed=0))
    10
    """

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> RelationProduct:  # noqa: ARG002  (as every augmenter)
        """Fit to a graph, which should be the train split alone; nothing is random here, whatever the seed."""
        h, r, t = _countable(graph).T
        relations, entities = np.unique(r), np.concatenate([h, t])
        everyone = EntitySets.of(np.zeros_like(entities), entities, n_sets=1, n_entities=graph.n_entities)
        n, zeros = len(relations), np.zeros_like(relations)
        return RelationProduct(graph, relations, np.full(n, 1 / n), zeros, zeros, everyone)


@dataclass(frozen=True)
class TypedTriples:
    """A relation by its frequency in train, and any two different entities that are its head and its tail there.

    A triple of an entity with itself does not count.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("a", "likes", "b"), ("b", "likes", "c"), ("a", "knows", "b")])
    >>> dist = TypedTriples().fit(graph)
    >>> dist.support_size, dist.sample(1, seed=0).labels
    (4, [('a', 'likes', 'c')])
    >>> np.exp(dist.log_prob(graph.triples)).round(3).tolist()
    [0.333, 0.222, 0.222]
    """

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> RelationProduct:  # noqa: ARG002  (as every augmenter)
        """Fit to a graph, which should be the train split alone; nothing is random here, whatever the seed."""
        h, r, t = _countable(graph).T
        relations, places, counts = np.unique(r, return_inverse=True, return_counts=True)
        n, heads = len(relations), np.arange(len(relations))
        sets = EntitySets.of(
            np.concatenate([places, n + places]), np.concatenate([h, t]), n_sets=2 * n, n_entities=graph.n_entities
        )
        return RelationProduct(graph, relations, counts / len(r), heads, n + heads, sets)


def _countable(graph: KnowledgeGraph) -> Ids:
    check_graph(graph)
    triples: Ids = graph.triples[graph.triples[:, 0] != graph.triples[:, 2]].astype(np.int64)
    if not len(triples):
        msg = "the graph has no triple between two different entities"
        raise ValueError(msg)
    return triples
