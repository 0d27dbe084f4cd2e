"""Agglomerative clustering of weighted rows: merge the nearest clusters, pair after pair.

Ward's distance of two clusters with centres a, b and weights v, w is the increase of the sum of squares by a
merge,

    d(a, b) = v·w / (v + w)·‖a − b‖².

scipy's and scikit-learn's Ward take no weights, so n entities with u ≪ n distinct rows would need all n rows;
scipy's also stores all n² distances. Here a row weighs as much as the entities that have it, and many rows are
stored as centres alone. Above that, micro-clusters replace the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from nnmfaug.core.arrays import Array, Bools, Places
from nnmfaug.core.blas import one_thread
from nnmfaug.core.blocks import blocks
from nnmfaug.core.progress import report

Linkage = Literal["ward", "average", "complete", "single"]

MAX_MATRIX_ROWS = 1024
"""Rows up to which Ward uses a matrix of distances."""


class Centres:
    """Clusters as centres and weights, with Ward's distance; O(u) memory for u clusters.

    One product of a vector and a matrix bounds all distances of a cluster from below, by

        ‖a − b‖² ≥ (1 − δ)·(‖a‖² + ‖b‖²) − 2a·b,

    where δ bounds the relative rounding error. Only the few clusters whose bound is small enough can be the
    nearest; only their distances are computed as ‖a − b‖², which does not cancel.

    Clusters occupy slots, the columns of a matrix with a row for each feature, one for ‖b‖² and one of ones. A
    merged cluster leaves its slot empty, with ‖b‖² = ∞; once a quarter of the slots is empty, they are removed.
    """

    def __init__(self, rows: Array, weights: Array) -> None:
        n, n_features = rows.shape
        self.ids = np.arange(n)  # the cluster in each slot
        self.slots = self.ids.copy()  # the slot of each cluster
        self._n_clusters = n
        self._rounding = 8 * (n_features + 4) * float(np.finfo(np.float64).eps)  # δ
        self._query = np.full(n_features + 2, 1 - self._rounding)
        squares = np.square(rows).sum(axis=1)
        self._store(np.vstack([rows.T, squares, np.ones(n)]), weights.copy())

    def _store(self, points: Array, weights: Array) -> None:
        """Set the columns and weights of all slots, and scratch space of their number."""
        self._points = points
        self._centres = points[:-2]
        self._norms = points[-2]
        self._weights = weights
        self._inverse_weights = 1 / weights
        self._bounds = np.empty_like(weights)
        self._weight_sums = np.empty_like(weights)

    def nearest(self, i: int, before: int) -> int:
        """Return the cluster nearest to i; in a tie ``before``, or else the cluster in the first slot."""
        slot = self.slots[i]
        near = self._candidates(slot)
        if len(near) > 1:
            distances = self._distances(slot, near)
            near = near[distances == distances.min()]
        clusters: list[int] = self.ids[near].tolist()
        return before if before in clusters else clusters[0]

    def _candidates(self, slot: int) -> Places:
        """The other slots that a lower bound of the distance does not rule out.

        d(a, b) = ‖a − b‖² / (1/v + 1/w). The query is (−2a, 1 − δ, (1 − δ)·‖a‖²), a column is (b, ‖b‖², 1).
        """
        query = self._query
        bounds = self._bounds
        norm = float(self._norms[slot])
        np.multiply(self._centres[:, slot], -2, out=query[:-2])
        query[-1] = query[-2] * norm
        np.matmul(query, self._points, out=bounds)
        np.add(self._inverse_weights, self._inverse_weights[slot], out=self._weight_sums)
        np.divide(bounds, self._weight_sums, out=bounds)
        bounds[slot] = np.inf
        first = int(bounds.argmin())
        slack = 2 * self._rounding * (norm + float(self._norms[first])) / float(self._weight_sums[first])
        is_possible: Bools = bounds <= float(bounds[first]) + slack
        return is_possible.nonzero()[0]

    def _distances(self, slot: int, others: Places) -> Array:
        """Distances to at least two other slots; the sum of a single column would round in another order."""
        difference = self._centres.take(others, axis=1)
        difference -= self._centres[:, slot, None]
        np.multiply(difference, difference, out=difference)
        weights = self._weights[others]
        weight = self._weights[slot]
        distances: Array = np.add.reduce(difference, axis=0) * (weights * weight / (weights + weight))
        return distances

    def distance(self, i: int, j: int) -> float:
        """Return the distance of two clusters."""
        other = self.slots[j]
        return float(self._distances(self.slots[i], np.array([other, other]))[0])

    def merge(self, i: int, j: int) -> None:
        """Merge cluster j into i: the centre becomes (v·a + w·b) / (v + w), the weight v + w."""
        centres = self._centres
        weights = self._weights
        a = self.slots[i]
        b = self.slots[j]
        total = weights[a] + weights[b]
        centre = (weights[a] * centres[:, a] + weights[b] * centres[:, b]) / total
        centres[:, a] = centre
        self._norms[a] = centre @ centre
        weights[a] = total
        self._inverse_weights[a] = 1 / total
        centres[:, b] = 0
        self._norms[b] = np.inf
        self._n_clusters -= 1
        if 4 * self._n_clusters < 3 * len(self.ids):
            self._remove_empty_slots()

    def _remove_empty_slots(self) -> None:
        occupied = np.flatnonzero(np.isfinite(self._norms))
        self._store(self._points.take(occupied, axis=1), self._weights[occupied])
        self.ids = self.ids[occupied]
        self.slots[self.ids] = np.arange(len(occupied))


_UPDATES: dict[Linkage, Callable[[Array, Array, float], Array]] = {
    "average": lambda a, b, fraction: fraction * a + (1 - fraction) * b,
    "complete": lambda a, b, _: np.maximum(a, b),
    "single": lambda a, b, _: np.minimum(a, b),
}
"""Distances of a merged cluster from those of its two parts; the fraction is the weight of the first part."""


class Matrix:
    """Clusters as the matrix of their distances; O(u²) memory for u clusters."""

    def __init__(self, rows: Array, weights: Array, linkage: Linkage) -> None:
        self._weights = weights.copy()
        self._linkage = linkage
        self._matrix = cdist(rows, rows)
        if linkage == "ward":
            self._weigh()
        np.fill_diagonal(self._matrix, np.inf)

    def _weigh(self) -> None:
        """Turn Euclidean distances into Ward's."""
        others = self._weights
        for block in blocks(len(others), size=64):  # a few rows at a time stay in the cache
            part = self._matrix[block]
            weights = others[block, None]
            part *= part * (weights * others) / (weights + others)

    def nearest(self, i: int, before: int) -> int:
        """Return the cluster nearest to i; in a tie ``before``, or else the first."""
        distances = self._matrix[i]
        first = int(distances.argmin())
        return before if before >= 0 and distances[before] <= distances[first] else first

    def distance(self, i: int, j: int) -> float:
        """Return the distance of two clusters."""
        return float(self._matrix[i, j])

    def merge(self, i: int, j: int) -> None:
        """Merge cluster j into i."""
        total = self._weights[i] + self._weights[j]
        if self._linkage == "ward":
            distances = self._ward(i, j)
        else:
            fraction = float(self._weights[i] / total)
            distances = _UPDATES[self._linkage](self._matrix[i], self._matrix[j], fraction)
        distances[i] = distances[j] = np.inf
        self._weights[i] = total
        self._matrix[i] = self._matrix[:, i] = distances
        self._matrix[j] = self._matrix[:, j] = np.inf

    def _ward(self, i: int, j: int) -> Array:
        """Ward's distances to the merged cluster i ∪ j, by the rule of Lance and Williams.

        With the weights u of k, v of i and w of j,
        d(k, i ∪ j) = ((u + v)·d(k, i) + (u + w)·d(k, j) − u·d(i, j)) / (u + v + w).
        """
        u = self._weights
        v = self._weights[i]
        w = self._weights[j]
        total = (u + v) * self._matrix[i] + (u + w) * self._matrix[j] - u * self._matrix[i, j]
        distances: Array = total / (u + (v + w))
        return distances


