"""Diagnostics of a hand-made data set."""

from __future__ import annotations

import pytest

import nnmfaug as na
from nnmfaug.graph.knowledge_graph import KnowledgeGraph


def graph(*rows: tuple[str, str, str]) -> KnowledgeGraph:
    return KnowledgeGraph.from_labels(list(rows))


@pytest.fixture
def splits() -> na.Splits:
    train = graph(("a", "r", "b"), ("b", "r", "c"), ("c", "r", "d"), ("a", "s", "c"))
    valid = graph(("a", "r", "c"))
    test = graph(("b", "r", "d"))
    return na.Splits.merge("toy", train=train, valid=valid, test=test)


def test_generated_triples_are_counted(splits: na.Splits) -> None:
    generated = graph(("a", "r", "b"), ("a", "r", "c"), ("b", "r", "d"), ("d", "r", "d"))
    diagnostics = na.diagnose(generated, splits)
    assert diagnostics.n == 4
    assert diagnostics.novelty == 0.75
    assert diagnostics.validity == 0.75
    assert (diagnostics.in_valid, diagnostics.in_test) == (1, 1)
    assert diagnostics.confirmed == 0.5
    assert diagnostics.relations == 0.5
    assert diagnostics.sparse_entities == 1.0
    assert diagnostics.f_tsp == pytest.approx(2 * 0.5 / 1.5)


def test_random_triples_are_the_measure_of_lift(splits: na.Splits) -> None:
    """Of 4·3·2 = 24 possible triples 4 are known and 2 are in valid or test: a chance of 2 in 20."""
    diagnostics = na.diagnose(graph(("a", "r", "c"), ("c", "s", "a")), splits)
    assert diagnostics.lift_over_random == pytest.approx(0.5 / (2 / 20))


def test_no_triples_are_no_error(splits: na.Splits) -> None:
    empty = KnowledgeGraph(splits.vocabulary, splits.train.triples[:0])
    diagnostics = na.diagnose(empty, splits)
    assert (diagnostics.n, diagnostics.confirmed, diagnostics.f_tsp) == (0, 0, 0)
