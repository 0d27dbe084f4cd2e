"""The paper's law with other pairs: entities that a path of two steps joins, in clusters that train joins.

p(h, r, t) = p(c, d) · p(h, t | c, d) · p(r | h, t), where c and d are the clusters of head and tail. The paper has
c = d, all alike, and any two entities of a cluster; here p(c, d) is the share of train between the two clusters,
and the pair is any two of their entities that have a neighbour in common.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from nnmfaug.augmenters.constraints import Constraints
from nnmfaug.augmenters.listed import Listed
from nnmfaug.augmenters.nnmf.clusterers import Agglomerative
from nnmfaug.augmenters.nnmf.nmf import NMF
from nnmfaug.augmenters.nnmf.nnmfaug import Embedder, default_clusters
from nnmfaug.augmenters.nnmf.partition import Clusterer, cluster
from nnmfaug.augmenters.rules.steps import Steps, ends, without_diagonal
from nnmfaug.core.arrays import Array, Ids
from nnmfaug.graph.counts import Counts
from nnmfaug.graph.knowledge_graph import KnowledgeGraph


@dataclass(frozen=True)
class Nearby:
    """NNMFAug over pairs with a common neighbour; each of its changes to the paper's law can be left out.

    Parameters
    ----------
    embed, cluster
        As in NNMFAug; None for Ward with as many clusters as it would have.
    cluster_pairs
        Whether head and tail may be of two clusters, by how often train joins them; else of one, all alike.
    constraints
        What relations never do, learnt from train for "learn"; None for no such thing.
    max_degree
        A neighbour with more triples joins nobody: hubs say little, and join too many.
    max_candidates
        The most probable triples that are kept.

    Examples
    --------
    >>> import nnmfaug as na
    >>> train = na.read_splits("nations").train
    >>> dist = na.Nearby(cluster=na.Agglomerative(3), max_degree=1000).fit(train)
    >>> len(dist.sample(20, seed=0)), bool(train.contains(dist.triples).any())
    (20, False)
    """

    embed: Embedder = field(default_factory=NMF)
    cluster: Clusterer | None = None
    cluster_pairs: bool = True
    constraints: Constraints | str | None = "learn"
    max_degree: int = 200
    max_candidates: int = 2_000_000

    def __post_init__(self) -> None:
        if not (
            self.constraints is None or self.constraints == "learn" or isinstance(self.constraints, Constraints)
        ):
            msg = f"constraints={self.constraints!r}: must be Constraints, 'learn' or None"
            raise ValueError(msg)
        for name in ("max_degree", "max_candidates"):
            if getattr(self, name) < 1:
                msg = f"{name}={getattr(self, name)}: must be at least 1"
                raise ValueError(msg)

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> Listed:
        """Fit to a graph, which should be the train split alone."""
        counts = Counts.of(graph)
        clusterer = self.cluster or Agglomerative(default_clusters(graph))
        labels = cluster(clusterer, self.embed.fit(counts, seed=seed).features, counts.seen, seed=seed).labels
        h, t = _near(graph, self.max_degree)
        h, t, weight = _weigh(h, t, labels.astype(np.int64), graph, pairs=self.cluster_pairs)
        triples, probability = _relate(h, t, weight, counts)
        kept = ~graph.contains(triples)
        rules = Constraints.learn(graph) if self.constraints == "learn" else self.constraints
        if isinstance(rules, Constraints):
            kept &= rules.allow(graph, triples.astype(np.int32))
        triples, probability = triples[kept], probability[kept]
        order = np.lexsort((graph.vocabulary.keys(triples), -probability))[: self.max_candidates]
        most = probability.max(initial=0.0)
        return Listed(
            graph, triples[order].astype(np.int32), probability[order] / most if len(order) else probability
        )


def _near(graph: KnowledgeGraph, max_degree: int) -> tuple[Ids, Ids]:
    """Pairs of different entities with a common neighbour that is no hub."""
    start, _, stop = Steps(graph).edges
    degree = np.bincount(start, minlength=graph.n_entities)
    use = degree[stop] <= max_degree
    ones = np.ones(int(use.sum()), dtype=np.bool_)
    to = csr_array((ones, (start[use], stop[use])), shape=(graph.n_entities, graph.n_entities))
    h, t = ends(without_diagonal(csr_array(to @ to.T)))
    return h.astype(np.int64), t.astype(np.int64)


def _weigh(h: Ids, t: Ids, labels: Ids, graph: KnowledgeGraph, *, pairs: bool) -> tuple[Ids, Ids, Array]:
    """p(c, d) · p(h, t | c, d) of each pair that is possible."""
    n, (known_h, _, known_t) = int(labels.max(initial=-1)) + 1, graph.triples.T
    cells = labels[h] * n + labels[t]
    inside = (labels[h] >= 0) & (labels[t] >= 0) & (pairs | (labels[h] == labels[t]))
    h, t, cells = h[inside], t[inside], cells[inside]
    if pairs:
        seen = (labels[known_h] >= 0) & (labels[known_t] >= 0) & (known_h != known_t)
        mass = np.bincount((labels[known_h] * n + labels[known_t])[seen], minlength=n * n).astype(np.float64)
    else:
        mass = np.eye(n).ravel()
    weight = mass[cells] / np.maximum(np.bincount(cells, minlength=n * n), 1)[cells]
    possible = weight > 0
    return h[possible], t[possible], weight[possible]


def _relate(h: Ids, t: Ids, weight: Array, counts: Counts) -> tuple[Ids, Array]:
    """p(r | h, t) ∝ A[h, r] · B[t, r], times the weight of the pair."""
    triples, probabilities = [np.zeros((0, 3), dtype=np.int64)], [np.zeros(0)]
    for begin in range(0, len(h), 1 << 16):
        part = slice(begin, begin + (1 << 16))
        products = csr_array(counts.heads[h[part]].multiply(counts.tails[t[part]]))
        total = np.asarray(products.sum(axis=1)).ravel()
        rows, relations = products.nonzero()
        share = np.asarray(products[rows, relations]).ravel() / total[rows]
        triples.append(np.stack([h[part][rows], relations, t[part][rows]], axis=1))
        probabilities.append(weight[part][rows] * share)
    return np.concatenate(triples), np.concatenate(probabilities)
