"""The probability of a triple in NNMFAug (Eq. 2), given that a draw gives one.

The paper draws a cluster, then a pair, then a relation, and leaves open what happens if the pair is one entity
twice or shares no relation. Here such a draw starts again from the cluster. With Z the probability that a draw
gives a triple,

    p(h, r, t) = p(cluster) · p(h, t | cluster) · p(r | h, t) / Z.

For h ≠ t in cluster c with head weights uₕ and tail weights vₜ,

    p(h, t | c) = uₕ·vₜ / Σ over i ≠ j in c of uᵢ·vⱼ,
    p(r | h, t) = w(A[h, r]·B[t, r]) / Σ over s of w(A[h, s]·B[t, s]),

where w is the weight function of :class:`~nnmfaug.CountProduct`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nnmfaug.augmenters.conditions import Masks
from nnmfaug.augmenters.nnmf.support import Rectangles
from nnmfaug.augmenters.nnmf.weights import CountProduct
from nnmfaug.core.arrays import Array, Bools, Ids
from nnmfaug.core.elementary import log
from nnmfaug.core.sparse import entries
from nnmfaug.graph.counts import Counts

MAX_TABLE = 1 << 22
"""Pairs of distinct rows whose sums over relations are stored."""


@dataclass(frozen=True)
class ClusterLaw:
    """Weights of clusters, heads, tails and relations, and which heads, tails and relations are allowed.

    Weights need not be normalised.

    Parameters
    ----------
    counts
        A and B.
    labels : ndarray of shape (n_entities,)
        The cluster of each entity, −1 for none.
    cluster_weights : ndarray of shape (n_clusters,)
    head_weights, tail_weights : ndarray of shape (n_entities,)
        uₕ and vₜ.
    relation_law
        The weight function w.
    heads_allowed, tails_allowed, relations_allowed
        Conditions, as masks of ids.
    """

    counts: Counts
    labels: Ids
    cluster_weights: Array
    head_weights: Array
    tail_weights: Array
    relation_law: CountProduct
    heads_allowed: Bools
    tails_allowed: Bools
    relations_allowed: Bools

    @property
    def smooth(self) -> bool:
        """Whether every relation is possible between any two entities of a cluster."""
        return self.relation_law.smoothing > 0

    @cached_property
    def pair_scale(self) -> Array:
        """p(c) / Σ over i ≠ j in c of uᵢ·vⱼ, for each cluster c; 0 where there is no pair."""
        n_clusters = len(self.cluster_weights)
        heads = self._sum_by_cluster(self.head_weights)
        tails = self._sum_by_cluster(self.tail_weights)
        both = self._sum_by_cluster(self.head_weights * self.tail_weights)
        pairs = heads * tails - both
        total = max(self.cluster_weights.sum(), np.finfo(float).tiny)
        chance = self.cluster_weights / total
        possible = pairs > 1e-12 * heads * tails
        scale: Array = np.divide(chance, pairs, out=np.zeros(n_clusters), where=possible)
        return scale

    def _sum_by_cluster(self, weights: Array) -> Array:
        n_clusters = len(self.cluster_weights)
        sums = np.bincount(self.labels + 1, weights=weights, minlength=n_clusters + 1)
        return np.asarray(sums[1:], dtype=np.float64)  # the first sum is over entities in no cluster

    @cached_property
    def rectangles(self) -> Rectangles:
        """The support: one rectangle per cluster and relation, or per cluster with smoothing."""
        if self.smooth:
            heads = tails = csr_array(np.ones((self.counts.n_entities, 1), dtype=np.int64))
        else:
            heads = _columns(self.counts.heads, self.relations_allowed)
            tails = _columns(self.counts.tails, self.relations_allowed)
        labels = np.where(self.pair_scale[self.labels] > 0, self.labels, -1)
        head_weights = self.head_weights * self.heads_allowed
        tail_weights = self.tail_weights * self.tails_allowed
        return Rectangles.build(heads, tails, labels, head_weights, tail_weights)

    @cached_property
    def support_size(self) -> int:
        """Number of triples with a probability above zero."""
        return int(self.rectangles.sizes().sum()) * self._per_pair

    @property
    def least_support_size(self) -> int:
        """A lower bound of ``support_size``, computed faster."""
        return int(self.rectangles.least_sizes().sum()) * self._per_pair

    @property
    def _per_pair(self) -> int:
        """Number of triples for each pair of a rectangle."""
        return int(self.relations_allowed.sum()) if self.smooth else 1

    def in_support(self, triples: Ids) -> Bools:
        """Return for each row of ids whether its probability is above zero."""
        h, _, t = triples.T
        possible: Bools = self.labels[h] == self.labels[t]
        rows = np.flatnonzero(possible)  # most pairs are of two clusters, and the other tests take longer
        possible[rows] = self._possible_within(triples.take(rows, axis=0))
        return possible

    def _possible_within(self, triples: Ids) -> Bools:
        """Return for each triple of two entities of one cluster whether its probability is above zero."""
        h, r, t = triples.T
        possible = (self.labels[h] >= 0) & (h != t)
        possible &= (self.head_weights[h] > 0) & (self.tail_weights[t] > 0)
        possible &= self.heads_allowed[h] & self.tails_allowed[t] & self.relations_allowed[r]
        if not self.smooth:
            possible &= entries(self.counts.heads, h, r) > 0
            possible &= entries(self.counts.tails, t, r) > 0
        return np.asarray(possible)

    def restrict(self, masks: Masks) -> ClusterLaw:
        """Return the law with fewer relations, heads and tails allowed."""
        return replace(
            self,
            relations_allowed=self.relations_allowed & masks.relations,
            heads_allowed=self.heads_allowed & masks.heads,
            tails_allowed=self.tails_allowed & masks.tails,
        )

    def relation_probabilities(self, h: Ids, t: Ids, r: Ids) -> Array:
        """Return p(r | h, t) for each row; 0 where h and t share no relation."""
        products = entries(self.counts.heads, h, r) * entries(self.counts.tails, t, r)
        return self.divide(self.relation_law.weights(products), h, t)

    def divide(self, weights: Array, h: Ids, t: Ids) -> Array:
        """Divide the weight of a relation by the sum over all relations of the pair."""
        table = self._total_table
        if table is None:
            totals = self.totals(h, t)
        else:
            head_rows = self.counts.head_rows.inverse[h]
            tail_rows = self.counts.tail_rows.inverse[t]
            totals = table.ravel()[head_rows * table.shape[1] + tail_rows]
        smallest = np.finfo(np.float64).tiny  # where the sum is 0, so is the weight
        probabilities: Array = weights / np.maximum(totals, smallest)
        return probabilities

    @cached_property
    def _total_table(self) -> Array | NDArray[np.float32] | None:
        """Σ over r of A[h, r]·B[t, r] for distinct rows, if w is the identity and few rows are distinct.

        The sums are of whole numbers, so they are exact in any order.
        """
        heads = self.counts.head_rows
        tails = self.counts.tail_rows
        n_cells = len(tails) * max(len(heads), self.counts.n_relations)
        if self.smooth or self.relation_law.temperature != 1 or n_cells > MAX_TABLE:
            return None
        largest_tail = np.asarray(tails.rows.sum(axis=1)).max(initial=0)
        largest = heads.rows.data.max(initial=0) * largest_tail
        kind = np.float32 if largest < 2**24 else np.float64  # half the memory, if that is enough digits
        return np.asarray(heads.rows.astype(kind) @ tails.rows.T.astype(kind).toarray())

    def totals(self, h: Ids, t: Ids, columns: Bools | None = None) -> Array:
        """Return Σ over relations, or over some of them, of w(A[h, r]·B[t, r]) for each pair."""
        products = csr_array(self.counts.heads[h].multiply(self.counts.tails[t]))
        weights = self.relation_law.weights(products.data.astype(np.float64))
        taken = np.ones(self.counts.n_relations, dtype=np.bool_) if columns is None else columns
        rows = np.repeat(np.arange(len(h)), np.diff(products.indptr))
        totals = np.bincount(rows, weights=weights * taken[products.indices], minlength=len(h))
        if self.smooth:
            stored = np.bincount(rows, weights=taken[products.indices].astype(np.float64), minlength=len(h))
            totals = totals + (taken.sum() - stored) * self.relation_law.weights(np.zeros(1))[0]
        return np.asarray(totals, dtype=np.float64)

    def log_weights(self, triples: Ids) -> Array:
        """Return the logarithm of the product of Eq. 2, without dividing by Z; −∞ outside the support."""
        logs = np.full(len(triples), -np.inf)
        possible = np.flatnonzero(self.in_support(triples))
        h, r, t = triples[possible].T
        pair_probabilities = self.pair_scale[self.labels[h]] * self.head_weights[h] * self.tail_weights[t]
        relation_probabilities = self.relation_probabilities(h, t, r)
        logs[possible] = log(pair_probabilities) + log(relation_probabilities)
        return logs


def _columns(matrix: csr_array, allowed: Bools) -> csr_array:
    """Return the matrix with the other columns emptied."""
    if allowed.all():
        return matrix
    entry = matrix.tocoo()
    inside = allowed[entry.col]
    return csr_array((entry.data[inside], (entry.row[inside], entry.col[inside])), shape=matrix.shape)
