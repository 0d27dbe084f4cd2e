"""The rules that suit a graph, unless others are asked for."""

from __future__ import annotations

import numpy as np

from nnmfaug.augmenters.rules.rules import Rules
from nnmfaug.graph.knowledge_graph import KnowledgeGraph, check_graph

MAX_PATHS_PER_PAIR = 100
"""Number of paths of three steps that join two entities on average, up to which rules of three steps are mined.

Where there are more, three steps lead from nearly everything to nearly everything: such rules cost many times as
much as those of two steps, and crowd them out without recovering more triples.
"""


MIN_ENTITIES = 50
"""Number of entities from which on rules with constants are mined: they count entities."""


def default_rules(graph: KnowledgeGraph) -> Rules:
    """Rules of up to three steps, as far as the budget allows, of two for a dense graph; and with constants."""
    check_graph(graph)
    is_dense = paths_per_pair(graph) > MAX_PATHS_PER_PAIR
    has_enough = len(np.unique(graph.triples[:, [0, 2]])) >= MIN_ENTITIES
    return Rules(depth=2 if is_dense else 3, combine="fading", constants=has_enough)


def paths_per_pair(graph: KnowledgeGraph) -> float:
    """Return the number of paths of three steps divided by that of the pairs of entities that occur.

    Each triple (z, r, w), read in both directions, is the middle of degree(z) · degree(w) paths.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("a", "r", "b"), ("b", "r", "c")])
    >>> paths_per_pair(graph) == 2 * (1 * 2 + 2 * 1) / 9
    True
    """
    h, t = graph.triples[:, 0], graph.triples[:, 2]
    degree = np.bincount(np.concatenate([h, t]), minlength=graph.n_entities)
    n_entities = max(int(np.count_nonzero(degree)), 1)
    return float(2 * (degree[h] @ degree[t]) / n_entities**2)
