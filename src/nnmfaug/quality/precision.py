"""Precision: the fraction of generated triples that are true, estimated from the train graph alone.

There are no labels for generated triples, and valid and test are not to be used. So train triples are left out,
one at a time for rules, at random for any other augmenter, which is then fitted again. The number of triples that
are recovered gives a, the probability that a triple of some confidence is in the graph; and with the completeness
q of the graph, π = (1 − q)/q · a/(1 − a) of the triples that are not in the graph are true
(:mod:`nnmfaug.quality.calibration`). The precision of n triples is the mean of their π.

``Auto`` and ``Mixture`` of rules alone rank by their own estimate of π. To check it, each triple that is left out
is rated by a model that was fitted without it.

Here a depends on confidence only, a = expit f(c). Corrections by relation would mistake facts that are missing
together for false ones; they are used for ``per_relation``, and their difference from the estimate widens its
interval.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import beta, t as student

from nnmfaug.augmenters.base import Augmenter, Distribution
from nnmfaug.augmenters.listed import Listed
from nnmfaug.augmenters.rules.rules import Rules
from nnmfaug.core.arrays import Array, Bools
from nnmfaug.core.checks import check_at_least, check_count
from nnmfaug.core.elementary import log, logit
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.auto import Auto
from nnmfaug.quality.calibration import calibrate, estimated_probability
from nnmfaug.quality.completeness import check_completeness, completeness_of, estimate_completeness
from nnmfaug.quality.curves import fit_steps
from nnmfaug.quality.holdout import check_refits
from nnmfaug.quality.leave_one_out import leave_one_out
from nnmfaug.quality.membership import cross_fitted
from nnmfaug.quality.mixture import MAX_DRAWN, Mixture, list_and_recover
from nnmfaug.quality.recovery import Measured, Recovery

FACTOR = 2.0
"""If completeness is estimated, the interval allows for so many times more or fewer missing facts."""
N_BANDS = 5
ROUNDING = 1e-9
"""Smaller differences of log-odds are due to rounding."""
DEFAULT_FRACTION = 0.1
"""Number of triples drawn by default, as a fraction of the graph."""


@dataclass(frozen=True)
class Band:
    """Generated triples of similar confidence.

    Parameters
    ----------
    low, high
        Range of confidence.
    n
        Number of generated triples.
    listed, recovered
        Number of triples that are listed with the same log-odds while triples are left out, and how many of these
        are recovered.
    precision
        Estimated precision.
    """

    low: float
    high: float
    n: int
    listed: int
    recovered: int
    precision: float


@dataclass(frozen=True)
class PrecisionEstimate:
    """Fraction of true triples among n generated ones, estimated from train alone.

    Parameters
    ----------
    precision, low, high
        The estimate and its 95 % interval; all 0 if there are no triples.
    completeness
        Fraction of all true facts that the graph contains, as estimated or given.
    n
        Number of triples; fewer than requested if no more are available.
    bands, per_relation
        The estimate by confidence, and by relation.
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
    n: int | None = None,
    *,
    seed: int = 0,
    completeness: float | None = None,
    fraction: float = 0.1,
    n_refits: int = 5,
) -> PrecisionEstimate:
    """Estimate the precision of the n triples that an augmenter generates for a graph.

    Parameters
    ----------
    method
        The augmenter. Rules are fitted once; any other is fitted again for each refit.
    graph
        The train graph; nothing else is used.
    n
        Number of triples: the highest-confidence ones of a list, or draws. Default: the whole list; draws, 10 % of
        the graph.
    completeness
        Fraction of all true facts that the graph contains. Default: estimated, assuming that the
        highest-confidence conclusions of rules are true.
    fraction, n_refits
        Fraction of the graph that each refit leaves out; and the number of refits. Rules need none.

    Examples
    --------
    >>> import nnmfaug as na
    >>> splits = na.split(na.family(200, seed=0).truth, valid=0, test=0.2, seed=0)
    >>> estimate = na.estimate_precision(na.Rules(), splits.train, 1500)
    >>> true = splits.test.contains(na.Rules().fit(splits.train).top(1500).triples).mean()
    >>> print(f"{estimate.precision:.2f} from {estimate.low:.2f} to {estimate.high:.2f}; true: {true:.2f}")
    0.67 from 0.30 to 0.79; true: 0.76
    """
    check_completeness(completeness)
    check_refits(fraction, n_refits)
    if n is not None:
        check_at_least("n", check_count(n), 1)
    if completeness is None:
        completeness = getattr(method, "completeness", None)
    rules = _only_rules(method, graph)
    if rules is not None:
        measured, own_completeness = _leave_one_out(method, rules, graph, completeness)
    else:
        size = _default_size(method.fit(graph, seed=seed)) if n is None else n
        measured = list_and_recover(
            method, graph, size, seed=seed, fraction=fraction, n_refits=n_refits, task="estimating precision"
        )
        own_completeness = completeness or estimate_completeness(graph)
    size = measured.full.support_size if n is None else n
    return _estimate(measured, own_completeness, size, factor=FACTOR if completeness is None else 1.0)


