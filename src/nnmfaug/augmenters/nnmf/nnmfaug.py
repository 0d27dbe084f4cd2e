"""NNMFAug, the paper's augmenter: counts, factors, clusters, a distribution over triples (Algorithm 1)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nnmfaug.augmenters.nnmf.clusterers import Agglomerative, Cost, KMeans, cost
from nnmfaug.augmenters.nnmf.distribution import TripleDistribution
from nnmfaug.augmenters.nnmf.law import ClusterLaw
from nnmfaug.augmenters.nnmf.model_selection import CLUSTERS, COMPONENTS, Selection, choose
from nnmfaug.augmenters.nnmf.nmf import DEFAULT_COMPONENTS, NMF
from nnmfaug.augmenters.nnmf.partition import Clusterer, Embedder, cluster_entities
from nnmfaug.augmenters.nnmf.weights import (
    ClusterWeights,
    CountProduct,
    PairWeights,
    UniformClusters,
    UniformPairs,
)
from nnmfaug.core.checks import require
from nnmfaug.graph.knowledge_graph import KnowledgeGraph, check_graph


@dataclass(frozen=True)
class NNMFAug:
    """The paper's method, p(h, r, t) = p(cluster)·p(h, t | cluster)·p(r | h, t) (Eq. 2).

    Every choice that the paper leaves open is a field. The defaults are the paper's. A number of clusters or
    components that is "auto" is chosen for the graph, see :func:`~nnmfaug.select`.

    Parameters
    ----------
    embed
        Features of entities: :class:`~nnmfaug.NMF` or :class:`~nnmfaug.Spectral`.
    cluster
        Clusters of entities: :class:`~nnmfaug.Agglomerative`, KMeans, or any object with ``fit_predict``.
    clusters, pairs, relations
        p(cluster), p(h, t | cluster) and p(r | h, t), see :mod:`nnmfaug.augmenters.nnmf.weights`.

    Examples
    --------
    >>> import nnmfaug as na
    >>> train = na.read_splits("nations").train
    >>> dist = na.NNMFAug(cluster=na.Agglomerative(n_clusters=3)).fit(train, seed=0)
    >>> extra = dist.sample(100, seed=1)
    >>> len(extra), bool(train.contains(extra.triples).any())
    (100, False)
    """

    embed: Embedder = field(default_factory=NMF)
    cluster: Clusterer = field(default_factory=Agglomerative)
    clusters: ClusterWeights = field(default_factory=UniformClusters)
    pairs: PairWeights = field(default_factory=UniformPairs)
    relations: CountProduct = field(default_factory=CountProduct)

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> TripleDistribution:
        """Fit to a graph, which should be the train split alone. Entities without a triple in it are left out.

        If a number is "auto" and cannot be identified on the graph, the default is used and a ``UserWarning``
        gives the reason.
        """
        method, selection = self.resolve(graph, seed=seed)
        if selection is not None and not selection.identifiable:
            warnings.warn(selection.reason, UserWarning, stacklevel=2)
        return _fit(method, graph, seed)

    def resolve(self, graph: KnowledgeGraph, *, seed: int = 0) -> tuple[NNMFAug, Selection | None]:
        """Return the method with each "auto" replaced by a number, and how the numbers were chosen.

        The latter is None if no number is "auto".
        """
        clusters = CLUSTERS if getattr(self.cluster, "n_clusters", None) == "auto" else None
        components = COMPONENTS if getattr(self.embed, "n_components", None) == "auto" else None
        if clusters is None and components is None:
            return self, None
        return select(self, graph, clusters=clusters, components=components, seed=seed)

    def cost(self, graph: KnowledgeGraph) -> Cost | None:
        """Return the expected cost of clustering, before the fit; None if it cannot be predicted."""
        check_graph(graph)
        if not isinstance(self.embed, NMF):
            return None
        n_components = self.embed.n_components
        p = max(COMPONENTS) if n_components == "auto" else n_components
        return cost(self.cluster, graph.counts.n_distinct_rows(), 2 * p)


def _fit(method: NNMFAug, graph: KnowledgeGraph, seed: int) -> TripleDistribution:
    check_graph(graph)
    counts = graph.counts
    require(bool(counts.seen.any()), "the graph has no triple between two different entities")
    embedding, partition = cluster_entities(graph, method.embed, method.cluster, seed=seed)
    require(
        partition.n_clusters > 0,
        "the clusterer left every entity out: choose settings that give larger clusters (DBSCAN: a larger eps)",
    )
    heads, tails = method.pairs(counts)
    law = ClusterLaw(
        counts=counts,
        labels=partition.labels.astype(np.int64),
        cluster_weights=method.clusters(partition.sizes),
        head_weights=heads,
        tail_weights=tails,
        relation_law=method.relations,
        heads_allowed=np.ones(counts.n_entities, dtype=np.bool_),
        tails_allowed=np.ones(counts.n_entities, dtype=np.bool_),
        relations_allowed=np.ones(counts.n_relations, dtype=np.bool_),
    )
    return TripleDistribution(graph, law, partition, embedding)


def select(
    method: NNMFAug,
    graph: KnowledgeGraph,
    *,
    clusters: Sequence[int] | None = CLUSTERS,
    components: Sequence[int] | None = COMPONENTS,
    fraction: float = 0.1,
    seed: int = 0,
) -> tuple[NNMFAug, Selection]:
    """Choose the number of clusters, of components, or both, by the likelihood of triples that are held out.

    Parameters
    ----------
    method
        NMF with Agglomerative or KMeans.
    graph
        The train graph.
    clusters, components
        The numbers to compare; None keeps the method's number.
    fraction
        Fraction of the triples that is held out.
    seed
        Seed of the held-out triples and of the fits.

    Returns
    -------
    method, selection
        The method with the best numbers, and all numbers that were compared. If the graph does not identify the
        best numbers, the method keeps its own; :func:`default_clusters` and the default of ``NMF`` replace
        "auto".
    """
    clusterer, embed = _parts_with_numbers(method)
    n_clusters = clusterer.n_clusters
    n_components = embed.n_components
    current = (
        default_clusters(graph) if n_clusters == "auto" else n_clusters,
        DEFAULT_COMPONENTS if n_components == "auto" else n_components,
    )

    def with_numbers(n: int, p: int) -> NNMFAug:
        return replace(method, cluster=replace(clusterer, n_clusters=n), embed=replace(embed, n_components=p))

    best, selection = choose(
        lambda n, p, rest: with_numbers(n, p).fit(rest, seed=seed),
        graph,
        current,
        clusters=clusters,
        components=components,
        fraction=fraction,
        seed=seed,
    )
    return with_numbers(*(best or current)), selection


def _parts_with_numbers(method: NNMFAug) -> tuple[Agglomerative | KMeans, NMF]:
    if not isinstance(method.cluster, Agglomerative | KMeans) or not isinstance(method.embed, NMF):
        msg = "only NMF with Agglomerative or KMeans has numbers to choose: use these, or give the numbers"
        raise ValueError(msg)
    return method.cluster, method.embed


def default_clusters(graph: KnowledgeGraph) -> int:
    """Return one cluster per 20 distinct rows of counts, at least 1 and at most 50.

    With more clusters a small graph would have hardly any triple to generate. Entities with equal counts are in
    one cluster anyway, so distinct rows are what matters.
    """
    check_graph(graph)
    return int(np.clip(graph.counts.n_distinct_rows() // 20, 1, 50))
