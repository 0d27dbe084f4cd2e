"""Mixtures: calibrated lists, merged."""

from __future__ import annotations

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

pytestmark = pytest.mark.slow  # each fits several times


def test_three_triples_are_no_evidence() -> None:
    graph = KnowledgeGraph.from_labels([("a", "r", "b"), ("b", "r", "c"), ("c", "s", "a")])
    dist = na.Mixture((na.Rules(min_support=1), na.TypedTriples())).fit(graph)
    assert dist.confidence.max() < 0.2


@pytest.mark.parametrize("n", [200, 214, 300])
def test_equal_coverage_counts_for_nothing(n: int) -> None:
    """Couples have the same coverage; celebrities, with more facts, are the only ones without s."""
    rows = [(f"a{i:03}", "r", f"b{i:03}") for i in range(n)]
    rows += [(f"a{i:03}", "s", f"b{i:03}") for i in range(n) if i % 5]
    for i in range(20):
        rows += [(f"x{i}", "r", f"y{i}"), *((f"x{i}", "likes", f"z{i}-{j}") for j in range(30))]
    dist = na.Mixture().fit(KnowledgeGraph.from_labels(rows))
    assert dist.n_new > 20
    assert dist.confidence.max() < 0.05


def test_triples_outside_of_the_list_have_no_evidence() -> None:
    graph = na.family(40, seed=0).given
    dist = na.Mixture().fit(graph)
    with pytest.raises(ValueError, match="is not among the listed triples"):
        dist.explain(np.array(graph.triples[:1]))
