"""The support of NNMFAug's distribution: for each cluster and relation, possible heads × possible tails.

A rectangle is one cluster and one relation (or, with smoothing, one cluster and any relation). Its heads are the
entities of the cluster that are head of the relation in some train triple, its tails likewise. Every triple of the
support lies in exactly one rectangle, so drawing from rectangles wastes no draw on pairs that share no relation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from nnmfaug.core.arrays import Array, Ids
from nnmfaug.graph.keys import stable_order


@dataclass(frozen=True)
class Sides:
    """Heads or tails of all rectangles, one rectangle after the other.

    Those of rectangle i are ``entities[starts[i]:ends[i]]``, ascending; ``values`` are their counts, and
    ``cumulative`` runs over all weights, from 0.
    """

    entities: Ids
    values: Array
    cumulative: Array
    starts: Ids
    ends: Ids

    @cached_property
    def equal_weights(self) -> bool:
        """Whether all entities have the same weight."""
        steps = np.diff(self.cumulative)
        return bool((steps == steps[:1]).all())

    @property
    def lengths(self) -> Ids:
        """Number of entities per rectangle."""
        return self.ends - self.starts

    @property
    def masses(self) -> Array:
        """Sum of weights per rectangle."""
        return self.cumulative[self.ends] - self.cumulative[self.starts]

    def keys(self, n_entities: int) -> Ids:
        """Return one number per entity of a rectangle: the rectangle, then the entity."""
        lengths = self.lengths
        rectangles = np.repeat(np.arange(len(lengths)), lengths)
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        keys: Ids = rectangles * n_entities + self.entities[np.repeat(self.starts, lengths) + within]
        return keys

    def pick(self, rectangles: Ids, uniform: Array) -> Ids:
        """Return a position in ``entities`` per rectangle, drawn by weight with a number in [0, 1)."""
        starts = self.starts[rectangles]
        ends = self.ends[rectangles]
        if self.equal_weights:  # then no search is needed
            return np.minimum(starts + (uniform * (ends - starts)).astype(np.int64), ends - 1)
        low = self.cumulative[starts]
        high = self.cumulative[ends]
        places = np.searchsorted(self.cumulative, low + uniform * (high - low), side="right") - 1
        return np.clip(places, starts, ends - 1)


@dataclass(frozen=True)
class Rectangles:
    """All rectangles that have a head and a tail, by cluster, then relation."""

    clusters: Ids
    relations: Ids
    heads: Sides
    tails: Sides

    @classmethod
    def build(
        cls, heads: csr_array, tails: csr_array, labels: Ids, head_weights: Array, tail_weights: Array
    ) -> Rectangles:
        """Cut counts of heads and tails, shape (n_entities, n_relations), into clusters; weight 0 is omitted."""
        n_columns = int(heads.shape[1])
        head_keys, head_parts = _by_key(heads, labels, head_weights)
        tail_keys, tail_parts = _by_key(tails, labels, tail_weights)
        keys = common(head_keys, tail_keys)
        return cls(
            keys // n_columns,
            keys % n_columns,
            _sides(keys, head_keys, *head_parts),
            _sides(keys, tail_keys, *tail_parts),
        )

    def __len__(self) -> int:
        return len(self.clusters)

    def sizes(self) -> Ids:
        """Return the number of triples h ≠ t in each rectangle."""
        heads = self.heads
        tails = self.tails
        n_entities = 1 + max(heads.entities.max(initial=0), tails.entities.max(initial=0))
        both = common(heads.keys(n_entities), tails.keys(n_entities))
        return heads.lengths * tails.lengths - np.bincount(both // n_entities, minlength=len(self))

    def least_sizes(self) -> Ids:
        """Return a lower bound of each size, as if every entity of the shorter side were on the other, too."""
        n_heads = self.heads.lengths
        n_tails = self.tails.lengths
        return n_heads * n_tails - np.minimum(n_heads, n_tails)

    def places(self, size: int) -> Iterator[tuple[Ids, Ids, Ids]]:
        """Yield every triple as rectangle, position of head and position of tail, about ``size`` at a time."""
        pending: list[tuple[Ids, Ids, Ids]] = []
        n_pending = 0
        for i in range(len(self)):
            tails = np.arange(self.tails.starts[i], self.tails.ends[i])
            rows = max(size // len(tails), 1)
            for start in range(self.heads.starts[i], self.heads.ends[i], rows):
                heads = np.arange(start, min(start + rows, self.heads.ends[i]))
                head, tail = (grid.ravel() for grid in np.meshgrid(heads, tails, indexing="ij"))
                differ = self.heads.entities[head] != self.tails.entities[tail]
                pending.append((np.full(int(differ.sum()), i), head[differ], tail[differ]))
                n_pending += len(pending[-1][0])
                if n_pending >= size:
                    yield _joined(pending)
                    pending = []
                    n_pending = 0
        if n_pending:
            yield _joined(pending)


def common(a: Ids, b: Ids) -> Ids:
    """Return the numbers in both of two ascending arrays, each once; ``np.intersect1d`` would sort again."""
    different = [x[np.flatnonzero(np.diff(x, prepend=-1))] for x in (a, b)]
    merged: Ids = np.sort(np.concatenate(different), kind="stable")  # merges the two sorted arrays
    repeated: Ids = merged[1:][merged[1:] == merged[:-1]]
    return repeated


def _joined(parts: list[tuple[Ids, Ids, Ids]]) -> tuple[Ids, Ids, Ids]:
    first, second, third = (np.concatenate(column) for column in zip(*parts, strict=True))
    return first, second, third


def _by_key(matrix: csr_array, labels: Ids, weights: Array) -> tuple[Ids, tuple[Ids, Array, Array]]:
    """Sort the entries of a count matrix by cluster, relation and entity.

    Return their keys, and their entities, counts and weights.
    """
    n_clusters = int(labels.max(initial=-1)) + 1
    lengths = np.diff(matrix.indptr)
    clusters = np.where((labels >= 0) & (weights > 0), labels, n_clusters)  # omitted entities come last
    keys = np.repeat(clusters * int(matrix.shape[1]), lengths) + matrix.indices.astype(np.int64)
    order = stable_order(keys)[: np.count_nonzero(keys < n_clusters * matrix.shape[1])]
    entities = np.repeat(np.arange(len(labels)), lengths)[order]
    return keys[order], (entities, matrix.data[order].astype(np.float64), weights[entities])


def _sides(keys: Ids, entry_keys: Ids, entities: Ids, values: Array, weights: Array) -> Sides:
    cumulative = np.concatenate([[0.0], np.cumsum(weights)])
    starts = np.searchsorted(entry_keys, keys, side="left")
    return Sides(entities, values, cumulative, starts, np.searchsorted(entry_keys, keys, side="right"))
