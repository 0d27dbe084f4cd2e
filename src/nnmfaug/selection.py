"""How many clusters and components: judged by the likelihood of train triples that were held out.

The paper sets both by hand. The law gives every triple a probability, so they can be compared: hide a share of
train, fit on the rest, and score what was hidden by log((1 − ε)·p + ε / (|E|(|E| − 1)|R|)), where ε, fitted, is
the share that no cluster can explain. If hardly any hidden triple can be reached, or no candidate is clearly
better, the graph cannot tell, and the defaults stand.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nnmfaug.clustering import Agglomerative, KMeans
from nnmfaug.counts import Counts
from nnmfaug.embedding import NMF
from nnmfaug.graph import KnowledgeGraph
from nnmfaug.progress import report
from nnmfaug.recipe import NNMFAug
from nnmfaug.seeding import generator

Array = NDArray[np.float64]

CLUSTERS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
COMPONENTS = (2, 4, 8, 16)
MIN_REACHABLE = 0.01
"""Share of hidden triples that some candidate must give a probability above zero."""
_STREAM = 0x5E1


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


def select(
    method: NNMFAug,
    graph: KnowledgeGraph,
    *,
    clusters: Sequence[int] | None = CLUSTERS,
    components: Sequence[int] | None = COMPONENTS,
    share: float = 0.1,
    seed: int = 0,
) -> tuple[NNMFAug, Selection]:
    """Choose the number of clusters, of components, or both (None keeps the method's own).

    Returns
    -------
    method, selection
        The method with the best numbers, or as it was given if the graph cannot tell.
    """
    given = _strategies(method)
    if not 0 < share < 1:
        msg = f"share={share}: must be between 0 and 1"
        raise ValueError(msg)
    order = generator(seed, _STREAM).permutation(len(graph))
    n_hidden = max(int(share * len(graph)), 1)
    hidden = graph.triples[order[:n_hidden]]
    rest = KnowledgeGraph(graph.vocabulary, graph.triples[np.sort(order[n_hidden:])])
    pairs = [
        (n, p) for p in _sizes(components, given[1].n_components) for n in _sizes(clusters, given[0].n_clusters)
    ]
    counts = Counts.of(rest)
    most, rank = counts.n_distinct_rows(), len(np.unique(rest.triples[:, 1]))
    pairs = [(n, p) for n, p in pairs if n <= most and (p < rank or components is None)]
    own = (given[0].n_clusters, given[1].n_components)
    if own[0] > most:
        msg = f"n_clusters={own[0]}: without the hidden triples there are only {most} distinct rows"
        raise ValueError(msg)
    pairs = [own, *(pair for pair in pairs if pair != own)]
    found: list[tuple[Candidate, Array]] = []
    for done, (n, p) in enumerate(pairs):
        report("comparing numbers of clusters", done, len(pairs))
        found.append(_score(_with(method, n, p), n, p, rest, hidden, seed))
    candidates = tuple(candidate for candidate, _ in found)
    best = max(range(len(found)), key=lambda i: candidates[i].score)
    identifiable, reason = _judge(found, best)
    if not identifiable:
        return method, Selection(candidates, identifiable, reason)
    chosen = _with(method, candidates[best].n_clusters, candidates[best].n_components)
    return chosen, Selection(candidates, identifiable, reason)


def _score(
    method: NNMFAug, n: int, p: int, rest: KnowledgeGraph, hidden: NDArray[np.int32], seed: int
) -> tuple[Candidate, Array]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about convergence and rank; the chosen fit repeats them
        dist = method.fit(rest, seed=seed)
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


def _judge(found: list[tuple[Candidate, Array]], best: int) -> tuple[bool, str]:
    reachable = max(candidate.reachable for candidate, _ in found)
    if reachable < MIN_REACHABLE:
        return False, f"not identifiable on this graph: at most {reachable:.1%} of hidden triples can be generated"
    gain = found[best][1] - found[0][1]  # the first is the method as it was given
    error = float(gain.std()) / np.sqrt(len(gain))
    if gain.mean() <= 3 * error:
        return False, "not identifiable on this graph: no setting is clearly more likely than the one given"
    winner = found[best][0]
    return True, f"most likely number of clusters: {winner.n_clusters}, of components: {winner.n_components}"


def _strategies(method: NNMFAug) -> tuple[Agglomerative | KMeans, NMF]:
    if not isinstance(method.cluster, Agglomerative | KMeans) or not isinstance(method.embed, NMF):
        msg = "only NMF with Agglomerative or KMeans has numbers to choose"
        raise ValueError(msg)
    return method.cluster, method.embed


def _with(method: NNMFAug, n: int, p: int) -> NNMFAug:
    cluster, embed = _strategies(method)
    return replace(method, cluster=replace(cluster, n_clusters=n), embed=replace(embed, n_components=p))


def _sizes(asked: Sequence[int] | None, own: int) -> Sequence[int]:
    return (own,) if asked is None else asked
