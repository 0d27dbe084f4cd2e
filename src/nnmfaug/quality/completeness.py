"""Completeness q: the fraction of all true facts that a graph contains.

Hold-out refits measure a, the probability that a listed triple is in the graph. A rule that is always right
lists facts of which a fraction q is in the graph, so for it a = q. A rule that is right half of the time has
a = q/2: the same a, and the same recovery, as a perfect rule in a graph half as complete. The counts alone cannot
tell the two apart, so q must be given, or follow from an assumption. It matters because the same a means a
different precision for a different q (:mod:`nnmfaug.quality.calibration`).

**Assumption.** The conclusions of highest confidence are true. Then q = a for these. They are, in each refit, the
conclusions of highest a by a model fitted to the *other* refits (so that a triple does not vouch for itself),
as many as it takes to contain a quarter of all that is recovered.

**Dependence on coverage.** Facts may be missing more often about some entities than about others. With z, the
coverage of head and tail (:mod:`nnmfaug.quality.membership`),

    logit q(z) = level + slope · z.

The slope is γ, that of a, as far as the conclusions of highest confidence allow it: at most two standard errors
from the slope that a logistic regression finds among them alone. The level solves

    mean of expit(x + slope · z) = (recovered + ½) / (listed + 1),        level = x − log s,

over these conclusions. For each fact in the graph 1/q(z) − 1 are missing, so the graph as a whole has

    logit q = level − log M,        M = mean of exp(−slope · z) over the recovered triples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

from nnmfaug.augmenters.rules.rules import Rules
from nnmfaug.core.arrays import Array, Bools
from nnmfaug.core.checks import check_fraction
from nnmfaug.core.elementary import exp, expit, log, logit
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.holdout import Refits, check_refits, refit
from nnmfaug.quality.logistic import Columns, fit_logistic
from nnmfaug.quality.membership import MIN_RECOVERED, fit_membership

MIN_COMPLETENESS = 0.65
"""A lower estimate is more likely due to rules of which none is always right."""
DEFAULT_COMPLETENESS = 0.8
"""Assumed where too little is recovered to estimate it."""
TOP_FRACTION = 0.25
"""The conclusions of highest confidence contain this fraction of all that is recovered."""
SLOPE_VARIANCE = 1 / 16
"""Prior variance of the slope: it takes dozens of triples to move it far from 0."""
MAX_STANDARD_ERRORS = 2.0
"""Largest difference between γ and the slope among the conclusions of highest confidence."""
MAX_LOG_ODDS = 1000.0
"""Bound of the search for the level."""


@dataclass(frozen=True)
class Completeness:
    """Fraction of all true facts that a graph contains.

    Parameters
    ----------
    fraction
        q of the whole graph.
    slope
        How the log-odds of q rise with the coverage of head and tail. None: q is the same for all triples.
    """

    fraction: float
    slope: float | None = None

    def level(self, coverage: Array) -> float:
        """Log-odds of q where the coverage is average, given that of the recovered triples: logit q + log M."""
        log_odds = float(logit(self.fraction))
        return log_odds if self.slope is None else log_odds + _log_mean_missing(coverage, self.slope)


def check_completeness(completeness: float | None) -> None:
    """Raise unless a completeness is above 0 and below 1, or not given."""
    if completeness is not None:
        check_fraction("completeness", completeness)


def estimate_completeness(
    graph: KnowledgeGraph, *, seed: int = 0, fraction: float = 0.1, n_refits: int = 5
) -> float:
    """Estimate the fraction of all true facts that a graph contains.

    It is the fraction of the highest-confidence conclusions of rules that are in the graph, if these conclusions
    are true. The estimate is at least 0.65: if fewer are in the graph, they are hardly all true. If fewer than
    20 triples are recovered, it is 0.8, an assumption.

    Parameters
    ----------
    fraction, n_refits
        Fraction of the graph that each refit leaves out; and the number of refits.

    Examples
    --------
    >>> import nnmfaug as na
    >>> splits = na.split(na.family(200, seed=0).truth, valid=0.1, test=0.1, seed=0)
    >>> round(na.estimate_completeness(splits.train), 2)
    0.82
    """
    check_refits(fraction, n_refits)
    rules = Rules()
    full = rules.fit(graph)
    task = "estimating completeness"
    refits = refit(rules.fit, full, fraction=fraction, n_refits=n_refits, seed=seed, task=task)
    return completeness_of(refits, graph.n_relations).fraction


def completeness_of(refits: Refits, n_relations: int, given: float | None = None) -> Completeness:
    """Estimate the completeness of a graph from refits of rules; if q is given, only its slope is estimated."""
    if refits.n_recovered < MIN_RECOVERED:
        return Completeness(given or DEFAULT_COMPLETENESS)
    estimate = highest_confidence_completeness(refits, n_relations)
    return replace(estimate, fraction=given or max(estimate.fraction, MIN_COMPLETENESS))


def highest_confidence_completeness(refits: Refits, n_relations: int) -> Completeness:
    """Estimate q and its slope from the highest-confidence conclusions alone, as if these were all true."""
    top = _highest_confidence(refits, n_relations)
    membership = fit_membership(refits, n_relations)
    coverage = membership.coverage(refits.conclusions, refits.refit_id)
    slope = _slope_near(membership.gain, coverage[top], refits.recovered[top])
    level = _solve_level(slope, coverage[top], refits.recovered[top]) - log(refits.fraction)
    log_odds = level - _log_mean_missing(coverage[refits.recovered], slope)
    return Completeness(float(expit(log_odds)), slope)


def _highest_confidence(refits: Refits, n_relations: int) -> Bools:
    """Mark the conclusions of highest confidence of each refit, by the model of the others."""
    chosen = np.zeros(len(refits), dtype=np.bool_)
    for i in range(refits.n_refits):
        rows = refits.refit_id == i
        if rows.any():
            chosen[rows] = _top_of(refits.take(rows), refits.take(~rows), n_relations)
    return chosen


def _top_of(one: Refits, others: Refits, n_relations: int) -> Bools:
    """Mark the conclusions of a refit from the highest score down to a quarter of its recovered triples."""
    score = fit_membership(others, n_relations).log_odds(one.conclusions)
    if not np.ptp(score):  # too few recovered triples for a model
        score = one.confidence
    order = np.argsort(-score, kind="stable")
    n_recovered = np.cumsum(one.recovered[order])
    enough = int(np.searchsorted(n_recovered, TOP_FRACTION * one.n_recovered))
    lowest = score[order[min(enough, len(order) - 1)]]
    return np.asarray(score >= lowest)


def _slope_near(gain: float, coverage: Array, recovered: Bools) -> float:
    """The slope nearest to γ that conclusions of highest confidence allow."""
    slope, error = _fit_slope(coverage, recovered)
    margin = MAX_STANDARD_ERRORS * error
    return float(np.clip(gain, slope - margin, slope + margin))


def _fit_slope(coverage: Array, recovered: Bools) -> tuple[float, float]:
    """How the log-odds of being recovered rise with coverage, and the standard error of that."""
    if not 0 < recovered.sum() < len(recovered):
        return 0.0, float(np.sqrt(SLOPE_VARIANCE))
    columns = Columns.without_groups(coverage[None])
    fitted = fit_logistic(columns, recovered, SLOPE_VARIANCE)
    chance = expit(columns.log_odds(fitted))
    weight = chance * (1 - chance)
    centred = coverage - np.average(coverage, weights=weight)
    information = np.add.reduce(weight * centred * centred)
    return float(fitted.common[0]), float(1 / np.sqrt(information + 1 / SLOPE_VARIANCE))


def _solve_level(slope: float, coverage: Array, recovered: Bools) -> float:
    """Solve mean expit(x + slope · z) = (recovered + ½) / (listed + 1) for x."""
    rate = (recovered.sum() + 0.5) / (len(recovered) + 1)

    def excess(level: float) -> float:
        return float(expit(level + slope * coverage).mean() - rate)

    return float(brentq(excess, -MAX_LOG_ODDS, MAX_LOG_ODDS))


def _log_mean_missing(coverage: Array, slope: float) -> float:
    """Return log M: how many more facts are missing with uneven coverage than with even coverage, as a log."""
    return float(log(exp(-slope * coverage).mean())) if len(coverage) else 0.0
