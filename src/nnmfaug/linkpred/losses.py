"""Losses for negatives that a batch shares; a score of −inf is that of no negative."""

from __future__ import annotations

import math
from typing import Any

import torch
from pykeen.losses import (
    CrossEntropyLoss,
    NSSALoss,
    UnsupportedLabelSmoothingError,
    prepare_negative_scores_for_softmax,
)
from torch import Tensor
from torch.nn import functional


class SampledSoftmaxLoss(CrossEntropyLoss):
    """Softmax over the true triple and its negatives, which stand for all entities.

    K negatives are a sample of the n − 1 others, so each weighs (n − 1)/K; with all of them it is the exact
    cross-entropy. Scores are divided by ``temperature`` first.
    """

    def __init__(self, temperature: float = 1.0) -> None:
        super().__init__()
        self.temperature = temperature

    def process_slcwa_scores(
        self,
        positive_scores: Tensor,
        negative_scores: Tensor,
        label_smoothing: float | None = None,
        batch_filter: Tensor | None = None,
        num_entities: int | None = None,
        pos_weights: Tensor | None = None,
        neg_weights: Tensor | None = None,
    ) -> Tensor:
        """Mean loss of a batch; scores of shape (b, 1) and (b, K), −inf for what is no negative."""
        if label_smoothing:
            raise UnsupportedLabelSmoothingError(self)
        self._raise_on_weights(neg_weights)
        scores = prepare_negative_scores_for_softmax(batch_filter, negative_scores, no_inf_rows=False)
        k = scores.shape[1]
        shift = math.log(max(num_entities - 1, k) / k) if num_entities else 0.0
        true = positive_scores / self.temperature
        total = torch.cat([true, scores / self.temperature + shift], dim=1).logsumexp(dim=1)
        losses = total - true[:, 0]
        return losses.mean() if pos_weights is None else (losses * pos_weights).mean()

    def process_lcwa_scores(self, predictions: Tensor, labels: Tensor, **kwargs: Any) -> Tensor:  # type: ignore[override]  # noqa: ANN401
        """Nothing is sampled there: PyKEEN's own, with the temperature."""
        loss: Tensor = super().process_lcwa_scores(predictions / self.temperature, labels, **kwargs)
        return loss


class SelfAdversarialLoss(NSSALoss):
    """PyKEEN's self-adversarial loss, with weights of positives; a row counts as its positive does."""

    def process_slcwa_scores(
        self,
        positive_scores: Tensor,
        negative_scores: Tensor,
        label_smoothing: float | None = None,
        batch_filter: Tensor | None = None,
        num_entities: int | None = None,  # noqa: ARG002  # as PyKEEN calls it
        pos_weights: Tensor | None = None,
        neg_weights: Tensor | None = None,  # noqa: ARG002
    ) -> Tensor:
        """Loss of a batch; scores of shape (b, 1) and (b, K), −inf for what is no negative."""
        if label_smoothing:
            raise UnsupportedLabelSmoothingError(self)
        scores = prepare_negative_scores_for_softmax(batch_filter, negative_scores, no_inf_rows=False)
        adversarial = (self.inverse_softmax_temperature * scores).softmax(dim=1).detach()
        negative = -functional.logsigmoid(-scores - self.margin)
        negative = torch.where(adversarial > 0, adversarial * negative, 0.0).sum(1)
        positive = -functional.logsigmoid(self.margin + positive_scores[:, 0])
        losses = self.factor * (positive + negative)
        total: Tensor = self._reduction_method(losses if pos_weights is None else losses * pos_weights)
        return total
