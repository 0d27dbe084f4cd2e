"""How many clusters and components: judged by the likelihood of train triples that were held out.

The paper sets both by hand. The law gives every triple a probability, so they can be compared: hide a share of
train, fit on the rest, and score what was hidden by log((1 − ε)·p + ε / (|E|(|E| − 1)|R|)), where ε, fitted, is
the share that no cluster can explain. If hardly any hidden triple can be reached, or no candidate is clearly
better, the graph cannot tell, and the defaults stand.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nnmfaug.augmenters.nnmf.clusterers import TooManyClustersError
from nnmfaug.augmenters.nnmf.distribution import TripleDistribution
from nnmfaug.core.arrays import Array
from nnmfaug.core.progress import report
from nnmfaug.core.seeding import Stream, generator
from nnmfaug.graph.counts import Counts
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

Fit = Callable[[int, int, KnowledgeGraph], TripleDistribution]
"""Fits a method with a number of clusters and one of components to a graph."""

CLUSTERS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
COMPONENTS = (2, 4, 8, 16)
MIN_REACHABLE = 0.01
"""Share of hidden triples that some candidate must give a probability above zero."""
UNKNOWN = "not identifiable on this graph"


@dataclass(frozen=True)
class Candidate:
    """One setting: mean log-likelihood of the hidden triples, the fitted ε, and the share with p > 0."""

    n_clusters: int
    n_components: int
    score: float
    epsilon: float
    reachable: float


@dataclass(frozen=True)
class Selection:
    """All candidates, whether the graph can tell them apart, and in words why."""

    candidates: tuple[Candidate, ...]
    identifiable: bool
    reason: str


def choose(
    fit: Fit,
    graph: KnowledgeGraph,
    own: tuple[int, int],
    *,
    clusters: Sequence[int] | None,
    components: Sequence[int] | None,
    share: float,
    seed: int,
) -> tuple[tuple[int, int] | None, Selection]:
    """Choose the numbers of clusters and components; None keeps the own one, and so does a graph that cannot tell.

    Returns
    -------
    numbers, selection
        The best numbers, or None if the graph cannot tell.
    """
    if not 0 < share < 1:
        msg = f"share={share}: must be between 0 and 1"
        raise ValueError(msg)
    order = generator(seed, Stream.MODEL_SELECTION).permutation(len(graph))
    n_hidden = max(int(share * len(graph)), 1)
    hidden = graph.triples[order[:n_hidden]]
    rest = KnowledgeGraph(graph.vocabulary, graph.triples[np.sort(order[n_hidden:])])
    pairs = _pairs(rest, own, clusters, components)
    if not pairs:
        return None, Selection((), False, f"{UNKNOWN}: it has too few triples to hide any")
    found: list[tuple[Candidate, Array]] = []
    for done, (n, p) in enumerate(pairs):
        report("comparing numbers of clusters", done, len(pairs))
        try:
            found.append(_score(fit, n, p, rest, hidden))
        except TooManyClustersError:  # rows of counts may differ where factors do not
            if not found:
                raise
    best, best_logs = max(found, key=lambda pair: pair[0].score)
    identifiable, reason = _judge([candidate for candidate, _ in found], best, best_logs - found[0][1])
    selection = Selection(tuple(candidate for candidate, _ in found), identifiable, reason)
    return (best.n_clusters, best.n_components) if identifiable else None, selection


def _pairs(
    rest: KnowledgeGraph, own: tuple[int, int], clusters: Sequence[int] | None, components: Sequence[int] | None
) -> list[tuple[int, int]]:
    """The numbers that can be fitted to what is not hidden, the own first; none if nothing is left."""
    most, rank = Counts.of(rest).n_distinct_rows(), len(np.unique(rest.triples[:, 1]))
    if not most:
        return []
    own = (min(own[0], most), own[1])
    numbers = (own[0],) if clusters is None else [n for n in clusters if n <= most]
    columns = (own[1],) if components is None else [p for p in components if p < rank]
    return [own, *((n, p) for p in columns for n in numbers if (n, p) != own)]


def _score(fit: Fit, n: int, p: int, rest: KnowledgeGraph, hidden: NDArray[np.int32]) -> tuple[Candidate, Array]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about convergence and rank; the chosen fit repeats them
        dist = fit(n, p, rest)
    probabilities = np.exp(dist.log_prob(hidden)) if dist.support_size else np.zeros(len(hidden))
    n_seen = int(dist.law.counts.seen.sum())
    uniform = 1.0 / (max(n_seen * (n_seen - 1), 1) * rest.n_relations)
    epsilon = fit_epsilon(probabilities, uniform)
    logs = np.log((1 - epsilon) * probabilities + epsilon * uniform)
    return Candidate(n, p, float(logs.mean()), epsilon, float((probabilities > 0).mean())), logs


def fit_epsilon(probabilities: Array, uniform: float, n_iter: int = 200) -> float:
    """Return the ε in (0, 1] that makes log((1 − ε)·p + ε·uniform) largest on average, by EM.

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
    """Whether the graph can tell, and why; ``gain`` is that of the best over the first, as it was given."""
    reachable = max(candidate.reachable for candidate in candidates)
    if reachable < MIN_REACHABLE:
        return False, f"{UNKNOWN}: at most {reachable:.1%} of hidden triples can be generated"
    if gain.mean() <= 3 * float(gain.std()) / np.sqrt(len(gain)):
        return False, f"{UNKNOWN}: no setting is clearly more likely than the one it would replace"
    return True, f"most likely number of clusters: {best.n_clusters}, of components: {best.n_components}"
