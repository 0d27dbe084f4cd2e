"""Proposals: one block of triples from a stream of its own, thinned to the law."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nnmfaug.augmenters.nnmf.law import ClusterLaw
from nnmfaug.core.arrays import Array, Ids
from nnmfaug.core.seeding import Stream, generator

DRAW_BLOCK = 1 << 14
"""Proposals that one task makes."""
GUIDE = 1 << 14
"""Steps of the table that finds the rectangle of most proposals; a power of two, so that they are exact."""


@dataclass(frozen=True)
class Proposer:
    """Draws one block of triples: rectangles by mass, head and tail by weight, thinned to the law.

    A triple is proposed by p(cluster)·p(h, t | cluster) and kept with probability p(r | h, t). A value of its own,
    so that it can be sent to another process.
    """

    law: ClusterLaw
    seed: int

    @cached_property
    def cumulative(self) -> Array:
        """Running sum of the masses of the rectangles."""
        r = self.law.rectangles
        return np.cumsum(self.law.pair_scale[r.clusters] * r.heads.masses * r.tails.masses)

    @cached_property
    def guide(self) -> Ids:
        """The rectangle that each of some equally spaced numbers from 0 to 1 falls in."""
        ends = np.linspace(0, 1, GUIDE + 1) * self.cumulative[-1]
        return np.asarray(np.searchsorted(self.cumulative, ends, side="right"))

    def _rectangles(self, uniform: Array) -> Ids:
        """Draw rectangles by mass, without a search where both ends of a step of the guide fall in one."""
        steps = (uniform * GUIDE).astype(np.int64)
        chosen = self.guide[steps]
        rest = np.flatnonzero(self.guide[1:][steps] != chosen)
        chosen[rest] = np.searchsorted(self.cumulative, uniform[rest] * self.cumulative[-1], side="right")
        return np.minimum(chosen, len(self.cumulative) - 1)

    def __call__(self, block: int) -> Ids:
        """Return the triples of one block, shape (n, 3); every block has its own stream."""
        law, cells = self.law, self.law.rectangles
        where, head, tail, keep = generator(self.seed, Stream.PROPOSALS, block).random((4, DRAW_BLOCK))
        chosen = self._rectangles(where)
        heads, tails = cells.heads.pick(chosen, head), cells.tails.pick(chosen, tail)
        h, t = cells.heads.entities[heads], cells.tails.entities[tails]
        differ = h != t
        if law.smooth:
            return self._relate(h[differ], t[differ], keep[differ])
        weights = law.relation_law.weights(cells.heads.values[heads] * cells.tails.values[tails])
        kept = np.flatnonzero(differ & (keep < law.divide(weights, h, t)))
        return np.stack([h[kept], cells.relations[chosen[kept]], t[kept]], axis=1)

    def _relate(self, h: Ids, t: Ids, uniform: Array) -> Ids:
        """Draw a relation for each pair, every one of which is possible; keep the allowed ones."""
        parts = []
        for start in range(0, len(h), 4096):
            part = slice(start, start + 4096)
            products = self.law.counts.heads[h[part]].toarray() * self.law.counts.tails[t[part]].toarray()
            running = np.cumsum(self.law.relation_law.weights(products.astype(np.float64)), axis=1)
            parts.append((running <= uniform[part, None] * running[:, -1:]).sum(axis=1))
        r = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
        kept = self.law.relations_allowed[r]
        return np.stack([h[kept], r[kept], t[kept]], axis=1)
