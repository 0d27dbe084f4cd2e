"""Training is a function of settings, triples and seed, and leaves no trace in the process."""

from __future__ import annotations

import gc
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import nnmfaug as na
from nnmfaug.evaluation.metrics import summary
from nnmfaug.linkpred import LinkPredictor, TrainOptions
from tests.other_test import with_other_test

SMALL = LinkPredictor(dim=6, epochs=3, batch_size=512, negatives=32, lr=0.05, decay=())
ONE_THREAD = TrainOptions(threads=1)


def states() -> tuple[Any, ...]:
    numpy_state: Any = np.random.get_state()  # noqa: NPY002
    return torch.get_rng_state().tolist(), numpy_state[1].tolist(), numpy_state[2:], random.getstate()


def test_one_seed_is_one_model_and_another_another(splits: na.Splits) -> None:
    settings = replace(SMALL, dropout=0.2, optimizer="adagrad")
    one, two, other = (settings.train(splits, seed=seed, options=ONE_THREAD) for seed in (3, 3, 4))
    assert one.losses == two.losses != other.losses
    weights = [trained.model.state_dict() for trained in (one, two)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[1])


def test_a_learning_curve_is_the_same_whatever_the_test_triples_are(splits: na.Splits) -> None:
    options = replace(ONE_THREAD, evaluate_every=1)
    one, other = (SMALL.train(each, options=options) for each in (splits, with_other_test(splits)))
    assert len(one.curve) == SMALL.epochs
    assert one.curve == other.curve
    last = summary(one.rank(splits.valid, known=splits.train_and_valid()).filtered)
    assert {name: one.curve[-1][name] for name in last} == last


@pytest.mark.parametrize("shared", [True, False])
def test_no_generator_of_others_moves(splits: na.Splits, shared: bool) -> None:
    before = states()
    replace(SMALL, loss="self-adversarial", shared=shared, epochs=1).train(splits, options=ONE_THREAD)
    assert states() == before


def test_what_others_froze_stays_frozen_and_threads_are_theirs(splits: na.Splits) -> None:
    gc.collect()
    threads = torch.get_num_threads()
    for freeze in (True, False):
        gc.unfreeze()
        if freeze:
            gc.freeze()
        before, alive = gc.get_freeze_count(), [[] for _ in range(10_000)]  # type: ignore[var-annotated]
        replace(SMALL, epochs=1).train(splits, options=TrainOptions(threads=threads + 1))
        assert gc.get_freeze_count() <= before  # some of them may have died
        assert len(alive) == 10_000
        assert torch.get_num_threads() == threads


def test_a_model_that_diverges_says_what_to_do_and_leaves_nothing(splits: na.Splits) -> None:
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    settings = replace(SMALL, model="transe", squared=True, optimizer="sgd", lr=1e30)
    with pytest.raises(ValueError, match="the model has diverged, use a smaller learning rate"):
        settings.train(splits, options=TrainOptions(threads=threads + 1))
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)
