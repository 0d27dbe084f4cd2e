"""Calibration: from confidence to the estimated probability that a triple outside the graph is true.

A confidence only ranks triples. A calibrated probability can be compared between augmenters and with a
threshold, and used as a weight in training.

**Equation.** Let a be the probability that a listed triple is in the graph, and q the completeness of the graph,
the fraction of all true facts that it contains. A fraction a of such triples is in the graph and true. If facts
are in the graph with probability q, then a/q of such triples are true, and a/q − a are true but not in the
graph. Of those that are not in the graph, which are a fraction 1 − a, therefore

    π = (a/q − a) / (1 − a) = (1 − q)/q · a/(1 − a),        log π = logit a − logit q,        at most 0,

are true.

**Estimates.** a comes from the number of recovered among the listed triples of hold-out refits, by confidence,
relation, kind and coverage z (:mod:`nnmfaug.quality.membership`). q is given, or such that the conclusions of
highest confidence are true, π = 1 (:mod:`nnmfaug.quality.completeness`). Both may depend on the coverage:

    log π = β_g · f(c) + α_g + γ · z − (level + slope · z),        at most 0.

If a and q depend on coverage in the same way, γ = slope, then π does not depend on it. ``docs/decisions/0009``
has the measurements, and the cases in which the assumption fails.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnmfaug.core.arrays import Array, IntArray
from nnmfaug.core.elementary import exp, logit
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.completeness import Completeness
from nnmfaug.quality.holdout import Conclusions, Refits
from nnmfaug.quality.membership import IMPOSSIBLE_LOG_ODDS, Membership, fit_membership


@dataclass(frozen=True, eq=False)
class Calibration:
    """Estimated probability of triples that are not in the graph.

    Parameters
    ----------
    membership
        The model of a.
    level, slope
        logit q = level + slope · z, where z is the standardised coverage.
    """

    membership: Membership
    level: float = 0.0
    slope: float = 0.0

    def __call__(self, graph: KnowledgeGraph, triples: IntArray, confidence: Array) -> Array:
        """Return π for each triple of a ranked list.

        Parameters
        ----------
        graph
            The train graph, which contains none of the triples.
        triples : ndarray of shape (n, 3)
            The whole list, the highest confidence first: the coverage depends on all conclusions.
        confidence : ndarray of shape (n,)
            Confidences of the augmenter.
        """
        conclusions = Conclusions.of(graph, triples, confidence)
        coverage = self.membership.coverage(conclusions)
        log_odds = self.membership.log_odds(conclusions, coverage)
        log_odds[self.membership.beyond_refits(conclusions)] = IMPOSSIBLE_LOG_ODDS
        probability: Array = exp(np.minimum(log_odds - self.level - self.slope * coverage, 0.0))
        return probability


def estimated_probability(log_odds: Array, completeness: float) -> Array:
    """Return π = (1 − q)/q · a/(1 − a), at most 1, for logit a and q.

    Examples
    --------
    >>> log_odds = np.log([0.1, 1.0, 4.0])  # a = 1/11, 1/2 and 4/5
    >>> estimated_probability(log_odds, 0.8).round(3).tolist()
    [0.025, 0.25, 1.0]
    """
    probability: Array = exp(np.minimum(log_odds - logit(completeness), 0.0))
    return probability


def calibrate(refits: Refits, n_relations: int, completeness: Completeness) -> Calibration:
    """Fit a to refits, and combine it with a completeness; coverage is used if the completeness depends on it."""
    slope = completeness.slope
    membership = fit_membership(refits, n_relations, use_coverage=slope is not None)
    coverage = membership.coverage(refits.conclusions, refits.refit_id)
    level = completeness.level(coverage[refits.recovered])
    return Calibration(membership, level, 0.0 if slope is None else slope)
