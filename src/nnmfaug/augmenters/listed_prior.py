"""Any list of triples with confidences as a prior over the answers to a query, and its file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from nnmfaug.augmenters.base import Answers, Evidence
from nnmfaug.augmenters.listed import Listed
from nnmfaug.core.arrays import Ids
from nnmfaug.core.checks import require
from nnmfaug.graph.completions import Completions
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary
from nnmfaug.io.npz import read_arrays, write_arrays


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


_TYPES = {"train": "<i4", "triples": "<i4", "confidence": "<f8"}
"""The type of each array of the file."""


def write_listed_prior(prior: ListedPrior, draft: Path) -> None:
    """Write the train graph and the listed triples with their confidences, but neither names nor evidence."""
    dist = prior.dist
    write_arrays(draft, {"train": dist.graph.triples, "triples": dist.triples, "confidence": dist.confidence})


def read_listed_prior(path: Path, vocabulary: Vocabulary) -> ListedPrior:
    """Read what :func:`write_listed_prior` wrote; a damaged file raises one of the errors in ``BROKEN``."""
    arrays = read_arrays(path, _TYPES)
    require(set(arrays) == set(_TYPES), f"it must contain {', '.join(_TYPES)}")
    graph = KnowledgeGraph(vocabulary, arrays["train"])
    listed = KnowledgeGraph(vocabulary, arrays["triples"])
    confidence = arrays["confidence"]
    require(confidence.shape == (len(listed),), "there must be one confidence for each of the triples")
    is_good = (confidence > 0) & (confidence <= 1)
    require(bool(is_good.all()), "confidence must be above 0 and at most 1")
    return ListedPrior(Listed(graph, listed.triples, confidence))
