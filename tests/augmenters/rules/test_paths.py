"""Path counts equal a walk over the triples; a budget leaves out the most expensive, of equal ones all or none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from nnmfaug.augmenters.rules.paths import affordable, bodies_of
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.core.arrays import IntArray
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from tests.adversarial import relations_of_one_hub
from tests.augmenters.rules.test_steps import toy_graphs
from tests.examples import examples


@pytest.mark.parametrize("length", [2, 3, 4])
@given(graph=toy_graphs(), least=st.integers(1, 6))
@settings(max_examples=examples(20))
def test_bodies_have_as_many_paths_as_a_walk_even_those_that_return_and_their_reversals_are_left_out(
    length: int, graph: KnowledgeGraph, least: int
) -> None:
    steps = Steps(graph)
    counts = count_walks(steps, length)
    expected = {path: n for path, n in counts.items() if n >= least}
    bodies = bodies_of(steps, length, least)
    assert bodies is not None
    listed = dict(zip(map(tuple, bodies.steps.tolist()), bodies.n_paths.tolist(), strict=True))
    assert len(listed) == len(bodies)
    reversals = {reverse(steps, path): n for path, n in listed.items()}
    assert listed | reversals == expected
    assert all(path == reverse(steps, path) for path in listed.keys() & reversals.keys())


def count_walks(steps: Steps, length: int) -> dict[tuple[int, ...], int]:
    """Number of paths of all bodies, by one product of small matrices after the other."""
    matrices = [steps.matrix(step).toarray().astype(int) for step in range(steps.n_steps)]
    products: dict[tuple[int, ...], IntArray] = {(step,): matrix for step, matrix in enumerate(matrices)}
    for _ in range(length - 1):
        products = {
            (*path, step): product @ matrix
            for path, product in products.items()
            for step, matrix in enumerate(matrices)
        }
    return {path: int(product.sum()) for path, product in products.items()}


def reverse(steps: Steps, path: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(steps.inverse(np.array(path[::-1])).tolist())


@given(costs=st.lists(st.integers(0, 9), max_size=12), budget=st.integers(-3, 40))
def test_a_budget_pays_for_the_cheapest_and_for_as_many_as_possible(costs: list[int], budget: int) -> None:
    paid = affordable(np.array(costs, dtype=np.int64), budget)
    chosen = [cost for cost, is_paid in zip(costs, paid, strict=True) if is_paid]
    others = [cost for cost, is_paid in zip(costs, paid, strict=True) if not is_paid]
    assert not chosen or sum(chosen) <= budget
    assert not chosen or not others or max(chosen) < min(others)
    next_cost = [cost for cost in others if cost == min(others)]
    assert not others or sum(chosen) + sum(next_cost) > budget


@pytest.mark.parametrize(
    ("length", "limit"),
    [
        (2, "MAX_STEP_PAIRS"),
        (2, "MAX_MEETINGS"),
        (3, "MAX_STEP_TRIPLES"),
        (4, "MAX_STEP_PAIRS"),
        (4, "MAX_BODIES"),
    ],
)
def test_steps_that_meet_too_often_are_not_listed(
    length: int, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Steps(KnowledgeGraph.from_labels(relations_of_one_hub(10, 4)))
    assert bodies_of(steps, length, 3) is not None
    monkeypatch.setattr(f"nnmfaug.augmenters.rules.paths.{limit}", 80)
    assert bodies_of(steps, length, 3) is None


def test_steps_of_too_few_edges_are_left_out_before_they_are_paired(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nnmfaug.augmenters.rules.paths.MAX_STEP_PAIRS", 0)
    bodies = bodies_of(Steps(KnowledgeGraph.from_labels(relations_of_one_hub(20, 1))), 2, 3)
    assert bodies is not None
    assert not len(bodies)
