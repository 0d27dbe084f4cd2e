"""From a graph to clusters of entities: count, embed, cluster (the first half of Algorithm 1).

An :class:`Embedder` turns the counts A and B into a row of features per entity, a :class:`Clusterer` turns rows
into labels, and a :class:`Partition` holds the labels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nnmfaug.core.arrays import Array, Bools, Ids, IntArray
from nnmfaug.core.blocks import blocks
from nnmfaug.core.checks import require
from nnmfaug.core.distinct import distinct_rows
from nnmfaug.graph.counts import Counts
from nnmfaug.graph.knowledge_graph import KnowledgeGraph, check_graph


@dataclass(frozen=True, eq=False)
class Partition:
    """The cluster of each entity.

    Parameters
    ----------
    labels : array of int, shape (n_entities,)
        A number from 0 for each cluster, -1 for an entity in no cluster. Stored renumbered from 0 without gaps,
        clusters in the order of their smallest entity id, so equal partitions are equal arrays.

    Attributes
    ----------
    members : ndarray of int32
        The entities of cluster 0, then those of cluster 1, …; ascending within each cluster.
    indptr : ndarray of int64, shape (n_clusters + 1,)
        Where each cluster begins in ``members``: the entities of cluster c are ``members[indptr[c]:indptr[c +
        1]]``.

    Examples
    --------
    >>> partition = Partition(np.array([7, -1, 2, 7]))
    >>> partition.labels, partition.n_clusters, partition.sizes
    (array([ 0, -1,  1,  0], dtype=int32), 2, array([2, 1]))
    >>> partition.members[partition.indptr[0] : partition.indptr[1]]
    array([0, 3], dtype=int32)
    """

    labels: IntArray
    indptr: Ids = field(init=False, repr=False)
    members: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        labels = np.asarray(self.labels)
        good = labels.ndim == 1 and labels.dtype.kind in "iu" and not (labels < -1).any()
        require(good, f"labels of shape {labels.shape} and type {labels.dtype}: must be a row of integers from -1")
        labelled = np.flatnonzero(labels >= 0)
        _, first, inverse = np.unique(labels[labelled], return_index=True, return_inverse=True)
        numbers = np.argsort(np.argsort(first))[inverse]  # clusters in the order of their smallest entity
        renumbered = np.full(len(labels), -1, dtype=np.int32)
        renumbered[labelled] = numbers
        sizes = np.bincount(numbers, minlength=len(first))
        self._store("labels", renumbered)
        self._store("indptr", np.concatenate([[0], sizes.cumsum()]))
        self._store("members", labelled[np.argsort(numbers, kind="stable")].astype(np.int32))

    def _store(self, name: str, values: NDArray[Any]) -> None:
        values.setflags(write=False)
        object.__setattr__(self, name, values)

    def __eq__(self, other: object) -> bool:
        return np.array_equal(self.labels, other.labels) if isinstance(other, Partition) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # arrays are compared, not hashed

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.indptr) - 1

    @property
    def sizes(self) -> Ids:
        """Number of entities of each cluster, shape (n_clusters,)."""
        return np.diff(self.indptr)


class Embedding(Protocol):
    """The features of entities."""

    @property
    def features(self) -> Array:
        """Features of shape (n_entities, n_features), one row per entity."""
        ...


class Embedder(Protocol):
    """Computes features of entities from the counts A and B."""

    def fit(self, counts: Counts, *, seed: int = 0) -> Embedding:
        """Return the features."""
        ...


class FitPredict(Protocol):
    """A clusterer as in scikit-learn. It receives the row of every entity that has a triple."""

    def fit_predict(self, rows: Array, /) -> ArrayLike:
        """Return a label for each row, -1 for no cluster."""
        ...


@runtime_checkable
class RowClusterer(Protocol):
    """A clusterer that receives each distinct row once, and the number of entities that have it."""

    def label_rows(self, rows: Array, counts: Ids, *, seed: int) -> ArrayLike:
        """Return a label for each distinct row, -1 for no cluster."""
        ...


Clusterer = RowClusterer | FitPredict


def cluster_entities(
    graph: KnowledgeGraph, embed: Embedder, clusterer: Clusterer, *, seed: int
) -> tuple[Embedding, Partition]:
    """Count A and B, embed the entities, and cluster those that have a triple.

    Returns
    -------
    embedding, partition
        The features of all entities, and their clusters.

    Examples
    --------
    >>> import nnmfaug as na
    >>> train = na.read_splits("nations").train
    >>> embedding, partition = cluster_entities(train, na.NMF(4), na.Agglomerative(3), seed=0)
    >>> embedding.features.shape, partition.n_clusters
    ((14, 8), 3)
    """
    check_graph(graph)
    counts = graph.counts
    embedding = embed.fit(counts, seed=seed)
    return embedding, cluster(clusterer, embedding.features, counts.seen, seed=seed)


def cluster(clusterer: Clusterer, features: Array, seen: Bools, *, seed: int) -> Partition:
    """Cluster the entities that are seen.

    Parameters
    ----------
    clusterer
        The method.
    features : ndarray of shape (n_entities, n_features)
        One row per entity.
    seen : ndarray of bool, shape (n_entities,)
        Whether an entity takes part; the others are in no cluster.
    seed
        Seed of clusterers that draw random numbers.

    Examples
    --------
    >>> from nnmfaug.augmenters.nnmf.clusterers import Agglomerative
    >>> features = np.array([[0.0], [9.0], [0.1], [5.0], [9.0]])
    >>> cluster(Agglomerative(n_clusters=2), features, np.array([1, 1, 1, 0, 1], dtype=bool), seed=0).labels
    array([ 0,  1,  0, -1,  1], dtype=int32)
    """
    features = np.asarray(features, dtype=np.float64)
    seen = np.asarray(seen)
    _check_features(features, seen)
    labels = np.full(len(features), -1, dtype=np.int64)
    if isinstance(clusterer, RowClusterer):
        distinct, inverse, counts = distinct_rows(features, np.flatnonzero(seen))
        del features  # they may be most of what is in memory
        labels[seen] = np.asarray(clusterer.label_rows(distinct, counts, seed=seed))[inverse]
    else:
        labels[seen] = np.asarray(clusterer.fit_predict(features[seen]))
    return Partition(labels.astype(np.int32))


def _check_features(features: Array, seen: Bools) -> None:
    is_matrix = features.ndim == 2 and features.shape[1] > 0
    is_mask = seen.dtype == np.bool_ and seen.shape == features.shape[:1]
    require(
        is_matrix and is_mask,
        f"features of shape {features.shape} and {seen.dtype} seen of shape {seen.shape}: do not go together",
    )
    places = np.flatnonzero(seen)
    n_finite = sum(
        np.count_nonzero(np.isfinite(features[places[block]]).all(axis=1)) for block in blocks(len(places))
    )
    require(
        0 < len(places) == n_finite,
        f"of {len(features)} entities {len(places)} are seen and {n_finite} of these have finite features",
    )
