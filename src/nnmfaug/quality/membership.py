"""Membership: the probability a that a triple which an augmenter lists is in the graph.

It is what hold-out refits measure directly (:mod:`nnmfaug.quality.holdout`), and with the completeness of the
graph it gives the probability that a triple outside the graph is true (:mod:`nnmfaug.quality.calibration`).

**Counts.** Refits that leave out a fraction s recover a listed triple with odds s · a / (1 − a), so

    logit a = logit P(recovered) − log s.

**Model.** For a triple (h, r, t) of confidence c, kind k and group g = (r, k),

    logit a = β_g · f(c) + α_g + γ · z.

f(c)
    A rising function of confidence alone: isotonic regression of *recovered* on c, as log-odds, minus log s.
    Between its knots it is linear.
β_g, α_g
    Slope and offset of the group. They are a common value plus a deviation per group, fitted by logistic
    regression with an L2 penalty, so that a group with few triples stays close to the common value and an
    unknown one has it.
z
    Coverage of head and tail: how much the graph contains about them, compared with what is concluded about them,

        w = min over e ∈ {h, t} of log((facts_e + 1) / (others_e + 1)),        z = (w − mean) / deviation,

    where facts_e is the number of known triples about e, and others_e the expected number of triples of G among
    the other conclusions about e, the sum of their expit(f(c)). Mean and deviation are those of the recovered
    triples. Many conclusions about an entity with few facts (small z) are a sign that facts about it are
    missing.
γ
    One coefficient for all groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnmfaug.core.arrays import Array, Bools, Ids
from nnmfaug.core.elementary import expit, log, logit
from nnmfaug.quality.holdout import MAX_CONCLUSIONS, N_KINDS, Conclusions, Refits
from nnmfaug.quality.logistic import Columns, fit_logistic

MIN_RECOVERED = 20
"""With fewer recovered triples, nothing is estimated for single triples."""
ROUNDING = 1e-9
"""Smaller deviations are due to rounding."""
IMPOSSIBLE_LOG_ODDS = -20.0
"""Log-odds of a triple without any evidence."""


@dataclass(frozen=True, eq=False)
class Curve:
    """f above: a rising function of confidence, given at knots and linear between them.

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
        return np.interp(confidence, self.confidence, self.log_odds)


@dataclass(frozen=True, eq=False)
class Membership:
    """The fitted model of logit a; the module describes it.

    Parameters
    ----------
    curve
        f.
    slopes, offsets : ndarrays of shape (n_relations, N_KINDS)
        β and α.
    gain
        γ.
    coverage_mean, coverage_deviation
        Mean and deviation that standardise the coverage.
    """

    curve: Curve
    slopes: Array
    offsets: Array
    gain: float = 0.0
    coverage_mean: float = 0.0
    coverage_deviation: float = 1.0

    def log_odds(self, conclusions: Conclusions, coverage: Array | float = 0.0) -> Array:
        """Return logit a of each conclusion, given its standardised coverage z; by default z = 0, the mean."""
        group = conclusions.triples[:, 1], conclusions.kind
        base = self.curve(conclusions.confidence)
        log_odds: Array = self.slopes[group] * base + self.offsets[group] + self.gain * coverage
        return log_odds

    def coverage(self, conclusions: Conclusions, list_id: Ids | None = None) -> Array:
        """Standardised coverage z of each conclusion.

        Conclusions of different lists, such as those of several refits, are not counted together.
        """
        chance = expit(self.curve(conclusions.confidence))
        standardised: Array = (
            raw_coverage(conclusions, chance, list_id) - self.coverage_mean
        ) / self.coverage_deviation
        return standardised

    def beyond_refits(self, conclusions: Conclusions) -> Bools:
        """Which conclusions of a ranked list are outside of what refits were asked for: no count supports them."""
        beyond = np.asarray(conclusions.confidence < self.curve.confidence[0])
        beyond[:MAX_CONCLUSIONS] = False
        return beyond


def fit_curve(refits: Refits) -> Curve:
    """Fit f: isotonic regression of *recovered* on confidence, with knots at both ends of each of its steps."""
    from sklearn.isotonic import isotonic_regression

    n = len(refits)
    if not n:
        return Curve(np.array([0.0, 1.0]), np.full(2, IMPOSSIBLE_LOG_ODDS))
    values, places = np.unique(refits.confidence.round(9), return_inverse=True)
    counts = np.bincount(places)
    rates = isotonic_regression(np.bincount(places, refits.recovered) / counts, sample_weight=counts)
    last_of_step = np.flatnonzero(np.diff(rates))
    knots = np.unique(np.concatenate([[0], last_of_step, last_of_step + 1, [len(rates) - 1]]))
    bounded = np.clip(rates[knots], min(0.5 / n, 0.01), 1 - 0.5 / n)
    return Curve(values[knots], logit(bounded) - log(refits.fraction))


