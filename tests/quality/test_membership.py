"""The probability that a conclusion is in the graph: what the model learns from recovered triples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import nnmfaug as na
from nnmfaug.quality.curves import fit_curve, fit_steps
from nnmfaug.quality.default_rules import default_rules
from nnmfaug.quality.leave_one_out import leave_one_out
from nnmfaug.quality.membership import cross_fitted, fit_membership
from tests.quality.graphs import alike, recovery_of


def test_each_relation_has_its_own_slope() -> None:
    rng = np.random.default_rng(0)
    relation, confident = rng.integers(2, size=4000), rng.random(4000) < 0.5
    chance = np.where(relation == 1, 0.4, np.where(confident, 0.8, 0.01))  # relation 1: whatever the confidence
    conclusions = alike(relation, np.where(confident, 0.8, 0.3))
    recovery = recovery_of(conclusions, rng.random(4000) < chance)
    ends = alike([0, 0, 1, 1], np.array([0.3, 0.8] * 2))
    log_odds = fit_membership(recovery, 2).log_odds(ends)
    expected = np.log([0.01 / 0.99, 0.8 / 0.2, 0.4 / 0.6, 0.4 / 0.6]) - np.log(0.1)
    assert np.abs(log_odds - expected).max() < 0.6


def test_a_lower_confidence_is_never_believed_more() -> None:
    """In relation 1 the confident ones are recovered less often."""
    rng = np.random.default_rng(0)
    relation, confident = rng.integers(2, size=4000), rng.random(4000) < 0.5
    chance = np.where(relation == 1, np.where(confident, 0.3, 0.5), np.where(confident, 0.8, 0.1))
    recovery = recovery_of(alike(relation, np.where(confident, 0.8, 0.3)), rng.random(4000) < chance)
    membership = fit_membership(recovery, 2)
    assert (membership.slopes >= 0).all()
    low, high = membership.log_odds(alike([1, 1], np.array([0.3, 0.8])))
    assert low == high
    assert abs(1 / (1 + np.exp(-high - np.log(0.1))) - 0.4) < 0.05


def test_slopes_of_a_real_graph_do_not_fall() -> None:
    graph = na.read_splits("nations").train
    recovery = leave_one_out(default_rules(graph), graph).recovery
    membership = fit_membership(recovery, graph.n_relations)
    assert (membership.slopes == 0).any()  # some would have fallen
    assert (membership.slopes >= 0).all()


def test_the_curve_rises_without_steps_where_the_isotonic_one_has_some() -> None:
    rng = np.random.default_rng(0)
    confidence = rng.random(3000)
    recovery = recovery_of(alike(np.zeros(3000), confidence), rng.random(3000) < confidence, fraction=1.0)
    grid = np.linspace(0.01, 0.99, 99)
    assert (np.diff(fit_steps(recovery)(grid)) == 0).any()
    assert np.array_equal(
        fit_curve(replace(recovery, fraction=0.5))(grid), fit_steps(replace(recovery, fraction=0.5))(grid)
    )
    curve = fit_curve(recovery)(grid)
    assert (np.diff(curve) > 0).all()
    assert np.abs(1 / (1 + np.exp(-curve)) - grid).max() < 0.1


def test_below_the_first_knot_odds_are_proportional_to_confidence() -> None:
    steps = fit_steps(recovery_of(alike(np.zeros(50), np.full(50, 0.2)), np.arange(50) < 10, fraction=1.0))
    lower, at = steps(np.array([0.05, 0.2]))
    assert np.isclose(at - lower, np.log(4))


def test_a_fold_is_rated_by_the_others() -> None:
    """All recovered conclusions of relation 1 are in fold 0, so the other folds do not believe in it."""
    n = 2000
    relation = np.arange(n) % 2
    fold_zero = np.arange(n) % 5 == 0
    recovered = np.where(relation == 1, fold_zero, np.arange(n) % 3 > 0)
    recovery = recovery_of(alike(relation, np.full(n, 0.5)), recovered, fraction=1.0)
    log_odds = cross_fitted(recovery, 2)
    assert log_odds[(relation == 1) & fold_zero].max() < -3
