"""Ways to find clusters of entities, and what that takes. Equal feature rows are one row that weighs more."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nnmfaug.augmenters.nnmf.agglomeration import Linkage, Matrix, cut, merge_all, micro_clusters, ward_links
from nnmfaug.augmenters.nnmf.partition import Clusterer
from nnmfaug.core.arrays import Array, Places
from nnmfaug.core.checks import Size, check_at_least, check_size, decided
from nnmfaug.core.seeding import Stream, generator

MAX_EXACT_ROWS = 50_000
"""Distinct rows up to which Ward is exact; above, 2/5 as many micro-clusters are found first."""

MAX_BYTES = 4 << 30
"""Memory that the matrix of distances of the other linkages may take."""

"""The place of clustering among the random streams of a seed."""


class TooManyClustersError(ValueError):
    """More clusters were asked for than there are different rows."""


@dataclass(frozen=True)
class Agglomerative:
    """Merge the two nearest clusters until ``n_clusters`` are left; "auto" lets NNMFAug choose the number.

    Ward's linkage takes O(u) memory for u distinct rows and O(u²) time. Above ``MAX_EXACT_ROWS`` it merges
    micro-clusters instead of rows, with a warning. The other linkages hold all u² distances.
    """

    n_clusters: Size = 50
    linkage: Linkage = "ward"

    def __post_init__(self) -> None:
        check_size("n_clusters", self.n_clusters)
        if self.linkage not in get_args(Linkage):
            msg = f"linkage={self.linkage!r}: must be one of {', '.join(get_args(Linkage))}"
            raise ValueError(msg)

    def label_rows(self, rows: Array, counts: NDArray[np.int64], *, seed: int) -> Places:
        """Return a label for each distinct row."""
        del seed  # nothing is drawn
        n_clusters = _enough_rows(self.n_clusters, rows)
        rows = np.ldexp(rows, -np.frexp(np.abs(rows).max())[1])  # exact, and squares cannot overflow
        weights = counts.astype(np.float64)
        if self.linkage == "ward" and len(rows) > MAX_EXACT_ROWS:
            return self._approximate(rows, weights, n_clusters)
        return self._exact(rows, weights, n_clusters)

    def _exact(self, rows: Array, weights: Array, n_clusters: int) -> Places:
        if self.linkage == "ward":
            return cut(*merge_all(ward_links(rows, weights), len(rows)), n_clusters)
        needed = estimate(self, *rows.shape)
        if needed is not None and needed.bytes > MAX_BYTES:
            msg = (
                f"linkage={self.linkage!r} of {len(rows)} distinct rows needs {needed.bytes / 2**30:.1f} GiB, the "
                f"limit is {MAX_BYTES / 2**30:.1f}: use linkage='ward', KMeans or HDBSCAN"
            )
            raise ValueError(msg)
        return cut(*merge_all(Matrix(rows, weights, self.linkage), len(rows)), n_clusters)

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
    """scikit-learn's k-means on distinct rows with weights; the same bits whatever the number of threads.

    ``n_clusters="auto"`` lets NNMFAug choose the number.
    """

    n_clusters: Size = 50
    n_init: int = 10

    def __post_init__(self) -> None:
        check_size("n_clusters", self.n_clusters)
        check_at_least("n_init", self.n_init, 1)

    def label_rows(self, rows: Array, counts: NDArray[np.int64], *, seed: int) -> ArrayLike:
        """Return a label for each distinct row."""
        n_clusters = _enough_rows(self.n_clusters, rows)
        state = int(generator(seed, Stream.KMEANS).integers(2**31))
        estimator = _sklearn().KMeans(n_clusters, n_init=self.n_init, random_state=state)
        with import_module("threadpoolctl").threadpool_limits(1):
            return np.asarray(estimator.fit_predict(rows, sample_weight=counts))


@dataclass(frozen=True)
class DBSCAN:
    """scikit-learn's DBSCAN on distinct rows with weights; noise is in no cluster.

    A border row that two clusters reach belongs to the first, in the order of the rows, not of the entities.
    """

    eps: float
    min_samples: int = 5

    def __post_init__(self) -> None:
        check_at_least("min_samples", self.min_samples, 1)
        if not 0 < self.eps < math.inf:
            msg = f"eps={self.eps}: must be a positive number"
            raise ValueError(msg)

    def label_rows(self, rows: Array, counts: NDArray[np.int64], *, seed: int) -> ArrayLike:
        """Return a label for each distinct row, -1 for noise."""
        del seed  # nothing is drawn
        estimator = _sklearn().DBSCAN(eps=self.eps, min_samples=self.min_samples)
        return np.asarray(estimator.fit_predict(rows, sample_weight=counts))


@dataclass(frozen=True)
class HDBSCAN:
    """scikit-learn's HDBSCAN on the rows of all seen entities, for it takes no weights; noise is in no cluster."""

    min_cluster_size: int = 5

    def __post_init__(self) -> None:
        check_at_least("min_cluster_size", self.min_cluster_size, 2)

    def fit_predict(self, rows: Array, /) -> ArrayLike:
        """Return a label for each row, -1 for noise."""
        return np.asarray(_sklearn().HDBSCAN(self.min_cluster_size, copy=True).fit_predict(rows))


class Estimate(NamedTuple):
    """What a clustering will take: the order of magnitude of its seconds, and the bytes beside its input.

    ``micro_clusters`` is how many stand in for the rows where it is approximate, else 0.
    """

    seconds: float
    bytes: int
    micro_clusters: int = 0


def estimate(clusterer: Clusterer, n_rows: int, n_features: int) -> Estimate | None:
    """Say what it takes to cluster distinct rows; None where that is not known before.

    The seconds were measured on one core of a machine of 2025; another may take a third or three times as long.

    Examples
    --------
    >>> estimate(Agglomerative(linkage="average"), 10_000, 16).bytes // 10**6
    801
    """
    if not isinstance(clusterer, Agglomerative):
        return None
    if clusterer.linkage != "ward":
        return Estimate(5e-8 * n_rows**2, 8 * n_rows * (n_rows + n_features))
    seconds, held, micro = 0.0, 5 * 8 * n_rows * n_features, 0
    if n_rows > MAX_EXACT_ROWS:
        micro = _micro_clusters_for(0 if clusterer.n_clusters == "auto" else clusterer.n_clusters)
        seconds, n_rows = 1e-6 * n_rows * n_features, micro
    return Estimate(seconds + 2e-9 * n_rows**2 * n_features, held + 100 * n_rows, micro)


def _micro_clusters_for(n_clusters: int) -> int:
    return max(n_clusters, 2 * MAX_EXACT_ROWS // 5)


def _sklearn() -> Any:  # noqa: ANN401  # it has no types; and it loads only when used
    return import_module("sklearn.cluster")


def _enough_rows(size: Size, rows: Array) -> int:
    """Return the number of clusters, for which there must be as many rows."""
    n_clusters = decided("n_clusters", size)
    if n_clusters > len(rows):
        msg = f"n_clusters={n_clusters}: there are only {len(rows)} distinct rows"
        raise TooManyClustersError(msg)
    return n_clusters
