"""Arms prepare training sets from train alone, and a method is fitted once per graph and seed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.experiments.arms import Fits, arm_settings, as_arms
from nnmfaug.experiments.pilots import choose_amount
from tests.cli.commands import run

PREDICTOR = na.LinkPredictor(model="transe", dim=8, epochs=3)
RecordFits = Callable[[Any], list[int]]


@dataclass(frozen=True)
class Control(na.RandomTriples):
    """Random triples by a class of its own, because the diagnostics of a run fit the public one."""


# preparing


def test_the_baseline_is_train_alone(splits: na.Splits) -> None:
    data = na.Baseline().prepare(splits.train, seed=0)
    assert data.train is splits.train
    assert data.added is None


def test_none_means_the_baseline() -> None:
    arm = na.Augmentation(na.RandomTriples())
    assert as_arms({"a": None, "b": arm}) == {"a": na.Baseline(), "b": arm}


def test_each_seed_draws_its_own_new_triples(splits: na.Splits) -> None:
    arm = na.Augmentation(na.NNMFAug(cluster=na.Agglomerative(n_clusters=3)), 40)
    first = arm.generate(splits.train, 0).graph
    second = arm.generate(splits.train, 1).graph
    assert len(first) == len(second) == 40
    assert first != second
    assert not splits.train.contains(first.triples).any()


def test_the_same_seed_draws_the_same_triples(splits: na.Splits) -> None:
    arm = na.Augmentation(na.NNMFAug(cluster=na.Agglomerative(n_clusters=3)), 40)
    assert arm.generate(splits.train, 0).graph == arm.generate(splits.train, 0).graph


def test_a_method_that_ranks_gives_its_best_or_all(splits: na.Splits) -> None:
    method = na.Rules(depth=1)
    dist = method.fit(splits.train)
    assert na.Augmentation(method, 20).generate(splits.train, 0).labels == dist.top(20).labels
    assert len(na.Augmentation(method, 10**6).generate(splits.train, 0)) == dist.n_new


def test_a_duplicate_repeats_triples_of_train(splits: na.Splits) -> None:
    sample = na.Augmentation(na.Duplicate(), 100).generate(splits.train, 0)
    assert splits.train.contains(sample.triples).all()
    assert len(sample) == 100


def test_an_amount_is_a_fraction_of_train_or_a_number(splits: na.Splits) -> None:
    method = na.RandomTriples()
    assert len(na.Augmentation(method, 0.5).generate(splits.train, 0)) == len(splits.train) // 2
    assert len(na.Augmentation(method, 7).generate(splits.train, 0)) == 7


def test_a_fraction_of_less_than_one_triple_is_refused(splits: na.Splits) -> None:
    with pytest.raises(ValueError, match="less than one triple"):
        na.Augmentation(na.RandomTriples(), 0.0001).generate(splits.train, 0)


@pytest.mark.parametrize("amount", [0, -1, 1.5, 0.0, float("nan"), True, "5"])
def test_an_impossible_amount_is_refused(amount: Any) -> None:
    with pytest.raises(
        ValueError, match=r"amount=.*must be a fraction of train such as 0\.1 or a number such as 500"
    ):
        na.Augmentation(na.RandomTriples(), amount)


@pytest.mark.parametrize("weight", [-1.0, float("inf"), "much", None])
def test_an_impossible_weight_is_refused(weight: Any) -> None:
    with pytest.raises(ValueError, match=r"weight=.*must be a number from 0, or 'probability'"):
        na.Augmentation(na.RandomTriples(), 5, weight=weight)


def test_the_weights_may_be_the_estimated_probabilities(splits: na.Splits) -> None:
    method = na.Rules(depth=1)
    data = na.Augmentation(method, 30, weight="probability").prepare(splits.train, 0)
    np.testing.assert_array_equal(data.weights, method.fit(splits.train).confidence[:30])


def test_a_method_without_probabilities_has_no_weights_by_probability(splits: na.Splits) -> None:
    with pytest.raises(ValueError, match="this method gives none; use a number"):
        na.Augmentation(na.RandomTriples(), 5, weight="probability").prepare(splits.train, 0)


# settings


def test_the_settings_of_an_arm_are_plain_data(splits: na.Splits) -> None:
    settings = arm_settings(na.Augmentation(na.NNMFAug(), 40))
    assert json.loads(json.dumps(settings))["method"]["name"] == "NNMFAug"
    assert arm_settings(na.Baseline()) is None
    given = arm_settings(na.Augmentation(na.Given(splits.valid), 40))
    assert isinstance(given, dict)
    assert given["method"] == {"name": "Given", "sha256": splits.valid.digest()}


# fitting once


def test_an_equal_method_is_fitted_once_per_graph_and_seed(splits: na.Splits, seeds_of_fits: RecordFits) -> None:
    seeds = seeds_of_fits(Control)
    fits = Fits()
    dist = fits(Control(), splits.train, 0)
    assert fits(Control(), splits.train, 0) is dist
    assert seeds == [0]


def test_another_graph_method_or_seed_is_fitted_anew(splits: na.Splits, seeds_of_fits: RecordFits) -> None:
    seeds = seeds_of_fits(na.Rules)
    fits = Fits()
    for method, graph, seed in (
        (na.Rules(depth=1), splits.train, 0),
        (na.Rules(depth=1), splits.valid, 0),
        (na.Rules(depth=1, min_support=4), splits.train, 0),
        (na.Rules(depth=1), splits.train, 1),
    ):
        fits(method, graph, seed)
    assert seeds == [0, 0, 0, 1]


@pytest.mark.usefixtures("fake_training")
def test_arms_of_one_method_share_its_fits(splits: na.Splits, tmp_path: Path, seeds_of_fits: RecordFits) -> None:
    seeds = seeds_of_fits(Control)
    arms = {"few": na.Augmentation(Control(), 10), "many": na.Augmentation(Control(), 50)}
    na.run_experiment(splits, PREDICTOR, arms, seeds=range(2), folder=tmp_path)
    assert seeds == [0, 1]


@pytest.mark.usefixtures("fake_training")
def test_a_pilot_and_the_runs_share_the_fit_of_the_first_seed(
    splits: na.Splits, tmp_path: Path, seeds_of_fits: RecordFits
) -> None:
    seeds = seeds_of_fits(Control)
    fits = Fits()
    arm, pilot = choose_amount(splits, PREDICTOR, na.Augmentation(Control(), 80), folder=tmp_path, fit=fits)
    assert pilot.amount == 80, "the stand-in is better with more triples"
    na.run_experiment(splits, PREDICTOR, {"auto": arm}, seeds=range(2), folder=tmp_path, fit=fits)
    assert seeds == [0, 1]


@pytest.mark.usefixtures("fake_training")
def test_compare_with_a_pilot_fits_auto_once_per_seed(
    family: na.Splits, tmp_path: Path, seeds_of_fits: RecordFits
) -> None:
    na.write_splits(family, tmp_path / "family")
    seeds = seeds_of_fits(na.Auto)
    done = run("compare", "family", "--arm", "auto", "--pilot", "--seeds", "3", "-o", "runs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert seeds == [0, 1, 2]


@dataclass(frozen=True)
class WithArray(na.RandomTriples):
    """A method with an array among its settings, whose equality has no single truth value."""

    weights: Any = None


def test_methods_with_arrays_are_fitted_separately(splits: na.Splits) -> None:
    fits = Fits()
    one = WithArray(np.ones(3))
    other = WithArray(np.ones(3))
    assert fits(one, splits.train, 0) is fits(one, splits.train, 0)
    assert fits(other, splits.train, 0) is not fits(one, splits.train, 0)
