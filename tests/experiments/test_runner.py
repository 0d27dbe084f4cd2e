"""Experiments in a folder: the files they write, how they resume, what they refuse."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.core.progress import reporting_to
from nnmfaug.experiments import work
from nnmfaug.experiments.runner import model_folder
from tests.saved import change_json, deleted, write_run_0_1

SMALL = na.LinkPredictor(model="transe", dim=8, epochs=2, negatives=16)
ONE = na.TrainOptions(threads=1)


def arms() -> dict[str, na.Augmentation | None]:
    method = na.NNMFAug(cluster=na.Agglomerative(n_clusters=3))
    return {"baseline": None, "nnmf": na.Augmentation(method), "duplicate": na.Augmentation(na.Duplicate(), 50)}


def run_baseline(
    splits: na.Splits,
    folder: Path,
    *,
    predictor: na.LinkPredictor = SMALL,
    n_seeds: int = 1,
    options: na.TrainOptions = ONE,
) -> list[na.Run]:
    arms = {"baseline": None}
    return na.run_experiment(splits, predictor, arms, seeds=range(n_seeds), folder=folder, options=options)


# files


@pytest.mark.usefixtures("fake_training")
def test_a_folder_has_every_run_and_the_models_of_the_first_seed(splits: na.Splits, tmp_path: Path) -> None:
    runs = na.run_experiment(splits, SMALL, arms(), seeds=range(2), folder=tmp_path, options=ONE)
    assert [(run.arm, run.seed, run.n_extra) for run in runs] == [
        ("baseline", 0, 0),
        ("baseline", 1, 0),
        ("nnmf", 0, 159),
        ("nnmf", 1, 159),
        ("duplicate", 0, 50),
        ("duplicate", 1, 50),
    ]
    assert {run.arm for run in na.load_runs(tmp_path)} == {"baseline", "nnmf", "duplicate"}
    models = sorted(path.name for path in (tmp_path / "models").iterdir())
    assert models == ["baseline-seed0", "duplicate-seed0", "nnmf-seed0"]
    assert not list(tmp_path.rglob("*.tmp"))


def test_models_of_arms_have_folders_of_their_own() -> None:
    assert model_folder("runs", "nnmf", 0).parts == ("runs", "models", "nnmf-seed0")


@pytest.mark.usefixtures("fake_training")
def test_generated_triples_in_valid_and_test_are_counted(splits: na.Splits, tmp_path: Path) -> None:
    arm = na.Augmentation(na.Given(splits.test), 25)
    (run,) = na.run_experiment(splits, SMALL, {"leak": arm}, seeds=[0], folder=tmp_path)
    generated = run.settings["generated"]
    assert (generated["in_train"], generated["in_valid"], generated["in_test"]) == (0, 0, 25)
    assert generated["test_rows"] == list(range(25))


# resuming


def test_an_interrupted_experiment_resumes_to_the_same_numbers(
    splits: na.Splits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = na.run_experiment(splits, SMALL, arms(), seeds=[3], folder=tmp_path / "whole", options=ONE)
    train = na.LinkPredictor.train
    calls = []

    def interrupt(self: na.LinkPredictor, *args: object, **kwargs: object) -> object:
        calls.append(self)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return train(self, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(na.LinkPredictor, "train", interrupt)
    with pytest.raises(KeyboardInterrupt):
        na.run_experiment(splits, SMALL, arms(), seeds=[3], folder=tmp_path / "cut", options=ONE)
    resumed = na.run_experiment(splits, SMALL, arms(), seeds=[3], folder=tmp_path / "cut", options=ONE)
    assert len(calls) == 4  # one before, the interrupted one, and the two that were missing
    for run, same in zip(whole, resumed, strict=True):
        assert run.losses == same.losses
        np.testing.assert_array_equal(run.ranks.filtered, same.ranks.filtered)
        np.testing.assert_array_equal(run.ranks.raw, same.ranks.raw)


def test_a_finished_experiment_trains_nothing(
    splits: na.Splits, tmp_path: Path, fake_training: list[na.TrainingSet]
) -> None:
    for _ in range(2):
        run_baseline(splits, tmp_path)
    assert len(fake_training) == 1


@pytest.mark.usefixtures("fake_training")
def test_runs_of_other_settings_are_not_mixed(splits: na.Splits, tmp_path: Path) -> None:
    run_baseline(splits, tmp_path)
    with pytest.raises(na.DataError, match=r"other settings \(predictor lr: 0\.005 there, 0\.001 now\)"):
        run_baseline(splits, tmp_path, predictor=replace(SMALL, lr=1e-3))


@pytest.mark.usefixtures("fake_training")
def test_runs_of_other_triples_are_not_mixed(splits: na.Splits, tmp_path: Path) -> None:
    run_baseline(splits, tmp_path)
    other = na.Splits(splits.name, splits.train, splits.valid, splits.valid)
    with pytest.raises(na.DataError, match="data test differs"):
        run_baseline(other, tmp_path)


@pytest.mark.usefixtures("fake_training")
def test_a_renamed_data_set_is_the_same(splits: na.Splits, tmp_path: Path) -> None:
    run_baseline(splits, tmp_path)
    run_baseline(replace(splits, name="renamed"), tmp_path)


@pytest.mark.usefixtures("fake_training")
def test_a_setting_that_an_older_version_did_not_record_has_its_default(splits: na.Splits, tmp_path: Path) -> None:
    run_baseline(splits, tmp_path)
    path = tmp_path / "baseline-seed0.json"
    change_json(path, lambda document: deleted(document, ("settings", "predictor", "self_negative")))
    before = path.read_bytes()
    run_baseline(splits, tmp_path)
    assert path.read_bytes() == before, "it was not run again"
    with pytest.raises(na.DataError, match=r"predictor self_negative: 0\.0 there, 1\.0 now"):
        run_baseline(splits, tmp_path, predictor=replace(SMALL, self_negative=1.0))


def test_an_experiment_of_the_first_version_is_resumed(
    splits: na.Splits, tmp_path: Path, fake_training: list[na.TrainingSet]
) -> None:
    (run,) = run_baseline(splits, tmp_path)
    write_run_0_1(run, tmp_path)
    run_baseline(splits, tmp_path, n_seeds=2)
    assert len(fake_training) == 2


@pytest.mark.usefixtures("fake_training")
@pytest.mark.parametrize("field", ["data", "predictor", "arm", "generated", "options", "versions"])
def test_settings_that_are_missing_are_other_settings_or_not_needed(
    splits: na.Splits, tmp_path: Path, field: str
) -> None:
    arms = {"random": na.Augmentation(na.RandomTriples(), 5)}
    na.run_experiment(splits, SMALL, arms, seeds=[0], folder=tmp_path)
    change_json(tmp_path / "random-seed0.json", lambda document: deleted(document, ("settings", field)))
    if field in ("data", "predictor", "arm"):
        with pytest.raises(na.DataError, match=rf"made with other settings \({field}"):
            na.run_experiment(splits, SMALL, arms, seeds=[0], folder=tmp_path)
    else:
        na.run_experiment(splits, SMALL, arms, seeds=[0], folder=tmp_path)


# warnings


@pytest.mark.usefixtures("fake_training")
def test_new_runs_beside_some_without_a_curve_are_warned_of(splits: na.Splits, tmp_path: Path) -> None:
    run_baseline(splits, tmp_path)
    with pytest.warns(UserWarning, match="1 of the existing runs have no learning curve"):
        run_baseline(splits, tmp_path, n_seeds=2, options=replace(ONE, evaluate_every=1))


@pytest.mark.usefixtures("fake_training")
def test_new_runs_beside_some_of_another_version_are_warned_of(
    splits: na.Splits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_baseline(splits, tmp_path)
    monkeypatch.setattr(work, "version", lambda _: "99")
    with pytest.warns(UserWarning, match=r"holds runs of nnmfaug \d\S*; new runs use 99"):
        run_baseline(splits, tmp_path, n_seeds=2)


@pytest.mark.usefixtures("fake_training")
def test_without_new_runs_there_is_no_warning(
    splits: na.Splits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_baseline(splits, tmp_path)
    monkeypatch.setattr(work, "version", lambda _: "99")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_baseline(splits, tmp_path, options=replace(ONE, evaluate_every=1))


# refusals


def test_an_experiment_needs_test_triples(splits: na.Splits, tmp_path: Path) -> None:
    without_test = na.Splits.merge("mine", train=splits.train)
    with pytest.raises(na.DataError, match="no test triples"):
        run_baseline(without_test, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("arms", "seeds"), [({}, [0]), ({"baseline": None}, [])], ids=["no arms", "no seeds"])
def test_an_experiment_needs_arms_and_seeds(
    splits: na.Splits, tmp_path: Path, arms: dict[str, None], seeds: list[int]
) -> None:
    with pytest.raises(ValueError, match="no arms or no seeds"):
        na.run_experiment(splits, SMALL, arms, seeds=seeds, folder=tmp_path)


def test_an_arm_that_cannot_be_prepared_is_named_before_anything_is_trained(
    splits: na.Splits, tmp_path: Path, fake_training: list[na.TrainingSet]
) -> None:
    too_many = na.Augmentation(na.NNMFAug(cluster=na.Agglomerative(3)), 10**6)
    with pytest.raises(na.SamplingError, match=r"arm nnmf: 1,000,000 new triples were requested.*; request fewer"):
        na.run_experiment(splits, SMALL, {"baseline": None, "nnmf": too_many}, seeds=[0], folder=tmp_path)
    assert fake_training == []


# progress


def test_progress_is_that_of_all_runs(splits: na.Splits, tmp_path: Path) -> None:
    reports: list[tuple[str, int, int]] = []
    with reporting_to(lambda *report: reports.append(report)):
        run_baseline(splits, tmp_path, n_seeds=2)
    training = [report for report in reports if report[0] == "training, 2 runs"]
    assert training == [("training, 2 runs", done, 4) for done in (1, 2, 3, 4)]
    assert any(task == "baseline, seed 1: ranking" for task, *_ in reports)
