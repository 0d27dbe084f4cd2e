"""Completeness from the conclusions of highest confidence."""

from __future__ import annotations

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.completeness import (
    DEFAULT_COMPLETENESS,
    MIN_COMPLETENESS,
    highest_confidence_completeness,
)
from tests.quality.graphs import alike, noise, recovery_of, renamed


def test_the_fraction_left_out_does_not_determine_the_completeness() -> None:
    """Two graphs of different completeness are recovered alike, whatever the fraction."""
    for s in (0.1, 0.2, 0.3):
        recovered = [rho * q * s / (1 - rho * q * (1 - s)) for q, rho in ((0.9, 0.5), (0.5, 0.9))]
        assert recovered[0] == pytest.approx(recovered[1])


@pytest.mark.parametrize("missing", [0.1, 0.3])
def test_completeness_of_a_graph_with_facts_missing_at_random(missing: float) -> None:
    truth = na.family(200, seed=0).truth
    train = na.split(truth, valid=0, test=missing, seed=0).train
    assert na.estimate_completeness(train) == pytest.approx(1 - missing, abs=0.04)


@pytest.mark.parametrize(("n", "relations", "size"), [(60, 1, 284), (100, 5, 2500)])
def test_a_random_graph_has_the_lowest_completeness(n: int, relations: int, size: int) -> None:
    assert na.estimate_completeness(noise(n, relations, size, seed=0)) == MIN_COMPLETENESS


def test_without_rules_completeness_is_an_assumption() -> None:
    graph = KnowledgeGraph.from_labels([(f"a{i}", "r", f"b{i % 7}") for i in range(60)])
    assert na.estimate_completeness(graph) == DEFAULT_COMPLETENESS


def test_if_little_is_recovered_confidence_decides_which_conclusions_are_used() -> None:
    rng = np.random.default_rng(0)
    confidence = np.repeat([0.9, 0.2], [30, 70])
    recovered = np.repeat([True, False], [20, 80])
    order = rng.permutation(100)
    recovery = recovery_of(alike(np.zeros(100), confidence[order]), recovered[order])
    assert highest_confidence_completeness(recovery, 1) > 0.9


def test_completeness_does_not_depend_on_names() -> None:
    graph = na.read_splits("nations").train
    other, _ = renamed(graph, seed=5)
    assert na.estimate_completeness(other) == na.estimate_completeness(graph)
