"""Negatives shared by the batch, so that one-to-many scoring is one matrix product instead of many small sums.

A batch of b triples is scored against the same K random entities as tails, and as heads unless the relations are
reciprocal. All representations are looked up in one call, so the entity table has one gradient instead of four.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, cast

import torch
from pykeen.losses import Loss
from pykeen.models import ERModel
from pykeen.triples import CoreTriplesFactory
from torch import Tensor

from nnmfaug.core.checks import check_at_least, require
from nnmfaug.linkpred.growing import GrowingMixin
from nnmfaug.linkpred.losses import SampledSoftmaxLoss, SelfAdversarialLoss
from nnmfaug.linkpred.slcwa import WholeEpochInstances, WholeEpochSLCWATrainingLoop

Batch = dict[str, Tensor]


class SharedNegativesInstances(WholeEpochInstances):
    """Batches of positives, each with one list of entity ids that are the negatives of all its positives."""

    num_negatives = 1
    num_entities = 1

    def __getitem__(self, item: list[int]) -> Batch:  # type: ignore[override]
        """Positives of shape (b, 3), negatives of shape (K,) and, with a weighter, weights of shape (b,)."""
        positives = self.mapped_triples[item]
        batch = {"positives": positives, "negatives": self._draw_negatives()}
        if self.loss_weighter is not None:
            batch["weights"] = self.loss_weighter.weight_triples(positives)
        return batch

    def _draw_negatives(self) -> Tensor:
        """Random entities with replacement, or all entities if K is not smaller than their number."""
        if self.num_negatives >= self.num_entities:
            return torch.arange(self.num_entities)
        return torch.randint(self.num_entities, (self.num_negatives,))


class _Side(NamedTuple):
    """A batch of which one side, the heads or the tails, is replaced by the negatives."""

    column: int
    """The replaced side: 0 for heads, 2 for tails."""
    scores: Tensor
    """Of all positives with all negatives, shape (b, K)."""
    entities: Sequence[Tensor]
    """Representations of the other side."""
    relations: Sequence[Tensor]
    """Representations of the relations."""


class SharedNegativesTrainingLoop(WholeEpochSLCWATrainingLoop):
    """sLCWA where a batch shares its negatives, for a model with one score function (``ERModel``).

    Parameters
    ----------
    num_negatives
        Random entities per batch. If there are not more entities than that, each triple is scored against all.
    self_negative
        0: the entity itself is a negative like any other. Above 0: (h, r, h) and (t, r, t) are always negatives of
        (h, r, t), with this weight, where another entity has weight 1. Training triples are excepted, and so are
        relations that are mostly symmetric in the training triples. TransE scores (h, r, h) high if r is short,
        and random negatives rarely correct this.
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
        check_at_least("num_negatives", num_negatives, 1)
        if not isinstance(self.model, ERModel):
            msg = f"{type(self.model).__name__} is not an ERModel: shared negatives need its representations"
            raise TypeError(msg)
        finite = 0 <= self_negative < math.inf
        supported = self_negative == 0 or isinstance(self.loss, SampledSoftmaxLoss)
        must_be = "finite and not negative, and 0 for any loss but the softmax"
        require(finite and supported, f"self_negative={self_negative}: must be {must_be}")
        self.num_negatives = num_negatives
        self.self_negative = self_negative
        if self_negative:
            self._symmetric, self._loops = _symmetry(kwargs["triples_factory"])

    @property
    def checksum(self) -> str:
        """PyKEEN's checksum and the settings of the negatives: a checkpoint made with others is refused."""
        return f"{super().checksum}-{self.num_negatives}-{self.self_negative}"

    def _create_training_data_loader(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        if kwargs.get("sampler") is not None:
            msg = f"sampler={kwargs['sampler']!r} is not possible with shared negatives"
            raise ValueError(msg)
        loader = super()._create_training_data_loader(*args, **kwargs)
        dataset: Any = loader.dataset
        dataset.num_negatives = self.num_negatives
        dataset.num_entities = self.model.num_entities
        return loader

    def _process_batch(  # type: ignore[override]
        self, batch: Batch, start: int, stop: int, label_smoothing: float = 0.0, slice_size: int | None = None
    ) -> Tensor:
        if slice_size is not None:
            msg = "slicing is not possible with shared negatives"
            raise AttributeError(msg)
        model: Any = self.model  # an ERModel, see __init__
        positives = batch["positives"][start:stop].to(model.device)
        negatives = batch["negatives"].to(model.device)
        weights = batch["weights"][start:stop].to(model.device) if "weights" in batch else None
        true_scores, sides = _score_batch(model, positives, negatives)
        losses = [
            self.loss.process_slcwa_scores(
                positive_scores=true_scores,
                label_smoothing=label_smoothing,
                num_entities=model.num_entities,
                pos_weights=weights,
                **self._negatives(side, positives, negatives),
            )
            for side in sides
        ]
        total: Tensor = torch.stack(losses).mean() + model.collect_regularization_term()
        return total

    def _negatives(self, side: _Side, positives: Tensor, negatives: Tensor) -> dict[str, Tensor]:
        """Arguments of the loss: scores of the negatives, true triples excepted, maybe of the entity itself."""
        targets = positives[:, side.column, None]
        if not self.self_negative:
            return _masked(self.loss, side.scores, targets != negatives)
        entities = positives[:, 2 - side.column, None]
        scores = side.scores.masked_fill((targets == negatives) | (entities == negatives), -math.inf)
        itself = self._score_itself(side, positives)
        return {"negative_scores": self._weigh_itself(scores, itself)}

    def _score_itself(self, side: _Side, positives: Tensor) -> Tensor:
        """Scores of (h, r, h), or of (t, r, t), shape (b, 1); −inf where this is not a negative."""
        entities = positives[:, 2 - side.column, None]
        relations = positives[:, 1, None]
        symmetric = self._symmetric.to(positives.device)
        loops = self._loops.to(positives.device)
        is_loop = torch.isin(entities * len(symmetric) + relations, loops)
        is_known = is_loop | (entities == positives[:, side.column, None])
        model = cast("ERModel[Any, Any, Any]", self.model)
        scores = score(model, side.entities, side.relations, side.entities)[:, None]
        return scores.masked_fill(symmetric[relations] | is_known, -math.inf)

    def _weigh_itself(self, scores: Tensor, itself: Tensor) -> Tensor:
        """Scores of K + 1 negatives that have the wanted weights in a :class:`SampledSoftmaxLoss`.

        With n entities, the loss gives each of K + 1 negatives the weight v = max(n − 1, K + 1) / (K + 1). The K
        sampled ones should have w = max(n − 1, K) / K, since they represent the other entities, and the entity
        itself should have ``self_negative``. Adding T · log(w / v) to a score, where T is the temperature, changes
        the weight from v to w.
        """
        n_others = self.model.num_entities - 1
        k = scores.shape[1]
        loss_weight = max(n_others, k + 1) / (k + 1)
        sample_weight = max(n_others, k) / k
        temperature = cast("SampledSoftmaxLoss", self.loss).temperature
        weighted_scores = scores + temperature * math.log(sample_weight / loss_weight)
        weighted_itself = itself + temperature * math.log(self.self_negative / loss_weight)
        return torch.cat([weighted_scores, weighted_itself], dim=1)


class NNMFAugSharedTrainingLoop(GrowingMixin, SharedNegativesTrainingLoop):
    """Shared negatives and a growing training set; ``pipeline(training_loop="nnmfaugshared")``."""


def _score_batch(
    model: ERModel[Any, Any, Any], positives: Tensor, negatives: Tensor
) -> tuple[Tensor, list[_Side]]:
    """Scores of the positives, shape (b, 1); tails replaced, and heads unless relations are reciprocal."""
    ids = torch.cat([positives[:, 0], positives[:, 2], negatives])
    sizes = [len(positives), len(positives), len(negatives)]
    vectors = [representation(ids).split(sizes) for representation in model.entity_representations]
    h, t, candidates = zip(*vectors, strict=True)
    r = [representation(positives[:, 1]) for representation in model.relation_representations]
    true_scores = score(model, h, r, t)[:, None]

    one_h, one_r, one_t = ([x.unsqueeze(1) for x in part] for part in (h, r, t))
    many = [x.unsqueeze(0) for x in candidates]
    sides = [_Side(2, score(model, one_h, one_r, many), h, r)]
    if not model.use_inverse_triples:
        sides.append(_Side(0, score(model, many, one_r, one_t), t, r))
    return true_scores, sides


def score(model: ERModel[Any, Any, Any], h: Sequence[Tensor], r: Sequence[Tensor], t: Sequence[Tensor]) -> Tensor:
    """Score representations as the model does; some models have different ones for heads and for tails."""
    interaction: Any = model.interaction
    heads = [h[i] for i in interaction.head_indices]
    tails = [t[i] for i in interaction.tail_indices]
    parts = (part[0] if len(part) == 1 else part for part in (heads, r, tails))
    scores: Tensor = interaction(*parts)
    return scores


def _masked(loss: Loss, scores: Tensor, mask: Tensor) -> dict[str, Tensor]:
    """Arguments of a loss, true triples excepted: by −inf, which is fast, or by a filter for PyKEEN's losses."""
    if isinstance(loss, SampledSoftmaxLoss | SelfAdversarialLoss):
        return {"negative_scores": scores.masked_fill(~mask, -math.inf)}
    return {"negative_scores": scores[mask], "batch_filter": mask}


def _symmetry(factory: CoreTriplesFactory) -> tuple[Tensor, Tensor]:
    """Find the symmetric relations and the self-loops of a graph.

    Returns
    -------
    symmetric
        For each relation, whether (t, r, h) is in the graph for more than half of its triples (h, r, t).
    loops
        The self-loops (h, r, h), each as the number h · len(symmetric) + r.

    If the factory creates inverse triples, both have the ids of relations and inverses: 2r and 2r + 1.
    """
    h, r, t = factory.mapped_triples.T
    n_entities = factory.num_entities
    n_relations = factory.real_num_relations
    keys = (h * n_relations + r) * n_entities + t
    swapped_keys = (t * n_relations + r) * n_entities + h
    has_counterpart = torch.isin(swapped_keys, keys)
    n_triples = torch.bincount(r, minlength=n_relations)
    n_symmetric = torch.bincount(r, weights=has_counterpart.float(), minlength=n_relations)
    symmetric = n_symmetric * 2 > n_triples
    loops = (h * n_relations + r)[h == t]
    if not factory.create_inverse_triples:
        return symmetric, loops
    return symmetric.repeat_interleave(2), torch.cat([2 * loops, 2 * loops + 1])
