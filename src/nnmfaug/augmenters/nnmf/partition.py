"""Which cluster each entity is in, and what a way to find that must offer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nnmfaug.core.arrays import Array, IntArray, Places


@dataclass(frozen=True, eq=False)
class Partition:
    """Which cluster each entity is in.

    Parameters
    ----------
    labels : array of int, shape (n_entities,)
        Any number from 0 for each cluster, -1 for an entity in none. Kept renumbered from 0 without gaps, clusters
        in the order of their smallest entity id, so equal partitions are equal arrays.

    Attributes
    ----------
    members : ndarray of int32
        The entities that are in a cluster: those of cluster 0 first, then those of 1, …; ascending within each.
    indptr : ndarray of int64, shape (n_clusters + 1,)
        Where each cluster begins: the entities of cluster c are ``members[indptr[c]:indptr[c + 1]]``.

    Examples
    --------
    >>> partition = Partition(np.array([7, -1, 2, 7]))
    >>> partition.labels, partition.n_clusters, partition.sizes
    (array([ 0, -1,  1,  0], dtype=int32), 2, array([2, 1]))
    >>> partition.members[partition.indptr[0] : partition.indptr[1]]
    array([0, 3], dtype=int32)
    """

    labels: IntArray
    indptr: NDArray[np.int64] = field(init=False, repr=False)
    members: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        given = np.asarray(self.labels)
        if given.ndim != 1 or given.dtype.kind not in "iu" or (given < -1).any():
            msg = f"labels of shape {given.shape} and type {given.dtype}: must be a row of integers from -1"
            raise ValueError(msg)
        labelled = np.flatnonzero(given >= 0)
        _, first, inverse = np.unique(given[labelled], return_index=True, return_inverse=True)
        numbers = np.argsort(np.argsort(first))[inverse]
        labels = np.full(len(given), -1, dtype=np.int32)
        labels[labelled] = numbers
        self._keep("labels", labels)
        self._keep("indptr", np.concatenate([[0], np.bincount(numbers, minlength=len(first)).cumsum()]))
        self._keep("members", labelled[np.argsort(numbers, kind="stable")].astype(np.int32))

    def _keep(self, name: str, values: NDArray[Any]) -> None:
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
    def sizes(self) -> NDArray[np.int64]:
        """Number of entities of each cluster."""
        return np.diff(self.indptr)


class FitPredict(Protocol):
    """What scikit-learn calls a clusterer; it is given the row of every seen entity."""

    def fit_predict(self, rows: Array, /) -> ArrayLike:
        """Return a label for each row, -1 for none."""
        ...


@runtime_checkable
class RowClusterer(Protocol):
    """A clusterer that needs each distinct row once, and how often it stands there."""

    def label_rows(self, rows: Array, counts: NDArray[np.int64], *, seed: int) -> ArrayLike:
        """Return a label for each distinct row, -1 for none."""
        ...


Clusterer = RowClusterer | FitPredict


def cluster(clusterer: Clusterer, features: Array, seen: NDArray[np.bool_], *, seed: int) -> Partition:
    """Cluster the seen entities by their rows of ``features``, shape (n_entities, n_features).

    Examples
    --------
    >>> from nnmfaug.augmenters.nnmf.clusterers import Agglomerative
    >>> features = np.array([[0.0], [9.0], [0.1], [5.0], [9.0]])
    >>> cluster(Agglomerative(n_clusters=2), features, np.array([1, 1, 1, 0, 1], dtype=bool), seed=0).labels
    array([ 0,  1,  0, -1,  1], dtype=int32)
    """
    features, seen = np.asarray(features, dtype=np.float64), np.asarray(seen)
    if features.ndim != 2 or not features.shape[1] or seen.dtype != np.bool_ or seen.shape != features.shape[:1]:
        msg = f"features of shape {features.shape} and {seen.dtype} seen of shape {seen.shape}: do not go together"
        raise ValueError(msg)
    rows = features[seen]
    n_finite = np.count_nonzero(np.isfinite(rows).all(axis=1))
    if not len(rows) or n_finite < len(rows):
        msg = f"of {len(features)} entities {len(rows)} are seen and {n_finite} of these have finite features"
        raise ValueError(msg)
    labels = np.full(len(features), -1, dtype=np.int64)
    if isinstance(clusterer, RowClusterer):
        distinct, inverse, counts = _distinct(rows)
        labels[seen] = np.asarray(clusterer.label_rows(distinct, counts, seed=seed))[inverse]
    else:
        labels[seen] = np.asarray(clusterer.fit_predict(rows))
    return Partition(labels.astype(np.int32))


def _distinct(rows: Array) -> tuple[Array, Places, NDArray[np.int64]]:
    """Return the different rows in an order of their own, which of them each row is, and how often each stands."""
    rows = np.ascontiguousarray(rows + 0.0)  # -0 is 0
    keys = rows.view(f"V{rows.itemsize * rows.shape[1]}").ravel()
    _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    return rows[first], inverse, counts
