"""Training ends when looks at valid are in vain, and never depends on test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch

import nnmfaug as na
from nnmfaug.linkpred import ranking, stopping
from nnmfaug.linkpred.stopping import is_in_vain, spread
from tests.other_test import with_other_test

ONE = na.TrainOptions(threads=1)
TRANSE, ROTATE = (na.LinkPredictor.preset(name) for name in ("transe-paper", "rotate-paper"))


@pytest.fixture(scope="module")
def small(splits: na.Splits) -> na.Splits:
    """Splits with a single batch of train triples."""
    return na.Splits(splits.name, spread(splits.train, TRANSE.batch_size), splits.valid, splits.test)


@pytest.mark.parametrize(
    ("mean_ranks", "n_looks"),
    [
        ([9, 8, 7, 6, 5, 4], None),
        ([9, 5, 6, 6, 4, 5, 5], None),
        ([9, 5, 6, 7, 8, 4], 5),
        ([9, 5, 8, 7, 6, 4], 5),  # each better than the one before, none than the best
        ([5, 5, 5, 5], 4),  # equal is not better
        ([5, 6, 7], None),
    ],
)
def test_three_looks_in_a_row_without_a_better_mean_rank_are_the_end(
    mean_ranks: list[float], n_looks: int | None
) -> None:
    ends = [n for n in range(1, len(mean_ranks) + 1) if is_in_vain(mean_ranks[:n], patience=3)]
    assert (ends[0] if ends else None) == n_looks


@dataclass
class Looks:
    """Stands in for the ranks on valid, and records what it was asked."""

    mean_ranks: Iterator[float]
    asked: list[tuple[na.KnowledgeGraph, na.KnowledgeGraph]]

    def rank(self, _: object, triples: na.KnowledgeGraph, known: na.KnowledgeGraph, **__: object) -> na.Ranks:
        self.asked.append((triples, known))
        ranks = np.full((len(triples), 2), next(self.mean_ranks))
        return na.Ranks(filtered=ranks, raw=ranks * 1000)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    """Mean ranks of which the second is the best."""
    fake = Looks(iter([9.0, 5.0, 8.0, 7.0, 6.0, 4.0]), [])
    monkeypatch.setattr(stopping, "rank", fake.rank)
    return fake


@pytest.mark.parametrize("paper", [TRANSE, ROTATE], ids=["transe", "rotate"])
def test_training_ends_with_the_weights_of_its_last_epoch(
    small: na.Splits, paper: na.LinkPredictor, looks: Looks
) -> None:
    stopped = paper.train(small, options=ONE)
    assert len(stopped.losses) == 50
    assert len(looks.asked) == 5
    assert looks.asked[0][0] == small.valid
    assert looks.asked[0][1] == small.train_and_valid()
    plain = replace(paper, epochs=50, patience=0).train(small, options=ONE)
    assert stopped.losses == plain.losses
    expected = plain.model.state_dict()
    assert all(torch.equal(x, expected[name]) for name, x in stopped.model.state_dict().items())


def test_without_patience_or_valid_triples_all_epochs_are_made(small: na.Splits, looks: Looks) -> None:
    without_valid = na.Splits.merge("alone", train=small.train, test=small.test)
    assert len(replace(TRANSE, epochs=60, patience=0).train(small, options=ONE).losses) == 60
    assert len(replace(TRANSE, epochs=60).train(without_valid, options=ONE).losses) == 60
    assert not looks.asked


@pytest.mark.usefixtures("looks")
def test_a_learning_curve_ends_where_training_ends(small: na.Splits) -> None:
    curve = TRANSE.train(small, options=replace(ONE, evaluate_every=20)).curve
    assert [point["epoch"] for point in curve] == [20, 40, 50]


def test_looks_use_as_many_valid_triples_as_the_settings_say(small: na.Splits, looks: Looks) -> None:
    replace(TRANSE, epochs=4, look_every=2, look_at=30).train(small, options=ONE)
    (first, _), (second, _) = looks.asked
    assert len(first) == 30
    assert first == second
    assert small.valid.contains(first.triples).all()
    assert first.triples[-1].tolist() != small.valid.triples[29].tolist(), "they are spread over all of valid"


def test_the_end_is_the_same_whatever_the_test_triples_are(
    splits: na.Splits, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[float] = []

    def record(mean_ranks: list[float], patience: int) -> bool:
        seen.append(mean_ranks[-1])
        return is_in_vain(mean_ranks, patience)

    monkeypatch.setattr(stopping, "is_in_vain", record)
    settings = replace(ROTATE, look_every=1, patience=2)
    one, other = (settings.train(each, options=ONE) for each in (splits, with_other_test(splits)))
    assert one.losses == other.losses
    assert len(one.losses) < 100
    assert seen[: len(seen) // 2] == seen[len(seen) // 2 :]
    last = one.rank(splits.valid, known=splits.train_and_valid()).filtered.mean()
    assert seen[-1] == pytest.approx(last)


def test_hidden_entities_are_no_candidates_of_a_look(splits: na.Splits, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden: list[object] = []

    def record(*args: Any, **kwargs: Any) -> na.Ranks:
        hidden.append(kwargs["hidden"])
        return ranking.rank(*args, **kwargs)

    monkeypatch.setattr(stopping, "rank", record)
    data = na.TrainingSet(splits.train, hidden=("brazil",))
    replace(TRANSE, epochs=1, look_every=1).train(splits, data, options=ONE)
    assert hidden == [[splits.vocabulary.entity_ids["brazil"]]]
