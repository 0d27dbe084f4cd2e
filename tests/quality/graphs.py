"""Conclusions and graphs with known answers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nnmfaug.core.arrays import Array, Bools
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.recovery import Conclusions, Recovery


def alike(relations: npt.ArrayLike, confidence: Array) -> Conclusions:
    """Conclusions of these relations that are all of the same kind."""
    return Conclusions(np.asarray(relations, np.int64), np.zeros(len(confidence), np.int64), confidence)


def recovery_of(conclusions: Conclusions, recovered: Bools, fraction: float = 0.1) -> Recovery:
    """Conclusions in five folds."""
    return Recovery(conclusions, recovered, np.arange(len(recovered)) % 5, fraction)


def noise(n_entities: int, n_relations: int, size: int, seed: int) -> KnowledgeGraph:
    """A graph of random triples."""
    ids = np.random.default_rng(seed).integers(0, [n_entities, n_relations, n_entities], size=(size, 3))
    return KnowledgeGraph.from_labels([(f"e{h}", f"r{r}", f"e{t}") for h, r, t in ids.tolist() if h != t])


def renamed(graph: KnowledgeGraph, seed: int) -> tuple[KnowledgeGraph, dict[str, str]]:
    """The graph with other names of entities in another order, and the old name of each new one."""
    names = graph.vocabulary.entities
    order = np.random.default_rng(seed).permutation(len(names))
    new_names = {name: f"n{place:06}" for name, place in zip(names, order.tolist(), strict=True)}
    labels = graph.labels()
    lines = [labels[i] for i in np.random.default_rng(seed + 1).permutation(len(labels)).tolist()]
    rows = [(new_names[h], r, new_names[t]) for h, r, t in lines]
    return KnowledgeGraph.from_labels(rows), {new: old for old, new in new_names.items()}
