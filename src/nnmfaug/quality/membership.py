"""Membership: the probability a that a triple which an augmenter lists is in the graph.

It is what recovery measures directly (:mod:`nnmfaug.quality.recovery`), and with the completeness of the graph it
gives the probability that a triple outside the graph is true (:mod:`nnmfaug.quality.calibration`).

**Counts.** If a fraction s is left out, a listed triple is recovered with odds s · a / (1 − a), so

    logit a = logit P(recovered) − log s.

**Model.** For a triple of relation r, confidence c and kind k, in the group g = (r, k),

    logit a = β_g · f(c) + α_g,        β_g ≥ 0.

f(c)
    A rising function of confidence alone: isotonic regression of *recovered* on c, as log-odds, minus log s. For
    rules, the mean of this and logistic regression of *recovered* on logit c: the first follows the counts but
    has steps, the second has none.
β_g, α_g
    Slope and offset of the group. They are a common value plus a deviation per group, fitted by logistic
    regression with an L2 penalty, so that a group with few triples stays close to the common value and an
    unknown one has it. A group whose slope would be negative is fitted again with the slope 0: a lower
    confidence is no reason to believe more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnmfaug.core.arrays import Array, Bools, Ids
from nnmfaug.core.elementary import log, logit
from nnmfaug.quality.logistic import Coefficients, Columns, fit_logistic
from nnmfaug.quality.recovery import N_KINDS, Conclusions, Recovery

MIN_RECOVERED = 20
"""With fewer recovered triples, nothing is estimated for single triples."""
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
class Membership:
    """The fitted model of logit a; the module describes it.

    Parameters
    ----------
    curve
        f.
    slopes, offsets : ndarrays of shape (n_relations, N_KINDS)
        β and α.
    """

    curve: Curve
    slopes: Array
    offsets: Array

    def log_odds(self, conclusions: Conclusions) -> Array:
        """Return logit a of each conclusion."""
        group = conclusions.relation, conclusions.kind
        log_odds: Array = self.slopes[group] * self.curve(conclusions.confidence) + self.offsets[group]
        return log_odds


def fit_steps(recovery: Recovery) -> Steps:
    """Fit the isotonic regression of *recovered* on confidence, with knots at both ends of each of its steps."""
    from sklearn.isotonic import isotonic_regression

    n = len(recovery)
    if not n:
        return Steps(np.array([0.0, 1.0]), np.full(2, IMPOSSIBLE_LOG_ODDS))
    values, places = np.unique(recovery.confidence.round(9), return_inverse=True)
    counts = np.bincount(places)
    rates = isotonic_regression(np.bincount(places, recovery.recovered) / counts, sample_weight=counts)
    last_of_step = np.flatnonzero(np.diff(rates))
    knots = np.unique(np.concatenate([[0], last_of_step, last_of_step + 1, [len(rates) - 1]]))
    bounded = np.clip(rates[knots], min(0.5 / n, 0.01), 1 - 0.5 / n)
    return Steps(values[knots], logit(bounded) - log(recovery.fraction))


def fit_curve(recovery: Recovery) -> Curve:
    """Fit f; both outcomes must occur.

    What refits list may have confidences of any scale, with a jump at 1: there f has steps only.
    """
    if recovery.fraction < 1:
        return Curve(fit_steps(recovery))
    columns = Columns.without_groups(_log_odds(recovery.confidence)[None])
    fitted = fit_logistic(columns, recovery.recovered, WIDE_VARIANCE)
    return Curve(fit_steps(recovery), fitted.constant, max(float(fitted.common[0]), 0.0), SMOOTHNESS)


def _log_odds(confidence: Array) -> Array:
    """Logit c, within bounds."""
    return logit(np.clip(confidence, *BOUNDS))


def fit_membership(recovery: Recovery, n_relations: int) -> Membership:
    """Fit the model to a recovery.

    Examples
    --------
    >>> import nnmfaug as na
    >>> from nnmfaug.quality.leave_one_out import leave_one_out
    >>> graph = na.family(60, seed=0).given
    >>> _, recovery = leave_one_out(na.Rules(), graph)
    >>> membership = fit_membership(recovery, graph.n_relations)
    >>> odds = membership.log_odds(recovery.conclusions)
    >>> bool(odds[recovery.recovered].mean() > odds[~recovery.recovered].mean())
    True
    """
    if recovery.n_recovered < MIN_RECOVERED or recovery.n_recovered == len(recovery):
        return _constant(recovery, n_relations)
    curve = fit_curve(recovery)
    base = curve(recovery.confidence)
    group = recovery.conclusions.relation * N_KINDS + recovery.conclusions.kind
    groups, places = np.unique(group, return_inverse=True)
    fitted = _fit_groups(places, base, recovery.recovered)
    slopes = _table(fitted.slopes, groups, n_relations)
    offsets = _table(fitted.offsets, groups, n_relations) - log(recovery.fraction)
    return Membership(curve, slopes, offsets)


def by_confidence(n_relations: int) -> Membership:
    """Return the model that believes confidences as they are: a = c.

    Examples
    --------
    >>> conclusions = Conclusions(np.array([0]), np.array([0]), np.array([0.25]))
    >>> 1 / (1 + np.exp(-by_confidence(1).log_odds(conclusions)))
    array([0.25])
    """
    no_steps = Steps(np.array([0.0, 1.0]), np.zeros(2))
    shape = (n_relations, N_KINDS)
    return Membership(Curve(no_steps, slope=1.0, smoothness=1.0), np.ones(shape), np.zeros(shape))


def cross_fitted(recovery: Recovery, n_relations: int) -> Array:
    """Return logit a of each conclusion, by a model that is fitted to the other folds."""
    log_odds = np.zeros(len(recovery))
    for i in np.unique(recovery.fold).tolist():
        rows = recovery.fold == i
        others = fit_membership(recovery.take(~rows), n_relations)
        log_odds[rows] = others.log_odds(recovery.conclusions.take(rows))
    return log_odds


@dataclass(frozen=True, eq=False)
class _GroupFit:
    """Slopes and offsets, the first those of a group without triples."""

    slopes: Array
    offsets: Array


def _constant(recovery: Recovery, n_relations: int) -> Membership:
    """The model where there is nothing to fit: all are recovered, or too few to believe in any."""
    steps = fit_steps(recovery)
    is_enough = recovery.n_recovered >= MIN_RECOVERED
    offset = steps.log_odds[-1] if is_enough else IMPOSSIBLE_LOG_ODDS - log(recovery.fraction)
    shape = (n_relations, N_KINDS)
    return Membership(Curve(steps), np.zeros(shape), np.full(shape, offset))


def _table(values: Array, groups: Ids, n_relations: int) -> Array:
    """Spread values of groups, after the common one, over a table of all relations and kinds."""
    table = np.full(n_relations * N_KINDS, values[0])
    table[groups] = values[1:]
    return table.reshape(n_relations, N_KINDS)


def _fit_groups(group: Ids, base: Array, recovered: Bools) -> _GroupFit:
    """Fit β and α.

    The base is centred on the recovered triples, so that the penalty on slopes does not move the level.
    """
    centre = float(base[recovered].mean())
    flat = np.zeros(int(group.max()) + 1, dtype=np.bool_)
    while True:
        fitted = _fit(group, np.where(flat[group], 0.0, base - centre), recovered)
        slopes = np.where(flat, 0.0, fitted.common[0] + fitted.within[0])
        falling = slopes < 0
        if not falling.any():
            break
        flat |= falling
    all_slopes = np.append(max(fitted.common[0], 0.0), slopes)
    offsets = fitted.constant + np.append(0.0, fitted.within[1]) - all_slopes * centre
    return _GroupFit(all_slopes, offsets)


def _fit(group: Ids, base: Array, recovered: Bools) -> Coefficients:
    """Fit a common slope, and a slope and an offset for each group."""
    within = np.stack([base, np.ones(len(base))])
    return fit_logistic(Columns(base[None], within, group), recovered)
