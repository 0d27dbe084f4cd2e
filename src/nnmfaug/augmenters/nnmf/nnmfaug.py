"""NNMFAug, the recipe of the paper: counts, factors, clusters, a law over triples (Algorithm 1)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from nnmfaug.augmenters.nnmf.clusterers import Agglomerative, Estimate, KMeans, estimate
from nnmfaug.augmenters.nnmf.distribution import TripleDistribution
from nnmfaug.augmenters.nnmf.law import ClusterLaw
from nnmfaug.augmenters.nnmf.model_selection import CLUSTERS, COMPONENTS, Selection, choose
from nnmfaug.augmenters.nnmf.nmf import DEFAULT_COMPONENTS, NMF, Embedding
from nnmfaug.augmenters.nnmf.partition import Clusterer, cluster
from nnmfaug.augmenters.nnmf.weights import (
    ClusterWeights,
    CountProduct,
    PairWeights,
    UniformClusters,
    UniformPairs,
)
from nnmfaug.graph.counts import Counts
from nnmfaug.graph.knowledge_graph import KnowledgeGraph


class Embedder(Protocol):
    """Turns counts into a row of features per entity."""

    def fit(self, counts: Counts, *, seed: int = 0) -> Embedding:
        """Return the features."""
        ...


@dataclass(frozen=True)
class NNMFAug:
    """The paper's method; every choice it leaves open is a field, and the defaults are the paper's.

    A number of clusters or components that is "auto" is chosen for the graph, see :func:`~nnmfaug.select`.

    Parameters
    ----------
    embed
        How entities become points: :class:`~nnmfaug.NMF` or :class:`~nnmfaug.Spectral`.
    cluster
        How points become clusters: :class:`~nnmfaug.Agglomerative`, KMeans, or anything with ``fit_predict``.
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
        """Fit to a graph, which should be the train split alone; entities without a triple in it are left out.

        If a number is "auto" and the graph cannot tell, the default stands and a ``UserWarning`` says why.
        """
        method, selection = self.resolve(graph, seed=seed)
        if selection is not None and not selection.identifiable:
            warnings.warn(selection.reason, UserWarning, stacklevel=2)
        return _fit(method, graph, seed)

    def resolve(self, graph: KnowledgeGraph, *, seed: int = 0) -> tuple[NNMFAug, Selection | None]:
        """Return the method with numbers in place of each "auto", and how they were chosen; None if none was."""
        clusters = CLUSTERS if getattr(self.cluster, "n_clusters", None) == "auto" else None
        components = COMPONENTS if getattr(self.embed, "n_components", None) == "auto" else None
        if clusters is None and components is None:
            return self, None
        return select(self, graph, clusters=clusters, components=components, seed=seed)

    def estimate(self, graph: KnowledgeGraph) -> Estimate | None:
        """Say what a clustering will take before anything is fitted; None where that is not known."""
        if not isinstance(self.embed, NMF):
            return None
        p = max(COMPONENTS) if self.embed.n_components == "auto" else self.embed.n_components
        return estimate(self.cluster, Counts.of(graph).n_distinct_rows(), 2 * p)


def _fit(method: NNMFAug, graph: KnowledgeGraph, seed: int) -> TripleDistribution:
    counts = Counts.of(graph)
    if not counts.seen.any():
        msg = "the graph has no triple between two different entities"
        raise ValueError(msg)
    embedding = method.embed.fit(counts, seed=seed)
    partition = cluster(method.cluster, embedding.features, counts.seen, seed=seed)
    if not partition.n_clusters:
        msg = "the clusterer left every entity out: let it find larger clusters (DBSCAN: a larger eps)"
        raise ValueError(msg)
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
    share: float = 0.1,
    seed: int = 0,
) -> tuple[NNMFAug, Selection]:
    """Choose the number of clusters, of components, or both (None keeps the method's own).

    Returns
    -------
    method, selection
        The method with the best numbers, or as it was given if the graph cannot tell; for "auto" then stand
        :func:`default_clusters` and the default of ``NMF``.
    """
    given, embed = _with_numbers(method)
    n, p = given.n_clusters, embed.n_components
    own = default_clusters(graph) if n == "auto" else n, DEFAULT_COMPONENTS if p == "auto" else p

    def with_numbers(n: int, p: int) -> NNMFAug:
        return replace(method, cluster=replace(given, n_clusters=n), embed=replace(embed, n_components=p))

    best, selection = choose(
        lambda n, p, rest: with_numbers(n, p).fit(rest, seed=seed),
        graph,
        own,
        clusters=clusters,
        components=components,
        share=share,
        seed=seed,
    )
    return with_numbers(*(best or own)), selection


def _with_numbers(method: NNMFAug) -> tuple[Agglomerative | KMeans, NMF]:
    if not isinstance(method.cluster, Agglomerative | KMeans) or not isinstance(method.embed, NMF):
        msg = "only NMF with Agglomerative or KMeans has numbers to choose"
        raise ValueError(msg)
    return method.cluster, method.embed


def default_clusters(graph: KnowledgeGraph) -> int:
    """Return one cluster per twenty different rows of counts, at least 1 and at most 50.

    On a small graph more clusters would leave next to nothing to generate, and entities with equal counts cannot
    be told apart.
    """
    return int(np.clip(Counts.of(graph).n_distinct_rows() // 20, 1, 50))
