"""The prior of rules: every answer, with a probability that train measures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.core.elementary import expit
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.io.npz import BROKEN, read_arrays, write_arrays
from nnmfaug.quality.default_rules import default_rules
from nnmfaug.quality.leave_one_out import leave_one_out
from nnmfaug.quality.membership import fit_membership
from nnmfaug.quality.prior import MIN_SUPPORT, TIE_BREAK, RulePrior, _substantial, fit_prior
from nnmfaug.quality.prior_storage import _TYPES, read_prior, write_prior
from nnmfaug.quality.recovery import Conclusions


@pytest.fixture(scope="module")
def graph() -> KnowledgeGraph:
    return na.family(60, seed=0).given


@pytest.fixture(scope="module")
def prior(graph: KnowledgeGraph) -> RulePrior:
    return fit_prior(graph)


def test_rules_of_the_list_are_among_those_of_the_prior(graph: KnowledgeGraph, prior: RulePrior) -> None:
    method = replace(default_rules(graph), min_support=MIN_SUPPORT)
    mined, selected = method.mine(graph), method.select(prior.rules)
    assert len(prior.rules) > len(mined) > 100
    for name in ("heads", "bodies", "support", "sizes", "pca_sizes"):
        assert np.array_equal(getattr(mined.paths.table, name), getattr(selected.paths.table, name))


def test_probabilities_are_those_of_the_model_of_the_list(graph: KnowledgeGraph, prior: RulePrior) -> None:
    method = replace(default_rules(graph), min_support=MIN_SUPPORT)
    membership = fit_membership(leave_one_out(method, graph).recovery, graph.n_relations)
    new, known = prior.rules.conclude_all("fading", 10**9)
    for conclusions in (new, known):
        triples = graph.vocabulary.from_keys(conclusions.keys[::50])
        confidence = conclusions.confidence[::50]
        parts = _substantial(conclusions.by_kind[::50])
        chance = expit(membership.log_odds(Conclusions.of(graph, triples, confidence, parts)))
        expected = chance * (1 - TIE_BREAK * (1 - confidence))
        for heads in (False, True):
            column = 0 if heads else 2
            answers = prior.answers(triples[:, [2 - column, 1]].astype(np.int64), heads=heads)
            is_wanted = answers.entities == triples[answers.rows, column]
            assert answers.rows[is_wanted].tolist() == list(range(len(triples)))
            assert answers.probability[is_wanted] == pytest.approx(expected)


def test_rules_of_a_file_answer_as_the_mined_ones(graph: KnowledgeGraph, tmp_path: Path) -> None:
    mined = fit_prior(graph, na.Rules(depth=1))
    na.write_rules(mined.rules, tmp_path / "rules.txt")
    read = fit_prior(graph, na.ImportedRules(path=str(tmp_path / "rules.txt")))
    queries = graph.triples[::100][:, [0, 1]].astype(np.int64)
    for heads in (False, True):
        one = mined.answers(queries, heads=heads)
        other = read.answers(queries, heads=heads)
        assert np.array_equal(one.entities, other.entities)
        assert np.array_equal(one.probability, other.probability)
    assert len(mined.rules) < len(fit_prior(graph).rules)


def test_true_answers_that_are_missing_have_high_probabilities() -> None:
    world = na.family(100, seed=0)
    prior = fit_prior(world.given)
    missing = world.missing.triples[world.derivable].astype(np.int64)
    answers = prior.answers(missing[:, :2], heads=False)
    is_missing = answers.entities == missing[answers.rows, 2]
    is_known = world.given.contains(np.column_stack([missing[answers.rows, :2], answers.entities]))
    is_false = ~world.is_true(np.column_stack([missing[answers.rows, :2], answers.entities]))
    assert answers.probability[is_missing].mean() > 0.5 > 5 * answers.probability[is_false].mean()
    assert answers.probability[is_known].mean() == pytest.approx(answers.probability[is_missing].mean(), abs=0.3)


def test_the_best_rules_are_given_as_evidence(graph: KnowledgeGraph, prior: RulePrior) -> None:
    dist = default_rules(graph).fit(graph)
    triples = dist.triples[:20]
    for one, two in zip(prior.explain(triples), dist.explain(triples), strict=True):
        assert [c for _, c in one.rules] == pytest.approx([c for _, c in two.rules])
        assert one.triples
    person = np.array([[0, 0, 0]])
    assert prior.explain(person)[0].reason == ""


class TestFile:
    def test_a_saved_prior_gives_the_same_answers(self, prior: RulePrior, tmp_path: Path) -> None:
        write_prior(prior, tmp_path / "prior.npz")
        read = read_prior(tmp_path / "prior.npz", prior.graph.vocabulary)
        pairs = np.array([[e, e % prior.graph.n_relations] for e in range(60)])
        one, two = prior.answers(pairs, heads=True), read.answers(pairs, heads=True)
        assert np.array_equal(one.rows, two.rows)
        assert np.array_equal(one.probability, two.probability)

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("heads", 99, "heads: must be relations"),
            ("bodies", 10**6, "bodies: must be steps"),
            ("support", 10**9, "ascending"),
            ("slopes", -1.0, "slopes: must be from 0"),
            ("offsets", np.nan, "offsets: must be"),
            ("steps", np.inf, "steps: must be"),
            ("curve", -1.0, "curve: must be"),
            ("weights", -1.0, "weights: must be"),
            ("constants", np.nan, "constants: must be"),
            ("n_steps", 0.5, "n_steps: must"),
            ("constant_heads", -5, "constant_heads: must be"),
            ("constant_bodies", 10**9, "constant_bodies: must be"),
            ("constant_support", 10**9, "constant_support: must be"),
            ("threshold", -1.0, "threshold: must be"),
            ("train", 10**6, "ids from"),
        ],
    )
    def test_a_wrong_number_is_refused(
        self, prior: RulePrior, tmp_path: Path, name: str, value: float, message: str
    ) -> None:
        path = tmp_path / "prior.npz"
        write_prior(prior, path)
        arrays = {key: array.copy() for key, array in read_arrays(path, _TYPES).items()}
        arrays[name].flat[-1 if name == "curve" else 0] = value
        write_arrays(path, arrays)
        with pytest.raises(BROKEN, match=message):
            read_prior(path, prior.graph.vocabulary)

    @pytest.mark.parametrize(
        "name", ["heads", "bodies", "steps", "slopes", "threshold", "train", "constant_bodies", "weights"]
    )
    def test_a_missing_or_short_array_is_refused(self, prior: RulePrior, tmp_path: Path, name: str) -> None:
        path = tmp_path / "prior.npz"
        write_prior(prior, path)
        arrays = read_arrays(path, _TYPES)
        short = {**arrays, name: arrays[name][:1].ravel()}
        for damaged in ({key: array for key, array in arrays.items() if key != name}, short):
            write_arrays(path, damaged)
            with pytest.raises(BROKEN):
                read_prior(path, prior.graph.vocabulary)


def test_a_graph_without_rules_has_a_prior_without_answers() -> None:
    graph = KnowledgeGraph.from_labels([("a", "r", "b"), ("c", "s", "d")])
    assert not len(fit_prior(graph).answers(np.array([[0, 0]]), heads=False).rows)


def test_a_small_graph_believes_the_confidence_of_its_rules() -> None:
    """Nine examples are too few to calibrate with, but not nothing."""
    rows = [(f"p{i}", r, f"q{i}") for i in range(9) for r in ("spouse", "wife")]
    graph = KnowledgeGraph.from_labels([*rows, ("x", "wife", "y")])
    prior = fit_prior(graph)
    ids = graph.vocabulary.entity_ids
    answers = prior.answers(np.array([[ids["x"], graph.vocabulary.relation_ids["spouse"]]]), heads=False)
    assert answers.entities.tolist() == [ids["y"]]
    assert answers.probability == pytest.approx([9 / 15], rel=2 * TIE_BREAK)
