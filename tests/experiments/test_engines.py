"""Runs are the same on every engine; the folder is written by the process that has it."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.core.engines.base import Engine, Serial, running_on
from nnmfaug.core.progress import reporting_to
from nnmfaug.experiments.runner import model_folder

MODEL = na.LinkPredictor(model="rotate", dim=8, epochs=3, negatives=16)
ONE = na.TrainOptions(threads=1)
ELSEWHERE = ("two processes",)


@pytest.fixture(scope="module")
def engines() -> dict[str, Engine]:
    return {"two processes": na.Processes(2)}


@pytest.fixture(scope="module", params=["nations", "umls"])
def dataset(request: pytest.FixtureRequest) -> na.Splits:
    return na.read_splits(request.param)


def arms(splits: na.Splits) -> dict[str, object]:
    names = ("auto", "random", "rules-alone", "combined")
    return {"baseline": None, **{name: na.find_arm(name, splits.train) for name in names}}


def run(splits: na.Splits, folder: Path, engine: Engine) -> list[na.Run]:
    with running_on(engine):
        return na.run_experiment(splits, MODEL, arms(splits), seeds=[0, 1], folder=folder, options=ONE)  # type: ignore[arg-type]


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files that an experiment writes, without those that record seconds."""
    paths = [
        path
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(("-seed0.json", "-seed1.json"))
    ]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def serial(dataset: na.Splits, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[na.Run]]:
    folder = tmp_path_factory.mktemp(dataset.name)
    return folder, run(dataset, folder, Serial())


@pytest.mark.slow
@pytest.mark.parametrize("name", ELSEWHERE)
def test_runs_and_models_are_the_same(
    dataset: na.Splits, serial: tuple[Path, list[na.Run]], engines: dict[str, Engine], name: str, tmp_path: Path
) -> None:
    folder, runs = serial
    others = run(dataset, tmp_path, engines[name])
    for one, other in zip(runs, others, strict=True):
        assert (one.arm, one.seed, one.settings, one.losses) == (
            other.arm,
            other.seed,
            other.settings,
            other.losses,
        )
        np.testing.assert_array_equal(one.ranks.filtered, other.ranks.filtered)
        np.testing.assert_array_equal(one.ranks.raw, other.ranks.raw)
    assert contents(folder) == contents(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ELSEWHERE)
def test_an_experiment_that_was_begun_on_one_engine_goes_on_on_another(
    splits: na.Splits, engines: dict[str, Engine], name: str, tmp_path: Path
) -> None:
    runs = run(splits, tmp_path, engines[name])
    before = contents(tmp_path)
    for path in [*tmp_path.glob("combined*"), *tmp_path.glob("random*seed1*")]:
        path.unlink()
    again = run(splits, tmp_path, Serial())
    assert contents(tmp_path) == before
    for one, other in zip(runs, again, strict=True):
        np.testing.assert_array_equal(one.ranks.filtered, other.ranks.filtered)


@pytest.mark.slow
@pytest.mark.parametrize("name", ELSEWHERE)
def test_pilots_are_the_same(splits: na.Splits, engines: dict[str, Engine], name: str) -> None:
    arm = na.Augmentation(na.RandomTriples(), 100)
    expected = na.run_pilot(splits, MODEL, arm, options=ONE)
    with running_on(engines[name]):
        assert na.run_pilot(splits, MODEL, arm, options=ONE) == expected


def test_progress_counts_finished_runs(splits: na.Splits, tmp_path: Path) -> None:
    reports: list[tuple[str, int, int]] = []
    with running_on(na.Processes(2)), reporting_to(lambda *report: reports.append(report)):
        na.run_experiment(splits, MODEL, {"baseline": None}, seeds=[0, 1], folder=tmp_path, options=ONE)
    assert [report for report in reports if report[0] == "training, 2 runs"] == [
        ("training, 2 runs", done, 2) for done in (0, 1, 2)
    ]


def test_a_model_is_the_same_after_it_was_sent(splits: na.Splits) -> None:
    trained = MODEL.train(splits, options=ONE)
    copy = pickle.loads(pickle.dumps(trained))
    np.testing.assert_array_equal(copy.rank(splits.test).filtered, trained.rank(splits.test).filtered)
    parts = ("settings", "losses", "curve", "seconds", "hidden")
    assert [getattr(copy, name) for name in parts] == [getattr(trained, name) for name in parts]
    assert copy.known.digest() == trained.known.digest()


def test_fits_are_not_sent(splits: na.Splits) -> None:
    from nnmfaug.experiments.arms import Fits

    fits = Fits()
    fits(na.RandomTriples(), splits.train, 0)
    assert len(pickle.dumps(fits)) < 200
    assert model_folder("runs", "nnmf", 0).name == "nnmf-seed0"
