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


def test_triples_outside_of_the_list_have_no_evidence() -> None:
    graph = na.family(40, seed=0).given
    dist = na.Mixture().fit(graph)
    with pytest.raises(ValueError, match="is not among the listed triples"):
        dist.explain(np.array(graph.triples[:1]))
