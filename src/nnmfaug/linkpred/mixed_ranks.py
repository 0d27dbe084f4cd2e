"""Ranks of true answers by many mixes of a model and a prior, from one computation of the scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nnmfaug.core.arrays import Array
from nnmfaug.core.elementary import log1p
from nnmfaug.linkpred.mix import Mix
from nnmfaug.linkpred.questions import Batch


def ranks_of_mixes(batch: Batch, mixes: Sequence[Mix]) -> Array:
    """Return the filtered rank of the true answer to each query by each mix, shape (n, n_mixes).

    All mixes must have the same temperature. The prior changes few scores and lowers none. So the entities that it
    does not propose are ahead of a true answer only if they are ahead by the model: few scores decide all ranks.
    """
    logs = {epsilon: log1p(batch.answers.probability / epsilon) for epsilon in {mix.epsilon for mix in mixes}}
    temperature = mixes[0].temperature
    by_mix = [_against_proposed(batch, temperature, mix.weight * logs[mix.epsilon]) for mix in mixes]
    target_scores = np.stack([scores for scores, _ in by_mix], axis=1)
    n_ahead = np.stack([counts for _, counts in by_mix], axis=1)
    return 1 + n_ahead + _against_others(batch, temperature, target_scores)


def _against_proposed(batch: Batch, temperature: float, from_rules: Array) -> tuple[Array, Array]:
    """Return the scores of the true answers, and how many proposed entities are ahead; equal ones count half."""
    rows, entities, _ = batch.answers
    is_target = entities == batch.targets[rows]
    target_scores = batch.target_scores() / temperature
    target_scores[rows[is_target]] += from_rules[is_target]
    scores = batch.scores[rows, entities] / temperature + from_rules
    ahead = (scores > target_scores[rows]) + 0.5 * (scores == target_scores[rows])
    ahead[is_target] = 0.0
    return target_scores, np.bincount(rows, weights=ahead, minlength=len(batch.targets)).astype(np.float64)


def _against_others(batch: Batch, temperature: float, target_scores: Array) -> Array:
    """Return how many entities are ahead that the prior does not propose, shape (n, n_mixes)."""
    scores = batch.scores / temperature
    scores[batch.answers.rows, batch.answers.entities] = -np.inf
    scores[np.arange(len(batch.targets)), batch.targets] = -np.inf
    n_ahead = np.empty_like(target_scores)
    for row, targets in enumerate(target_scores):
        rivals = np.sort(scores[row][scores[row] >= targets.min()])
        n_lower = np.searchsorted(rivals, targets, "left")
        n_not_higher = np.searchsorted(rivals, targets, "right")
        n_ahead[row] = len(rivals) - (n_lower + n_not_higher) / 2
    return n_ahead
