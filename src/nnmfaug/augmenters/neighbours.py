"""The paper's distribution over other pairs: entities with a common neighbour, in clusters that train connects.

    p(h, r, t) = p(c, d)·p(h, t | c, d)·p(r | h, t),    p(r | h, t) ∝ A[h, r]·B[t, r],

where c and d are the clusters of head and tail. In the paper c = d, all clusters are equally likely, and so are
all pairs of entities of a cluster. Here p(c, d) is the fraction of train between the two clusters, and p(h, t |
c, d) is uniform over the pairs that have a common neighbour.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from nnmfaug.augmenters.constraints import Constraints
from nnmfaug.augmenters.listed import Listed
from nnmfaug.augmenters.nnmf.clusterers import Agglomerative
from nnmfaug.augmenters.nnmf.nmf import NMF
from nnmfaug.augmenters.nnmf.nnmfaug import default_clusters
from nnmfaug.augmenters.nnmf.partition import Clusterer, Embedder, cluster_entities
from nnmfaug.augmenters.rules.steps import Steps, ends, without_diagonal
from nnmfaug.core.arrays import Array, Bools, Ids
from nnmfaug.core.checks import check_argument, check_at_least, require
from nnmfaug.graph.counts import Counts
from nnmfaug.graph.knowledge_graph import KnowledgeGraph, check_graph

MAX_PATHS = 10**8
"""Paths over a common neighbour up to which their ends are listed."""
BYTES_PER_PATH = 40
"""Memory of a pair of ends."""
BLOCK_PAIRS = 1 << 16
"""Pairs whose relations are computed at a time."""


@dataclass(frozen=True)
class Nearby:
    """NNMFAug over pairs with a common neighbour. Each change to the paper's distribution can be disabled.

    Parameters
    ----------
    embed
        Features of entities, as in NNMFAug.
    cluster
        Clusters of entities, as in NNMFAug. Default: Ward, one cluster per 20 distinct count rows, at most 50.
    cluster_pairs
        Whether head and tail may be of different clusters, with p(c, d) from train. If not, c = d, all equally
        likely.
    constraints
        Constraints that the triples must meet; "learn" learns them from train. None disables constraints.
    max_degree
        Maximum number of triples of a common neighbour. Hubs connect too many pairs, which have little in common.
    max_candidates
        Maximum number of triples; the most probable are kept.

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
        good = self.constraints in (None, "learn") or isinstance(self.constraints, Constraints)
        check_argument("constraints", self.constraints, good, "Constraints, 'learn' or None")
        check_at_least("max_degree", self.max_degree, 1)
        check_at_least("max_candidates", self.max_candidates, 1)

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> Listed:
        """Fit to a graph, which should be the train split alone."""
        check_graph(graph)
        h, t = _near(graph, self.max_degree)
        clusterer = self.cluster or Agglomerative(default_clusters(graph))
        _, partition = cluster_entities(graph, self.embed, clusterer, seed=seed)
        h, t, weight = _weigh(h, t, partition.labels.astype(np.int64), graph, pairs=self.cluster_pairs)
        triples, weight = _relate(h, t, weight, graph.counts)
        allowed = self._allowed(graph, triples)
        return _listed(graph, triples[allowed], weight[allowed], self.max_candidates)

    def _allowed(self, graph: KnowledgeGraph, triples: Ids) -> Bools:
        """Whether each triple is new and meets the constraints."""
        allowed = ~graph.contains(triples)
        constraints = Constraints.learn(graph) if self.constraints == "learn" else self.constraints
        if isinstance(constraints, Constraints):
            allowed &= constraints.allow(graph, triples.astype(np.int32))
        return allowed


def _listed(graph: KnowledgeGraph, triples: Ids, weight: Array, max_candidates: int) -> Listed:
    """The most probable triples, with weight / max(weight) as their confidence."""
    order = np.lexsort((graph.vocabulary.keys(triples), -weight))[:max_candidates]
    confidence = weight[order] / weight.max(initial=0.0) if len(order) else weight
    return Listed(graph, triples[order].astype(np.int32), confidence)


def _near(graph: KnowledgeGraph, max_degree: int) -> tuple[Ids, Ids]:
    """Ordered pairs of different entities with a common neighbour of at most ``max_degree`` triples."""
    start, _, stop = Steps(graph).edges
    degree = np.bincount(start, minlength=graph.n_entities)
    n_paths = int(np.sum(degree[degree <= max_degree] ** 2))
    require(
        n_paths <= MAX_PATHS,
        f"max_degree={max_degree}: up to {n_paths:,} pairs have a common neighbour, about "
        f"{n_paths * BYTES_PER_PATH / 1e9:.0f} GB; choose a lower max_degree, which leaves out more hubs",
    )
    is_used = degree[stop] <= max_degree
    ones = np.ones(int(is_used.sum()), dtype=np.bool_)
    adjacency = csr_array((ones, (start[is_used], stop[is_used])), shape=(graph.n_entities, graph.n_entities))
    h, t = ends(without_diagonal(csr_array(adjacency @ adjacency.T)))
    return h.astype(np.int64), t.astype(np.int64)


def _weigh(h: Ids, t: Ids, labels: Ids, graph: KnowledgeGraph, *, pairs: bool) -> tuple[Ids, Ids, Array]:
    """Return the pairs with p(c, d)·p(h, t | c, d) > 0, and this weight, up to a common factor."""
    n_clusters = int(labels.max(initial=-1)) + 1
    is_clustered = (labels[h] >= 0) & (labels[t] >= 0) & (pairs | (labels[h] == labels[t]))
    h = h[is_clustered]
    t = t[is_clustered]
    cells = labels[h] * n_clusters + labels[t]  # one for each (c, d)
    n_pairs = np.bincount(cells, minlength=n_clusters**2)
    mass = _train_mass(labels, graph, n_clusters) if pairs else np.eye(n_clusters).ravel()
    weight = mass[cells] / np.maximum(n_pairs, 1)[cells]
    is_possible = weight > 0
    return h[is_possible], t[is_possible], weight[is_possible]


def _train_mass(labels: Ids, graph: KnowledgeGraph, n_clusters: int) -> Array:
    """Number of train triples from cluster c to d, without loops, shape (n_clusters²,)."""
    h, _, t = graph.triples.T
    is_counted = (labels[h] >= 0) & (labels[t] >= 0) & (h != t)
    cells = labels[h] * n_clusters + labels[t]
    return np.bincount(cells[is_counted], minlength=n_clusters**2).astype(np.float64)


def _relate(h: Ids, t: Ids, weight: Array, counts: Counts) -> tuple[Ids, Array]:
    """Return the triples with p(r | h, t) > 0, and p(r | h, t) times the weight of the pair."""
    triples = [np.zeros((0, 3), dtype=np.int64)]
    weights = [np.zeros(0)]
    for begin in range(0, len(h), BLOCK_PAIRS):
        block = slice(begin, begin + BLOCK_PAIRS)
        products = csr_array(counts.heads[h[block]].multiply(counts.tails[t[block]]))
        totals = np.asarray(products.sum(axis=1)).ravel()
        rows, relations = products.nonzero()
        probabilities = np.asarray(products[rows, relations]).ravel() / totals[rows]
        triples.append(np.stack([h[block][rows], relations, t[block][rows]], axis=1))
        weights.append(weight[block][rows] * probabilities)
    return np.concatenate(triples), np.concatenate(weights)
