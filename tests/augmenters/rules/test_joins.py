"""Joins give the pairs that products give."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from nnmfaug.augmenters.rules.joins import join_one_step, join_two_steps, pairs_of
from nnmfaug.augmenters.rules.steps import Steps, ends
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from tests.augmenters.rules.test_steps import toy_graphs
from tests.examples import examples


@given(graph=toy_graphs())
@settings(max_examples=examples(40))
def test_bodies_that_are_joined_at_once_have_the_pairs_of_their_products(graph: KnowledgeGraph) -> None:
    steps = Steps(graph)
    first, second = np.array(list(itertools.product(range(steps.n_steps), repeat=2))).T
    pairs = join_two_steps(steps, first, second)
    for number, path in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        rows = (pairs.body == number) & (pairs.x != pairs.y)
        expected = steps.body(path).toarray()
        joined = np.zeros_like(expected)
        joined[pairs.x[rows], pairs.y[rows]] = True
        assert np.array_equal(joined, expected)
        assert rows.sum() == expected.sum(), "a pair twice"
    assert np.array_equal(join_one_step(steps, np.array([1, 0])).sizes(2), np.diff(steps.begins)[[1, 0]])


@pytest.mark.parametrize("small", [0, 1000])
@given(graph=toy_graphs())
@settings(max_examples=examples(20))
def test_the_pairs_of_a_path_do_not_depend_on_how_they_are_found(small: int, graph: KnowledgeGraph) -> None:
    steps = Steps(graph)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nnmfaug.augmenters.rules.steps.SMALL", small)
        for length in (1, 2, 3):
            for path in itertools.product(range(steps.n_steps), repeat=length):
                x, y = pairs_of(steps, path)
                expected_x, expected_y = ends(steps.body(path))
                expected = sorted(zip(expected_x.tolist(), expected_y.tolist(), strict=True))
                assert sorted(zip(x.tolist(), y.tolist(), strict=True)) == expected
