"""Arms that combine the models of others with rules: they train nothing, and resume as all arms do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.experiments import runner
from nnmfaug.experiments.methods import COMBINATIONS
from nnmfaug.experiments.runner import model_folder
from nnmfaug.experiments.work import Combining
from nnmfaug.quality.prior import fit_prior
from tests.other_test import with_other_test

SMALL = na.LinkPredictor(model="transe", dim=8, epochs=2, negatives=16)
ONE = na.TrainOptions(threads=1)
ARMS: dict[str, Any] = {
    "baseline": None,
    "combined": COMBINATIONS["combined"],
    "rules-alone": COMBINATIONS["rules-alone"],
}


def run(
    splits: na.Splits, folder: Path, arms: dict[str, Any] | None = None, seeds: tuple[int, ...] = (0, 1)
) -> dict[tuple[str, int], na.Run]:
    runs = na.run_experiment(splits, SMALL, arms or ARMS, seeds=seeds, folder=folder, options=ONE)
    return {(run.arm, run.seed): run for run in runs}


def same_ranks(one: na.Run, other: na.Run) -> bool:
    filtered = np.array_equal(one.ranks.filtered, other.ranks.filtered)
    return filtered and np.array_equal(one.ranks.raw, other.ranks.raw)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], list[object]]:
    """Return a function that records the calls of another from then on."""

    def record(home: Any, name: str) -> list[object]:
        recorded: list[object] = []
        function = getattr(home, name)

        def recording(*args: Any, **kwargs: Any) -> object:
            recorded.append(args)
            return function(*args, **kwargs)

        monkeypatch.setattr(home, name, recording)
        return recorded

    return record


# what a run is


@pytest.fixture(scope="module")
def whole(family: na.Splits, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs of two seeds."""
    folder = tmp_path_factory.mktemp("whole")
    run(family, folder)
    return folder


def loaded(folder: Path) -> dict[tuple[str, int], na.Run]:
    return {(run.arm, run.seed): run for run in na.load_runs(folder)}


def test_a_run_is_the_model_of_the_same_seed_with_rules(family: na.Splits, whole: Path) -> None:
    prior = fit_prior(family.train)
    for seed in (0, 1):
        trained = SMALL.train(family, seed=seed, options=ONE)
        combined = na.Combined.fit(trained, prior, family)
        stored = loaded(whole)["combined", seed]
        np.testing.assert_array_equal(stored.ranks.filtered, combined.rank(family.test).filtered)
        assert stored.settings["mix"] == asdict(combined.mix)


def test_rules_alone_are_the_same_for_all_seeds(family: na.Splits, whole: Path) -> None:
    runs = loaded(whole)
    alone = na.Combined.fit(None, fit_prior(family.train), family)
    np.testing.assert_array_equal(runs["rules-alone", 0].ranks.filtered, alone.rank(family.test).filtered)
    assert same_ranks(runs["rules-alone", 0], runs["rules-alone", 1])


def test_models_of_all_seeds_are_saved_and_combined_ones_of_the_first(family: na.Splits, whole: Path) -> None:
    names = sorted(path.name for path in (whole / "models").iterdir())
    assert names == ["baseline-seed0", "baseline-seed1", "combined-seed0", "rules-alone-seed0"]
    ranks = na.load_combined(model_folder(whole, "combined", 0)).rank(family.test)
    np.testing.assert_array_equal(ranks.filtered, loaded(whole)["combined", 0].ranks.filtered)


def test_what_is_chosen_is_the_same_whatever_the_test_triples_are(
    family: na.Splits, whole: Path, tmp_path: Path
) -> None:
    others = run(with_other_test(family), tmp_path)
    for seed in (0, 1):
        assert others["combined", seed].settings["mix"] == loaded(whole)["combined", seed].settings["mix"]


def test_an_arm_with_added_triples_may_be_the_base(family: na.Splits, tmp_path: Path) -> None:
    arms = {
        "baseline": None,
        "auto": na.Augmentation.of("auto", amount=7),
        "auto+combined": na.Combination("auto"),
    }
    runs = run(family, tmp_path, arms, (0,))
    assert (runs["auto", 0].n_extra, runs["auto+combined", 0].n_extra) == (7, 7)
    with pytest.raises(na.DataError, match="arm amount: 7 there, 5 now"):
        run(family, tmp_path, {**arms, "auto": na.Augmentation.of("auto", amount=5)}, (0,))
    without_auto = {"baseline": None, "auto": None, "auto+combined": na.Combination("auto")}
    for file in tmp_path.glob("auto-seed*"):
        file.unlink()
    with pytest.raises(na.DataError, match=r"made with other settings \(arm model_of settings: .*'amount': 7"):
        run(family, tmp_path, without_auto, (0,))