def ward_links(rows: Array, weights: Array) -> Centres | Matrix:
    """Return the rows as clusters with Ward's distance: a matrix for few rows, which is faster, else centres."""
    return Matrix(rows, weights, "ward") if len(rows) <= MAX_MATRIX_ROWS else Centres(rows, weights)


def merge_all(links: Centres | Matrix, n: int) -> tuple[Places, Array]:
    """Merge n clusters into one, by the nearest-neighbour chain.

    Returns
    -------
    pairs : ndarray of shape (n - 1, 2)
        The two clusters of each merge, the smaller number first, which the merged cluster keeps.
    heights : ndarray of shape (n - 1,)
        Their distance. Merges are in the order of the chain, not of their heights.
    """
    with one_thread():
        return _merge_all(links, n)


def _merge_all(links: Centres | Matrix, n: int) -> tuple[Places, Array]:
    pairs = np.empty((n - 1, 2), dtype=np.intp)
    heights = np.empty(n - 1)
    remains = np.ones(n, dtype=np.bool_)
    chain: list[int] = []
    for done in range(n - 1):
        chain = chain or [int(remains.argmax())]
        heights[done] = _follow(links, chain)
        smaller, larger = sorted((chain.pop(), chain.pop()))
        pairs[done] = smaller, larger
        links.merge(smaller, larger)
        remains[larger] = False
        chain = [c for c in chain if c != larger]  # rounding errors can put it there twice
        if done % 256 == 0 or done == n - 2:
            report("clustering", done + 1, n - 1)
    return pairs, heights


def _follow(links: Centres | Matrix, chain: list[int]) -> float:
    """Extend the chain by the nearest cluster of its last one until the last two are nearest to each other.

    Returns the distance of these two.
    """
    while True:
        before = chain[-2] if len(chain) > 1 else -1
        nearest = links.nearest(chain[-1], before)
        if nearest == before:
            return links.distance(chain[-1], before)
        chain.append(nearest)


def cut(pairs: Places, heights: Array, n_clusters: int) -> Places:
    """Return the labels of the rows after all merges but the n_clusters - 1 highest.

    The pairs of all merges are a tree, so those of n - n_clusters merges leave n_clusters components.
    """
    n = len(pairs) + 1
    lowest = np.argsort(heights, kind="stable")[: n - n_clusters]
    a, b = pairs[lowest].T
    tree = coo_array((np.ones(len(a)), (a, b)), shape=(n, n))
    return np.asarray(connected_components(tree, directed=False)[1], dtype=np.intp)
