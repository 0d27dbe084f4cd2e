"""The probability of a triple: p(cluster) · p(h, t | cluster) · p(r | h, t), given that there is a triple (Eq. 2).

The paper draws a cluster, then a pair, then a relation, and does not say what happens if the pair is one entity
twice or shares no relation. Here such a draw starts again from the cluster, so the law is the product above
divided by the chance Z that a draw ends well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nnmfaug.augmenters.nnmf.support import Rectangles
from nnmfaug.augmenters.nnmf.weights import CountProduct
from nnmfaug.core.arrays import Array, Bools, Ids
from nnmfaug.core.parallel import blocks
from nnmfaug.core.sparse import DistinctRows, entries
from nnmfaug.graph.counts import Counts

MAX_ROW_PAIRS = 4 * 10**8
"""Pairs of distinct rows up to which Z is computed; above, it is estimated."""


MAX_TABLE = 1 << 22
"""Pairs of distinct rows whose sums are kept at hand."""


@dataclass(frozen=True)
class Law:
    """Weights of clusters, heads, tails and relations, and which heads, tails and relations are allowed.

    ``labels`` is the cluster of each entity, −1 for none. Weights need not be normalised.
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
        """p(cluster) / Σ over ordered pairs of two of its entities of the weights; 0 where there is no pair."""
        h, t, n_clusters = self.head_weights, self.tail_weights, len(self.cluster_weights)
        sums = (np.bincount(self.labels + 1, weights=w, minlength=n_clusters + 1) for w in (h, t, h * t))
        heads, tails, both = (of_each[1:] for of_each in sums)  # the first is of what is in no cluster
        pairs = heads * tails - both
        chance = self.cluster_weights / max(self.cluster_weights.sum(), np.finfo(float).tiny)
        possible = pairs > 1e-12 * heads * tails
        scale: Array = np.divide(chance, pairs, out=np.zeros(n_clusters), where=possible)
        return scale

    @cached_property
    def rectangles(self) -> Rectangles:
        """What can be drawn: per cluster and relation, or per cluster with smoothing."""
        heads, tails = self.counts.heads, self.counts.tails
        if self.smooth:
            ones = csr_array(np.ones((self.counts.n_entities, 1), dtype=np.int64))
            heads = tails = ones
        else:
            heads, tails = (_columns(matrix, self.relations_allowed) for matrix in (heads, tails))
        labels = np.where(self.pair_scale[self.labels] > 0, self.labels, -1)
        return Rectangles.build(
            heads, tails, labels, self.head_weights * self.heads_allowed, self.tail_weights * self.tails_allowed
        )

    @cached_property
    def support_size(self) -> int:
        """Number of triples with a probability above zero."""
        return int(self.rectangles.sizes().sum()) * self._per_pair

    @property
    def least_support_size(self) -> int:
        """A number that ``support_size`` is not below, found faster."""
        return int(self.rectangles.least_sizes().sum()) * self._per_pair

    @property
    def _per_pair(self) -> int:
        """Number of triples that a pair of a rectangle stands for."""
        return int(self.relations_allowed.sum()) if self.smooth else 1

    def in_support(self, triples: Ids) -> Bools:
        """Say for each row of ids whether its probability is above zero."""
        h, r, t = triples.T
        possible: Bools = self.labels[h] == self.labels[t]
        places = np.flatnonzero(possible)  # what follows takes longer, and most are in two clusters
        h, r, t = triples.take(places, axis=0).T
        kept = (self.labels[h] >= 0) & (h != t) & (self.head_weights[h] > 0) & (self.tail_weights[t] > 0)
        kept &= self.heads_allowed[h] & self.tails_allowed[t] & self.relations_allowed[r]
        if not self.smooth:
            kept &= (entries(self.counts.heads, h, r) > 0) & (entries(self.counts.tails, t, r) > 0)
        possible[places] = kept
        return possible

    def relation_shares(self, h: Ids, t: Ids, r: Ids) -> Array:
        """p(r | h, t) for each row; 0 where the two share no relation."""
        own = entries(self.counts.heads, h, r) * entries(self.counts.tails, t, r)
        return self.divide(self.relation_law.weights(own), h, t)

    def divide(self, weights: Array, h: Ids, t: Ids) -> Array:
        """Divide weights of a relation by their sum over all relations of the pair."""
        table = self._total_table
        if table is None:
            totals = self._totals(h, t)
        else:
            cells = self.counts.head_rows.inverse[h] * table.shape[1] + self.counts.tail_rows.inverse[t]
            totals = table.ravel()[cells]
        shares: Array = weights / np.maximum(totals, np.finfo(np.float64).tiny)  # a sum of 0 is of zeros
        return shares

    @cached_property
    def _total_table(self) -> Array | NDArray[np.float32] | None:
        """Σ over r of A[h, r]·B[t, r] for distinct rows, if that is what is needed and few rows are distinct.

        Whole numbers, so the sums are exact in any order.
        """
        heads, tails = self.counts.head_rows, self.counts.tail_rows
        n_cells = len(tails) * max(len(heads), self.counts.n_relations)
        if self.smooth or self.relation_law.temperature != 1 or n_cells > MAX_TABLE:
            return None
        largest = heads.rows.data.max(initial=0) * np.asarray(tails.rows.sum(axis=1)).max(initial=0)
        kind = np.float32 if largest < 2**24 else np.float64  # half the memory, if that is enough digits
        return np.asarray(heads.rows.astype(kind) @ tails.rows.T.astype(kind).toarray())

    def _totals(self, h: Ids, t: Ids, columns: Bools | None = None) -> Array:
        """Sum of the weights of all relations, or of some, for each pair."""
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
        """Logarithm of the product of Eq. 2, without dividing by Z; −∞ outside the support."""
        logs = np.full(len(triples), -np.inf)
        possible = np.flatnonzero(self.in_support(triples))
        h, r, t = triples[possible].T
        pairs = self.pair_scale[self.labels[h]] * self.head_weights[h] * self.tail_weights[t]
        with np.errstate(divide="ignore"):
            logs[possible] = np.log(pairs) + np.log(self.relation_shares(h, t, r))
        return logs

    @cached_property
    def chance(self) -> float | None:
        """Z, the chance that a draw of cluster, pair and relation ends well; None if too large to compute."""
        groups = list(self._groups())
        if sum(len(heads) * len(tails) for _, heads, _, tails, _ in groups) > MAX_ROW_PAIRS:
            return None
        total = 0.0
        for cluster, heads, head_weights, tails, tail_weights in groups:
            for block in blocks(len(heads), size=512):
                shares = self._share_matrix(heads[block], tails)
                total += float(self.pair_scale[cluster] * (head_weights[block] @ (shares @ tail_weights)))
        return total - self._self_pairs()

    def _groups(self) -> Iterator[tuple[int, Ids, Array, Ids, Array]]:
        """Yield per cluster the distinct rows of its heads with the sum of their weights, and of its tails."""
        heads, tails = self._rows
        weights = self.head_weights * self.heads_allowed, self.tail_weights * self.tails_allowed
        for cluster in np.flatnonzero(self.pair_scale > 0):
            inside = np.flatnonzero(self.labels == cluster)
            parts: list[tuple[Ids, Array]] = []
            for rows, weight in zip((heads, tails), weights, strict=True):
                numbers, place = np.unique(rows.inverse[inside], return_inverse=True)
                sums = np.bincount(place, weights=weight[inside], minlength=len(numbers)).astype(np.float64)
                parts.append((numbers.astype(np.int64), sums))
            yield int(cluster), *parts[0], *parts[1]

    @cached_property
    def _rows(self) -> tuple[DistinctRows, DistinctRows]:
        """Distinct rows of A and B; of where they are not zero, if only that matters."""
        heads, tails = self.counts.head_rows, self.counts.tail_rows
        if self.relations_allowed.all():
            heads, tails = _patterns(heads), _patterns(tails)
        return heads, tails

    def _share_matrix(self, heads: Ids, tails: Ids) -> Array:
        """Σ over allowed relations of p(r | h, t), for distinct rows of heads × of tails."""
        if self.smooth and self.relations_allowed.all():
            return np.ones((len(heads), len(tails)))
        a, b = (
            rows.rows[numbers].toarray().astype(np.float64)
            for rows, numbers in zip(self._rows, (heads, tails), strict=True)
        )
        if self.relations_allowed.all():
            return (a @ b.T > 0).astype(np.float64)
        weights = np.zeros((2, len(heads), len(tails)))
        for relation in range(self.counts.n_relations):
            one = self.relation_law.weights(np.outer(a[:, relation], b[:, relation]))
            weights[0] += one
            weights[1] += one * self.relations_allowed[relation]
        shares: Array = np.divide(weights[1], weights[0], out=np.zeros(weights[0].shape), where=weights[0] > 0)
        return shares

    def _self_pairs(self) -> float:
        """What pairs of an entity with itself add to the sum over all pairs."""
        same = np.flatnonzero((self.labels >= 0) & self.heads_allowed & self.tails_allowed)
        same = same[self.pair_scale[self.labels[same]] > 0]
        weights = self.pair_scale[self.labels[same]] * self.head_weights[same] * self.tail_weights[same]
        totals, allowed = self._totals(same, same), self._totals(same, same, self.relations_allowed)
        return float(weights @ np.divide(allowed, totals, out=np.zeros(len(same)), where=totals > 0))


def _patterns(rows: DistinctRows) -> DistinctRows:
    """Rows that differ in where they are not zero."""
    found = DistinctRows.of(csr_array(rows.rows.astype(bool).astype(np.int64)))
    inverse = found.inverse[rows.inverse]
    return DistinctRows(found.rows, inverse, np.bincount(inverse, minlength=len(found)).astype(np.int64))


def _columns(matrix: csr_array, allowed: Bools) -> csr_array:
    """The matrix with the other columns emptied."""
    if allowed.all():
        return matrix
    entry = matrix.tocoo()
    kept = allowed[entry.col]
    return csr_array((entry.data[kept], (entry.row[kept], entry.col[kept])), shape=matrix.shape)
