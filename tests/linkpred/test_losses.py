"""The losses against their formulas and against PyKEEN's losses where these apply."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from pykeen.losses import (
    CrossEntropyLoss,
    NoSampleWeightSupportError,
    NSSALoss,
    UnsupportedLabelSmoothingError,
)
from torch import Tensor
from torch.nn import functional

from nnmfaug.linkpred.losses import SampledSoftmaxLoss, SelfAdversarialLoss


@pytest.fixture
def numbers() -> Tensor:
    """Six rows: the score of the true triple, then those of eight negatives."""
    return torch.randn((6, 9), generator=torch.Generator().manual_seed(0))


@pytest.fixture
def scores(numbers: Tensor) -> dict[str, Any]:
    return {"positive_scores": numbers[:, :1], "negative_scores": numbers[:, 1:]}


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_the_self_adversarial_one_is_pykeens_where_that_applies(
    numbers: Tensor, scores: dict[str, Any], reduction: Any
) -> None:
    ours, theirs = (kind(2.0, 0.7, reduction) for kind in (SelfAdversarialLoss, NSSALoss))
    a, b = (loss.process_slcwa_scores(**scores) for loss in (ours, theirs))
    torch.testing.assert_close(a, b)
    mask = numbers[:, 1:] > -1
    assert bool(mask.any(1).all())
    a, b = (
        loss.process_slcwa_scores(numbers[:, :1], numbers[:, 1:][mask], batch_filter=mask)
        for loss in (ours, theirs)
    )
    torch.testing.assert_close(a, b)
    masked = numbers[:, 1:].masked_fill(~mask, -math.inf)
    torch.testing.assert_close(ours.process_slcwa_scores(numbers[:, :1], masked), b)


@pytest.mark.parametrize("n", [2, 9, 1000])
def test_sampled_negatives_represent_all_others(numbers: Tensor, scores: dict[str, Any], n: int) -> None:
    loss = SampledSoftmaxLoss(temperature=0.5)
    shift = math.log((n - 1) / 8) if n > 9 else 0.0
    logits = torch.cat([numbers[:, :1] / 0.5, numbers[:, 1:] / 0.5 + shift], dim=1)
    expected = functional.cross_entropy(logits, torch.zeros(6, dtype=torch.long))
    torch.testing.assert_close(loss.process_slcwa_scores(**scores, num_entities=n), expected)


def test_with_lcwa_the_softmax_is_pykeens_with_a_temperature(numbers: Tensor) -> None:
    labels = functional.one_hot(torch.arange(6), numbers.shape[1]).float()
    expected = CrossEntropyLoss().process_lcwa_scores(numbers / 0.5, labels)
    torch.testing.assert_close(SampledSoftmaxLoss(0.5).process_lcwa_scores(numbers, labels), expected)


def test_what_they_cannot_do_is_an_error(scores: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedLabelSmoothingError):
        SampledSoftmaxLoss().process_slcwa_scores(**scores, label_smoothing=0.1)
    with pytest.raises(NoSampleWeightSupportError):
        SampledSoftmaxLoss().process_slcwa_scores(**scores, neg_weights=torch.ones(6, 8))
    with pytest.raises(UnsupportedLabelSmoothingError):
        SelfAdversarialLoss().process_slcwa_scores(**scores, label_smoothing=0.1)


def test_the_softmax_is_its_formula() -> None:
    loss = SampledSoftmaxLoss(temperature=2.0)
    found = loss.process_slcwa_scores(torch.tensor([[1.0]]), torch.tensor([[3.0, -2.0]]), num_entities=7)
    weight = (7 - 1) / 2
    expected = math.log(math.exp(0.5) + weight * (math.exp(1.5) + math.exp(-1.0))) - 0.5
    assert found.item() == pytest.approx(expected)


def test_the_self_adversarial_one_is_its_formula() -> None:
    margin, alpha = 2.0, 0.7
    found = SelfAdversarialLoss(margin, alpha).process_slcwa_scores(
        torch.tensor([[-1.0]]), torch.tensor([[-3.0, 0.5]])
    )
    exps = [math.exp(alpha * -3.0), math.exp(alpha * 0.5)]
    negative = sum(e / sum(exps) * log_sigmoid(-s - margin) for e, s in zip(exps, (-3.0, 0.5), strict=True))
    assert found.item() == pytest.approx(-(log_sigmoid(margin - 1.0) + negative) / 2)


def log_sigmoid(x: float) -> float:
    return -math.log(1 + math.exp(-x))


@pytest.mark.parametrize(
    "loss", [SampledSoftmaxLoss(0.5), SelfAdversarialLoss(2.0, 0.7)], ids=["softmax", "adversarial"]
)
class TestEveryLoss:
    def test_a_weight_multiplies_the_loss_of_its_row(
        self, loss: Any, numbers: Tensor, scores: dict[str, Any]
    ) -> None:
        rows = [loss.process_slcwa_scores(row[None, :1], row[None, 1:]) for row in numbers]
        weights = torch.arange(6) / 4
        expected = (torch.stack(rows) * weights).mean()
        torch.testing.assert_close(loss.process_slcwa_scores(**scores, pos_weights=weights), expected)

    def test_an_entity_that_is_not_a_negative_changes_nothing(self, loss: Any, numbers: Tensor) -> None:
        none = torch.full((6, 1), -math.inf)
        more = torch.cat([numbers[:, 1:], none], dim=1)
        with_none = loss.process_slcwa_scores(numbers[:, :1], more)
        torch.testing.assert_close(with_none, loss.process_slcwa_scores(numbers[:, :1], numbers[:, 1:]))
