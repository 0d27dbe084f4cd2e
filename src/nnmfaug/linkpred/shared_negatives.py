"""Negatives shared by the batch: one to many scoring is then one matrix product instead of many small sums.

A batch of b triples is scored against the same K random entities as tails, and as heads unless the relations are
reciprocal. Each entity is looked up once, so there is one gradient for the entity table instead of four.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, cast

import torch
from pykeen.losses import Loss
from pykeen.models import ERModel
from pykeen.triples import CoreTriplesFactory
from torch import Tensor

from nnmfaug.linkpred.growing import GrowingMixin
from nnmfaug.linkpred.losses import SampledSoftmaxLoss, SelfAdversarialLoss
from nnmfaug.linkpred.slcwa import WholeEpochInstances, WholeEpochSLCWATrainingLoop

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
        0: the entity itself is a negative like any other. Above 0: (h, r, h) is always a negative of (h, r, t),
        and (t, r, t), and weighs so much, where another entity weighs 1; but never if it is a training triple, nor
        of relations that are mostly symmetric in the training triples. TransE puts an entity next to itself by any
        short r, and random negatives hardly ever say that this is wrong.
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
        if self_negative:
            self._symmetric, self._loops = _symmetry(kwargs["triples_factory"])

    @property
    def checksum(self) -> str:
        """PyKEEN's, and of what it does not know: a checkpoint with other negatives is refused."""
        return f"{super().checksum}-{self.num_negatives}-{self.self_negative}"

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
        sides = [(_score(model, one[0], one[1], many), 2, h)]
        if not model.use_inverse_triples:
            sides.append((_score(model, many, one[1], one[2]), 0, t))
        losses = [
            self.loss.process_slcwa_scores(
                positive_scores=true,
                label_smoothing=label_smoothing,
                num_entities=model.num_entities,
                pos_weights=weights,
                **self._negatives(scores, positives, negatives, side, (x, r)),
            )
            for scores, side, x in sides
        ]
        total: Tensor = torch.stack(losses).mean() + model.collect_regularization_term()
        return total

    def _negatives(
        self, scores: Tensor, positives: Tensor, negatives: Tensor, side: int, query: tuple[Sequence[Tensor], ...]
    ) -> dict[str, Tensor]:
        """Scores of the negatives, none of them true; maybe one more, for the entity that is there already."""
        if not self.self_negative:
            return _masked(self.loss, scores, positives[:, side, None] != negatives)
        entities, relations = positives[:, 2 - side, None], positives[:, 1, None]
        scores = scores.masked_fill((positives[:, side, None] == negatives) | (entities == negatives), -math.inf)
        symmetric, loops = (x.to(scores.device) for x in (self._symmetric, self._loops))
        known = torch.isin(entities * len(symmetric) + relations, loops) | (entities == positives[:, side, None])
        itself = _score(self.model, query[0], query[1], query[0])[:, None]  # type: ignore[arg-type]
        itself = itself.masked_fill(symmetric[relations] | known, -math.inf)
        # what the loss makes of K + 1 negatives is undone: K of them are a sample of all others
        n, k = self.model.num_entities - 1, len(negatives)
        given, wanted = max(n, k + 1) / (k + 1), max(n, k) / k
        temperature = cast("SampledSoftmaxLoss", self.loss).temperature
        parts = [
            x + temperature * math.log(weight / given)
            for x, weight in ((scores, wanted), (itself, self.self_negative))
        ]
        return {"negative_scores": torch.cat(parts, dim=1)}


class NNMFAugSharedTrainingLoop(GrowingMixin, SharedNegativesTrainingLoop):
    """Shared negatives and a growing training set; ``pipeline(training_loop="nnmfaugshared")``."""


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


def _symmetry(factory: CoreTriplesFactory) -> tuple[Tensor, Tensor]:
    """Whether more than half of a relation's triples are there both ways; and the loops, as entity · n + relation.

    Relations are counted with their inverses, if they have any.
    """
    h, r, t = factory.mapped_triples.T
    n, n_relations = factory.num_entities, factory.real_num_relations
    both = torch.isin((t * n_relations + r) * n + h, (h * n_relations + r) * n + t)
    count, found = (
        torch.bincount(r, weights=x, minlength=n_relations) for x in (torch.ones(len(r)), both.float())
    )
    symmetric, loop = found * 2 > count, h == t
    if not factory.create_inverse_triples:
        return symmetric, (h * n_relations + r)[loop]
    twice = 2 * (h * n_relations + r)[loop]  # relation r is 2r there, and its inverse 2r + 1
    return symmetric.repeat_interleave(2), torch.cat([twice, twice + 1])