def _only_rules(method: Augmenter[Distribution], graph: KnowledgeGraph) -> Rules | None:
    """The rules behind an augmenter, if it has no other source."""
    if isinstance(method, Auto):
        return _only_rules(method.mixture(graph), graph)
    if isinstance(method, Mixture):
        return _only_rules(method.generators[0], graph) if len(method.generators) == 1 else None
    return method if isinstance(method, Rules) else None


def _leave_one_out(
    method: Augmenter[Distribution], rules: Rules, graph: KnowledgeGraph, completeness: float | None
) -> tuple[Measured, float]:
    """Return the list of an augmenter that is made of rules, its recovery, and the completeness of the graph."""
    measured = leave_one_out(rules, graph)
    recovery = measured.recovery
    estimate = completeness_of(recovery, graph.n_relations)
    if isinstance(method, Rules):
        return measured, completeness or estimate
    assumed = getattr(method, "completeness", None) or estimate
    probability = estimated_probability(cross_fitted(recovery, graph.n_relations), assumed)
    rated = replace(recovery, conclusions=replace(recovery.conclusions, confidence=probability, parts=None))
    full = Listed.of(method.fit(graph), MAX_DRAWN, seed=0)
    return Measured.of(full, rated), completeness or estimate


def jeffreys_interval(successes: int, trials: int) -> tuple[float, float]:
    """95 % interval of a proportion: quantiles of Beta(successes + ½, failures + ½), up to 0 or 1 at the ends.

    Examples
    --------
    >>> low, high = jeffreys_interval(0, 10)
    >>> low, round(high, 3)
    (0.0, 0.217)
    """
    failures = trials - successes
    low, high = (float(beta.ppf(level, successes + 0.5, failures + 0.5)) for level in (0.025, 0.975))
    return (low if successes else 0.0), (high if failures else 1.0)


def _default_size(dist: Distribution) -> int:
    """Number of triples of a whole list; for a distribution without one, 10 % of the graph, at least 1."""
    if isinstance(dist, Listed):
        return dist.support_size
    return max(int(DEFAULT_FRACTION * len(dist.graph)), 1)


def _estimate(measured: Measured, completeness: float, n: int, *, factor: float) -> PrecisionEstimate:
    recovery = measured.recovery
    confidence = measured.full.confidence[:n]
    log_odds = fit_steps(recovery)(confidence)
    probability = estimated_probability(log_odds, completeness)
    by_group = calibrate(recovery, measured.full.graph.n_relations, completeness)(
        measured.conclusions.take(slice(n))
    )
    interval = _interval(recovery, confidence, log_odds, completeness, factor)
    disagreement = abs(_mean(by_group) - _mean(probability))
    return PrecisionEstimate(
        precision=_mean(probability),
        low=max(interval[0] - disagreement, 0.0),
        high=min(interval[1] + disagreement, 1.0),
        completeness=completeness,
        n=len(confidence),
        bands=tuple(_bands(confidence, probability, recovery)),
        per_relation=_per_relation(measured.full, by_group),
    )


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else 0.0


