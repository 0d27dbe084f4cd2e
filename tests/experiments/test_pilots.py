"""Pilot runs: judged on valid, with nothing as a choice."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnmfaug as na
from tests.cli.commands import run

SMALL = na.LinkPredictor(model="transe", dim=16, epochs=30, batch_size=256)
ONE = na.TrainOptions(threads=1)


def test_facts_are_chosen_and_noise_is_not(splits: na.Splits) -> None:
    facts = na.run_pilot(splits, SMALL, na.Augmentation(na.Given(splits.valid), 199, na.Constant()), options=ONE)
    assert facts.amount == len(splits.valid) == 199
    noise = na.Augmentation(na.RandomTriples(), 1.0, na.Constant())
    found = na.run_pilot(na.read_splits("umls"), SMALL, noise, parts=(1.0,), options=ONE)
    assert found.amount == 0
    assert "adding none is best" in found.reason


def test_the_first_triples_and_their_weights_are_used(splits: na.Splits, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    real = na.LinkPredictor.train

    def train(self: na.LinkPredictor, splits: na.Splits, data: na.TrainingSet, **kwargs: Any) -> na.Trained:
        seen.append(data)
        return real(self, splits, data, **kwargs)

    monkeypatch.setattr(na.LinkPredictor, "train", train)
    weighed = na.Augmentation(na.Rules(), 40, na.Constant(), weight="probability")
    found = na.run_pilot(splits, replace(SMALL, epochs=3), weighed, parts=(0.5, 1.0), options=ONE)
    assert set(found.scores) == {0, 20, 40}
    best = na.Rules().fit(splits.train).top(40)
    for n, data in zip((20, 40), seen[1:], strict=True):
        assert np.array_equal(data.added.triples, best.triples[:n])
        assert np.array_equal(data.weights, na.Rules().fit(splits.train).confidence[:n])


def test_triples_that_weigh_by_probability_are_tried_by_it(splits: na.Splits) -> None:
    weighed = na.Augmentation(na.Auto(threshold=0.02), 1.0, na.Constant(), weight="probability")
    found = na.run_pilot(splits, replace(SMALL, epochs=3), weighed, options=ONE)
    confidence = na.Auto(threshold=0.02).fit(splits.train).confidence
    assert set(found.scores) == {0, *(int((confidence >= level).sum()) for level in (0.5, 0.1, 0.02))}


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
def test_the_fewest_that_will_do_are_chosen(
    scores: dict[int, float], errors: dict[int, float], amount: int, words: str
) -> None:
    found = na.Pilot.of(scores, errors)
    assert found.amount == amount
    assert found.reason.endswith(words)


def test_what_cannot_be_trained_is_refused_before_pilots(splits: na.Splits) -> None:
    weighed = na.Augmentation(na.Rules(), 40, na.Constant(), weight="probability")
    paper = na.LinkPredictor.preset("transe-paper")
    with pytest.raises(ValueError, match="the margin loss takes no weights"):
        na.run_pilot(splits, replace(paper, epochs=3), weighed, options=ONE)


def test_without_valid_there_is_nothing_to_judge_by(splits: na.Splits) -> None:
    alone = na.Splits.merge("alone", train=splits.train, test=splits.test)
    with pytest.raises(na.DataError, match="no valid triples"):
        na.run_pilot(alone, SMALL, na.Augmentation(na.RandomTriples(), 5))


def test_the_command_line_tells_what_was_tried(tmp_path: Path) -> None:
    common = (
        "compare",
        "umls",
        "--model",
        "transe",
        "--epochs",
        "3",
        "--dim",
        "8",
        "--seeds",
        "1",
        "--threads",
        "1",
    )
    done = run(*common, "--arm", "auto", "--pilot", "-o", "runs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "note: pilot runs, MRR on valid by number of generated triples: 0: " in done.stderr
    kept, first = tmp_path / "runs" / "pilot.json", done
    scores = json.loads(kept.read_text())["scores"]
    document = json.loads((tmp_path / "runs" / "comparison.json").read_text())
    assert document["pilot"]["mrr_on_valid"] == scores
    kept.write_text(kept.read_text().replace(str(scores["0"]), "0.999"))  # it is not run again
    done = run(*common, "--arm", "auto", "--pilot", "-o", "again", cwd=tmp_path)
    assert done.stdout == first.stdout
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "pilot.json").write_bytes(kept.read_bytes())
    done = run(*common, "--arm", "auto", "--pilot", "--json", "-o", "none", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "0: 0.9990" in done.stderr
    assert "adding none is best" in done.stderr
    assert [entry["n_extra"] for entry in json.loads(done.stdout)["runs"]] == [0, 0]
    (tmp_path / "again" / "pilot.json").unlink()
    done = run(*common, "--arm", "auto", "--pilot", "-o", "again", cwd=tmp_path)
    assert "runs of auto without a pilot are here" in done.stderr
    kept.write_text("{broken")
    done = run(*common, "--arm", "auto", "--pilot", "-o", "runs", cwd=tmp_path)
    assert done.stdout == first.stdout
    done = run(*common, "--arm", "random", "--pilot", "-o", "runs", cwd=tmp_path)
    assert "--pilot is for the arm auto" in done.stderr
