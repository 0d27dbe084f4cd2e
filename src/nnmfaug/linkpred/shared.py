"""Negatives shared by the batch: one to many scoring is then one matrix product instead of many small sums.

A batch of b triples is scored against the same K random entities as tails, and as heads unless the relations are
reciprocal. Each entity is looked up once, so there is one gradient for the entity table instead of four.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from pykeen.losses import (
    CrossEntropyLoss,
    Loss,
    NSSALoss,
    UnsupportedLabelSmoothingError,
    prepare_negative_scores_for_softmax,
)
from pykeen.models import ERModel
from pykeen.triples import CoreTriplesFactory
from torch import Tensor
from torch.nn import functional

from nnmfaug.linkpred.epochs import WholeEpochInstances, WholeEpochSLCWATrainingLoop
from nnmfaug.linkpred.growing import GrowingMixin

Batch = dict[str, Tensor]


class SharedNegativesInstances(WholeEpochInstances):
    """Batches of positives, each with entity ids that serve all of them as negatives."""

    num_negatives = 1
    num_entities = 1

    def __getitem__(self, item: list[int]) -> Batch:  # type: ignore[override]
        """Return positives of shape (b, 3) and negatives of shape (K,); all entities if K is not fewer."""
        positives = self.mapped_triples[item]
        everyone = self.num_negatives >= self.num_entities
        negatives = (
            torch.arange(self.num_entities)
            if everyone
            else torch.randint(self.num_entities, (self.num_negatives,))
        )
        batch = {"positives": positives, "negatives": negatives}
        if self.loss_weighter is not None:
            batch["weights"] = self.loss_weighter.weight_triples(positives)
        return batch


class SharedNegativesTrainingLoop(WholeEpochSLCWATrainingLoop):
    """sLCWA where a batch shares its negatives, for a model with one score function (``ERModel``).

    Parameters
    ----------
    num_negatives
        Random entities per batch; with as many as there are, each triple is scored against all.
    self_negative
        What (h, r, h) weighs as a negative of (h, r, t), and (t, r, t), where another entity weighs 1; for 0 it is
        like the others. TransE puts an entity next to itself by any short r, and a random negative hardly ever
        says that this is wrong. Of mostly symmetric relations it must be so, there is no such negative.
    """

    instances: ClassVar[type[WholeEpochInstances]] = SharedNegativesInstances

    def __init__(
        self,
        *,
        num_negatives: int = 1024,
        self_negative: float = 0.0,
        **kwargs: Any,  # noqa: ANN401  # the loop's own
    ) -> None:
        super().__init__(**kwargs)
        if num_negatives < 1:
            msg = f"num_negatives={num_negatives}: must be at least 1"
            raise ValueError(msg)
        if not isinstance(self.model, ERModel):
            msg = f"{type(self.model).__name__} is no ERModel: shared negatives need its representations"
            raise TypeError(msg)
        if not 0 <= self_negative < math.inf or (self_negative and not isinstance(self.loss, SampledSoftmaxLoss)):
            msg = f"self_negative={self_negative}: must be a number from 0, and 0 for any loss but the softmax"
            raise ValueError(msg)
        self.num_negatives, self.self_negative = num_negatives, self_negative
        self._symmetric = _mostly_symmetric(kwargs["triples_factory"])

    def _create_training_data_loader(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        if kwargs.get("sampler") is not None:
            msg = f"sampler={kwargs['sampler']!r} is not possible with shared negatives"
            raise ValueError(msg)
        loader = super()._create_training_data_loader(*args, **kwargs)
        dataset: Any = loader.dataset
        dataset.num_negatives, dataset.num_entities = self.num_negatives, self.model.num_entities
        return loader

    def _process_batch(  # type: ignore[override]
        self, batch: Batch, start: int, stop: int, label_smoothing: float = 0.0, slice_size: int | None = None
    ) -> Tensor:
        if slice_size is not None:
            msg = "slicing is not possible with shared negatives"
            raise AttributeError(msg)
        model: Any = self.model  # an ERModel, see __init__
        device = model.device
        positives, negatives = batch["positives"][start:stop].to(device), batch["negatives"].to(device)
        weights = batch["weights"][start:stop].to(device) if "weights" in batch else None
        b, k = len(positives), len(negatives)
        ids = torch.cat([positives[:, 0], positives[:, 2], negatives])
        h, t, n = zip(*(rep(ids).split([b, b, k]) for rep in model.entity_representations), strict=True)
        r = [rep(positives[:, 1]) for rep in model.relation_representations]
        true = _score(model, h, r, t)[:, None]
        one, many = [[x.unsqueeze(1) for x in part] for part in (h, r, t)], [x.unsqueeze(0) for x in n]
        sides = [(_score(model, one[0], one[1], many), 2)]
        if not model.use_inverse_triples:
            sides.append((_score(model, many, one[1], one[2]), 0))
        losses = [
            self.loss.process_slcwa_scores(
                positive_scores=true,
                label_smoothing=label_smoothing,
                num_entities=model.num_entities,
                pos_weights=weights,
                **(
                    self._with_self(scores, positives, negatives, side)
                    if self.self_negative
                    else _masked(self.loss, scores, positives[:, side, None] != negatives)
                ),
            )
            for scores, side in sides
        ]
        total: Tensor = torch.stack(losses).mean() + model.collect_regularization_term()
        return total

    def _with_self(self, scores: Tensor, positives: Tensor, negatives: Tensor, side: int) -> dict[str, Tensor]:
        """Scores with one more for the entity that is there already, and what each weighs."""
        model: Any = self.model
        other, n = 2 - side, max(model.num_entities - 1, len(negatives))
        itself = model.score_hrt(positives[:, [other, 1, other]])
        impossible = self._symmetric.to(positives.device)[positives[:, 1]] | (positives[:, 0] == positives[:, 2])
        scores = scores.masked_fill(
            (positives[:, side, None] == negatives) | (positives[:, other, None] == negatives), -math.inf
        )
        weights = scores.new_full((len(negatives) + 1,), n / len(negatives))
        weights[-1] = self.self_negative
        itself = itself.masked_fill(impossible[:, None], -math.inf)
        return {"negative_scores": torch.cat([scores, itself], dim=1), "neg_weights": weights}


class NNMFAugSharedTrainingLoop(GrowingMixin, SharedNegativesTrainingLoop):
    """Shared negatives and a growing training set; ``pipeline(training_loop="nnmfaugshared")``."""


class SampledSoftmaxLoss(CrossEntropyLoss):
    """Softmax over the true triple and its negatives, which stand for all entities.

    K negatives are a sample of the n − 1 others, so each weighs (n − 1)/K; with all of them it is the exact
    cross-entropy; ``neg_weights`` says something else. Scores are divided by ``temperature`` first.
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
        scores = prepare_negative_scores_for_softmax(batch_filter, negative_scores, no_inf_rows=False)
        k = scores.shape[1]
        shift = math.log(max(num_entities - 1, k) / k) if num_entities else 0.0
        true = positive_scores / self.temperature
        total = torch.cat(
            [true, scores / self.temperature + (shift if neg_weights is None else neg_weights.log())], dim=1
        ).logsumexp(dim=1)
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


