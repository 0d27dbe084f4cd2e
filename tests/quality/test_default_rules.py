"""Default rules have three steps unless the graph is dense."""

from __future__ import annotations

import itertools

import pytest

import nnmfaug as na
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.quality import default_rules as module
from nnmfaug.quality.default_rules import default_rules, paths_per_pair
from tests.augmenters.rules.test_steps import walk_path


@pytest.mark.parametrize("name", ["umls", "kinships", "nations"])
def test_dense_graphs_have_rules_of_two_steps(name: str) -> None:
    assert default_rules(na.read_splits(name).train).depth == 2


@pytest.mark.usefixtures("archives")
@pytest.mark.parametrize("name", ["dl50a", "wn18rr", "fb15k-237"])
def test_sparse_graphs_have_rules_of_three_steps_whatever_their_size(name: str) -> None:
    assert default_rules(na.read_splits(name).train).depth == 3


def test_paths_per_pair_are_those_of_a_walk() -> None:
    chain = na.KnowledgeGraph.from_labels([("a", "r", "b"), ("c", "r", "b"), ("c", "s", "d"), ("a", "s", "b")])
    n_steps = Steps(chain).n_steps
    n_paths = sum(len(walk_path(chain, path)) for path in itertools.product(range(n_steps), repeat=3))
    assert paths_per_pair(chain) == n_paths / 4**2


@pytest.mark.parametrize("rows", [[], [("a", "r", "b")]])
def test_graphs_of_hardly_any_triple_are_not_dense(rows: list[tuple[str, str, str]]) -> None:
    graph = na.KnowledgeGraph.from_labels(rows)
    assert paths_per_pair(graph) <= 1 < module.MAX_PATHS_PER_PAIR
    assert default_rules(graph).depth == 3
