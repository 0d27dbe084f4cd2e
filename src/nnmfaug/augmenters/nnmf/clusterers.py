"""Clusterers of entities, and what they cost. Equal feature rows are one row with a larger weight."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from nnmfaug.augmenters.nnmf.agglomeration import Linkage, Matrix, cut, merge_all, ward_links
from nnmfaug.augmenters.nnmf.micro_clusters import micro_clusters
from nnmfaug.augmenters.nnmf.partition import Clusterer
from nnmfaug.core.arrays import Array, Ids, Places
from nnmfaug.core.checks import Size, check_argument, check_at_least, check_size, decided
from nnmfaug.core.seeding import Stream, generator

MAX_EXACT_ROWS = 50_000
"""Distinct rows up to which Ward is exact; above, it merges 2/5 as many micro-clusters instead of rows."""

MAX_BYTES = 4 << 30
"""Maximum size of the matrix of distances that the other linkages need."""


class TooManyClustersError(ValueError):
    """More clusters were requested than there are distinct rows."""


@dataclass(frozen=True)
class Agglomerative:
    """Merge the two nearest clusters until ``n_clusters`` are left.

    For u distinct rows, Ward's linkage needs O(u) memory and O(u²) time. Above ``MAX_EXACT_ROWS`` it merges
    micro-clusters instead of rows, with a warning. The other linkages store all u² distances. Neither scipy's nor
    scikit-learn's linkage takes weights, without which every entity would be a row: see
    :mod:`nnmfaug.augmenters.nnmf.agglomeration`.

    Parameters
    ----------
    n_clusters
        Number of clusters; "auto" lets NNMFAug choose it.
    linkage
        Distance of two clusters: "ward", "average", "complete" or "single".
    """

    n_clusters: Size = 50
    linkage: Linkage = "ward"

    def __post_init__(self) -> None:
        check_size("n_clusters", self.n_clusters)
        linkages = get_args(Linkage)
        check_argument("linkage", self.linkage, self.linkage in linkages, f"one of {', '.join(linkages)}")

    def label_rows(self, rows: Array, counts: Ids, *, seed: int) -> Places:
        """Return a label for each distinct row."""
        del seed  # nothing is drawn
        n_clusters = _enough_rows(self.n_clusters, rows)
        _, exponent = np.frexp(np.abs(rows).max())
        rows = np.ldexp(rows, -exponent)  # a power of two: exact, and squares cannot overflow
        weights = counts.astype(np.float64)
        if self.linkage == "ward" and len(rows) > MAX_EXACT_ROWS:
            return self._approximate(rows, weights, n_clusters)
        return self._exact(rows, weights, n_clusters)

    def _exact(self, rows: Array, weights: Array, n_clusters: int) -> Places:
        if self.linkage == "ward":
            links = ward_links(rows, weights)
        else:
            self._check_memory(rows)
            links = Matrix(rows, weights, self.linkage)
        pairs, heights = merge_all(links, len(rows))
        return cut(pairs, heights, n_clusters)

    def _check_memory(self, rows: Array) -> None:
        expected = cost(self, *rows.shape)
        if expected is not None and expected.bytes > MAX_BYTES:
            msg = (
                f"linkage={self.linkage!r} of {len(rows)} distinct rows needs {expected.bytes / 2**30:.1f} GiB, "
                f"the limit is {MAX_BYTES / 2**30:.1f}: use linkage='ward', KMeans or HDBSCAN"
            )
            raise ValueError(msg)

    def _approximate(self, rows: Array, weights: Array, n_clusters: int) -> Places:
        n_micro = _micro_clusters_for(n_clusters)
        msg = (
            f"{len(rows)} distinct rows are more than {MAX_EXACT_ROWS}: approximate tier, Ward of {n_micro} "
            "micro-clusters instead of rows"
        )
        warnings.warn(msg, UserWarning, stacklevel=4)
        micro = micro_clusters(rows, weights, n_micro)
        totals = np.bincount(micro, weights).astype(np.float64)
        centres = np.stack([np.bincount(micro, weights * column) / totals for column in rows.T], axis=1)
        return self._exact(centres, totals, n_clusters)[micro]


@dataclass(frozen=True)
class KMeans:
    """scikit-learn's k-means on distinct rows with weights. The number of threads does not change the result.

    Parameters
    ----------
    n_clusters
        Number of clusters; "auto" lets NNMFAug choose it.
    n_init
        Number of starts, of which the best is used.
    """

    n_clusters: Size = 50
    n_init: int = 10

    def __post_init__(self) -> None:
        check_size("n_clusters", self.n_clusters)
        check_at_least("n_init", self.n_init, 1)

    def label_rows(self, rows: Array, counts: Ids, *, seed: int) -> ArrayLike:
        """Return a label for each distinct row."""
        n_clusters = _enough_rows(self.n_clusters, rows)
        state = int(generator(seed, Stream.KMEANS).integers(2**31))
        estimator = _sklearn().KMeans(n_clusters, n_init=self.n_init, random_state=state)
        with import_module("threadpoolctl").threadpool_limits(1):
            return np.asarray(estimator.fit_predict(rows, sample_weight=counts))


@dataclass(frozen=True)
class DBSCAN:
    """scikit-learn's DBSCAN on distinct rows with weights. Noise is in no cluster.

    A border row that two clusters reach belongs to the first, in the order of the rows, not of the entities.

    Parameters
    ----------
    eps
        Maximum distance of two neighbours.
    min_samples
        Minimum number of neighbours of a core entity, itself included.
    """

    eps: float
    min_samples: int = 5

    def __post_init__(self) -> None:
        check_at_least("min_samples", self.min_samples, 1)
        check_argument("eps", self.eps, 0 < self.eps < math.inf, "a positive number")

    def label_rows(self, rows: Array, counts: Ids, *, seed: int) -> ArrayLike:
        """Return a label for each distinct row, -1 for noise."""
        del seed  # nothing is drawn
        estimator = _sklearn().DBSCAN(eps=self.eps, min_samples=self.min_samples)
        return np.asarray(estimator.fit_predict(rows, sample_weight=counts))


@dataclass(frozen=True)
class HDBSCAN:
    """scikit-learn's HDBSCAN on the rows of all seen entities, since it takes no weights. Noise is in no cluster.

    Parameters
    ----------
    min_cluster_size
        Minimum number of entities of a cluster.
    """

    min_cluster_size: int = 5

    def __post_init__(self) -> None:
        check_at_least("min_cluster_size", self.min_cluster_size, 2)

    def fit_predict(self, rows: Array, /) -> ArrayLike:
        """Return a label for each row, -1 for noise."""
        estimator = _sklearn().HDBSCAN(self.min_cluster_size, copy=True)
        return np.asarray(estimator.fit_predict(rows))


class Cost(NamedTuple):
    """The expected cost of a clustering.

    Parameters
    ----------
    seconds
        Order of magnitude of the time.
    bytes
        Memory beside the input.
    micro_clusters
        Number of micro-clusters that replace the rows; 0 if the clustering is exact.
    """

    seconds: float
    bytes: int
    micro_clusters: int = 0


def cost(clusterer: Clusterer, n_rows: int, n_features: int) -> Cost | None:
    """Return the expected cost of clustering distinct rows; None if it cannot be predicted.

    The seconds were measured on one core of a machine of 2025; another may take a third or three times as long.

    Examples
    --------
    >>> cost(Agglomerative(linkage="average"), 10_000, 16).bytes // 10**6
    801
    """
    if not isinstance(clusterer, Agglomerative):
        return None
    if clusterer.linkage != "ward":
        return Cost(5e-8 * n_rows**2, 8 * n_rows * (n_rows + n_features))
    copies = 5 * 8 * n_rows * n_features
    if n_rows <= MAX_EXACT_ROWS:
        return Cost(_ward_seconds(n_rows, n_features), copies + 100 * n_rows)
    n_micro = _micro_clusters_for(0 if clusterer.n_clusters == "auto" else clusterer.n_clusters)
    splitting = 1e-6 * n_rows * n_features
    return Cost(splitting + _ward_seconds(n_micro, n_features), copies + 100 * n_micro, n_micro)


def _ward_seconds(n_rows: int, n_features: int) -> float:
    return 2e-9 * n_rows**2 * n_features


def _micro_clusters_for(n_clusters: int) -> int:
    return max(n_clusters, 2 * MAX_EXACT_ROWS // 5)


def _sklearn() -> Any:  # noqa: ANN401  # it has no types, and is imported when it is first used
    return import_module("sklearn.cluster")


def _enough_rows(size: Size, rows: Array) -> int:
    """Return the number of clusters; raise if there are fewer rows."""
    n_clusters = decided("n_clusters", size)
    if n_clusters > len(rows):
        msg = f"n_clusters={n_clusters}: there are only {len(rows)} distinct rows"
        raise TooManyClustersError(msg)
    return n_clusters
