"""What a graph contains beside a triple."""

from __future__ import annotations

import numpy as np

import nnmfaug as na
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.recovery import kinds


def test_kinds_state_which_pairs_occur() -> None:
    graph = KnowledgeGraph.from_labels([("a", "r", "b"), ("c", "r", "d"), ("a", "s", "d")])
    ids = KnowledgeGraph.from_labels(
        [("a", "r", "c"), ("b", "r", "d"), ("a", "r", "d"), ("b", "s", "a"), ("c", "s", "d")],
        graph.vocabulary,
        sort=False,
    )
    assert kinds(graph, ids.triples).tolist() == [1, 2, 7, 0, 6]


def test_a_triple_does_not_count_beside_itself() -> None:
    graph = na.family(40, seed=0).given
    every_third = np.arange(len(graph)) % 3 == 0
    expected = []
    for row in np.flatnonzero(every_third).tolist():
        rest = KnowledgeGraph(graph.vocabulary, np.delete(graph.triples, row, axis=0))
        expected += kinds(rest, graph.triples[[row]]).tolist()
    assert kinds(graph, graph.triples[every_third]).tolist() == expected
