"""Weights, not normalised, of clusters, pairs and relations: the three factors of Eq. 2.

Each choice that the paper leaves open is a small value that returns non-negative weights.
:mod:`nnmfaug.augmenters.nnmf.distribution` alone turns weights into probabilities and triples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from nnmfaug.core.arrays import Array, Ids
from nnmfaug.core.checks import check_argument
from nnmfaug.core.elementary import exp, log
from nnmfaug.graph.counts import Counts


class ClusterWeights(Protocol):
    """p(cluster), from the number of entities in each cluster."""

    def __call__(self, sizes: Ids) -> Array:
        """Return a weight per cluster."""
        ...


@dataclass(frozen=True)
class UniformClusters:
    """p(c) equal for all clusters (the paper)."""

    def __call__(self, sizes: Ids) -> Array:
        """Return a weight per cluster."""
        return np.ones(len(sizes))


@dataclass(frozen=True)
class ClustersBySize:
    """p(c) ∝ n_c, the number of entities of the cluster."""

    def __call__(self, sizes: Ids) -> Array:
        """Return a weight per cluster."""
        return sizes.astype(np.float64)


@dataclass(frozen=True)
class ClustersByPairs:
    """p(c) ∝ n_c·(n_c − 1), the number of ordered pairs: all pairs within clusters are equally likely."""

    def __call__(self, sizes: Ids) -> Array:
        """Return a weight per cluster."""
        return sizes * (sizes - 1.0)


class PairWeights(Protocol):
    """p(h, t | cluster) ∝ u_h·v_t, a weight of the head times a weight of the tail."""

    def __call__(self, counts: Counts) -> tuple[Array, Array]:
        """Return a weight per entity as head, and one as tail."""
        ...


@dataclass(frozen=True)
class UniformPairs:
    """p(h, t | c) equal for all ordered pairs of different entities (the paper)."""

    def __call__(self, counts: Counts) -> tuple[Array, Array]:
        """Return a weight per entity as head, and one as tail."""
        return np.ones(counts.n_entities), np.ones(counts.n_entities)


@dataclass(frozen=True)
class PairsByDegree:
    """p(h, t | c) ∝ the number of triples with head h times the number of triples with tail t."""

    def __call__(self, counts: Counts) -> tuple[Array, Array]:
        """Return a weight per entity as head, and one as tail."""
        return _row_sums(counts.heads), _row_sums(counts.tails)


@dataclass(frozen=True)
class CountProduct:
    """p(r | h, t) ∝ (A[h, r]·B[t, r] + smoothing)^(1 / temperature).

    Parameters
    ----------
    smoothing
        0 is the paper's. Above 0 every relation is possible between any two entities of a cluster.
    temperature
        1 is the paper's. Higher values make the relations of a pair more alike.

    Examples
    --------
    >>> CountProduct(temperature=2.0).weights(np.array([4.0, 0.0, 9.0]))
    array([2., 0., 3.])
    """

    smoothing: float = 0.0
    temperature: float = 1.0

    def __post_init__(self) -> None:
        is_good = bool(np.isfinite(self.smoothing)) and self.smoothing >= 0
        check_argument("smoothing", self.smoothing, is_good, "a finite number from 0")
        is_good = bool(np.isfinite(self.temperature)) and self.temperature > 0
        check_argument("temperature", self.temperature, is_good, "a finite number above 0")

    def weights(self, products: Array) -> Array:
        """Return the weights for products A[h, r]·B[t, r] of counts."""
        weights: Array = products + self.smoothing if self.smoothing else products
        return weights if self.temperature == 1 else exp(log(weights) / self.temperature)


def _row_sums(matrix: csr_array) -> Array:
    return np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()
