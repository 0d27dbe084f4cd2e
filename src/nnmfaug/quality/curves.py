"""Curves: from the confidences of rules to log-odds, before relation and kind of triple are looked at.

f(c)
    A rising function of one confidence: isotonic regression of *recovered* on c, as log-odds, minus log s. For
    rules, the mean of this and logistic regression of *recovered* on logit c: the first follows the counts but
    has steps, the second has none.
F(c₁, c₂, …)
    For a triple that rules of several kinds conclude, with a confidence each:

        F = u_K + Σ_{k in K} v_k · f_k(c_k),        v_k ≥ 0,

    where K is the set of kinds that conclude it, and f_k the curve of kind k. u and v come from a logistic
    regression of *recovered*. With one kind alone F = f.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nnmfaug.core.arrays import Array, Ids
from nnmfaug.core.elementary import log, logit
from nnmfaug.quality.logistic import Columns, fit_logistic
from nnmfaug.quality.recovery import Recovery

WIDE_VARIANCE = 100.0
"""Prior variance of a slope that many triples determine."""
SMOOTHNESS = 0.5
"""Weight of the logistic regression in f."""
BOUNDS = 1e-4, 1 - 1e-6
"""Confidences beyond these count as these, so that they have log-odds."""
IMPOSSIBLE_LOG_ODDS = -20.0
"""Log-odds of a triple without any evidence."""


@dataclass(frozen=True, eq=False)
class Steps:
    """Isotonic regression: a rising function of confidence, given at knots.

    Between its knots it is linear; below the first one the odds are proportional to the confidence.

    Parameters
    ----------
    confidence : ndarray of shape (n_knots,)
        Where the knots are, ascending.
    log_odds : ndarray of shape (n_knots,)
        Log-odds at the knots that a triple is in the graph.
    """

    confidence: Array
    log_odds: Array

    def __call__(self, confidence: Array) -> Array:
        """Log-odds for each confidence."""
        values = np.interp(confidence, self.confidence, self.log_odds)
        first = self.confidence[0]
        below = (confidence < first) & (confidence > 0)
        values[below] += log(confidence[below] / first)
        return values


@dataclass(frozen=True, eq=False)
class Curve:
    """f above: isotonic regression, or its mean with logistic regression on confidence.

    Parameters
    ----------
    steps
        The isotonic regression.
    constant, slope
        The logistic one, constant + slope · logit c.
    smoothness
        Weight of the logistic one, from 0 to 1.
    """

    steps: Steps
    constant: float = 0.0
    slope: float = 0.0
    smoothness: float = 0.0

    def __call__(self, confidence: Array) -> Array:
        """Log-odds for each confidence."""
        smooth = self.constant + self.slope * _log_odds(confidence)
        mean: Array = (1 - self.smoothness) * self.steps(confidence) + self.smoothness * smooth
        return mean


@dataclass(frozen=True, eq=False)
class Score:
    """F above.

    Parameters
    ----------
    curves
        f of each kind.
    weights : ndarray of shape (n_kinds,)
        v.
    constants : ndarray of shape (n_patterns,)
        u of each set of kinds, see :func:`patterns`.
    """

    curves: tuple[Curve, ...]
    weights: Array
    constants: Array

    @classmethod
    def of(cls, curve: Curve) -> Score:
        """Return the score of one kind."""
        return cls((curve,), np.ones(1), np.zeros(1))

    @property
    def n_patterns(self) -> int:
        """Number of sets of kinds that may conclude a triple."""
        return len(self.constants)

    def __call__(self, confidence: Array) -> Array:
        """F of each triple, given its confidences, shape (n, n_kinds)."""
        total = self.constants[patterns(confidence)]
        for curve, weight, column in zip(self.curves, self.weights, confidence.T, strict=True):
            total += np.where(column > 0, weight * curve(column), 0.0)
        return total


def patterns(confidence: Array) -> Ids:
    """Number the sets of kinds that conclude triples: 0 for the first alone, 1 for the second, 2 for both, ….

    Parameters
    ----------
    confidence : ndarray of shape (n, n_kinds)
        Confidence of each kind, 0 if it does not conclude the triple; one at least does.

    Examples
    --------
    >>> patterns(np.array([[0.5, 0.0], [0.0, 0.5], [0.5, 0.5]]))
    array([0, 1, 2])
    """
    numbers = np.zeros(len(confidence), dtype=np.int64)
    for kind, column in enumerate(confidence.T):
        numbers += (column > 0) << kind
    return np.maximum(numbers - 1, 0)


def fit_steps(recovery: Recovery) -> Steps:
    """Fit the isotonic regression of *recovered* on confidence, with knots at both ends of each of its steps."""
    from sklearn.isotonic import isotonic_regression

    n = recovery.n_listed
    if not n:
        return Steps(np.array([0.0, 1.0]), np.full(2, IMPOSSIBLE_LOG_ODDS))
    values, places = np.unique(recovery.confidence.round(9), return_inverse=True)
    counts = np.bincount(places, recovery.weight)
    n_recovered = np.bincount(places, recovery.weight * recovery.recovered)
    rates = isotonic_regression(n_recovered / counts, sample_weight=counts)
    last_of_step = np.flatnonzero(np.diff(rates))
    knots = np.unique(np.concatenate([[0], last_of_step, last_of_step + 1, [len(rates) - 1]]))
    bounded = np.clip(rates[knots], min(0.5 / n, 0.01), 1 - 0.5 / n)
    return Steps(values[knots], logit(bounded) - log(recovery.fraction))


def fit_curve(recovery: Recovery) -> Curve:
    """Fit f.

    What refits list may have confidences of any scale, with a jump at 1: there f has steps only, as it has if all
    triples are recovered, or none.
    """
    if recovery.fraction < 1 or recovery.recovered.all() or not recovery.recovered.any():
        return Curve(fit_steps(recovery))
    columns = Columns.without_groups(_log_odds(recovery.confidence)[None])
    fitted = fit_logistic(columns, recovery.recovered, WIDE_VARIANCE, recovery.weight)
    return Curve(fit_steps(recovery), fitted.constant, max(float(fitted.common[0]), 0.0), SMOOTHNESS)


def _log_odds(confidence: Array) -> Array:
    """Logit c, within bounds."""
    return logit(np.clip(confidence, *BOUNDS))


def fit_score(recovery: Recovery) -> Score:
    """Fit F."""
    confidence = recovery.parts
    curves = tuple(fit_curve(_of_kind(recovery, kind)) for kind in range(confidence.shape[1]))
    if len(curves) == 1:
        return Score.of(curves[0])
    pattern = patterns(confidence)
    n_patterns = (1 << len(curves)) - 1
    is_pattern = pattern == np.arange(1, n_patterns)[:, None]
    values = [np.where(column > 0, f(column), 0.0) for f, column in zip(curves, confidence.T, strict=True)]
    weights = np.ones(len(curves), dtype=np.bool_)
    while True:
        columns = np.vstack([is_pattern, *(value * used for value, used in zip(values, weights, strict=True))])
        fitted = fit_logistic(Columns.without_groups(columns), recovery.recovered, WIDE_VARIANCE, recovery.weight)
        slopes = fitted.common[n_patterns - 1 :]
        if not (slopes[weights] < 0).any():
            break
        weights &= slopes >= 0  # more confidence is no reason to believe less
    constants = fitted.constant + np.append(0.0, fitted.common[: n_patterns - 1])
    return Score(curves, np.where(weights, slopes, 0.0), constants)


def _of_kind(recovery: Recovery, kind: int) -> Recovery:
    """The conclusions of one kind of rules, with their confidence by these."""
    confidence = recovery.parts[:, kind]
    rows = confidence > 0
    part = recovery.take(rows)
    return replace(part, conclusions=replace(part.conclusions, confidence=confidence[rows], parts=None))
