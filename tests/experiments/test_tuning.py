"""A search for the paper's baseline: one setting after the other, on valid; the nearest trial is the choice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import nnmfaug as na
from nnmfaug.experiments import tuning
from nnmfaug.experiments.paper import TABLE1
from nnmfaug.experiments.reproduce import Cell
from nnmfaug.experiments.tuning import VALUES, Tuning, distance, start_of, tune_cell

CELL = Cell("dl50a", "rotate", "paper-tuned")
RESULTS = Path(__file__).parents[2] / "docs" / "results"


def test_the_search_finds_the_nearest_value_of_each_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = {"margin": 6.0, "dim": 100, "negatives": 1, "epochs": 200}
    printed = TABLE1["dl50a", "rotate", "baseline"]

    def metrics(
        predictor: na.LinkPredictor, _: Cell, splits: na.Splits, *__: object, quick: bool
    ) -> dict[str, float]:
        assert not quick
        assert splits.test.digest() == splits.valid.digest()
        n_wrong = sum(getattr(predictor, name) != value for name, value in target.items())
        return {**printed, "mrr": printed["mrr"] * 0.9**n_wrong}

    monkeypatch.setattr(tuning, "_metrics", metrics)
    outcome = tune_cell(CELL, folder=tmp_path)
    assert outcome.chosen.settings == target
    assert outcome.chosen.distance == 0
    assert outcome.trials[0].settings == {name: getattr(start_of(CELL), name) for name in target}
    settings = [tuple(trial.settings.items()) for trial in outcome.trials]
    assert len(set(settings)) == len(settings)  # nothing is trained twice
    assert Tuning.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome


def test_the_start_has_the_defaults_and_makes_all_epochs() -> None:
    start = start_of(CELL)
    assert (start.patience, start.dim, start.margin) == (0, 50, 0.8)
    assert all(getattr(start, name) in values for name, values in VALUES["rotate"].items())


@pytest.mark.parametrize("name", ["mrr", "hits@10", "mr"])
def test_the_distance_counts_a_factor_in_either_direction(name: str) -> None:
    printed = TABLE1["dl50a", "transe", "baseline"]
    assert distance(printed, printed) == 0
    twice, half = ({**printed, name: printed[name] * factor} for factor in (2, 0.5))
    assert distance(twice, printed) == pytest.approx(distance(half, printed)) == pytest.approx(0.6931, abs=1e-4)


def test_the_presets_are_those_that_were_chosen() -> None:
    document: dict[str, Any] = json.loads((RESULTS / "tune.json").read_text())
    assert document
    for name, search in document.items():
        dataset, model, _ = name.split("-", 2)
        preset = na.LinkPredictor.preset(f"{model}-paper-tuned", dataset)
        assert {key: getattr(preset, key) for key in search["chosen"]["settings"]} == search["chosen"]["settings"]
        assert preset.patience == 0
        assert Tuning.from_json(search).to_json() == search
