"""Conclusions and refits with known answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import nnmfaug as na
from nnmfaug.augmenters.listed import Listed
from nnmfaug.core.arrays import Array, Bools
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.holdout import Conclusions, Refits, refit


def alike(relations: npt.ArrayLike, confidence: Array) -> Conclusions:
    """Triples of these relations, each with its own head and tail, about which the graph has one triple."""
    n = len(confidence)
    rows = np.stack([np.arange(n), np.asarray(relations), n + np.arange(n)], axis=1).astype(np.int32)
    return Conclusions(rows, confidence, np.zeros(n, dtype=np.int64), np.ones((n, 2), dtype=np.int64))


def noise(n_entities: int, n_relations: int, size: int, seed: int) -> KnowledgeGraph:
    """A graph of random triples."""
    ids = np.random.default_rng(seed).integers(0, [n_entities, n_relations, n_entities], size=(size, 3))
    return KnowledgeGraph.from_labels([(f"e{h}", f"r{r}", f"e{t}") for h, r, t in ids.tolist() if h != t])


@dataclass(frozen=True, eq=False)
class Uneven:
    """A graph with nearly all facts about half of the people, and less than half of those about the others.

    ``true`` says which conclusions of the full fit are true.
    """

    graph: KnowledgeGraph
    conclusions: Conclusions
    refits: Refits
    true: Bools
    completeness: float

    @property
    def well_known(self) -> Bools:
        return np.asarray(self.conclusions.triples[:, 0] < 200)

    @property
    def certain(self) -> Bools:
        return np.asarray(self.conclusions.triples[:, 1] == 0)


def uneven_graph() -> Uneven:
    """All conclusions of relation 0 are true, and half of relation 1, which are about the well-known only."""
    rng = np.random.default_rng(0)
    person, relation, thing = (ids.ravel() for ids in np.mgrid[:400, :2, 400:500])
    possible = (relation == 0) | (person < 200)
    rows = np.column_stack([person, relation, thing])[possible].astype(np.int32)
    well_known = rows[:, 0] < 200
    certain = rows[:, 1] == 0
    true = certain | (rng.random(len(rows)) < 0.5)
    known = true & (rng.random(len(rows)) < np.where(well_known, 0.95, 0.4))
    confidence = np.where(certain, 0.9, 0.6)
    vocabulary = na.Vocabulary.from_names([f"e{i:03}" for i in range(500)], "ab")
    graph = KnowledgeGraph(vocabulary, rows[known])

    def fit(part: KnowledgeGraph) -> Listed:
        rest = ~part.contains(rows)
        return Listed(part, rows[rest], confidence[rest])

    full = fit(graph)
    conclusions = Conclusions.of(graph, full.triples, full.confidence)
    return Uneven(graph, conclusions, refit(fit, full, seed=0), true[~known], known.sum() / true.sum())
