"""Completeness q: the fraction of all true facts that a graph contains.

Recovery measures a, the probability that a listed triple is in the graph. A rule that is always right lists facts
of which a fraction q is in the graph, so for it a = q. A rule that is right half of the time has a = q/2: the same
a, and the same recovery, as a perfect rule in a graph half as complete. The counts cannot tell the two apart, so q
must be given, or follow from an assumption. It matters because the same a means a different precision for a
different q (:mod:`nnmfaug.quality.calibration`).

**Assumption.** The conclusions of highest confidence are true. Then q = a for these. They are the conclusions of
highest a, each by a model that was fitted to other conclusions, as many as it takes to contain a quarter of all
that is recovered:

    logit q = logit((recovered + ½) / (listed + 1)) − log s.
"""

from __future__ import annotations

import numpy as np

from nnmfaug.core.arrays import Bools
from nnmfaug.core.checks import check_fraction
from nnmfaug.core.elementary import expit, log, logit
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.default_rules import default_rules
from nnmfaug.quality.leave_one_out import leave_one_out
from nnmfaug.quality.membership import MIN_RECOVERED, cross_fitted
from nnmfaug.quality.recovery import Recovery

MIN_COMPLETENESS = 0.65
"""A lower estimate is more likely due to rules of which none is always right."""
DEFAULT_COMPLETENESS = 0.8
"""Assumed where too little is recovered to estimate it."""
TOP_FRACTION = 0.25
"""The conclusions of highest confidence contain this fraction of all that is recovered."""


def check_completeness(completeness: float | None) -> None:
    """Raise unless a completeness is above 0 and below 1, or not given."""
    if completeness is not None:
        check_fraction("completeness", completeness)


def estimate_completeness(graph: KnowledgeGraph) -> float:
    """Estimate the fraction of all true facts that a graph contains.

    It is the fraction of the highest-confidence conclusions of rules that are in the graph, if these conclusions
    are true. The estimate is at least 0.65: if fewer are in the graph, they are hardly all true. If fewer than
    20 triples are recovered, it is 0.8, an assumption.

    Examples
    --------
    >>> import nnmfaug as na
    >>> splits = na.split(na.family(200, seed=1).truth, valid=0, test=0.2, seed=0)
    >>> round(na.estimate_completeness(splits.train), 2)
    0.81
    """
    measured = leave_one_out(default_rules(graph), graph)
    return completeness_of(measured.recovery, graph.n_relations)


def completeness_of(recovery: Recovery, n_relations: int) -> float:
    """Estimate the completeness of a graph from the recovery of rules."""
    if recovery.n_recovered < MIN_RECOVERED:
        return DEFAULT_COMPLETENESS
    return max(highest_confidence_completeness(recovery, n_relations), MIN_COMPLETENESS)


def highest_confidence_completeness(recovery: Recovery, n_relations: int) -> float:
    """Estimate q from the highest-confidence conclusions alone, as if these were all true."""
    highest = recovery.take(_highest_confidence(recovery, n_relations))
    rate = (highest.n_recovered + 0.5) / (highest.n_listed + 1)
    return float(expit(logit(rate) - log(recovery.fraction)))


def _highest_confidence(recovery: Recovery, n_relations: int) -> Bools:
    """Mark the conclusions of highest confidence, each by the model of the other folds."""
    score = cross_fitted(recovery, n_relations)
    if not np.ptp(score):  # too few recovered triples for a model
        score = recovery.confidence
    order = np.argsort(-score, kind="stable")
    n_recovered = np.cumsum((recovery.weight * recovery.recovered)[order])
    enough = int(np.searchsorted(n_recovered, TOP_FRACTION * recovery.n_recovered))
    lowest = score[order[min(enough, len(order) - 1)]]
    return np.asarray(score >= lowest)
