"""A search on valid: all trials differ, test has no part in it, and the best trial is the choice."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import nnmfaug as na
from nnmfaug.experiments import search
from nnmfaug.experiments.reproduce import SAMPLING, Cell, Sampling
from nnmfaug.experiments.search import TRIALS, Search, candidates, search_cell, without_test

CELL = Cell("dl50a", "transe", "paper")
ROOT = Path(__file__).parents[2]


def test_the_candidates_are_the_same_every_time_and_all_different() -> None:
    samplings = candidates(30)
    assert samplings[0] == Sampling()
    assert len(set(samplings)) == 30
    assert candidates(30) == samplings


def test_the_trials_are_as_few_as_promised() -> None:
    limits = {"dl50a": 30, "wn18rr": 8}
    assert all(sum(numbers) <= limits[dataset] for (dataset, _), numbers in TRIALS.items())


def test_the_data_of_a_search_have_no_test_triples() -> None:
    splits = na.read_splits("dl50a")
    data = without_test(splits)
    assert data.test.digest() == splits.valid.digest()
    only_test = splits.test.triples[~splits.train_and_valid().contains(splits.test.triples)]
    assert not data.together().contains(only_test).any()


def test_the_best_trial_on_valid_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[dict[str, Any]] = []

    def run(_: Cell, splits: na.Splits, arms: Mapping[str, Any], *__: object, quick: bool) -> dict[str, Any]:  # noqa: ARG001
        assert splits.test.digest() == splits.valid.digest()
        trained.append(dict(arms))
        values = {"trial 7": 0.9, "eps 1": 0.5}
        return {name: {"mrr": values.get(name, 0.1)} for name in arms}

    monkeypatch.setattr(search, "_run", run)
    outcome = search_cell(CELL, folder=tmp_path)
    n_trials, n_radii = TRIALS["dl50a", "paper"]
    best = candidates(n_trials)[7]
    assert outcome.chosen == Sampling(**{**vars(best), "eps": 1.0})
    assert len(outcome.trials) == n_trials
    assert [len(arms) for arms in trained] == [1 + n_trials, n_radii]
    assert Search.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome


def test_the_settings_of_the_experiments_are_those_that_were_chosen() -> None:
    searches = json.loads((ROOT / "docs" / "results" / "search.json").read_text())
    chosen = {name: Sampling(**search["chosen"]) for name, search in searches.items()}
    assert {cell.name: sampling for cell, sampling in SAMPLING.items()} == chosen


def test_the_choice_is_the_best_of_the_trials_that_are_recorded() -> None:
    searches = json.loads((ROOT / "docs" / "results" / "search.json").read_text())
    numbers = {f"{dataset}-{setting}": pair for (dataset, setting), pair in TRIALS.items()}
    for name, search_ in searches.items():
        best = max(search_["trials"], key=lambda trial: trial["metrics"]["mrr"])["sampling"]
        eps = max(search_["radii"], key=lambda trial: trial["metrics"]["mrr"])["sampling"]["eps"]
        assert search_["chosen"] == {**best, "eps": eps}
        dataset, _, setting = name.split("-", 2)
        assert (len(search_["trials"]), len(search_["radii"])) == numbers[f"{dataset}-{setting}"]
