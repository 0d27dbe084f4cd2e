"""Z, the probability that one draw of cluster, pair and relation gives a triple."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from nnmfaug.augmenters.nnmf.law import ClusterLaw
from nnmfaug.augmenters.nnmf.many_relations import MAX_DENSE_RELATIONS
from nnmfaug.core.arrays import Array, Ids, Places
from nnmfaug.core.blocks import blocks
from nnmfaug.core.sparse import DistinctRows

Rows = tuple[DistinctRows, DistinctRows]
"""Distinct rows of A and of B."""
MAX_ROW_PAIRS = 4 * 10**8
"""Pairs of distinct rows up to which Z is computed; above, it is estimated."""


class _Group(NamedTuple):
    """One cluster: the distinct rows of its heads and tails, and the sum of the weights of each row."""

    cluster: int
    head_rows: Ids
    head_weights: Array
    tail_rows: Ids
    tail_weights: Array


def normaliser(law: ClusterLaw) -> float | None:
    """Return Z, or None if it takes too long to compute.

    Z = Σ over c of pair_scale[c] · Σ over h, t in c, h ≠ t, of uₕ·vₜ · Σ over allowed r of p(r | h, t).
    Entities with equal rows of counts are summed as one.
    """
    if law.counts.n_relations > MAX_DENSE_RELATIONS and not law.relations_allowed.all():
        return None
    rows = _rows(law)
    groups = list(_groups(law, rows))
    n_pairs = sum(len(group.head_rows) * len(group.tail_rows) for group in groups)
    if n_pairs > MAX_ROW_PAIRS:
        return None
    total = 0.0
    for group in groups:
        for block in blocks(len(group.head_rows), size=512):
            allowed = _allowed_mass(law, rows, group.head_rows[block], group.tail_rows)
            tails = np.add.reduce(allowed * group.tail_weights, axis=1)
            mass = np.add.reduce(group.head_weights[block] * tails)
            total += float(law.pair_scale[group.cluster] * mass)
    return total - _self_pairs(law)


def _groups(law: ClusterLaw, rows: Rows) -> Iterator[_Group]:
    """Yield for each cluster the distinct rows of its heads and tails, with the sums of their weights."""
    head_rows, tail_rows = rows
    head_weights = law.head_weights * law.heads_allowed
    tail_weights = law.tail_weights * law.tails_allowed
    for cluster in np.flatnonzero(law.pair_scale > 0):
        inside = np.flatnonzero(law.labels == cluster)
        heads = _weigh_rows(head_rows.inverse[inside], head_weights[inside])
        tails = _weigh_rows(tail_rows.inverse[inside], tail_weights[inside])
        yield _Group(int(cluster), *heads, *tails)


def _rows(law: ClusterLaw) -> Rows:
    """Return the distinct rows of A and B; only their non-zero patterns, if all relations are allowed."""
    heads = law.counts.head_rows
    tails = law.counts.tail_rows
    if law.relations_allowed.all():
        return _patterns(heads), _patterns(tails)
    return heads, tails


def _allowed_mass(law: ClusterLaw, rows: Rows, heads: Ids, tails: Ids) -> Array:
    """Return Σ over allowed relations of p(r | h, t), for distinct rows of heads × of tails."""
    if law.smooth and law.relations_allowed.all():
        return np.ones((len(heads), len(tails)))
    head_rows, tail_rows = rows
    if law.relations_allowed.all():
        n_shared = csr_array(head_rows.rows[heads] @ tail_rows.rows[tails].T)
        return np.asarray(n_shared.toarray() > 0, dtype=np.float64)
    a = head_rows.rows[heads].toarray().astype(np.float64)
    b = tail_rows.rows[tails].toarray().astype(np.float64)
    total = np.zeros((len(heads), len(tails)))
    allowed = np.zeros((len(heads), len(tails)))
    for relation in range(law.counts.n_relations):
        weights = law.relation_law.weights(np.outer(a[:, relation], b[:, relation]))
        total += weights
        allowed += weights * law.relations_allowed[relation]
    mass: Array = np.divide(allowed, total, out=np.zeros(total.shape), where=total > 0)
    return mass


def _self_pairs(law: ClusterLaw) -> float:
    """Return what pairs of an entity with itself add to the sum over all pairs."""
    entities = np.flatnonzero((law.labels >= 0) & law.heads_allowed & law.tails_allowed)
    entities = entities[law.pair_scale[law.labels[entities]] > 0]
    scale = law.pair_scale[law.labels[entities]]
    weights = scale * law.head_weights[entities] * law.tail_weights[entities]
    totals = law.totals(entities, entities)
    allowed = law.totals(entities, entities, law.relations_allowed)
    shares = np.divide(allowed, totals, out=np.zeros(len(entities)), where=totals > 0)
    return float(np.add.reduce(weights * shares))


def _weigh_rows(rows: Places, weights: Array) -> tuple[Ids, Array]:
    """Return the different rows, ascending, and the sum of the weights of each."""
    numbers, places = np.unique(rows, return_inverse=True)
    sums = np.bincount(places, weights=weights, minlength=len(numbers)).astype(np.float64)
    return numbers.astype(np.int64), sums


def _patterns(rows: DistinctRows) -> DistinctRows:
    """Return the distinct patterns of non-zero entries."""
    patterns = DistinctRows.of(csr_array(rows.rows.astype(bool).astype(np.int64)))
    inverse = patterns.inverse[rows.inverse]
    counts = np.bincount(inverse, minlength=len(patterns)).astype(np.int64)
    return DistinctRows(patterns.rows, inverse, counts)