def _score(model: ERModel[Any, Any, Any], h: Sequence[Tensor], r: Sequence[Tensor], t: Sequence[Tensor]) -> Tensor:
    """Score representations as the model does; some have a part for heads and another for tails."""
    interaction: Any = model.interaction
    heads, tails = [h[i] for i in interaction.head_indices], [t[i] for i in interaction.tail_indices]
    parts = (part[0] if len(part) == 1 else part for part in (heads, r, tails))
    scores: Tensor = interaction(*parts)
    return scores


def _masked(loss: Loss, scores: Tensor, mask: Tensor) -> dict[str, Tensor]:
    """Leave true triples out: as −inf, which is fast, or as PyKEEN's losses want it."""
    if isinstance(loss, SampledSoftmaxLoss | SelfAdversarialLoss):
        return {"negative_scores": scores.masked_fill(~mask, -math.inf)}
    return {"negative_scores": scores[mask], "batch_filter": mask}


def _mostly_symmetric(factory: CoreTriplesFactory) -> Tensor:
    """For each relation, and its inverse if it has one, whether half of its triples are there both ways."""
    h, r, t = factory.mapped_triples.T
    n, n_relations = factory.num_entities, factory.real_num_relations
    both = torch.isin((t * n_relations + r) * n + h, (h * n_relations + r) * n + t)
    count, found = (
        torch.bincount(r, weights=x, minlength=n_relations) for x in (torch.ones(len(r)), both.float())
    )
    symmetric = found * 2 > count
    return symmetric.repeat_interleave(2) if factory.create_inverse_triples else symmetric
