"""The rules that suit a graph, unless others are asked for."""

from __future__ import annotations

import numpy as np

from nnmfaug.augmenters.rules.rules import Rules
from nnmfaug.graph.knowledge_graph import KnowledgeGraph, check_graph

MAX_RELATIONS = 30
"""Rules of three steps are mined for at most so many relations, …"""
MAX_TRIPLES = 100_000
"""… so many triples, …"""
MAX_DEGREE = 10
"""… and so many triples per entity."""


def default_rules(graph: KnowledgeGraph) -> Rules:
    """Rules of up to three steps for a small and sparse graph with few relations, of two otherwise."""
    check_graph(graph)
    n_relations = len(np.unique(graph.triples[:, 1]))
    n_entities = len(np.unique(graph.triples[:, [0, 2]]))
    small = n_relations <= MAX_RELATIONS and len(graph) <= MAX_TRIPLES
    sparse = len(graph) <= MAX_DEGREE * max(n_entities, 1)
    return Rules(depth=3 if small and sparse else 2, combine="fading")
