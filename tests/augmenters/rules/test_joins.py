"""Joins give the pairs of a walk, as products do."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from nnmfaug.augmenters.rules.joins import join_paths, n_paths_of, pairs_of
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from tests.augmenters.rules.test_steps import Pair, toy_graphs, walk_path
from tests.examples import examples


def walk_pairs(graph: KnowledgeGraph, path: tuple[int, ...]) -> list[Pair]:
    """The ends of all chains without a repeated entity."""
    return sorted({(chain[0], chain[-1]) for chain in walk_path(graph, path) if len(set(chain)) == len(chain)})


@pytest.mark.parametrize("length", [1, 2, 3, 4])
@given(graph=toy_graphs())
@settings(max_examples=examples(10))
def test_bodies_that_are_joined_at_once_have_the_pairs_of_a_walk(length: int, graph: KnowledgeGraph) -> None:
    steps = Steps(graph)
    bodies = np.array(list(itertools.product(range(steps.n_steps), repeat=length)))[::-3]
    pairs = join_paths(steps, bodies)
    sizes = pairs.sizes(len(bodies))
    for number, path in enumerate(map(tuple, bodies.tolist())):
        rows = pairs.body == number
        joined = list(zip(pairs.x[rows].tolist(), pairs.y[rows].tolist(), strict=True))
        assert joined == walk_pairs(graph, path)
        assert sizes[number] == len(joined)


@pytest.mark.parametrize("small", [0, 1000])
@pytest.mark.parametrize("length", [1, 2, 3, 4])
@given(graph=toy_graphs())
@settings(max_examples=examples(10))
def test_the_pairs_of_a_path_do_not_depend_on_how_they_are_found(
    length: int, small: int, graph: KnowledgeGraph
) -> None:
    steps = Steps(graph)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nnmfaug.augmenters.rules.steps.SMALL", small)
        patch.setattr("nnmfaug.augmenters.rules.joins.LOOKUPS", 1000 - small)
        for path in list(itertools.product(range(steps.n_steps), repeat=length))[::3]:
            x, y = pairs_of(steps, path)
            assert sorted(zip(x.tolist(), y.tolist(), strict=True)) == walk_pairs(graph, path)
            assert n_paths_of(steps, path) == len(walk_path(graph, path))
