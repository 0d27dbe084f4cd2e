"""Ranks and predictions of a model combined with a prior, against brute force."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import logsumexp

import nnmfaug as na
from nnmfaug.evaluation.metrics import realistic_rank
from nnmfaug.linkpred import ranking
from nnmfaug.linkpred.mix import Calibration, Mix
from tests.linkpred.toy_models import made_up_prior, table_model

MIXES = [Mix(), Mix(2.0, 0.5, 0.01), Mix(0.25, 3.0, 1e-4), Mix(weight=0.0)]


@pytest.fixture(scope="module")
def trained(splits: na.Splits) -> na.Trained:
    return na.LinkPredictor(model="rotate", dim=8, epochs=2).train(splits, options=na.TrainOptions(threads=1))


@pytest.fixture(scope="module")
def prior(splits: na.Splits) -> na.ListedPrior:
    return made_up_prior(splits)


def score_of(combined: na.Combined) -> Callable[..., float]:
    """Return the score of one triple by the equation."""
    trained, prior, mix = combined.trained, combined.prior, combined.mix
    assert isinstance(prior, na.ListedPrior)
    rows = map(tuple, prior.dist.triples.tolist())
    probabilities = dict(zip(rows, prior.dist.confidence.tolist(), strict=True))

    def score(h: int, r: int, t: int, *, heads: bool = False) -> float:
        p = probabilities.get((h, r, t), 0.0)
        model = 0.0
        if trained is not None:
            given, asked = (t, h) if heads else (h, t)
            model = ranking.all_scores(trained.model, given, r, heads=heads)[asked]
        return float(model) / mix.temperature + mix.weight * math.log1p(p / mix.epsilon)

    return score


def brute_force(combined: na.Combined, triples: na.KnowledgeGraph, known: na.KnowledgeGraph) -> na.Ranks:
    score = score_of(combined)
    facts = {tuple(row) for row in known.triples.tolist()}
    everyone = range(known.n_entities)
    filtered, raw = [], []
    for h, r, t in triples.triples.tolist():
        heads = np.array([score(x, r, t, heads=True) for x in everyone]).round(9)
        tails = np.array([score(h, r, x) for x in everyone]).round(9)
        mask_h = np.array([(x, r, t) in facts for x in everyone])
        mask_t = np.array([(h, r, x) in facts for x in everyone])
        raw.append([realistic_rank(heads, h), realistic_rank(tails, t)])
        filtered.append([realistic_rank(heads, h, mask_h), realistic_rank(tails, t, mask_t)])
    return na.Ranks(filtered=np.array(filtered), raw=np.array(raw))


def assert_equal(one: na.Ranks, other: na.Ranks) -> None:
    np.testing.assert_array_equal(one.filtered, other.filtered)
    np.testing.assert_array_equal(one.raw, other.raw)


def some(graph: na.KnowledgeGraph, n: int = 40) -> na.KnowledgeGraph:
    return na.KnowledgeGraph(graph.vocabulary, graph.triples[:n])


# ranks


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize("n_values", [1, 4, 1000])
def test_ranks_are_those_of_brute_force_with_ties(
    splits: na.Splits, prior: na.ListedPrior, mix: Mix, n_values: int
) -> None:
    combined = na.Combined(table_model(splits, n_values), prior, splits.together(), mix)
    triples = some(splits.test)
    assert_equal(combined.rank(triples), brute_force(combined, triples, splits.together()))
    assert_equal(combined.rank(triples, known=splits.train), brute_force(combined, triples, splits.train))


def test_ranks_of_a_trained_model_are_those_of_brute_force(
    splits: na.Splits, trained: na.Trained, prior: na.ListedPrior
) -> None:
    combined = na.Combined(trained, prior, splits.together(), Mix(0.5, 0.5))
    triples = some(splits.valid)
    assert_equal(combined.rank(triples), brute_force(combined, triples, splits.together()))


def test_ranks_without_a_model_are_those_of_brute_force(splits: na.Splits, prior: na.ListedPrior) -> None:
    combined = na.Combined(None, prior, splits.together())
    triples = some(splits.test)
    ranks = combined.rank(triples)
    assert_equal(ranks, brute_force(combined, triples, splits.together()))
    assert (ranks.filtered % 1 == 0.5).any(), "entities that no rule proposes are tied"


def test_with_weight_0_the_ranks_are_those_of_the_model(
    splits: na.Splits, trained: na.Trained, prior: na.ListedPrior
) -> None:
    combined = na.Combined(trained, prior, splits.together(), Mix(3.7, 0.0))
    assert_equal(combined.rank(splits.test), trained.rank(splits.test))
    assert_equal(combined.rank(splits.test, known=splits.train), trained.rank(splits.test, known=splits.train))


def test_the_filter_of_a_model_can_be_replaced(splits: na.Splits, trained: na.Trained) -> None:
    narrow, wide = trained.rank(splits.valid, known=splits.valid), trained.rank(splits.valid)
    np.testing.assert_array_equal(narrow.raw, wide.raw)
    assert (narrow.filtered >= wide.filtered).all()
    assert narrow.filtered.mean() > wide.filtered.mean()


@pytest.mark.parametrize("batch_scores", [1, 14 * 7])
def test_batches_change_nothing(
    splits: na.Splits, prior: na.ListedPrior, monkeypatch: pytest.MonkeyPatch, batch_scores: int
) -> None:
    combined = na.Combined(table_model(splits), prior, splits.together())
    whole = combined.rank(splits.test)
    monkeypatch.setattr(ranking, "BATCH_SCORES", batch_scores)
    assert_equal(combined.rank(splits.test), whole)


# a model with more names than the prior


def test_a_prior_over_fewer_names_gives_the_same_ranks(splits: na.Splits, prior: na.ListedPrior) -> None:
    trained = table_model(splits)
    table: Any = trained.model
    names = splits.vocabulary
    wider = na.Vocabulary.from_names(("0 first", "zz last", *names.entities), ("0 first", *names.relations))
    scores = np.full((len(wider.entities), len(wider.relations), len(wider.entities)), 99, dtype=np.float32)
    scores[1:-1, 1:, 1:-1] = table.scores.numpy()
    wide_model = table_model(na.Splits.merge("wide", train=splits.train, names=wider))
    wide_model.model.scores = torch.from_numpy(scores)
    known = splits.together().with_vocabulary(wider)
    wide = na.Combined(replace(wide_model, known=known, hidden=("0 first", "zz last")), prior, known)
    assert_equal(wide.rank(splits.test), na.Combined(trained, prior, splits.together()).rank(splits.test))
    question = {"head": "china", "relation": "embassy"}
    answers = wide.predict(**question, n=99)
    assert answers == na.Combined(trained, prior, splits.together()).predict(**question, n=99)
    assert len(answers) == 14


def test_a_prior_with_a_name_that_the_model_does_not_have_is_refused(splits: na.Splits) -> None:
    foreign = na.KnowledgeGraph.from_labels([("atlantis", "embassy", "china")])
    listed = na.Listed(foreign, np.array([[1, 0, 0]], dtype=np.int32), np.array([0.5]))
    combined = na.Combined(table_model(splits), na.ListedPrior(listed), splits.together())
    with pytest.raises(ValueError, match="names that the model does not have, such as"):
        combined.rank(splits.test)


# predictions


@pytest.mark.parametrize("question", [{"head": "china"}, {"tail": "china"}])
def test_answers_are_those_of_brute_force(
    splits: na.Splits, prior: na.ListedPrior, question: dict[str, str]
) -> None:
    combined = na.Combined(table_model(splits, 1000), prior, splits.together(), calibration=Calibration(0.5, 0.7))
    score = score_of(combined)
    names = splits.vocabulary
    china = names.entity_ids["china"]
    for relation in ("embassy", "students", "militaryalliance"):
        r = names.relation_ids[relation]
        answers = combined.predict(**question, relation=relation, n=14)
        assert len(answers) == 14
        assert [each.score for each in answers] == sorted((each.score for each in answers), reverse=True)
        triples = [(china, r, x) if "head" in question else (x, r, china) for x in range(14)]
        expected = {names.entities[x]: score(*triple) for x, triple in enumerate(triples)}
        is_known = dict(zip(names.entities, splits.together().contains(triples).tolist(), strict=True))
        total = logsumexp([expected[x] for x in names.entities if not is_known[x]])
        for answer in answers:
            assert answer.score == pytest.approx(expected[answer.entity])
            assert answer.score == pytest.approx(answer.from_model + answer.from_rules)
            assert answer.known == is_known[answer.entity]
            if answer.known:
                assert answer.probability is None
                continue
            share = min(math.exp(answer.score - total), 1 - 1e-9)
            odds = math.exp(0.5) * (share / (1 - share)) ** 0.7
            assert answer.probability == pytest.approx(odds / (1 + odds), rel=1e-6)


def test_an_answer_has_evidence_if_and_only_if_a_rule_proposes_it() -> None:
    train = na.family(60, seed=0).given
    prior = na.ListedPrior(na.Rules(depth=1).fit(train))
    combined = na.Combined(None, prior, train)
    (head, relation, tail), *_ = prior.dist.top(1).labels
    answers = combined.predict(head=head, relation=relation, n=1000)
    assert {each.entity for each in answers if each.evidence} == {
        each.entity for each in answers if each.from_rules
    }
    by_name = {each.entity: each for each in answers}
    (evidence,) = prior.explain(prior.dist.triples[:1])
    assert by_name[tail].evidence == evidence
    assert evidence.triples


def test_a_prior_that_gives_no_reasons_gives_no_evidence(splits: na.Splits, prior: na.ListedPrior) -> None:
    answers = na.Combined(None, prior, splits.together()).predict(head="china", relation="embassy", n=14)
    assert any(each.from_rules > 0 for each in answers)
    assert not any(each.evidence for each in answers)


def test_a_question_without_an_answer_is_refused(splits: na.Splits, prior: na.ListedPrior) -> None:
    combined = na.Combined(None, prior, splits.together())
    with pytest.raises(ValueError, match="unknown entity 'chine'; did you mean 'china'"):
        combined.predict(head="chine", relation="embassy")
    with pytest.raises(ValueError, match="give a head to predict tails"):
        combined.predict(relation="embassy")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"temperature": 0.0}, "temperature=0.0: must be a number above 0"),
        ({"weight": -1.0}, "weight=-1.0: must be a number from 0"),
        ({"weight": math.inf}, "weight=inf"),
        ({"epsilon": math.nan}, "epsilon=nan: must be a number above 0"),
    ],
)
def test_numbers_without_meaning_are_refused(values: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Mix(**values)
