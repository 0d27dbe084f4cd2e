"""Leaving one out without mining again, against mining again."""

from __future__ import annotations

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.default_rules import default_rules
from nnmfaug.quality.leave_one_out import least_confidence, leave_one_out
from nnmfaug.quality.recovery import MAX_CONCLUSIONS, kinds
from tests.quality.graphs import noise, renamed


def without(graph: KnowledgeGraph, row: int) -> KnowledgeGraph:
    return KnowledgeGraph(graph.vocabulary, np.delete(graph.triples, row, axis=0))


def known_confidences(method: na.Rules, graph: KnowledgeGraph) -> dict[int, float]:
    """Key of a train triple → its confidence after leaving it out."""
    _, known = method.mine(graph).conclude_all(method.combine, 10**9)
    return dict(zip(known.keys.tolist(), known.confidence.tolist(), strict=True))


@pytest.mark.parametrize("combine", ["max", "fading", "noisy-or"])
@pytest.mark.parametrize("prior", [0.0, 5.0])
def test_rules_of_one_step_are_as_if_mined_again(combine: str, prior: float) -> None:
    """Symmetric rules are among them."""
    rng = np.random.default_rng(1)
    pairs = rng.integers(0, 12, size=(60, 2))
    rows = [(f"e{x:02}", r, f"e{y:02}") for x, y in pairs.tolist() if x != y for r in "rs"[: 1 + x % 2]]
    rows += [(t, r, h) for h, r, t in rows[::2]]
    graph = KnowledgeGraph.from_labels(rows)
    method = na.Rules(depth=1, min_support=1, min_confidence=0.01, prior=prior, combine=combine)  # type: ignore[arg-type]
    known = known_confidences(method, graph)
    keys = graph.vocabulary.keys(graph.triples)
    for row, key in enumerate(keys.tolist()):
        expected = method.fit(without(graph, row)).confidence_of(graph.triples[[row]])[0]
        assert known.get(key, 0.0) == pytest.approx(expected, abs=1e-12)
    assert len(known) > 20


def test_rules_of_one_step_of_a_real_graph_are_as_if_mined_again() -> None:
    graph = na.read_splits("umls").train
    method = na.Rules(depth=1)
    known = known_confidences(method, graph)
    for row in np.random.default_rng(0).choice(len(graph), 40, replace=False).tolist():
        expected = method.fit(without(graph, row)).confidence_of(graph.triples[[row]])[0]
        key = int(graph.vocabulary.keys(graph.triples[[row]])[0])
        assert known.get(key, 0.0) == pytest.approx(expected, abs=1e-12)


def test_longer_rules_differ_little_from_those_mined_again() -> None:
    graph = na.read_splits("nations").train
    method = na.Rules(combine="max")
    known = known_confidences(method, graph)
    differences = []
    for row in np.random.default_rng(0).choice(len(graph), 15, replace=False).tolist():
        expected = method.fit(without(graph, row)).confidence_of(graph.triples[[row]])[0]
        key = int(graph.vocabulary.keys(graph.triples[[row]])[0])
        differences.append(abs(known.get(key, 0.0) - expected) / expected if expected else 0.0)
    assert np.median(differences) < 0.02


def test_every_conclusion_is_one_row() -> None:
    graph = na.family(60, seed=0).given
    method = na.Rules(combine="fading")
    listed, recovery = leave_one_out(method, graph)
    assert len(recovery) - recovery.n_recovered == listed.support_size
    known = known_confidences(method, graph)
    rows = sorted(zip(recovery.confidence[recovery.recovered], strict=True))
    assert [confidence for (confidence,) in rows] == pytest.approx(sorted(known.values()))
    assert recovery.fraction == 1


def test_kinds_of_train_triples_leave_them_out() -> None:
    graph = na.family(40, seed=0).given
    method = na.Rules()
    _, recovery = leave_one_out(method, graph)
    keys = np.array(sorted(known_confidences(method, graph)))
    expected = np.bincount(kinds(graph, graph.vocabulary.from_keys(keys)), minlength=8)
    counts = np.bincount(recovery.conclusions.kind[recovery.recovered], minlength=8)
    assert counts.tolist() == expected.tolist()


@pytest.mark.parametrize("name", ["family", "noise", "nations"])
def test_names_of_entities_change_nothing(name: str) -> None:
    graphs = {
        "family": lambda: na.family(60, seed=1).given,
        "noise": lambda: noise(30, 3, 300, seed=0),
        "nations": lambda: na.read_splits("nations").train,
    }
    graph = graphs[name]()
    other, _ = renamed(graph, seed=3)
    _, one = leave_one_out(default_rules(graph), graph)
    _, two = leave_one_out(default_rules(other), other)
    assert np.array_equal(one.confidence, two.confidence)
    assert np.array_equal(one.recovered, two.recovered)
    assert np.array_equal(one.conclusions.kind, two.conclusions.kind)
    assert np.array_equal(one.conclusions.relation, two.conclusions.relation)


def test_of_equal_confidences_all_are_used_or_none() -> None:
    few = np.linspace(1, 0.5, 100)
    assert least_confidence(few) == 0
    many = np.repeat([0.9, 0.5, 0.1], MAX_CONCLUSIONS // 2 + 1)
    assert least_confidence(many) == 0.9
    assert least_confidence(np.full(MAX_CONCLUSIONS + 1, 0.3)) == 0.3
