"""T, w, ε and the calibration are chosen on valid, by what they claim to be chosen by."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

import nnmfaug as na
from nnmfaug.evaluation.metrics import summary
from nnmfaug.linkpred import combining
from nnmfaug.linkpred.combining import choose_temperature, mean_reciprocal_ranks
from nnmfaug.linkpred.mix import Calibration, Mix
from nnmfaug.linkpred.questions import Questions
from nnmfaug.linkpred.ranking import ModelScores
from tests.linkpred.toy_models import made_up_prior, table_model


@pytest.fixture(scope="module")
def trained(splits: na.Splits) -> na.Trained:
    return table_model(splits, 10)


@pytest.fixture(scope="module")
def prior(splits: na.Splits) -> na.ListedPrior:
    return made_up_prior(splits)


def seen(splits: na.Splits) -> na.KnowledgeGraph:
    """Train and valid."""
    rows = splits.train.labels() + splits.valid.labels()
    return na.KnowledgeGraph.from_labels(rows, splits.vocabulary)


def questions(splits: na.Splits, trained: na.Trained, prior: na.Prior) -> Questions:
    triples = splits.valid.triples.astype(np.int64)
    return Questions(ModelScores(trained.model), prior, triples, seen(splits))


def scaled(trained: na.Trained, factor: float, offset: float = 0.0) -> na.Trained:
    table: Any = table_model_copy(trained)
    table.scores = table.scores * factor + offset
    return replace(trained, model=table)


def table_model_copy(trained: na.Trained) -> object:
    copy = object.__new__(type(trained.model))
    copy.__dict__.update(trained.model.__dict__)
    return copy


def mrr(ranks: na.Ranks) -> float:
    return summary(ranks.filtered)["mrr"]


# T


def loss(queries: Questions, temperature: float) -> float:
    """−log softmax of the true answers, by the definition."""
    losses = []
    for batch in queries.batches():
        for row, target in zip(batch.scores, batch.targets, strict=True):
            losses.append(logsumexp(row / temperature) - row[target] / temperature)
    return float(np.mean(losses))


def test_no_other_temperature_makes_valid_much_more_likely(
    splits: na.Splits, trained: na.Trained, prior: na.ListedPrior
) -> None:
    queries = questions(splits, trained, prior)
    best = minimize_scalar(lambda x: loss(queries, math.exp(x)), bounds=(-4, 6), method="bounded")
    chosen = choose_temperature(queries)
    assert loss(queries, chosen) < best.fun + 1e-3
    assert loss(queries, 3 * chosen) > best.fun + 1e-2


@pytest.mark.parametrize(("factor", "offset"), [(1e-3, 0.0), (1000.0, 0.0), (1.0, -4000.0)])
def test_the_scale_and_the_origin_of_scores_do_not_matter(
    splits: na.Splits, trained: na.Trained, prior: na.ListedPrior, factor: float, offset: float
) -> None:
    one = na.Combined.fit(trained, prior, splits)
    other = na.Combined.fit(scaled(trained, factor, offset), prior, splits)
    assert other.mix.temperature == pytest.approx(factor * one.mix.temperature, rel=1e-3)
    assert (other.mix.weight, other.mix.epsilon) == (one.mix.weight, one.mix.epsilon)


def test_a_model_that_does_not_distinguish_entities_has_temperature_1(
    splits: na.Splits, trained: na.Trained, prior: na.ListedPrior
) -> None:
    assert na.Combined.fit(scaled(trained, 0.0), prior, splits).mix.temperature == 1


def test_a_model_that_diverged_is_named(splits: na.Splits, trained: na.Trained, prior: na.ListedPrior) -> None:
    with pytest.raises(ValueError, match="diverged, use a smaller learning rate"):
        na.Combined.fit(scaled(trained, math.nan), prior, splits)


# w and ε


def test_the_mrr_of_each_mix_is_that_of_its_ranks(
    splits: na.Splits, trained: na.Trained, prior: na.ListedPrior
) -> None:
    mixes = [Mix(0.7, 0.0), Mix(0.7, 0.3, 1e-2), Mix(0.7, 2.0), Mix(0.7, 5.0, 1e-4)]
    means = mean_reciprocal_ranks(questions(splits, trained, prior), mixes)
    for mean, mix in zip(means, mixes, strict=True):
        combined = na.Combined(trained, prior, splits.together(), mix)
        assert mean == pytest.approx(mrr(combined.rank(splits.valid, known=seen(splits))), abs=1e-12)
    assert len(set(means)) == 4


def test_no_other_choice_has_a_higher_mrr_on_valid(
    splits: na.Splits, trained: na.Trained, prior: na.ListedPrior
) -> None:
    combined = na.Combined.fit(trained, prior, splits)
    best = mrr(combined.rank(splits.valid, known=seen(splits)))
    assert best > mrr(trained.rank(splits.valid, known=seen(splits))) + 0.01
    for weight in (0.0, *combining.WEIGHTS):
        for epsilon in combining.EPSILONS:
            other = replace(combined, mix=replace(combined.mix, weight=weight, epsilon=epsilon))
            assert mrr(other.rank(splits.valid, known=seen(splits))) <= best


def test_a_prior_that_proposes_false_triples_alone_gets_weight_0(splits: na.Splits, trained: na.Trained) -> None:
    combined = na.Combined.fit(trained, made_up_prior(splits, n_true=0, n_false=2000), splits)
    assert combined.mix.weight == 0
    np.testing.assert_array_equal(combined.rank(splits.test).filtered, trained.rank(splits.test).filtered)


def test_of_equally_good_weights_the_smallest_is_chosen(splits: na.Splits, trained: na.Trained) -> None:
    nothing = na.ListedPrior(na.Listed(splits.train, splits.train.triples[:0], np.zeros(0)))
    assert na.Combined.fit(trained, nothing, splits).mix.weight == 0


# what the choice depends on


def test_test_triples_do_not_change_what_is_chosen(
    splits: na.Splits, trained: na.Trained, prior: na.ListedPrior
) -> None:
    one = na.Combined.fit(trained, prior, splits)
    keys = splits.vocabulary.keys(splits.together().triples)
    others = np.setdiff1d(np.arange(0, keys.max(), 7), keys)[: len(splits.test)]
    other_test = na.KnowledgeGraph(splits.vocabulary, splits.vocabulary.from_keys(others))
    changed = replace(splits, test=other_test)
    other = na.Combined.fit(replace(trained, known=changed.together()), prior, changed)
    assert (other.mix, other.calibration) == (one.mix, one.calibration)
    assert other.known == changed.together() != one.known


def test_the_order_of_valid_does_not_matter(
    splits: na.Splits, trained: na.Trained, prior: na.ListedPrior, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(combining, "MAX_TRIPLES", 50)
    order = np.random.default_rng(0).permutation(len(splits.valid))
    shuffled = na.KnowledgeGraph(splits.vocabulary, splits.valid.triples[order])
    one = na.combine(trained, prior, splits.valid, known=seen(splits))
    other = na.combine(trained, prior, shuffled, known=seen(splits))
    assert (other.mix, other.calibration) == (one.mix, one.calibration)


def test_triples_are_chosen_evenly_and_all_if_there_are_few(splits: na.Splits, trained: na.Trained) -> None:
    everything = questions(splits, trained, made_up_prior(splits))
    n = len(splits.valid)
    keys = np.sort(splits.vocabulary.keys(splits.valid.triples))
    for size in (1, 7, n - 1, n, n + 1):
        chosen = splits.vocabulary.keys(everything.evenly(size).triples)
        places = np.searchsorted(keys, chosen)
        assert len(places) == min(size, n)
        assert set(np.diff(places)) <= {n // size, n // size + 1} or size > n


# probabilities


def candidates(combined: na.Combined, splits: na.Splits) -> tuple[list[float], list[bool]]:
    """log softmax of the best candidates of valid, and whether each is true, by the definition."""
    facts = {tuple(row) for row in seen(splits).triples.tolist()}
    logs, outcomes = [], []
    assert isinstance(combined.trained, na.Trained)
    scores_of = combined._scores
    for h, r, t in splits.valid.triples.tolist():
        for heads in (True, False):
            target, given = (h, t) if heads else (t, h)
            scores = scores_of(np.array([[given, r]]), heads=heads)[0].numpy()
            triples = [(x, r, t) if heads else (h, r, x) for x in range(14)]
            rivals = [x for x in range(14) if x == target or triples[x] not in facts]
            total = logsumexp(scores[rivals])
            best = sorted(rivals, key=lambda x: -scores[x])[: combining.N_BEST]
            logs += [float(scores[x] - total) for x in best]
            outcomes += [x == target for x in best]
    return logs, outcomes


def test_probabilities_are_right_on_average_and_fitted_as_by_scikit_learn(
    splits: na.Splits, prior: na.ListedPrior
) -> None:
    from sklearn.linear_model import LogisticRegression

    combined = na.Combined.fit(table_model(splits, 1_000_000), prior, splits)
    assert combined.calibration is not None
    logs, outcomes = candidates(combined, splits)
    probability = combined.calibration.probability(np.array(logs))
    assert probability.mean() == pytest.approx(np.mean(outcomes), abs=1e-9)
    shares = np.minimum(np.exp(logs), 1 - 1e-9)
    theirs = LogisticRegression(C=1.0, tol=1e-10).fit(np.log(shares / (1 - shares))[:, None], outcomes)
    assert combined.calibration.slope == pytest.approx(theirs.coef_[0, 0], rel=1e-3)
    assert combined.calibration.constant == pytest.approx(theirs.intercept_[0], rel=1e-3, abs=1e-3)


def test_a_better_score_never_has_a_lower_probability(
    splits: na.Splits, trained: na.Trained, prior: na.ListedPrior, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(combining, "N_BEST", 14)
    monkeypatch.setattr(combining, "WEIGHTS", ())
    table: Any = table_model_copy(trained)
    table.scores = table.scores.clone()
    h, r, t = splits.valid.triples.T.astype(np.int64)
    table.scores[h, r, t] = -5.0  # the true answers are the worst
    calibration = na.Combined.fit(replace(trained, model=table), prior, splits).calibration
    assert calibration is not None
    assert calibration.slope == 0


# without a model, without valid


def test_without_a_model_nothing_is_chosen_but_probabilities_are_calibrated(
    splits: na.Splits, prior: na.ListedPrior
) -> None:
    combined = na.Combined.fit(None, prior, splits)
    assert combined.mix == Mix()
    assert isinstance(combined.calibration, Calibration)
    assert combined.known == splits.together()


def test_without_valid_rules_have_no_probability_and_a_model_is_refused(
    splits: na.Splits, trained: na.Trained, prior: na.ListedPrior
) -> None:
    without = na.Splits.merge("x", train=splits.train, test=splits.test)
    combined = na.Combined.fit(None, prior, without)
    assert combined.calibration is None
    assert combined.predict(head="china", relation="embassy")[0].probability is None
    assert len(combined.rank(splits.test)) == len(splits.test)
    with pytest.raises(ValueError, match="valid has no triples: T, w and ε are chosen on them"):
        na.Combined.fit(trained, prior, without)
