"""Pilot runs: evaluated on valid, with no triples as a choice."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.experiments.existing import LATER
from nnmfaug.experiments.pilots import choose_amount
from tests.cli.commands import Done, run
from tests.other_test import with_other_test
from tests.saved import Document, change_json, deleted, write_pilot_0_1

SMALL = na.LinkPredictor(model="transe", dim=16, epochs=30, batch_size=256)
ONE = na.TrainOptions(threads=1)


def with_score(n: str, score: float | None) -> Callable[[Document], Document]:
    return lambda document: document | {"scores": document["scores"] | {n: score}}


# trained pilots


def test_facts_are_chosen(splits: na.Splits) -> None:
    facts = na.Augmentation(na.Given(splits.valid), 199, na.Constant())
    pilot = na.run_pilot(splits, SMALL, facts, options=ONE)
    assert pilot.amount == len(splits.valid) == 199


def test_noise_is_not_chosen() -> None:
    noise = na.Augmentation(na.RandomTriples(), 1.0, na.Constant())
    pilot = na.run_pilot(na.read_splits("umls"), SMALL, noise, parts=(1.0,), options=ONE)
    assert pilot.amount == 0
    assert "adding none is best" in pilot.reason


def test_a_pilot_is_the_same_whatever_the_test_triples_are(splits: na.Splits) -> None:
    arm = na.Augmentation(na.Rules(depth=1), 100, na.Constant())
    small = replace(SMALL, epochs=9)
    pilots = [na.run_pilot(each, small, arm, options=ONE) for each in (splits, with_other_test(splits))]
    assert pilots[0] == pilots[1]


# which triples are tried


def test_the_first_triples_and_their_weights_are_used(
    splits: na.Splits, fake_training: list[na.TrainingSet]
) -> None:
    method = na.Rules(depth=1)
    arm = na.Augmentation(method, 40, na.Constant(), weight="probability")
    pilot = na.run_pilot(splits, SMALL, arm, parts=(0.5, 1.0), options=ONE)
    assert set(pilot.scores) == {0, 20, 40}
    best = method.fit(splits.train).top(40)
    for n, data in zip((20, 40), fake_training[1:], strict=True):
        assert data.added is not None
        assert data.added.labels() == best.labels[:n]
        np.testing.assert_array_equal(data.weights, method.fit(splits.train).confidence[:n])


@pytest.mark.usefixtures("fake_training")
def test_triples_weighted_by_probability_are_tried_by_it(family: na.Splits) -> None:
    method = na.Auto(threshold=0.02)
    arm = na.Augmentation(method, 1.0, na.Constant(), weight="probability")
    pilot = na.run_pilot(family, SMALL, arm, options=ONE)
    confidence = method.fit(family.train).confidence
    assert set(pilot.scores) == {0, *(int((confidence >= level).sum()) for level in (0.5, 0.1, 0.02))}


@pytest.mark.usefixtures("fake_training")
def test_other_triples_are_tried_by_quarters(splits: na.Splits) -> None:
    pilot = na.run_pilot(splits, SMALL, na.Augmentation(na.RandomTriples(), 100), options=ONE)
    assert set(pilot.scores) == {0, 25, 50, 100}


# the choice


@pytest.mark.parametrize(
    ("scores", "errors", "amount", "words"),
    [
        (
            {0: 0.1, 5: 0.3, 9: 0.31},
            {0: 0.02, 5: 0.02, 9: 0.0},
            5,
            "adding 5 triples is not clearly worse than the best",
        ),
        ({0: 0.1, 5: 0.28, 9: 0.31}, {0: 0.02, 5: 0.02, 9: 0.0}, 9, "adding 9 triples is best"),
        ({0: 0.3, 5: 0.31}, {0: 0.02, 5: 0.0}, 0, "adding none is not clearly worse than the best"),
        ({0: 0.3, 5: 0.2}, {0: 0.0, 5: 0.2}, 0, "adding none is best"),
    ],
)
def test_the_smallest_number_that_is_not_clearly_worse_is_chosen(
    scores: dict[int, float], errors: dict[int, float], amount: int, words: str
) -> None:
    pilot = na.Pilot.of(scores, errors)
    assert pilot.amount == amount
    assert pilot.reason.endswith(words)


@pytest.mark.usefixtures("fake_training")
def test_where_no_triples_are_best_there_is_no_arm(splits: na.Splits, tmp_path: Path) -> None:
    arm = na.Augmentation(na.RandomTriples(), 80)
    choose_amount(splits, SMALL, arm, folder=tmp_path)
    change_json(tmp_path / "pilot.json", with_score("0", 0.999))
    choice, pilot = choose_amount(splits, SMALL, arm, folder=tmp_path)
    assert (choice, pilot.amount) == (None, 0)


# refusals


def test_a_model_that_cannot_be_trained_is_refused(splits: na.Splits) -> None:
    weighted = na.Augmentation(na.Rules(depth=1), 40, na.Constant(), weight="probability")
    paper = replace(na.LinkPredictor.preset("transe-paper"), epochs=3)
    with pytest.raises(ValueError, match="the margin loss takes no weights"):
        na.run_pilot(splits, paper, weighted, options=ONE)


def test_without_valid_there_is_nothing_to_evaluate_on(splits: na.Splits) -> None:
    without_valid = na.Splits.merge("alone", train=splits.train, test=splits.test)
    with pytest.raises(na.DataError, match="no valid triples"):
        na.run_pilot(without_valid, SMALL, na.Augmentation(na.RandomTriples(), 5))


def test_parts_and_epochs_are_checked(splits: na.Splits) -> None:
    arm = na.Augmentation(na.RandomTriples(), 5)
    with pytest.raises(ValueError, match=r"parts=\(0\.5, 2\): must be above 0 and at most 1"):
        na.run_pilot(splits, SMALL, arm, parts=(0.5, 2))
    with pytest.raises(ValueError, match="epochs=0: must be at least 1"):
        na.run_pilot(splits, SMALL, arm, epochs=0)


# compare --pilot


@pytest.fixture
def folder(family: na.Splits, tmp_path: Path, fake_training: list[na.TrainingSet]) -> Path:
    """A folder with a data set and the runs of a comparison with a pilot."""
    na.write_splits(family, tmp_path / "family")
    done = compare(tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "runs" / "stdout.txt").write_text(done.stdout)
    fake_training.clear()
    return tmp_path


def compare(folder: Path, *, arm: str = "auto", out: str = "runs") -> Done:
    return run("compare", "family", "--arm", arm, "--pilot", "--seeds", "1", "-o", out, cwd=folder)


@pytest.mark.usefixtures("fake_training")
def test_the_command_line_reports_every_number_of_triples(family: na.Splits, tmp_path: Path) -> None:
    na.write_splits(family, tmp_path / "family")
    done = compare(tmp_path)
    assert "note: pilot runs, MRR on valid by number of generated triples: 0: " in done.stderr
    scores = json.loads((tmp_path / "runs" / "pilot.json").read_text())["scores"]
    document = json.loads((tmp_path / "runs" / "comparison.json").read_text())
    assert document["pilot"]["mrr_on_valid"] == scores


def test_a_second_command_runs_no_pilot(folder: Path, fake_training: list[na.TrainingSet]) -> None:
    done = compare(folder)
    assert fake_training == []
    assert done.stdout == (folder / "runs" / "stdout.txt").read_text()


@pytest.mark.parametrize("data", [b"", b"{broken", b"[" * 200_000, b"\xff", b"[1]"])
def test_a_broken_pilot_is_refused_with_what_to_do(folder: Path, data: bytes) -> None:
    path = folder / "runs" / "pilot.json"
    path.write_bytes(data)
    done = compare(folder)
    assert done.returncode == 2
    assert "runs/pilot.json: not a pilot that can be read: delete pilot.json and the runs of auto" in done.stderr
    assert path.read_bytes() == data
    for file in (path, *path.parent.glob("auto-seed*")):
        file.unlink()
    assert compare(folder).returncode == 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (with_score("0", None), "scores.0: must be a number, is None"),
        (with_score("many", 0.5), "scores.many: its name must be a number of triples"),
        (with_score("7", 0.5), "errors: must be from 0, of the same numbers of triples as scores"),
        (lambda document: document | {"scores": {}}, "scores.0: is missing"),
        (lambda document: document | {"errors": []}, "errors: must be an object, is []"),
        (lambda document: document | {"settings": 1}, "settings: must be an object, is 1"),
        (lambda document: document | {"errors": dict.fromkeys(document["errors"], -1)}, "errors: must be from 0"),
        (lambda document: document | {"version": 3}, "written by a newer nnmfaug: update nnmfaug"),
    ],
)
def test_a_changed_pilot_is_refused_with_the_field(
    folder: Path, change: Callable[[Document], Document], reason: str
) -> None:
    change_json(folder / "runs" / "pilot.json", change)
    done = compare(folder)
    assert done.returncode == 2
    assert reason in done.stderr


def test_a_pilot_whose_numbers_were_changed_is_refused(folder: Path) -> None:
    path = folder / "runs" / "pilot.json"
    path.write_text(json.dumps(with_score("0", 0.999)(json.loads(path.read_text()))))
    assert "checksum: does not match" in compare(folder).stderr


def test_a_pilot_without_format_and_version_is_read(folder: Path, fake_training: list[na.TrainingSet]) -> None:
    write_pilot_0_1(folder / "runs" / "pilot.json")
    done = compare(folder)
    assert fake_training == []
    assert done.stdout == (folder / "runs" / "stdout.txt").read_text()


def test_a_pilot_of_a_version_with_fewer_settings_is_read(
    folder: Path, fake_training: list[na.TrainingSet]
) -> None:
    path = folder / "runs" / "pilot.json"
    for name in LATER:
        change_json(path, lambda document, name=name: deleted(document, ("settings", "predictor", name)))  # type: ignore[misc]
    done = compare(folder)
    assert fake_training == []
    assert done.stdout == (folder / "runs" / "stdout.txt").read_text()


def test_a_pilot_whose_filter_contained_test_is_run_again(
    folder: Path, fake_training: list[na.TrainingSet]
) -> None:
    path = folder / "runs" / "pilot.json"
    change_json(path, lambda document: deleted(document, ("settings", "filter")))
    done = compare(folder)
    n_pilots = len(json.loads(path.read_text())["scores"])
    assert len(fake_training) == n_pilots
    assert json.loads(path.read_text())["settings"]["filter"] == ["train", "valid"]
    assert done.stdout == (folder / "runs" / "stdout.txt").read_text()


def test_runs_without_their_pilot_are_refused(folder: Path) -> None:
    (folder / "runs" / "pilot.json").unlink()
    done = compare(folder)
    assert done.returncode == 2
    assert "runs of auto without a pilot are here" in done.stderr


def test_a_pilot_is_for_auto_only(folder: Path) -> None:
    done = compare(folder, arm="random")
    assert done.returncode == 2
    assert "--pilot is for the arm auto: add --arm auto" in done.stderr
