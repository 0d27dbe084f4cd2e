"""Path counts equal a walk over the triples; a budget leaves out the most expensive, of equal ones all or none."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from nnmfaug.augmenters.rules.paths import affordable, beginnings
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from tests.adversarial import relations_of_one_hub
from tests.augmenters.rules.test_steps import toy_graphs, walk_path
from tests.examples import examples


@given(graph=toy_graphs(), least=st.integers(1, 6))
@settings(max_examples=examples(40))
def test_beginnings_have_as_many_paths_as_a_walk_even_those_that_return(graph: KnowledgeGraph, least: int) -> None:
    steps = Steps(graph)
    for length in (2, 3):
        expected = {}
        for first, second in itertools.product(range(steps.n_steps), repeat=2):
            n_two = len(walk_path(graph, (first, second)))
            lasts = [(last,) for last in range(steps.n_steps)] if length == 3 else [()]
            n_paths = sum(len(walk_path(graph, (first, second, *last))) for last in lasts)
            if n_paths >= least:
                expected[first, second] = (n_two, n_paths)
        counted = beginnings(steps, length, least)
        assert counted is not None
        rows = zip(counted.first, counted.second, counted.n_two, counted.n_paths, strict=True)
        assert {(int(a), int(b)): (int(two), int(n)) for a, b, two, n in rows} == expected


@given(costs=st.lists(st.integers(0, 9), max_size=12), budget=st.integers(-3, 40))
def test_a_budget_pays_for_the_cheapest_and_for_as_many_as_possible(costs: list[int], budget: int) -> None:
    paid = affordable(np.array(costs, dtype=np.int64), budget)
    chosen = [cost for cost, is_paid in zip(costs, paid, strict=True) if is_paid]
    others = [cost for cost, is_paid in zip(costs, paid, strict=True) if not is_paid]
    assert not chosen or sum(chosen) <= budget
    assert not chosen or not others or max(chosen) < min(others)
    next_cost = [cost for cost in others if cost == min(others)]
    assert not others or sum(chosen) + sum(next_cost) > budget


def test_steps_that_meet_too_often_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = Steps(KnowledgeGraph.from_labels(relations_of_one_hub(20, 4)))
    assert beginnings(steps, 2, 3) is not None
    monkeypatch.setattr("nnmfaug.augmenters.rules.paths.MAX_STEP_PAIRS", 300)
    assert beginnings(steps, 2, 3) is None


def test_steps_of_too_few_edges_are_left_out_before_they_are_paired(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nnmfaug.augmenters.rules.paths.MAX_STEP_PAIRS", 0)
    bodies = beginnings(Steps(KnowledgeGraph.from_labels(relations_of_one_hub(20, 1))), 2, 3)
    assert bodies is not None
    assert not len(bodies)
