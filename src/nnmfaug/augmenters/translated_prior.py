"""A prior with the ids of another vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from nnmfaug.augmenters.base import Answers, Evidence, Prior
from nnmfaug.core.arrays import Ids
from nnmfaug.core.checks import require
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary

MISSING = -1
"""Stands for the id of a name that the prior does not have."""


def with_names(prior: Prior, names: Vocabulary) -> Prior:
    """Return a prior with the ids of a vocabulary that contains all its names."""
    return prior if prior.graph.vocabulary == names else TranslatedPrior(prior, names)


@dataclass(frozen=True, eq=False)
class TranslatedPrior:
    """A prior with the ids of a larger vocabulary; names that it does not have get no answers.

    Parameters
    ----------
    prior
        A prior with ids of its own.
    names
        The vocabulary whose ids are used.

    Examples
    --------
    >>> import nnmfaug as na
    >>> graph = KnowledgeGraph.from_labels([("b", "likes", "c")])
    >>> dist = na.Listed(graph, np.array([[1, 0, 0]], dtype=np.int32), np.array([0.5]))
    >>> prior = with_names(na.ListedPrior(dist), Vocabulary(("a", "b", "c"), ("likes",)))
    >>> prior.answers(np.array([[0, 0], [2, 0]]), heads=False)
    Answers(rows=array([1]), entities=array([1]), probability=array([0.5]))
    """

    prior: Prior
    names: Vocabulary

    def __post_init__(self) -> None:
        prior_names = self.prior.graph.vocabulary
        missing = [name for name in prior_names.entities if name not in self.names.entity_ids]
        missing += [name for name in prior_names.relations if name not in self.names.relation_ids]
        require(not missing, f"the prior has names that the model does not have, such as {missing[:1]}")

    @cached_property
    def graph(self) -> KnowledgeGraph:
        """The train graph, over the larger vocabulary."""
        return self.prior.graph.with_vocabulary(self.names)

    @cached_property
    def _entities(self) -> Ids:
        """The id here of each entity of the prior."""
        return _ids(self.prior.graph.vocabulary.entities, self.names.entity_ids)

    @cached_property
    def _prior_entities(self) -> Ids:
        """The id in the prior of each entity."""
        return _ids(self.names.entities, self.prior.graph.vocabulary.entity_ids)

    @cached_property
    def _prior_relations(self) -> Ids:
        return _ids(self.names.relations, self.prior.graph.vocabulary.relation_ids)

    def answers(self, pairs: Ids, *, heads: bool) -> Answers:
        """Return the answers of the prior; none to a query about a name that it does not have."""
        prior_pairs = np.stack([self._prior_entities[pairs[:, 0]], self._prior_relations[pairs[:, 1]]], axis=1)
        asked = np.flatnonzero((prior_pairs != MISSING).all(axis=1))
        rows, entities, probability = self.prior.answers(prior_pairs[asked], heads=heads)
        return Answers(asked[rows], self._entities[entities], probability)

    def explain(self, triples: ArrayLike) -> list[Evidence]:
        """Return the evidence for each row of ids, shape (n, 3), of names that the prior has."""
        h, r, t = np.asarray(triples).reshape(-1, 3).T
        prior_triples = (self._prior_entities[h], self._prior_relations[r], self._prior_entities[t])
        return self.prior.explain(np.stack(prior_triples, axis=1).astype(np.int32))


def _ids(names: tuple[str, ...], ids: dict[str, int]) -> Ids:
    return np.fromiter((ids.get(name, MISSING) for name in names), dtype=np.int64, count=len(names))
