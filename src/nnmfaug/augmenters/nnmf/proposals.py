"""Proposals: blocks of triples, each from its own random stream, thinned to the distribution."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nnmfaug.augmenters.nnmf.law import ClusterLaw
from nnmfaug.core.arrays import Array, Ids
from nnmfaug.core.blocks import blocks
from nnmfaug.core.seeding import Stream, generator

DRAW_BLOCK = 1 << 14
"""Proposals that one task makes."""
MAX_CELLS = 1 << 22
"""Pairs × relations whose weights are computed at a time."""
GUIDE = 1 << 14
"""Size of the table that gives the rectangle of most proposals; a power of two, so that its steps are exact."""


@dataclass(frozen=True)
class Proposer:
    """Draws blocks of triples: a rectangle by its mass, head and tail by weight, then thinning.

    A triple is proposed with probability ∝ p(c)·p(h, t | c) and accepted with probability p(r | h, t). The
    proposer is a value of its own, so that it can be sent to another process.
    """

    law: ClusterLaw
    seed: int

    @cached_property
    def cumulative(self) -> Array:
        """Running sum of the masses of the rectangles."""
        rectangles = self.law.rectangles
        scale = self.law.pair_scale[rectangles.clusters]
        return np.cumsum(scale * rectangles.heads.masses * rectangles.tails.masses)

    @cached_property
    def guide(self) -> Ids:
        """The rectangle of each of ``GUIDE + 1`` equally spaced numbers from 0 to 1."""
        ends = np.linspace(0, 1, GUIDE + 1) * self.cumulative[-1]
        return np.asarray(np.searchsorted(self.cumulative, ends, side="right"))

    def _rectangles(self, uniform: Array) -> Ids:
        """Draw rectangles by mass; no search is needed where both ends of a step of the guide fall in one."""
        steps = (uniform * GUIDE).astype(np.int64)
        chosen = self.guide[steps]
        unsure = np.flatnonzero(self.guide[1:][steps] != chosen)
        masses = uniform[unsure] * self.cumulative[-1]
        chosen[unsure] = np.searchsorted(self.cumulative, masses, side="right")
        return np.minimum(chosen, len(self.cumulative) - 1)

    def __call__(self, block: int) -> Ids:
        """Return the accepted triples of one block, shape (n, 3); every block has its own stream."""
        law = self.law
        cells = law.rectangles
        rng = generator(self.seed, Stream.PROPOSALS, block)
        where, head, tail, keep = rng.random((4, DRAW_BLOCK))
        chosen = self._rectangles(where)
        head_places = cells.heads.pick(chosen, head)
        tail_places = cells.tails.pick(chosen, tail)
        h = cells.heads.entities[head_places]
        t = cells.tails.entities[tail_places]
        differ = h != t
        if law.smooth:
            return self._relate(h[differ], t[differ], keep[differ])
        products = cells.heads.values[head_places] * cells.tails.values[tail_places]
        probabilities = law.divide(law.relation_law.weights(products), h, t)
        accepted = np.flatnonzero(differ & (keep < probabilities))
        return np.stack([h[accepted], cells.relations[chosen[accepted]], t[accepted]], axis=1)

    def _relate(self, h: Ids, t: Ids, uniform: Array) -> Ids:
        """Draw a relation for each pair, with all relations possible; keep the allowed ones."""
        law = self.law
        parts = []
        for part in blocks(len(h), size=max(MAX_CELLS // law.counts.n_relations, 1)):
            products = law.counts.heads[h[part]].toarray() * law.counts.tails[t[part]].toarray()
            weights = law.relation_law.weights(products.astype(np.float64))
            running = np.cumsum(weights, axis=1)
            parts.append((running <= uniform[part, None] * running[:, -1:]).sum(axis=1))
        r = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
        allowed = law.relations_allowed[r]
        return np.stack([h[allowed], r[allowed], t[allowed]], axis=1)
