"""Augmenters that know next to nothing, to compare others with: any triple, any of the right types, a repeat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnmfaug.augmenters.entity_sets import EntitySets
from nnmfaug.augmenters.listed import Listed
from nnmfaug.augmenters.uniform import RelationUniform
from nnmfaug.core.arrays import Ids
from nnmfaug.core.seeding import Stream, generator
from nnmfaug.graph.knowledge_graph import KnowledgeGraph, check_graph


@dataclass(frozen=True)
class RandomTriples:
    """Any triple of two different entities and a relation that occur in train, all equally probable.

    Self-loops do not count.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("a", "likes", "b"), ("b", "knows", "c")])
    >>> dist = RandomTriples().fit(graph)
    >>> dist.support_size, dist.n_new
    (12, 10)
    >>> len(dist.sample(10, seed=0))
    10
    """

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> RelationUniform:  # noqa: ARG002  (as every augmenter)
        """Fit to a graph, which should be the train split alone; the seed changes nothing."""
        h, r, t = _countable(graph).T
        relations = np.unique(r)
        entities = np.concatenate([h, t])
        everyone = EntitySets.of(np.zeros_like(entities), entities, n_sets=1, n_entities=graph.n_entities)
        chances = np.full(len(relations), 1 / len(relations))
        only_set = np.zeros_like(relations)
        return RelationUniform(graph, relations, chances, only_set, only_set, everyone)


@dataclass(frozen=True)
class TypedTriples:
    """A relation by its frequency in train, and any two different entities that are its head and its tail there.

    Self-loops do not count.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("a", "likes", "b"), ("b", "likes", "c"), ("a", "knows", "b")])
    >>> dist = TypedTriples().fit(graph)
    >>> dist.support_size, dist.sample(1, seed=0).labels
    (4, [('a', 'likes', 'c')])
    >>> np.exp(dist.log_prob(graph.triples)).round(3).tolist()
    [0.333, 0.222, 0.222]
    """

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> RelationUniform:  # noqa: ARG002  (as every augmenter)
        """Fit to a graph, which should be the train split alone; the seed changes nothing."""
        h, r, t = _countable(graph).T
        relations, places, counts = np.unique(r, return_inverse=True, return_counts=True)
        n = len(relations)
        set_numbers = np.concatenate([places, n + places])  # heads first, then tails
        members = np.concatenate([h, t])
        sets = EntitySets.of(set_numbers, members, n_sets=2 * n, n_entities=graph.n_entities)
        head_sets = np.arange(n)
        return RelationUniform(graph, relations, counts / len(r), head_sets, n + head_sets, sets)


@dataclass(frozen=True)
class Duplicate:
    """Train triples once more, in random order: a control for training longer on the same triples.

    Unlike other augmenters it lists triples of train.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("a", "likes", "b"), ("b", "knows", "c")])
    >>> len(Duplicate().fit(graph).top(1))
    1
    """

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> Listed:
        """Shuffle the train triples."""
        check_graph(graph)
        order = generator(seed, Stream.DUPLICATE).permutation(len(graph))
        return Listed(graph, graph.triples[order], np.ones(len(graph)))


def _countable(graph: KnowledgeGraph) -> Ids:
    check_graph(graph)
    triples: Ids = graph.triples[graph.triples[:, 0] != graph.triples[:, 2]].astype(np.int64)
    if not len(triples):
        msg = "the graph has no triple between two different entities"
        raise ValueError(msg)
    return triples
