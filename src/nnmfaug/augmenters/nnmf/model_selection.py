"""Choose the numbers of clusters and components by the likelihood of train triples that are held out.

The paper sets both by hand. The distribution gives every triple a probability, so settings can be compared: hold
out a fraction of train, fit to the rest, and score a setting by the mean over the held-out triples of

    log((1 − ε)·p(h, r, t) + ε / (|E|·(|E| − 1)·|R|)),

where the fitted ε is the fraction of triples that no cluster explains. If hardly any held-out triple has p > 0,
or no setting is clearly better, the numbers are not identifiable on the graph, and the defaults are used.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from nnmfaug.augmenters.nnmf.clusterers import TooManyClustersError
from nnmfaug.augmenters.nnmf.distribution import TripleDistribution
from nnmfaug.core.arrays import Array, IntArray
from nnmfaug.core.checks import check_fraction
from nnmfaug.core.elementary import exp, log
from nnmfaug.core.progress import report
from nnmfaug.core.seeding import Stream, generator
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

Fit = Callable[[int, int, KnowledgeGraph], TripleDistribution]
"""Fits a method to a graph, with a number of clusters and a number of components."""

CLUSTERS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
COMPONENTS = (2, 4, 8, 16)
MIN_REACHABLE = 0.01
"""Fraction of held-out triples to which some candidate must give a probability above zero."""
UNKNOWN = "not identifiable on this graph"


@dataclass(frozen=True)
class Candidate:
    """One setting and its score.

    Parameters
    ----------
    n_clusters, n_components
        The setting.
    score
        Mean log-likelihood of the held-out triples.
    epsilon
        The fitted ε.
    reachable
        Fraction of the held-out triples with p > 0.
    """

    n_clusters: int
    n_components: int
    score: float
    epsilon: float
    reachable: float


@dataclass(frozen=True)
class Selection:
    """The result of a comparison of settings.

    Parameters
    ----------
    candidates
        All settings that were compared, the current one first.
    identifiable
        Whether the best setting is clearly better than the current one.
    reason
        A sentence that explains ``identifiable``.
    """

    candidates: tuple[Candidate, ...]
    identifiable: bool
    reason: str


def choose(
    fit: Fit,
    graph: KnowledgeGraph,
    current: tuple[int, int],
    *,
    clusters: Sequence[int] | None,
    components: Sequence[int] | None,
    fraction: float,
    seed: int,
) -> tuple[tuple[int, int] | None, Selection]:
    """Choose the numbers of clusters and components.

    Parameters
    ----------
    fit
        The method.
    graph
        The train graph.
    current
        The numbers of clusters and components that the method has.
    clusters, components
        The numbers to compare; None keeps the current one.
    fraction
        Fraction of the triples that is held out.
    seed
        Seed of the held-out triples.

    Returns
    -------
    numbers, selection
        The best numbers, or None if they are not identifiable.
    """
    check_fraction("fraction", fraction)
    hidden, rest = _hold_out(graph, fraction, seed)
    settings = _settings(rest, current, clusters, components)
    if not settings:
        return None, Selection((), False, f"{UNKNOWN}: it has too few triples to hide any")
    scored: list[tuple[Candidate, Array]] = []
    for done, (n, p) in enumerate(settings):
        report("comparing numbers of clusters", done, len(settings))
        try:
            scored.append(_score(fit, n, p, rest, hidden))
        except TooManyClustersError:  # distinct rows of counts can have equal rows of factors
            if not scored:
                raise
    candidates = tuple(candidate for candidate, _ in scored)
    _, current_logs = scored[0]
    best, best_logs = max(scored, key=lambda pair: pair[0].score)
    identifiable, reason = _judge(candidates, best, best_logs - current_logs)
    numbers = (best.n_clusters, best.n_components) if identifiable else None
    return numbers, Selection(candidates, identifiable, reason)


def _hold_out(graph: KnowledgeGraph, fraction: float, seed: int) -> tuple[IntArray, KnowledgeGraph]:
    """Return random triples that are held out, at least one, and the graph of the others."""
    order = generator(seed, Stream.MODEL_SELECTION).permutation(len(graph))
    n_hidden = max(int(fraction * len(graph)), 1)
    hidden = graph.triples[order[:n_hidden]]
    rest = graph.triples[np.sort(order[n_hidden:])]
    return hidden, KnowledgeGraph(graph.vocabulary, rest)


def _settings(
    rest: KnowledgeGraph,
    current: tuple[int, int],
    clusters: Sequence[int] | None,
    components: Sequence[int] | None,
) -> list[tuple[int, int]]:
    """The settings that can be fitted to the rest, the current one first; none if no triple remains."""
    max_clusters = rest.counts.n_distinct_rows()
    if not max_clusters:
        return []
    rank = len(np.unique(rest.triples[:, 1]))
    n_current = min(current[0], max_clusters)
    p_current = current[1]
    all_n = [n_current] if clusters is None else [n for n in clusters if n <= max_clusters]
    all_p = [p_current] if components is None else [p for p in components if p < rank]
    others = [(n, p) for p in all_p for n in all_n if (n, p) != (n_current, p_current)]
    return [(n_current, p_current), *others]


def _score(fit: Fit, n: int, p: int, rest: KnowledgeGraph, hidden: IntArray) -> tuple[Candidate, Array]:
    """Fit one setting; return it with its score, and the log-likelihood of each held-out triple."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about convergence and rank; the chosen fit repeats them
        dist = fit(n, p, rest)
    probabilities = exp(dist.log_prob(hidden)) if dist.support_size else np.zeros(len(hidden))
    n_seen = int(rest.counts.seen.sum())
    uniform = 1.0 / (max(n_seen * (n_seen - 1), 1) * rest.n_relations)
    epsilon = fit_epsilon(probabilities, uniform)
    logs = log((1 - epsilon) * probabilities + epsilon * uniform)
    reachable = float((probabilities > 0).mean())
    return Candidate(n, p, float(logs.mean()), epsilon, reachable), logs


def fit_epsilon(probabilities: Array, uniform: float, n_iter: int = 200) -> float:
    """Return the ε in (0, 1] that maximises the mean of log((1 − ε)·p + ε·uniform), by EM.

    One iteration is ε ← mean of ε·uniform / ((1 − ε)·p + ε·uniform).

    Examples
    --------
    >>> fit_epsilon(np.array([0.0, 0.0, 0.5, 0.5]), uniform=1e-9)
    0.5...
    """
    epsilon = 0.5
    for _ in range(n_iter):
        background = epsilon * uniform
        epsilon = float(np.mean(background / ((1 - epsilon) * probabilities + background)))
    return epsilon


def _judge(candidates: Sequence[Candidate], best: Candidate, gain: Array) -> tuple[bool, str]:
    """Whether the best setting is identifiable, and why; ``gain`` is its log-likelihood less the current one's."""
    reachable = max(candidate.reachable for candidate in candidates)
    if reachable < MIN_REACHABLE:
        return False, f"{UNKNOWN}: at most {reachable:.1%} of hidden triples can be generated"
    three_standard_errors = 3 * float(gain.std()) / np.sqrt(len(gain))
    if gain.mean() <= three_standard_errors:
        return False, f"{UNKNOWN}: no setting is clearly more likely than the one it would replace"
    return True, f"most likely number of clusters: {best.n_clusters}, of components: {best.n_components}"
