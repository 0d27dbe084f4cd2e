"""The three distributions of the factorisation (Eq. 2): p(cluster), p(h, t | cluster) and p(r | h, t).

Each choice that the paper leaves open is a small value that gives non-negative weights; only
:mod:`nnmfaug.augmenters.nnmf.distribution` turns weights into probabilities and triples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nnmfaug.core.arrays import Array
from nnmfaug.graph.counts import Counts


class ClusterWeights(Protocol):
    """p(cluster), from the number of entities in each cluster."""

    def __call__(self, sizes: NDArray[np.int64]) -> Array:
        """Return a weight per cluster."""
        ...


@dataclass(frozen=True)
class UniformClusters:
    """Every cluster alike (the paper)."""

    def __call__(self, sizes: NDArray[np.int64]) -> Array:
        """Return a weight per cluster."""
        return np.ones(len(sizes))


@dataclass(frozen=True)
class ClustersBySize:
    """As likely as it has entities."""

    def __call__(self, sizes: NDArray[np.int64]) -> Array:
        """Return a weight per cluster."""
        return sizes.astype(np.float64)


@dataclass(frozen=True)
class ClustersByPairs:
    """As likely as it has ordered pairs, so that every pair inside a cluster is alike."""

    def __call__(self, sizes: NDArray[np.int64]) -> Array:
        """Return a weight per cluster."""
        return sizes * (sizes - 1.0)


class PairWeights(Protocol):
    """p(h, t | cluster), as a weight of the head times a weight of the tail."""

    def __call__(self, counts: Counts) -> tuple[Array, Array]:
        """Return a weight per entity as head, and one as tail."""
        ...


@dataclass(frozen=True)
class UniformPairs:
    """Every ordered pair of two entities alike (the paper)."""

    def __call__(self, counts: Counts) -> tuple[Array, Array]:
        """Return a weight per entity as head, and one as tail."""
        return np.ones(counts.n_entities), np.ones(counts.n_entities)


@dataclass(frozen=True)
class PairsByDegree:
    """A head as likely as it has triples as head, a tail as likely as it has triples as tail."""

    def __call__(self, counts: Counts) -> tuple[Array, Array]:
        """Return a weight per entity as head, and one as tail."""
        degrees = (
            np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel() for matrix in (counts.heads, counts.tails)
        )
        heads, tails = degrees
        return heads, tails


@dataclass(frozen=True)
class CountProduct:
    """p(r | h, t) ∝ (A[h, r]·B[t, r] + smoothing)^(1 / temperature); the paper has smoothing 0 and temperature 1.

    With smoothing every relation is possible between any two entities of a cluster.

    Examples
    --------
    >>> CountProduct(temperature=2.0).weights(np.array([4.0, 0.0, 9.0]))
    array([2., 0., 3.])
    """

    smoothing: float = 0.0
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.smoothing) and self.smoothing >= 0):
            msg = f"smoothing={self.smoothing}: must be a finite number from 0"
            raise ValueError(msg)
        if not (np.isfinite(self.temperature) and self.temperature > 0):
            msg = f"temperature={self.temperature}: must be a finite number above 0"
            raise ValueError(msg)

    def weights(self, products: Array) -> Array:
        """Turn products of counts into weights; a product that is not stored in a sparse matrix is zero."""
        weights: Array = products + self.smoothing if self.smoothing else products
        return weights if self.temperature == 1 else weights ** (1 / self.temperature)
