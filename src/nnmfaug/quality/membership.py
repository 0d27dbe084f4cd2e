"""Membership: the probability a that a triple which an augmenter lists is in the graph.

It is what recovery measures directly (:mod:`nnmfaug.quality.recovery`), and with the completeness of the graph it
gives the probability that a triple outside the graph is true (:mod:`nnmfaug.quality.calibration`).

**Counts.** If a fraction s is left out, a listed triple is recovered with odds s · a / (1 − a), so

    logit a = logit P(recovered) − log s.

**Model.** For a triple of relation r and kind k, which rules of the kinds K conclude with the confidences c, in
the group g = (r, k, K),

    logit a = β_g · F(c) + α_g,        β_g ≥ 0.

F(c)
    A rising function of the confidences alone (:mod:`nnmfaug.quality.curves`).
β_g, α_g
    Slope and offset of the group. They are a common value plus a deviation per group, fitted by logistic
    regression with an L2 penalty, so that a group with few triples stays close to the common value and an
    unknown one has it. A group whose slope would be negative is fitted again with the slope 0: a lower
    confidence is no reason to believe more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nnmfaug.core.arrays import Array, Ids
from nnmfaug.core.elementary import log
from nnmfaug.quality.curves import IMPOSSIBLE_LOG_ODDS, Curve, Score, Steps, fit_score, fit_steps, patterns
from nnmfaug.quality.logistic import Coefficients, Columns, fit_logistic
from nnmfaug.quality.recovery import N_KINDS, Conclusions, Recovery

MIN_RECOVERED = 20
"""With fewer recovered triples, nothing is estimated for single triples."""


@dataclass(frozen=True, eq=False)
class Membership:
    """The fitted model of logit a; the module describes it.

    Parameters
    ----------
    score
        F.
    slopes, offsets : ndarrays of shape (n_relations, N_KINDS, n_patterns)
        β and α; the last axis is K, see :func:`~nnmfaug.quality.curves.patterns`.
    """

    score: Score
    slopes: Array
    offsets: Array

    def log_odds(self, conclusions: Conclusions) -> Array:
        """Return logit a of each conclusion."""
        confidence = conclusions.parts_or_whole(len(self.score.curves))
        group = conclusions.relation, conclusions.kind, patterns(confidence)
        log_odds: Array = self.slopes[group] * self.score(confidence) + self.offsets[group]
        return log_odds


def fit_membership(recovery: Recovery, n_relations: int) -> Membership:
    """Fit the model to a recovery.

    Examples
    --------
    >>> import nnmfaug as na
    >>> from nnmfaug.quality.leave_one_out import leave_one_out
    >>> graph = na.family(60, seed=0).given
    >>> recovery = leave_one_out(na.Rules(), graph).recovery
    >>> membership = fit_membership(recovery, graph.n_relations)
    >>> odds = membership.log_odds(recovery.conclusions)
    >>> bool(odds[recovery.recovered].mean() > odds[~recovery.recovered].mean())
    True
    """
    recovery = recovery.merge_folds()
    if recovery.n_recovered < MIN_RECOVERED or recovery.recovered.all():
        return _constant(recovery, n_relations)
    score = fit_score(recovery)
    kind = recovery.conclusions.relation * N_KINDS + recovery.conclusions.kind
    groups, places = np.unique(kind * score.n_patterns + patterns(recovery.parts), return_inverse=True)
    fitted = _fit_groups(places.ravel(), score(recovery.parts), recovery)
    shape = (n_relations, N_KINDS, score.n_patterns)
    slopes = _table(fitted.slopes, groups, shape)
    offsets = _table(fitted.offsets, groups, shape) - log(recovery.fraction)
    return Membership(score, slopes, offsets)


def by_confidence(n_relations: int) -> Membership:
    """Return the model that believes confidences as they are: a = c.

    Examples
    --------
    >>> conclusions = Conclusions(np.array([0]), np.array([0]), np.array([0.25]))
    >>> 1 / (1 + np.exp(-by_confidence(1).log_odds(conclusions)))
    array([0.25])
    """
    no_steps = Steps(np.array([0.0, 1.0]), np.zeros(2))
    shape = (n_relations, N_KINDS, 1)
    curve = Curve(no_steps, slope=1.0, smoothness=1.0)
    return Membership(Score.of(curve), np.ones(shape), np.zeros(shape))


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
    shape = (n_relations, N_KINDS, 1)
    return Membership(Score.of(Curve(steps)), np.zeros(shape), np.full(shape, offset))


def _table(values: Array, groups: Ids, shape: tuple[int, int, int]) -> Array:
    """Spread values of groups, after the common one, over a table of all groups."""
    table = np.full(math.prod(shape), values[0])
    table[groups] = values[1:]
    return table.reshape(shape)


def _fit_groups(group: Ids, base: Array, recovery: Recovery) -> _GroupFit:
    """Fit β and α.

    The base is centred on the recovered triples, so that the penalty on slopes does not move the level.
    """
    weight = recovery.weight * recovery.recovered
    centre = float(np.add.reduce(base * weight) / np.add.reduce(weight))
    flat = np.zeros(int(group.max()) + 1, dtype=np.bool_)
    while True:
        fitted = _fit(group, np.where(flat[group], 0.0, base - centre), recovery)
        slopes = np.where(flat, 0.0, fitted.common[0] + fitted.within[0])
        falling = slopes < 0
        if not falling.any():
            break
        flat |= falling
    all_slopes = np.append(max(fitted.common[0], 0.0), slopes)
    offsets = fitted.constant + np.append(0.0, fitted.within[1]) - all_slopes * centre
    return _GroupFit(all_slopes, offsets)


def _fit(group: Ids, base: Array, recovery: Recovery) -> Coefficients:
    """Fit a common slope, and a slope and an offset for each group."""
    within = np.stack([base, np.ones(len(base))])
    return fit_logistic(Columns(base[None], within, group), recovery.recovered, weight=recovery.weight)
