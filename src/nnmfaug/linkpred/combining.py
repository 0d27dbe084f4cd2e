"""Choose on valid how a model and a prior are combined.

T is the temperature at which the softmax of the model's scores makes valid most likely. Given T, w and ε are those
of a grid with the highest filtered MRR on valid. Each choice is one pass over the scores.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from nnmfaug.augmenters.base import Prior
from nnmfaug.augmenters.translated_prior import with_names
from nnmfaug.core.arrays import Array, Bools
from nnmfaug.core.checks import require
from nnmfaug.core.elementary import logit
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.linkpred.combined import Combined
from nnmfaug.linkpred.mix import Calibration, Mix, log_odds, log_sum_exp
from nnmfaug.linkpred.trained import Trained
from nnmfaug.quality.logistic import Columns, fit_logistic

if TYPE_CHECKING:
    from nnmfaug.linkpred.questions import Batch, Questions

MAX_TRIPLES = 1000
"""Valid triples that are used at most."""
WEIGHTS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Weights that are tried, beside 0."""
EPSILONS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)
LOWEST_OCTAVE, N_OCTAVES = -3, 14
"""1 / T is tried from 2⁻³ to 2¹⁰ times the inverse of the standard deviation of the scores of a query."""
N_FOR_SPREAD = 50
"""Triples whose scores give the standard deviation."""
N_BEST = 10
"""Best candidates of each query that probabilities are calibrated with."""
NO_VALID = (
    "valid has no triples: T, w and ε are chosen on them. Set some apart with na.split before training, "
    "or combine without a model"
)


def combine(trained: Trained | None, prior: Prior, valid: KnowledgeGraph, *, known: KnowledgeGraph) -> Combined:
    """Choose T by the likelihood of valid, w and ε by its filtered MRR, and calibrate probabilities.

    Parameters
    ----------
    trained
        The model; None for the prior alone, for which nothing is chosen.
    prior
        Fitted to train alone.
    valid
        The triples to choose on.
    known
        The triples that filtered ranks leave out: those of train and valid, never test.

    Returns
    -------
    Combined
        Its own filter is that of the model; without a model, ``known``.
    """
    require(trained is None or len(valid) > 0, NO_VALID)
    default_filter = known if trained is None else trained.known
    combined = Combined(trained, prior, default_filter)
    questions = _questions(combined, valid, known)
    if trained is not None:
        combined = replace(combined, mix=choose_mix(questions))
    return replace(combined, calibration=calibrate(questions, combined.mix))


def _questions(combined: Combined, valid: KnowledgeGraph, known: KnowledgeGraph) -> Questions:
    from nnmfaug.linkpred.combined_scores import model_scores
    from nnmfaug.linkpred.questions import Questions

    names = combined.known.vocabulary
    everything = Questions(
        model=model_scores(combined.trained, combined.known),
        prior=with_names(combined.prior, names),
        triples=valid.with_vocabulary(names).triples.astype(np.int64),
        known=known.with_vocabulary(names),
        hidden=tuple(combined.hidden_ids()),
    )
    return everything.evenly(MAX_TRIPLES)


def choose_mix(questions: Questions) -> Mix:
    """Choose T, then w and ε."""
    temperature = choose_temperature(questions)
    weighted = [Mix(temperature, w, epsilon) for w, epsilon in itertools.product(WEIGHTS, EPSILONS)]
    mixes = [Mix(temperature, weight=0.0), *weighted]
    return mixes[int(np.argmax(mean_reciprocal_ranks(questions, mixes)))]  # of equal ones the smallest weight


def choose_temperature(questions: Questions) -> float:
    """Return the T at which softmax(score / T) makes the true answers most likely.

    The loss of 1 / T = 2ᵏ / spread is computed for whole k; between them it is a parabola.
    """
    spread = _spread(questions.evenly(N_FOR_SPREAD))
    if not spread > 0:
        return 1.0
    lowest = 2.0**LOWEST_OCTAVE / spread
    losses = np.concatenate([octave_losses(batch, lowest) for batch in questions.batches()]).mean(axis=0)
    return float(1 / (lowest * 2 ** _lowest_place(losses)))


def _spread(questions: Questions) -> float:
    """Return the standard deviation of the scores of a query, on average over queries."""
    spreads = [np.std(row[np.isfinite(row)]) for batch in questions.batches() for row in batch.scores]
    return float(np.mean(spreads))


def octave_losses(batch: Batch, lowest: float) -> Array:
    """Return −log softmax(score·β) of the true answers for β = lowest · 2ᵏ, shape (n, N_OCTAVES)."""
    highest = batch.scores.max(axis=1, keepdims=True)
    powers = np.exp(lowest * (batch.scores - highest))
    below = lowest * (highest[:, 0] - batch.target_scores())
    losses = []
    for k in range(N_OCTAVES):
        losses.append(np.log(np.add.reduce(powers, axis=1)) + 2.0**k * below)
        powers *= powers  # exp(2x) = exp(x)²
    return np.stack(losses, axis=1)


def _lowest_place(losses: Array) -> float:
    """Return where the parabola through the lowest of evenly spaced points and its neighbours is lowest.

    Examples
    --------
    >>> _lowest_place(np.array([9.0, 4.0, 1.0, 0.0, 1.0])), _lowest_place(np.array([1.0, 2.0, 3.0]))
    (3.0, 0.0)
    """
    k = int(np.argmin(losses))
    if k in (0, len(losses) - 1):
        return float(k)
    left, middle, right = losses[k - 1 : k + 2]
    curvature = left - 2 * middle + right
    return k + float((left - right) / (2 * curvature)) if curvature > 0 else float(k)


def mean_reciprocal_ranks(questions: Questions, mixes: Sequence[Mix]) -> Array:
    """Return the filtered MRR of each of several mixes with the same temperature."""
    from nnmfaug.linkpred.mixed_ranks import ranks_of_mixes

    ranks = [ranks_of_mixes(batch, mixes) for batch in questions.batches()]
    means: Array = (1 / np.concatenate(ranks)).mean(axis=0)
    return means


def calibrate(questions: Questions, mix: Mix) -> Calibration | None:
    """Fit the probability that one of the best candidates is the true answer; None if it always or never is."""
    pairs = [_best_candidates(batch, mix) for batch in questions.batches()]
    if not pairs:
        return None
    log_softmax = np.concatenate([logs for logs, _ in pairs])
    is_true = np.concatenate([outcomes for _, outcomes in pairs])
    if is_true.all() or not is_true.any():
        return None
    fitted = fit_logistic(Columns.without_groups(log_odds(log_softmax)[None]), is_true)
    if fitted.common[0] < 0:
        return Calibration(float(logit(is_true.mean())), 0.0)
    return Calibration(fitted.constant, float(fitted.common[0]))


def _best_candidates(batch: Batch, mix: Mix) -> tuple[Array, Bools]:
    """Return the log softmax of the best candidates of all queries, and whether each is the true answer."""
    scores = batch.combined(mix)
    log_softmax = scores - log_sum_exp(scores)[:, None]
    is_best = np.isfinite(scores)
    if scores.shape[1] > N_BEST:  # of equal ones all or none, so that names do not decide
        is_best &= scores > -np.partition(-scores, N_BEST, axis=1)[:, [N_BEST]]
    rows, entities = np.nonzero(is_best)
    return log_softmax[rows, entities], entities == batch.targets[rows]
