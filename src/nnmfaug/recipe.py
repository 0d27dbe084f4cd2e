"""NNMFAug, the recipe of the paper: counts, factors, clusters, a law over triples (Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from nnmfaug.clustering import Agglomerative, Clusterer, cluster
from nnmfaug.counts import Counts
from nnmfaug.embedding import NMF, Embedding
from nnmfaug.graph import KnowledgeGraph
from nnmfaug.law import Law
from nnmfaug.sampling import Sample, TripleDistribution
from nnmfaug.weights import ClusterWeights, CountProduct, PairWeights, UniformClusters, UniformPairs


class Embedder(Protocol):
    """Turns counts into a row of features per entity."""

    def fit(self, counts: Counts, *, seed: int = 0) -> Embedding:
        """Return the features."""
        ...


@dataclass(frozen=True)
class NNMFAug:
    """The paper's method; every choice it leaves open is a field, and the defaults are the paper's.

    Parameters
    ----------
    embed
        How entities become points: :class:`~nnmfaug.embedding.NMF` or :class:`~nnmfaug.spectral.Spectral`.
    cluster
        How points become clusters: a strategy of :mod:`nnmfaug.clustering` or anything with ``fit_predict``.
    clusters, pairs, relations
        p(cluster), p(h, t | cluster) and p(r | h, t), see :mod:`nnmfaug.weights`.

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
        """Fit to a graph, which should be the train split alone; entities without a triple in it are left out."""
        counts = Counts.of(graph)
        if not counts.seen.any():
            msg = "the graph has no triple between two different entities"
            raise ValueError(msg)
        embedding = self.embed.fit(counts, seed=seed)
        partition = cluster(self.cluster, embedding.features, counts.seen, seed=seed)
        if not partition.n_clusters:
            msg = "the clusterer left every entity out: let it find larger clusters (DBSCAN: a larger eps)"
            raise ValueError(msg)
        heads, tails = self.pairs(counts)
        law = Law(
            counts=counts,
            labels=partition.labels.astype(np.int64),
            cluster_weights=self.clusters(partition.sizes),
            head_weights=heads,
            tail_weights=tails,
            relation_law=self.relations,
            heads_allowed=np.ones(counts.n_entities, dtype=np.bool_),
            tails_allowed=np.ones(counts.n_entities, dtype=np.bool_),
            relations_allowed=np.ones(counts.n_relations, dtype=np.bool_),
        )
        return TripleDistribution(graph, law, partition, embedding)


def augment(graph: KnowledgeGraph, n: int, *, seed: int = 0) -> Sample:
    """Generate n new triples for a train graph with the paper's method, with :func:`default_clusters`."""
    method = NNMFAug(cluster=Agglomerative(default_clusters(graph)))
    return method.fit(graph, seed=seed).sample(n, seed=seed)


def default_clusters(graph: KnowledgeGraph) -> int:
    """Return one cluster per twenty different rows of counts, at least 1 and at most 50.

    On a small graph more clusters would leave next to nothing to generate, and entities with equal counts cannot
    be told apart.
    """
    return int(np.clip(Counts.of(graph).n_distinct_rows() // 20, 1, 50))
