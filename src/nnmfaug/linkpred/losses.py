"""Losses for negatives that a batch shares. A score of −inf marks an entity that is not a negative."""

from __future__ import annotations

import math
from typing import Any, Literal

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
    """Softmax over the true triple and its negatives, a sample of all other entities.

    For a true triple of score s⁺ and negatives of scores s₁ … s_K, with temperature T and n entities,

        loss = log(exp(s⁺/T) + w · Σₖ exp(sₖ/T)) − s⁺/T    with    w = max(n − 1, K) / K.

    The K negatives represent n − 1 entities, hence their weight w. If they are all entities, w = 1 and the loss is
    the exact cross-entropy.

    Examples
    --------
    >>> scores = {"positive_scores": torch.zeros(1, 1), "negative_scores": torch.zeros(1, 2)}
    >>> loss = SampledSoftmaxLoss().process_slcwa_scores(**scores, num_entities=5)
    >>> round(loss.exp().item(), 4)  # 1 + 4/2 · 2
    5.0
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
        """Mean loss of a batch; scores have the shapes (b, 1) and (b, K), −inf if an entity is not a negative."""
        if label_smoothing:
            raise UnsupportedLabelSmoothingError(self)
        self._raise_on_weights(neg_weights)
        scores = prepare_negative_scores_for_softmax(batch_filter, negative_scores, no_inf_rows=False)
        true_logits = positive_scores / self.temperature
        negative_logits = scores / self.temperature + _log_weight(scores.shape[1], num_entities)
        total = torch.cat([true_logits, negative_logits], dim=1).logsumexp(dim=1)
        losses = total - true_logits[:, 0]
        return losses.mean() if pos_weights is None else (losses * pos_weights).mean()

    def process_lcwa_scores(self, predictions: Tensor, labels: Tensor, **kwargs: Any) -> Tensor:  # type: ignore[override]  # noqa: ANN401
        """PyKEEN's cross-entropy with the temperature; LCWA scores all entities, so nothing is sampled."""
        loss: Tensor = super().process_lcwa_scores(predictions / self.temperature, labels, **kwargs)
        return loss


def _log_weight(n_negatives: int, n_entities: int | None) -> float:
    """Return log w, the weight of one of K negatives; 0 if the number of entities is unknown."""
    if not n_entities:
        return 0.0
    return math.log(max(n_entities - 1, n_negatives) / n_negatives)


class SelfAdversarialLoss(NSSALoss):
    """PyKEEN's self-adversarial loss with weights of positives, which multiply the loss of a whole row.

    For a true triple of score s⁺, negatives of scores sₖ, margin γ and adversarial temperature α,

        loss = −½ · (log σ(γ + s⁺) + Σₖ pₖ · log σ(−sₖ − γ))    with    p = softmax(α · s),

    where p is a constant for the gradient. With ``summed`` there is no factor ½.
    """

    def __init__(
        self,
        margin: float = 9.0,
        adversarial_temperature: float = 1.0,
        reduction: Literal["mean", "sum"] = "mean",
        *,
        summed: bool = False,
    ) -> None:
        super().__init__(margin, adversarial_temperature, reduction)
        if summed:
            self.factor = 1.0

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
        """Loss of a batch; scores have the shapes (b, 1) and (b, K), −inf if an entity is not a negative."""
        if label_smoothing:
            raise UnsupportedLabelSmoothingError(self)
        scores = prepare_negative_scores_for_softmax(batch_filter, negative_scores, no_inf_rows=False)
        adversarial = (self.inverse_softmax_temperature * scores).softmax(dim=1).detach()
        negative_losses = -functional.logsigmoid(-scores - self.margin)
        negative = torch.where(adversarial > 0, adversarial * negative_losses, 0.0).sum(1)
        positive = -functional.logsigmoid(self.margin + positive_scores[:, 0])
        losses = self.factor * (positive + negative)
        total: Tensor = self._reduction_method(losses if pos_weights is None else losses * pos_weights)
        return total
