"""From confidence to the probability of truth, without labels.

Leave a share s of train out at random, fit again, and see which of the triples that the refit lists come back.
Let a be the chance that a triple like this one is in the graph. Among those that the refit does not know, the
odds that one comes back are s times the odds of a: s·a / (1 − a). If the graph holds a share q of all facts, a/q
of such triples are true, so of those that are not in the graph

    π = (a/q − a) / (1 − a) = (1 − q)/q · a/(1 − a)

are. What comes back therefore tells a, and tells π once q is known; q itself it does not tell, whatever the share
(docs/decisions/0009). It is given, or the surest triples are taken for true: then π = 1 there, and q = a.

Of some entities much is missing, of others nothing. So both a and q may depend on how much is known of head and
tail. If a does, then q is thought to do the same, as far as the surest, of which none is false, allow it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.sparse import csr_array, hstack
from scipy.special import expit, logit
from scipy.stats import beta

from nnmfaug.core.arrays import Array, Bools, Ids, IntArray
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.holdout import MAX_SEEN, N_KINDS, Conclusions, Refits

Knots = tuple[Array, Array]

QUARTER = 0.25
"""This share of all that came back tells the completeness, the surest first."""
FEW = 20
"""Fewer triples that come back say nothing about single ones."""
SLIGHT = 1 / 16
"""Variance of how completeness depends on what is known, before anything is seen: dozens must speak for it."""
DOUBT = 2.0
"""So many standard errors, of rows taken as independent, the surest allow between their slope and that of all."""
SAME = 1e-9
"""Smaller deviations are due to rounding."""
FAR = 1000.0
"""No log odds are farther from 0."""
IMPOSSIBLE = -20.0
"""Log odds of what nothing speaks for."""


@dataclass(frozen=True)
class Completeness:
    """Share of all facts that a graph holds, and how its log odds rise with what is known of head and tail.

    Without a slope nothing depends on that.
    """

    share: float
    slope: float | None = None


@dataclass(frozen=True, eq=False)
class Calibration:
    """Probability of truth by confidence, relation, and what is known of head and tail.

    The log odds of a are ``slopes · base + offsets + gain · known``, where slopes and offsets, of shape
    (relations, kinds), go by relation and kind, and the base is a rising function of the confidence, linear
    between ``knots`` (confidence, value). Those of q are ``level + slope · known``. What is known of facts is
    ``usual``: mean and deviation.
    """

    knots: Knots
    slopes: Array
    offsets: Array
    gain: float = 0.0
    usual: tuple[float, float] = (0.0, 1.0)
    level: float = 0.0
    slope: float = 0.0

    def log_odds(self, listed: Conclusions, known: Array | float = 0.0) -> Array:
        """Logarithm of the odds that such a triple is in the graph."""
        group = listed.triples[:, 1], listed.kind
        base = np.interp(listed.confidence, *self.knots)
        found: Array = self.slopes[group] * base + self.offsets[group] + self.gain * known
        return found

    def known(self, listed: Conclusions, number: Ids | int = 0) -> Array:
        """How much is known of head and tail, in deviations from what is usual."""
        mean, deviation = self.usual
        found: Array = (
            _known(listed, expit(np.interp(listed.confidence, *self.knots)), number) - mean
        ) / deviation
        return found

    def __call__(self, graph: KnowledgeGraph, triples: IntArray, confidence: Array) -> Array:
        """Return the probability of truth of triples that are not in the graph; pass all, the surest first."""
        listed = Conclusions.of(graph, triples, confidence)
        known = self.known(listed)
        odds = self.log_odds(listed, known)
        odds[MAX_SEEN:][confidence[MAX_SEEN:] < self.knots[0][0]] = IMPOSSIBLE  # no refit was asked for such
        probability: Array = np.exp(np.minimum(odds - self.level - self.slope * known, 0.0))
        return probability


def truth(log_odds: Array, completeness: float) -> Array:
    """Probability of truth of what is not in the graph: π above, and at most 1."""
    probability: Array = np.exp(np.minimum(log_odds - logit(completeness), 0.0))
    return probability


def calibrate(refits: Refits, n_relations: int, completeness: Completeness) -> Calibration:
    """Learn from refits: a rising curve, then how each relation and kind differs from it, as far as they do."""
    level, slope = float(logit(completeness.share)), completeness.slope
    found = _learn(refits, n_relations, local=slope is not None)
    if slope is None:
        return replace(found, level=level)
    known = found.known(refits.listed, refits.number)[refits.hit]
    return replace(found, level=level + _spread_out(known, slope), slope=slope)


def curve(refits: Refits) -> Knots:
    """Log odds of being in the graph as a rising function of confidence, as knots (confidence, value).

    They are given at the ends of the function's steps.
    """
    from sklearn.isotonic import isotonic_regression

    hit = refits.hit
    if not len(hit):
        return np.array([0.0, 1.0]), np.full(2, IMPOSSIBLE)
    values, places = np.unique(refits.confidence.round(9), return_inverse=True)
    counts = np.bincount(places)
    levels = isotonic_regression(np.bincount(places, hit) / counts, sample_weight=counts)
    ends = np.flatnonzero(np.diff(levels))
    knots = np.unique(np.concatenate([[0], ends, ends + 1, [len(levels) - 1]]))
    rates = np.clip(levels[knots], min(0.5 / len(hit), 0.01), 1 - 0.5 / len(hit))
    return values[knots], logit(rates) - np.log(refits.share)


def surest(refits: Refits, n_relations: int) -> Completeness:
    """How complete the graph is, if the surest triples are all true: the share of them that is in it tells."""
    rows = _surest_rows(refits, n_relations)
    found, hit = _learn(refits, n_relations), refits.hit[rows]
    known = found.known(refits.listed, refits.number)
    slope, error = _slope(known[rows], hit)
    slope = float(np.clip(found.gain, slope - DOUBT * error, slope + DOUBT * error))
    rate = (hit.sum() + 0.5) / (len(hit) + 1)
    level = brentq(lambda x: expit(x + slope * known[rows]).mean() - rate, -FAR, FAR) - np.log(refits.share)
    return Completeness(float(expit(level - _spread_out(known[refits.hit], slope))), slope)


def jeffreys(hits: int, total: int) -> tuple[float, float]:
    """95 % interval of a share."""
    low, high = (float(beta.ppf(level, hits + 0.5, total - hits + 0.5)) for level in (0.025, 0.975))
    return (0.0 if hits == 0 else low), (1.0 if hits == total else high)


def _surest_rows(refits: Refits, n_relations: int) -> Bools:
    """The surest triples of each refit, as the others say; they hold a quarter of all that came back, or more."""
    chosen = np.zeros(len(refits.hit), dtype=np.bool_)
    for i in range(refits.n_refits):
        own = refits.number == i
        if not own.any():
            continue
        calibration, one = _learn(refits.take(~own), n_relations), refits.take(own)
        odds = calibration.log_odds(one.listed)
        odds = odds if np.ptp(odds) else one.confidence  # too few came back to tell more
        order = np.argsort(-odds, kind="stable")
        enough = int(np.searchsorted(np.cumsum(one.hit[order]), QUARTER * one.hit.sum()))
        chosen[own] = odds >= odds[order[min(enough, len(odds) - 1)]]
    return chosen


def _slope(known: Array, hit: Bools) -> tuple[float, float]:
    """How the log odds of coming back rise with what is known, and the standard error of that."""
    if not 0 < hit.sum() < len(hit):
        return 0.0, float(np.sqrt(SLIGHT))
    model = _fit(known[:, None], hit, SLIGHT)
    chance = model.predict_proba(known[:, None])[:, 1]
    weight = chance * (1 - chance)
    spread = weight @ (known - np.average(known, weights=weight)) ** 2
    return float(model.coef_[0, 0]), float(1 / np.sqrt(spread + 1 / SLIGHT))


def _learn(refits: Refits, n_relations: int, *, local: bool = True) -> Calibration:
    knots, shape, hits = curve(refits), (n_relations, N_KINDS), int(refits.hit.sum())
    if not FEW <= hits < len(refits.hit):  # all came back; or little is known: next to impossible
        offset = knots[1][-1] if hits >= FEW else IMPOSSIBLE - np.log(refits.share)
        return Calibration(knots, np.zeros(shape), np.full(shape, offset))
    base = np.interp(refits.confidence, *knots)
    known = _known(refits.listed, expit(base), refits.number) if local else np.zeros(len(base))
    mean, deviation = float(known[refits.hit].mean()), float(known[refits.hit].std())
    usual = mean, deviation if deviation > SAME else 1.0
    groups = refits.listed.triples[:, 1].astype(np.int64) * N_KINDS + refits.listed.kind
    seen, places = np.unique(groups, return_inverse=True)  # the others make no difference, not even by rounding
    found = _by_group(places, base, (known - usual[0]) / usual[1], refits.hit)
    slopes, offsets = (np.full(n_relations * N_KINDS, values[0]) for values in found[:2])
    slopes[seen], offsets[seen] = (values[1:] for values in found[:2])
    offsets -= np.log(refits.share)
    return Calibration(knots, slopes.reshape(shape), offsets.reshape(shape), found[2], usual)


def _by_group(groups: Ids, base: Array, known: Array, hit: Bools) -> tuple[Array, Array, float]:
    """Slopes and offsets, first those of a new group, which small ones are like; and the slope of ``known``."""
    middle, places = float(base[hit].mean()), (np.arange(len(groups)), groups)
    own, sloped = (csr_array((values, places)) for values in (np.ones(len(groups)), base - middle))
    n_groups = own.shape[1]
    columns = hstack([csr_array((base - middle)[:, None]), csr_array(known[:, None]), sloped, own])
    model = _fit(columns, hit)
    common, gain = model.coef_[0, :2]
    slopes = common + np.append(0.0, model.coef_[0, 2 : n_groups + 2])
    offsets = model.intercept_[0] + np.append(0.0, model.coef_[0, n_groups + 2 :]) - slopes * middle
    return slopes, offsets, float(gain)


def _fit(columns: Any, hit: Bools, variance: float = 1.0) -> Any:  # noqa: ANN401  (sklearn has no types)
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=variance, max_iter=1000).fit(columns, hit)


def _known(listed: Conclusions, chance: Array, number: Ids | int) -> Array:
    """Facts to other conclusions, each by its chance, of head or tail, of which there are fewer, in logarithms.

    Of one list, no more conclusions are counted than refits have.
    """
    ends = listed.triples[:, [0, 2]].astype(np.int64)
    ends += np.asarray(number).reshape(-1, 1) * (ends.max(initial=0) + 1)
    counted = chance if np.ndim(number) else np.where(np.arange(len(chance)) < MAX_SEEN, chance, 0.0)
    others = np.bincount(ends.ravel(), np.repeat(counted, 2))[ends] - counted[:, None]
    each: Array = np.log((listed.facts + 1) / (others + 1))
    lesser: Array = each.min(axis=1)
    return lesser


def _spread_out(known: Array, slope: float) -> float:
    """How much higher the log odds are where as much is known as usual than those of the share of all facts.

    For each fact in the graph there are 1/q − 1 that are missing, where q is that of its own head and tail.
    """
    return float(np.log(np.exp(-slope * known).mean())) if len(known) else 0.0
