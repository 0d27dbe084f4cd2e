"""Calibration: from confidence to the estimated probability that a triple outside the graph is true.

A confidence only ranks triples. A calibrated probability can be compared between augmenters and with a
threshold, and used as a weight in training.

**Equation.** Let a be the probability that a listed triple is in the graph, and q the completeness of the graph,
the fraction of all true facts that it contains. A fraction a of such triples is in the graph and true. If facts
are in the graph with probability q, then a/q of such triples are true, and a/q − a are true but not in the
graph. Of those that are not in the graph, which are a fraction 1 − a, therefore

    π = (a/q − a) / (1 − a) = (1 − q)/q · a/(1 − a),        log π = logit a − logit q,        at most 0,

are true.

**Estimates.** a comes from the number of recovered among the listed triples, by confidence, relation and kind
(:mod:`nnmfaug.quality.membership`). q is given, or such that the conclusions of highest confidence are true, π = 1
(:mod:`nnmfaug.quality.completeness`). ``docs/quality.md`` states the two assumptions, and where they fail.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnmfaug.core.arrays import Array
from nnmfaug.core.elementary import exp, logit
from nnmfaug.quality.membership import Membership, fit_membership
from nnmfaug.quality.recovery import Conclusions, Recovery


@dataclass(frozen=True, eq=False)
class Calibration:
    """Estimated probability of triples that are not in the graph, or as if they were not.

    Parameters
    ----------
    membership
        The model of a.
    completeness
        q.
    """

    membership: Membership
    completeness: float

    def __call__(self, conclusions: Conclusions) -> Array:
        """Return π for each conclusion."""
        return estimated_probability(self.membership.log_odds(conclusions), self.completeness)


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


def calibrate(recovery: Recovery, n_relations: int, completeness: float) -> Calibration:
    """Fit a to a recovery, and combine it with a completeness."""
    return Calibration(fit_membership(recovery, n_relations), completeness)
