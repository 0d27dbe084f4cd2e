"""Each generated triple has its weight in the loss, and every other triple has weight 1."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from pykeen.losses import NoSampleWeightSupportError
from pykeen.triples.weights import RelationLossWeighter

from nnmfaug.linkpred.growing import ExtraWeighter, NNMFAugTrainingLoop
from nnmfaug.linkpred.schedule import Polynomial, Step
from tests.linkpred.loops import (
    BOTH,
    EPOCHS,
    QUIET,
    WAYS,
    Recorder,
    make_extra,
    make_graph,
    make_loop,
    rows,
    train,
)

pytestmark = QUIET


@WAYS
def test_generated_triples_have_the_weight_and_others_one(inverse: bool) -> None:
    factory = make_graph(inverse=inverse)
    extra = make_extra(factory, 50)
    weighter = ExtraWeighter(extra, torch.full((len(extra),), 0.25), factory)
    light = rows(extra)
    if inverse:
        light = {(h, 2 * r, t) for h, r, t in light} | {(t, 2 * r + 1, h) for h, r, t in light}
    n, m = factory.num_entities, factory.num_relations
    every = torch.cartesian_prod(torch.arange(n), torch.arange(m), torch.arange(n))
    expected = torch.tensor([0.25 if tuple(row) in light else 1.0 for row in every.tolist()])
    assert torch.equal(weighter.weight_triples(every), expected)
    cube = expected.view(n, m, n)
    one = torch.arange(5)[:, None]
    assert torch.equal(weighter(h=None, r=one, t=one), cube[:, range(5), range(5)].T)
    assert torch.equal(weighter(h=one, r=None, t=one), cube[range(5), :, range(5)])
    assert torch.equal(weighter(h=one.numpy(), r=one.numpy(), t=None), cube[range(5), range(5)])


@WAYS
def test_each_triple_may_have_its_own_weight(inverse: bool) -> None:
    factory = make_graph(inverse=inverse)
    extra = make_extra(factory, 20)
    own = torch.linspace(0.1, 0.9, 20)
    weighter = ExtraWeighter(extra, own, factory)
    h, r, t = extra.T
    assert torch.equal(weighter.weight_triples(torch.stack([h, 2 * r if inverse else r, t], 1)), own)
    if inverse:
        assert torch.equal(weighter.weight_triples(torch.stack([t, 2 * r + 1, h], 1)), own)
    loop = make_loop(NNMFAugTrainingLoop, factory, extra=extra, extra_weight=own, loss="bcewithlogits")
    seen = Recorder()
    train(loop, factory, callbacks=seen)
    last = torch.cat([batch["pos_weights"] for batch in seen.batches[EPOCHS]])
    assert last[last < 1].sort().values.tolist() == own.repeat(2 if inverse else 1).sort().values.tolist()
    with pytest.raises(ValueError, match="one for each triple"):
        make_loop(NNMFAugTrainingLoop, factory, extra=extra, extra_weight=own[:3])


def test_without_generated_triples_all_weigh_one() -> None:
    weighter = ExtraWeighter(torch.empty((0, 3), dtype=torch.long), torch.empty(0), make_graph())
    assert weighter(h=torch.tensor([[1]]), r=torch.tensor([[0]]), t=None).tolist() == [[1.0] * 14]


@WAYS
def test_the_triples_in_use_are_trained_on_with_their_weight(inverse: bool) -> None:
    factory = make_graph(inverse=inverse)
    extra = make_extra(factory)
    seen = Recorder()
    loop = make_loop(NNMFAugTrainingLoop, factory, extra=extra, extra_weight=0.25, loss="bcewithlogits")
    train(loop, factory, callbacks=seen)
    for epoch, batches in seen.batches.items():
        n = Polynomial()(epoch, EPOCHS, len(extra))
        weights = torch.cat([batch["pos_weights"] for batch in batches])
        assert int((weights == 0.25).sum()) == n * (2 if inverse else 1)
        expected = ExtraWeighter(extra[:n], torch.full((n,), 0.25), factory)
        assert all(
            torch.equal(batch["neg_weights"], expected.weight_triples(batch["negatives"])) for batch in batches
        )


@BOTH
def test_a_weight_changes_nothing_before_a_triple_enters(ours: Any, stock: Any) -> None:
    factory = make_graph()
    more: dict[str, Any] = {"extra": make_extra(factory), "extra_weight": 0.25, "schedule": Step(0.5)}
    loops = [make_loop(ours, factory, loss="bcewithlogits", **more)]
    loops.append(make_loop(stock, factory, loss="bcewithlogits"))
    losses = []
    for loop in loops:
        torch.manual_seed(5)
        losses.append(train(loop, factory).losses_per_epochs)
    assert losses[0][:2] == losses[1][:2]
    assert losses[0][2] != losses[1][2]


def test_a_loss_without_weights_says_so() -> None:
    factory = make_graph()
    loop = make_loop(NNMFAugTrainingLoop, factory, extra=make_extra(factory), extra_weight=0.5)
    with pytest.raises(NoSampleWeightSupportError, match="MarginRankingLoss does not support sample weights"):
        train(loop, factory, 1)


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_a_weight_is_a_number_from_0(weight: float) -> None:
    with pytest.raises(ValueError, match=rf"extra_weight={weight}: must be finite and not negative"):
        make_loop(NNMFAugTrainingLoop, make_graph(), extra_weight=weight)


def test_two_ways_to_weigh_are_one_too_many() -> None:
    factory = make_graph()
    other = RelationLossWeighter(torch.ones(factory.num_relations))
    with pytest.raises(ValueError, match="extra_weight and a loss_weighter"):
        make_loop(NNMFAugTrainingLoop, factory, extra_weight=0.5, loss_weighter=other)