def fit_membership(refits: Refits, n_relations: int, *, use_coverage: bool = True) -> Membership:
    """Fit the model to refits; without coverage, γ = 0.

    Examples
    --------
    >>> import nnmfaug as na
    >>> from nnmfaug.quality.holdout import refit
    >>> graph = na.family(60, seed=0).given
    >>> refits = refit(na.Rules().fit, na.Rules().fit(graph))
    >>> membership = fit_membership(refits, graph.n_relations)
    >>> odds = membership.log_odds(refits.conclusions)
    >>> bool(odds[refits.recovered].mean() > odds[~refits.recovered].mean())
    True
    """
    curve = fit_curve(refits)
    if refits.n_recovered < MIN_RECOVERED or refits.n_recovered == len(refits):
        return _constant(curve, refits, n_relations)
    base = curve(refits.confidence)
    coverage = np.zeros(len(base))
    if use_coverage:
        coverage = raw_coverage(refits.conclusions, expit(base), refits.refit_id)
    mean = float(coverage[refits.recovered].mean())
    deviation = float(coverage[refits.recovered].std())
    deviation = deviation if deviation > ROUNDING else 1.0
    groups, group_places = np.unique(_groups(refits.conclusions), return_inverse=True)
    fitted = _fit_groups(group_places, base, (coverage - mean) / deviation, refits.recovered)
    slopes = _table(fitted.slopes, groups, n_relations)
    offsets = _table(fitted.offsets, groups, n_relations) - log(refits.fraction)
    return Membership(curve, slopes, offsets, fitted.gain, mean, deviation)


def raw_coverage(conclusions: Conclusions, chance: Array, list_id: Ids | None = None) -> Array:
    """Return w = min over head and tail of log((facts + 1) / (others + 1)) for each conclusion.

    ``chance`` is the probability of each conclusion to be in the graph. Without ``list_id`` all conclusions are
    one list, of which no more are counted than of a refit.
    """
    entities = conclusions.triples[:, [0, 2]].astype(np.int64)
    if list_id is None:
        counted = chance.copy()
        counted[MAX_CONCLUSIONS:] = 0.0
    else:
        counted = chance
        entities += list_id[:, None] * (entities.max(initial=0) + 1)
    expected = np.bincount(entities.ravel(), np.repeat(counted, 2))
    others = expected[entities] - counted[:, None]
    log_ratio: Array = log((conclusions.facts + 1) / (others + 1))
    lower: Array = log_ratio.min(axis=1)
    return lower


@dataclass(frozen=True, eq=False)
class _GroupFit:
    """Slopes and offsets, the first those of a group without triples; and the coefficient of the coverage."""

    slopes: Array
    offsets: Array
    gain: float


def _constant(curve: Curve, refits: Refits, n_relations: int) -> Membership:
    """The model where there is nothing to fit: all are recovered, or too few to believe in any."""
    if refits.n_recovered >= MIN_RECOVERED:
        offset = curve.log_odds[-1]
    else:
        offset = IMPOSSIBLE_LOG_ODDS - log(refits.fraction)
    shape = (n_relations, N_KINDS)
    return Membership(curve, np.zeros(shape), np.full(shape, offset))


def _groups(conclusions: Conclusions) -> Ids:
    """One number for relation and kind."""
    return conclusions.triples[:, 1].astype(np.int64) * N_KINDS + conclusions.kind


def _table(values: Array, groups: Ids, n_relations: int) -> Array:
    """Spread values of groups, after the common one, over a table of all relations and kinds."""
    table = np.full(n_relations * N_KINDS, values[0])
    table[groups] = values[1:]
    return table.reshape(n_relations, N_KINDS)


def _fit_groups(group: Ids, base: Array, coverage: Array, recovered: Bools) -> _GroupFit:
    """Fit β, α and γ.

    The base is centred on the recovered triples, so that the penalty on slopes does not move the level.
    """
    centre = float(base[recovered].mean())
    centred = base - centre
    common = np.stack([centred, coverage])
    within = np.stack([centred, np.ones(len(base))])
    fitted = fit_logistic(Columns(common, within, group), recovered)
    slope, gain = fitted.common
    slopes = slope + np.append(0.0, fitted.within[0])
    offsets = fitted.constant + np.append(0.0, fitted.within[1]) - slopes * centre
    return _GroupFit(slopes, offsets, float(gain))
