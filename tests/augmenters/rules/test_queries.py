"""Rules applied to queries equal the list of all conclusions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.augmenters.rules import queries
from nnmfaug.augmenters.rules.path_rules import PathRules
from nnmfaug.augmenters.rules.queries import ListedAnswers, RuleQueries, answering
from nnmfaug.graph.knowledge_graph import KnowledgeGraph


def toy_graph(seed: int) -> KnowledgeGraph:
    ids = np.random.default_rng(seed).integers(0, [12, 3, 12], size=(70, 3))
    return KnowledgeGraph.from_labels([(f"e{h:02}", f"r{r}", f"e{t:02}") for h, r, t in ids.tolist()])


def every_query(graph: KnowledgeGraph) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """All entities and relations, the last query twice."""
    pairs = [(e, r) for e in range(graph.n_entities) for r in range(graph.n_relations)]
    return np.array([*pairs, pairs[-1]])


def mined(graph: KnowledgeGraph, depth: int) -> PathRules:
    return na.Rules(depth=depth, min_support=1, min_confidence=0.01, prior=1.0, constants=False).mine(graph).paths


@pytest.mark.parametrize("heads", [False, True])
@pytest.mark.parametrize(("depth", "seed"), [*itertools.product([1, 2, 3], range(3)), (4, 0)])
def test_answers_are_all_conclusions(depth: int, seed: int, heads: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "BLOCK_CELLS", 50)  # several blocks
    graph = toy_graph(seed)
    rules = mined(graph, depth)
    pairs = every_query(graph)
    one = RuleQueries(rules).answer(pairs, heads=heads)
    two = ListedAnswers(rules).answer(pairs, heads=heads)
    assert len(one.rows) > 50
    assert np.array_equal(one.rows, two.rows)
    assert np.array_equal(one.entities, two.entities)
    assert one.confidence == pytest.approx(two.confidence, abs=1e-12)


def test_answers_are_those_of_the_fitted_list_and_of_train() -> None:
    graph = toy_graph(0)
    method = na.Rules(depth=2, min_support=1, min_confidence=0.01, prior=1.0, combine="fading", constants=False)
    dist = method.fit(graph)
    pairs = every_query(graph)[:-1]
    answers = RuleQueries(method.mine(graph).paths).answer(pairs, heads=False)
    triples = np.column_stack([pairs[answers.rows], answers.entities])
    is_known = graph.contains(triples)
    assert (~is_known).sum() == dist.support_size
    assert answers.confidence[~is_known] == pytest.approx(dist.confidence_of(triples[~is_known]), abs=1e-12)
    assert is_known.sum() > 10


def test_relations_without_rules_have_no_answers() -> None:
    graph = KnowledgeGraph.from_labels([("a", "r", "b"), ("c", "s", "d")])
    for source in (RuleQueries(mined(graph, 2)), ListedAnswers(mined(graph, 2))):
        assert not len(source.answer(np.array([[0, 0], [2, 1]]), heads=False).rows)
        assert not len(source.answer(np.zeros((0, 2), dtype=np.int64), heads=True).rows)


def test_many_conclusions_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = mined(toy_graph(0), 1)
    assert isinstance(answering(rules), ListedAnswers)
    monkeypatch.setattr(queries, "MAX_LISTED", 10)
    assert isinstance(answering(rules), RuleQueries)
