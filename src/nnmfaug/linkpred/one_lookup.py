"""Negatives of their own for each triple, with one look-up of entities a batch instead of four."""

from __future__ import annotations

from typing import Any

import torch
from pykeen.models import ERModel
from torch import Tensor

from nnmfaug.core.checks import require
from nnmfaug.linkpred.growing import NNMFAugTrainingLoop
from nnmfaug.linkpred.shared_negatives import score


class OneLookupTrainingLoop(NNMFAugTrainingLoop):
    """The steps of :class:`NNMFAugTrainingLoop` up to rounding, for an ``ERModel`` and samplers without a filter.

    The entity table has one gradient instead of four, and every entity of a batch catches up once.
    """

    def _process_batch(
        self,
        batch: Any,  # noqa: ANN401  # PyKEEN's dictionary
        start: int,
        stop: int,
        label_smoothing: float = 0.0,
        slice_size: int | None = None,
    ) -> Tensor:
        require(
            slice_size is None and "masks" not in batch, "there is no slicing, and no filter of negatives, here"
        )
        model: Any = self.model
        positives = batch["positives"][start:stop].to(model.device)
        negatives = batch["negatives"][start:stop].to(model.device)
        weights = {name: x[start:stop].to(model.device) for name, x in batch.items() if name.endswith("weights")}
        scores = _score_triples(model, torch.cat([positives, negatives.flatten(0, 1)]))
        loss: Tensor = self.loss.process_slcwa_scores(  # no regularisation: a link predictor has none
            positive_scores=scores[: len(positives), None],
            negative_scores=scores[len(positives) :].view(negatives.shape[:-1]),
            label_smoothing=label_smoothing,
            num_entities=model.num_entities,
            **weights,
        )
        return loss


def _score_triples(model: ERModel[Any, Any, Any], triples: Tensor) -> Tensor:
    """Score triples of ids, shape (n, 3)."""
    entities = [representation(triples[:, 0::2]).unbind(1) for representation in model.entity_representations]
    relations = [representation(triples[:, 1]) for representation in model.relation_representations]
    h, t = zip(*entities, strict=True)
    return score(model, h, relations, t)
