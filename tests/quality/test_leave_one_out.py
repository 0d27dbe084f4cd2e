"""Leaving one out without mining again, against mining again."""

from __future__ import annotations

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.augmenters.rules.constant_rules import ConstantRules
from nnmfaug.core.arrays import Array
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import LabelledTriple
from nnmfaug.quality.default_rules import default_rules
from nnmfaug.quality.leave_one_out import leave_one_out
from nnmfaug.quality.membership import fit_membership
from nnmfaug.quality.recovery import kinds
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
    method = na.Rules(1, 1, 0.01, prior, combine=combine, constants=False)  # type: ignore[arg-type]
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


@pytest.mark.parametrize("prior", [0.0, 5.0])
def test_rules_with_constants_are_as_if_mined_again(prior: float) -> None:
    """The best rule is; which others say the same depends on the triple."""
    rng = np.random.default_rng(2)
    ids = rng.integers(0, [14, 3, 6], size=(110, 3))
    graph = KnowledgeGraph.from_labels([(f"e{h:02}", f"r{r}", f"e{t:02}") for h, r, t in ids.tolist()])
    method = na.Rules(min_support=1, min_confidence=0.01, prior=prior)
    known = left_out_confidences(method.mine(graph).constants)
    for row, triple in enumerate(graph.labels()):
        mined_again = method.mine(without(graph, row)).constants
        expected = new_confidences(mined_again).get(triple, {})
        assert max(known.get(triple, {"": 0.0}).values()) == pytest.approx(max(expected.values(), default=0.0))
        for text, confidence in known.get(triple, {}).items():
            assert expected.get(text, confidence) == pytest.approx(confidence, abs=1e-12)
    assert len(known) > 50


def left_out_confidences(rules: ConstantRules) -> dict[LabelledTriple, dict[str, float]]:
    """Train triple → text of each rule that concludes it → its confidence after leaving the triple out."""
    return confidences(rules, rules.left_out_confidence, known=True)


def new_confidences(rules: ConstantRules) -> dict[LabelledTriple, dict[str, float]]:
    """New triple → text of each rule that concludes it → its confidence."""
    return confidences(rules, rules.confidence, known=False)


def confidences(rules: ConstantRules, values: Array, *, known: bool) -> dict[LabelledTriple, dict[str, float]]:
    graph = rules.steps.graph
    numbers = np.flatnonzero(rules.table.has_body & (values > 0))
    places, entities = rules.subjects(numbers)
    keys = rules.keys(numbers[places], entities)
    labels = KnowledgeGraph(graph.vocabulary, graph.vocabulary.from_keys(np.unique(keys))).labels()
    triple_of = dict(zip(np.unique(keys).tolist(), labels, strict=True))
    result: dict[LabelledTriple, dict[str, float]] = {}
    for key, rule in zip(keys.tolist(), numbers[places].tolist(), strict=True):
        if bool(graph.contains_keys(np.array([key]))[0]) == known:
            result.setdefault(triple_of[key], {})[rules.describe(rule)] = float(values[rule])
    return result


def test_longer_rules_differ_little_from_those_mined_again() -> None:
    graph = na.read_splits("nations").train
    method = na.Rules(combine="max", constants=False)
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
    measured = leave_one_out(method, graph)
    recovery = measured.recovery
    assert len(recovery) - recovery.n_recovered == measured.full.support_size
    known = known_confidences(method, graph)
    rows = sorted(zip(recovery.confidence[recovery.recovered], strict=True))
    assert [confidence for (confidence,) in rows] == pytest.approx(sorted(known.values()))
    assert recovery.fraction == 1


def test_kinds_of_train_triples_leave_them_out() -> None:
    graph = na.family(40, seed=0).given
    method = na.Rules()
    recovery = leave_one_out(method, graph).recovery
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
    one = leave_one_out(default_rules(graph), graph).recovery
    two = leave_one_out(default_rules(other), other).recovery
    assert np.array_equal(one.confidence, two.confidence)
    assert np.array_equal(one.recovered, two.recovered)
    assert np.array_equal(one.conclusions.kind, two.conclusions.kind)
    assert np.array_equal(one.conclusions.relation, two.conclusions.relation)


def test_counted_in_cells_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = na.read_splits("umls").train
    method = default_rules(graph)
    every = leave_one_out(method, graph).recovery
    monkeypatch.setattr("nnmfaug.quality.leave_one_out.MAX_ROWS", 1000)
    cells = leave_one_out(method, graph).recovery
    assert len(cells) < len(every) / 2
    assert (cells.n_listed, cells.n_recovered) == (len(every), every.n_recovered)
    for group in ("relation", "kind"):
        counts = np.bincount(getattr(every.conclusions, group), every.recovered)
        weights = np.bincount(getattr(cells.conclusions, group), cells.weight * cells.recovered)
        assert np.array_equal(counts, weights)
    one, two = (fit_membership(each, graph.n_relations) for each in (every, cells))
    difference = one.log_odds(every.conclusions) - two.log_odds(every.conclusions)
    assert np.median(np.abs(difference)) < 0.05