def _interval(
    recovery: Recovery, confidence: Array, log_odds: Array, completeness: float, factor: float
) -> tuple[float, float]:
    """95 % interval of the precision, from three sources of error.

    The log-odds may be off by chance, since recovered triples are few; by log ``factor``, since q is uncertain;
    and the mean by as much as refits differ from each other.
    """
    below, above = _uncertainty(recovery, log_odds.min(initial=0.0))
    slack = log(factor)
    low = _mean(estimated_probability(log_odds + (below - slack), completeness))
    high = _mean(estimated_probability(log_odds + (above + slack), completeness))
    spread = _spread(recovery, confidence, completeness)
    return max(low - spread, 0.0), min(high + spread, 1.0)


def _uncertainty(recovery: Recovery, log_odds: float) -> tuple[float, float]:
    """Ends of a 95 % interval of the log-odds of being recovered, relative to its middle.

    For all triples of at least these log-odds together, so by chance alone.
    """
    rows = recovery.take(fit_steps(recovery)(recovery.confidence) >= log_odds - ROUNDING)
    n_recovered = rows.n_recovered
    n_listed = rows.n_listed
    low, high = jeffreys_interval(n_recovered, n_listed)
    middle = logit((n_recovered + 0.5) / (n_listed + 1))
    return float(logit(low) - middle), float(logit(high) - middle)


def _spread(recovery: Recovery, confidence: Array, completeness: float) -> float:
    """Half the width of a 95 % interval of the precision, by a jackknife over refits; 0 without refits.

    The estimate is made again without each of the k refits: its variance is (k − 1)/k · Σ (estimate − mean)².
    """
    folds = np.unique(recovery.fold)
    if recovery.fraction == 1 or len(folds) < 2 or not len(confidence):
        return 0.0
    precisions = []
    for i in folds.tolist():
        steps = fit_steps(recovery.take(recovery.fold != i))
        precisions.append(estimated_probability(steps(confidence), completeness).mean())
    variance = (len(folds) - 1) * np.var(precisions)
    return float(student.ppf(0.975, len(folds) - 1) * np.sqrt(variance))


def _per_relation(full: Listed, probability: Array) -> dict[str, float]:
    """Mean estimated probability of the first triples, by relation."""
    relation = full.triples[: len(probability), 1]
    order = np.argsort(relation, kind="stable")
    relations, begins = np.unique(relation[order], return_index=True)
    ends = np.append(begins, len(order))[1:]
    names = full.graph.vocabulary.relations
    return {
        names[r]: float(probability[order[begin:end]].mean())
        for r, begin, end in zip(relations.tolist(), begins.tolist(), ends.tolist(), strict=True)
    }


def _bands(confidence: Array, probability: Array, recovery: Recovery) -> Iterator[Band]:
    """Split triples by confidence into bands of about equal size, the highest confidence first."""
    edges = _band_edges(confidence)
    steps = fit_steps(recovery)
    rated = steps(recovery.confidence)
    for low, high in reversed(list(itertools.pairwise(edges))):
        rows = _within(confidence, low, high, closed=high == edges[-1])
        if not rows.any():
            continue
        lowest, highest = steps(np.array([low, high]))
        listed = recovery.take((rated >= lowest - ROUNDING) & (rated <= highest + ROUNDING))
        yield Band(
            low=low,
            high=high,
            n=int(rows.sum()),
            listed=listed.n_listed,
            recovered=listed.n_recovered,
            precision=float(probability[rows].mean()),
        )


def _band_edges(confidence: Array) -> list[float]:
    """Different quantiles of the confidences, ascending; the same twice if there is only one."""
    if not len(confidence):
        return []
    quantiles = np.unique(np.quantile(confidence, np.linspace(0, 1, N_BANDS + 1))).tolist()
    edges: list[float] = quantiles * 2 if len(quantiles) == 1 else quantiles
    return edges


def _within(values: Array, low: float, high: float, *, closed: bool) -> Bools:
    """Which values are from low to high; high itself only if ``closed``."""
    below = values <= high if closed else values < high
    return np.asarray((values >= low) & below)
