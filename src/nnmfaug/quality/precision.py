"""How right a generator is, measured without labels."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import t as student

from nnmfaug.augmenters.base import Augmenter, Distribution
from nnmfaug.augmenters.listed import Listed
from nnmfaug.augmenters.rules.rules import Rules
from nnmfaug.core.arrays import Array
from nnmfaug.core.checks import check_count
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.calibration import FEW, Completeness, calibrate, curve, jeffreys, surest, truth
from nnmfaug.quality.holdout import Refits, refit

FACTOR = 2.0
"""The interval allows for so many times more or fewer missing facts, if their number is not given."""
N_BANDS = 5
LEAST_COMPLETENESS = 0.65
"""A graph that seems to hold less than this has no sure conclusions, more likely."""
USUAL_COMPLETENESS = 0.8
"""What a graph is taken to hold if rules say nothing."""
LEAST = -600.0
"""Log-probabilities below the highest minus this all count as this."""


@dataclass(frozen=True)
class Band:
    """Triples of similar confidence: how many of the n, what refits saw of such, how many are true."""

    low: float
    high: float
    n: int
    seen: int
    came_back: int
    precision: float


@dataclass(frozen=True)
class PrecisionEstimate:
    """Share of true facts among n generated triples, estimated from train alone.

    Parameters
    ----------
    precision, low, high
        The estimate and its 95 % interval.
    completeness
        Share of the facts that the graph is thought to hold, or was said to hold.
    n
        How many triples; fewer than asked for, if there are no more.
    bands, per_relation
        The same by confidence, and by relation.
    """

    precision: float
    low: float
    high: float
    completeness: float
    n: int
    bands: tuple[Band, ...]
    per_relation: Mapping[str, float]


def estimate_precision(
    method: Augmenter[Distribution],
    graph: KnowledgeGraph,
    n: int,
    *,
    seed: int = 0,
    completeness: float | None = None,
    share: float = 0.1,
    n_refits: int = 5,
) -> PrecisionEstimate:
    """Estimate how many of the n triples that a method gives for a graph are true.

    Parameters
    ----------
    graph
        The train graph; nothing else is looked at.
    completeness
        Share of all facts that the graph holds, if known; else the surest triples are taken for true.
    share, n_refits
        How much of the graph a refit is without, and how often.

    Examples
    --------
    >>> import nnmfaug as na
    >>> splits = na.split(na.family(200, seed=0).truth, valid=0, test=0.2, seed=0)
    >>> found = na.estimate_precision(na.Rules(), splits.train, 1500)
    >>> true = splits.test.contains(na.Rules().fit(splits.train).top(1500).triples).mean()
    >>> print(f"{found.precision:.2f} from {found.low:.2f} to {found.high:.2f}; true: {true:.2f}")
    0.70 from 0.26 to 0.84; true: 0.76
    """
    check_completeness(completeness)
    _check_refits(share, n_refits)
    if check_count(n) < 1:
        msg = f"n={n}: must be at least 1"
        raise ValueError(msg)

    def fit(part: KnowledgeGraph) -> Listed:
        return as_listed(method.fit(part, seed=seed), n, seed=seed)

    full = fit(graph)
    refits = refit(fit, full, share=share, n_refits=n_refits, seed=seed)
    if isinstance(method, Rules):
        held = completeness_of(refits, graph, completeness)
    else:
        held = Completeness(completeness or estimate_completeness(graph, seed=seed))
    return _estimate(full, refits, held, n, given=completeness is not None)


def check_completeness(completeness: float | None) -> None:
    """Raise unless it is a share, or not given."""
    if completeness is not None and not 0 < completeness < 1:
        msg = f"completeness={completeness}: must be above 0 and below 1"
        raise ValueError(msg)


def _check_refits(share: float, n_refits: int) -> None:
    if not 0 < share < 1 or check_count(n_refits) < 2:
        msg = f"share={share}, n_refits={n_refits}: must be between 0 and 1, and at least 2"
        raise ValueError(msg)


def estimate_completeness(graph: KnowledgeGraph, *, seed: int = 0, share: float = 0.1, n_refits: int = 5) -> float:
    """Estimate the share of facts that a graph holds: that of the surest conclusions of rules that is in it.

    At least 0.65: if fewer of the surest are in the graph, they are not sure at all. If hardly any come back,
    rules say nothing, and 0.8 is a guess.

    Examples
    --------
    >>> import nnmfaug as na
    >>> splits = na.split(na.family(200, seed=0).truth, valid=0.1, test=0.1, seed=0)
    >>> round(na.estimate_completeness(splits.train), 2)
    0.81
    """
    _check_refits(share, n_refits)
    rules = Rules()
    refits = refit(rules.fit, rules.fit(graph), share=share, n_refits=n_refits, seed=seed)
    return completeness_of(refits, graph).share


def completeness_of(refits: Refits, graph: KnowledgeGraph, given: float | None = None) -> Completeness:
    """As above, from refits of rules; how it depends on what is known, too, and that alone if it is given."""
    if refits.hit.sum() < FEW:
        return Completeness(given or USUAL_COMPLETENESS)
    found = surest(refits, graph.n_relations)
    return replace(found, share=given or max(found.share, LEAST_COMPLETENESS))


def as_listed(dist: Distribution, n: int, *, seed: int) -> Listed:
    """Return a law as a list: itself, or n triples drawn from it, the most probable first."""
    if isinstance(dist, Listed):
        return dist
    sample = dist.sample(min(n, dist.n_new), seed=seed)
    order = np.argsort(-sample.log_prob, kind="stable")
    relative = sample.log_prob - sample.log_prob.max(initial=-np.inf)
    return Listed(dist.graph, sample.triples[order], np.exp(np.maximum(relative, LEAST))[order])


def _estimate(full: Listed, refits: Refits, held: Completeness, n: int, *, given: bool) -> PrecisionEstimate:
    triples, confidence, completeness = full.triples[:n], full.confidence[:n], held.share
    odds = np.interp(confidence, *curve(refits))
    below, above = _uncertainty(refits, confidence.min(initial=1.0))
    slack, spread = 0.0 if given else np.log(FACTOR), _spread(refits, confidence, completeness)
    middle, low, high = (truth(odds + shift, completeness) for shift in (0.0, below - slack, above + slack))
    mean, least, most = (float(values.mean()) if len(values) else 0.0 for values in (middle, low, high))
    least, most = max(least - spread, 0.0), min(most + spread, 1.0)
    calibration = calibrate(refits, full.graph.n_relations, held)
    each, names = calibration(full.graph, full.triples, full.confidence), full.graph.vocabulary.relations
    relations = {names[r]: float(each[:n][triples[:, 1] == r].mean()) for r in np.unique(triples[:, 1]).tolist()}
    return PrecisionEstimate(
        mean, least, most, completeness, len(triples), _bands(confidence, middle, refits), relations
    )


def _spread(refits: Refits, confidence: Array, completeness: float) -> float:
    """How far single refits are apart: half the width of a 95 % interval."""
    curves = (curve(refits.take(refits.number == i)) for i in range(refits.n_refits))
    means = [truth(np.interp(confidence, *knots), completeness).mean() for knots in curves]
    if len(means) < 2 or not len(confidence):
        return 0.0
    return float(student.ppf(0.975, len(means) - 1) * np.std(means, ddof=1))


def _uncertainty(refits: Refits, confidence: float) -> tuple[float, float]:
    """How far the log odds of coming back may be off for triples of at least some confidence, by chance alone."""
    seen = refits.hit[refits.confidence >= confidence]
    hits, total = int(seen.sum()), len(seen)
    low, high = (_log_odds(rate) for rate in jeffreys(hits, total))
    middle = _log_odds((hits + 0.5) / (total + 1))
    return low - middle, high - middle


def _log_odds(rate: float) -> float:
    return -np.inf if rate <= 0 else np.inf if rate >= 1 else float(np.log(rate / (1 - rate)))


def _bands(confidence: Array, precision: Array, refits: Refits) -> tuple[Band, ...]:
    """Split by confidence into parts of about equal size."""
    edges = np.unique(np.quantile(confidence, np.linspace(0, 1, N_BANDS + 1))) if len(confidence) else np.zeros(0)
    if len(edges) == 1:
        edges = np.repeat(edges, 2)
    bands = []
    for i, (low, high) in reversed(list(enumerate(itertools.pairwise(edges.tolist())))):
        last = i == len(edges) - 2
        own, seen = (
            (values >= low) & ((values <= high) if last else (values < high))
            for values in (confidence, refits.confidence)
        )
        if own.any():
            mean, back = float(precision[own].mean()), int(refits.hit[seen].sum())
            bands.append(Band(low, high, int(own.sum()), int(seen.sum()), back, mean))
    return tuple(bands)