# cost


def test_only_the_baseline_is_trained_and_rules_are_fitted_once(
    family: na.Splits, tmp_path: Path, calls: Callable[[Any, str], list[object]]
) -> None:
    trained = calls(na.LinkPredictor, "train")
    fitted = calls(runner, "fit_prior")
    ranked = calls(Combining, "__call__")
    run(family, tmp_path)
    assert (len(trained), len(fitted)) == (2, 1)
    assert len(ranked) == 3, "combined twice, rules alone once"
    run(family, tmp_path)
    assert (len(trained), len(fitted), len(ranked)) == (2, 1, 3), "a finished experiment does nothing"


# resuming


def test_an_interrupted_experiment_resumes_to_the_same_numbers(
    family: na.Splits, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    function: Any = Combining.__call__
    n_calls = 0

    def interrupt(*args: Any) -> object:
        nonlocal n_calls
        n_calls += 1
        if n_calls == 3:  # combined with the second seed
            raise KeyboardInterrupt
        return function(*args)

    monkeypatch.setattr(Combining, "__call__", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run(family, tmp_path)
    assert ("combined", 0) in loaded(tmp_path)
    assert ("combined", 1) not in loaded(tmp_path)
    resumed = run(family, tmp_path)
    assert all(same_ranks(resumed[key], each) for key, each in loaded(whole).items())


def test_a_model_that_was_not_saved_is_trained_again(
    family: na.Splits, whole: Path, tmp_path: Path, calls: Callable[[Any, str], list[object]]
) -> None:
    run(family, tmp_path, {"baseline": None})
    before = {path: path.read_bytes() for path in tmp_path.glob("baseline-seed*")}
    trained = calls(na.LinkPredictor, "train")
    with pytest.warns(
        UserWarning, match="model of baseline with seed 1 was not saved.*: it is the same"
    ) as warned:
        runs = run(family, tmp_path)
    assert len(trained) == len(warned) == 1, "the model of the first seed was saved"
    assert before == {path: path.read_bytes() for path in before}, "its run stays as it is"
    assert all(same_ranks(runs[key], each) for key, each in loaded(whole).items())


def test_a_model_that_is_not_needed_is_not_trained_again(
    family: na.Splits, tmp_path: Path, calls: Callable[[Any, str], list[object]]
) -> None:
    run(family, tmp_path, {"baseline": None})
    trained = calls(na.LinkPredictor, "train")
    run(family, tmp_path, {"baseline": None, "rules-alone": COMBINATIONS["rules-alone"]})
    assert trained == []


def test_the_arms_may_be_named_in_any_order(family: na.Splits, whole: Path, tmp_path: Path) -> None:
    runs = run(family, tmp_path, dict(reversed(ARMS.items())), (0,))
    assert list(runs) == [("rules-alone", 0), ("combined", 0), ("baseline", 0)]
    assert all(same_ranks(each, loaded(whole)[key]) for key, each in runs.items())


# refusals


@pytest.mark.parametrize(("name", "base"), [("combined", "baseline"), ("auto+combined", "auto")])
def test_the_arm_whose_models_are_used_must_be_there(
    family: na.Splits, tmp_path: Path, name: str, base: str
) -> None:
    arms = {"random": na.Augmentation(na.RandomTriples(), 5), name: COMBINATIONS[name]}
    message = rf"arm {name.replace('+', '.')}: it uses the models of {base}, so add the arm {base}"
    with pytest.raises(ValueError, match=message):
        run(family, tmp_path / "x", arms)
    assert not (tmp_path / "x").exists()


def test_a_combination_has_no_model_of_its_own(family: na.Splits, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="arm twice: it uses the models of combined"):
        run(family, tmp_path, {**ARMS, "twice": na.Combination("combined")})


def test_without_valid_rules_are_alone_or_not_used(family: na.Splits, tmp_path: Path) -> None:
    without_valid = replace(family, valid=na.KnowledgeGraph(family.vocabulary, family.valid.triples[:0]))
    with pytest.raises(na.DataError, match="no valid triples, on which arm combined weights rules"):
        run(without_valid, tmp_path)
    runs = run(without_valid, tmp_path, {"baseline": None, "rules-alone": COMBINATIONS["rules-alone"]}, (0,))
    assert len(runs) == 2
