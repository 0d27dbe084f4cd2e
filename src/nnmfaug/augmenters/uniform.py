"""A distribution over triples that is uniform within each relation.

Drawing n different new triples one by one from such a distribution takes two steps: which relations, in which
order, and then for each relation different new pairs, all equally probable. That needs time and memory for n and
the graph alone, however large or exhausted the support is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from nnmfaug.augmenters.base import Sample
from nnmfaug.augmenters.conditions import MAX_LISTED, Masks, exclude_also, too_few, too_many_to_list
from nnmfaug.augmenters.entity_sets import EntitySets
from nnmfaug.core.arrays import Array, Bools, Ids, IntArray
from nnmfaug.core.checks import check_count
from nnmfaug.core.elementary import expm1, log, log1p
from nnmfaug.core.errors import SamplingError
from nnmfaug.core.seeding import Stream, generator
from nnmfaug.graph.keys import SortedKeys, sorted_unique
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

DRAW, SAMPLE = 0, 1
"""Places in the stream of random numbers."""


@dataclass(frozen=True, eq=False)
class RelationUniform:
    """A distribution over triples: a relation r with probability πᵣ, then any pair of its heads and tails.

    p(h, r, t) = πᵣ / number of pairs of r. A pair has two different entities. The support contains train triples;
    ``n_new``, ``sample`` and ``top`` leave them out.

    Parameters
    ----------
    graph
        The train graph.
    relations : ndarray of shape (n,)
        Ids of the relations, ascending.
    chances : ndarray of shape (n,)
        πᵣ of each relation, above 0.
    heads, tails : ndarray of shape (n,)
        Numbers of the sets that hold the heads and the tails of each relation; at least one pair differs.
    sets
        The sets of entities.
    excluded
        Graphs whose triples are treated as known.
    """

    graph: KnowledgeGraph
    relations: Ids
    chances: Array
    heads: Ids
    tails: Ids
    sets: EntitySets
    excluded: tuple[KnowledgeGraph, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        for array in (self.relations, self.chances, self.heads, self.tails):
            array.setflags(write=False)

    @cached_property
    def pair_counts(self) -> Ids:
        """Number of pairs of each relation: |heads|·|tails| − |both|."""
        n_heads = self.sets.sizes[self.heads]
        n_tails = self.sets.sizes[self.tails]
        counts: Ids = n_heads * n_tails - self.sets.overlaps(self.heads, self.tails)
        return counts

    @cached_property
    def new_counts(self) -> Ids:
        """Number of pairs of each relation that are neither in train with it nor excluded."""
        known = self.graph.vocabulary.from_keys(self._known.keys).astype(np.int64)
        places = self._places(known)[self._in_support(known)]
        counts: Ids = self.pair_counts - np.bincount(places, minlength=len(self.relations))
        return counts

    @property
    def support_size(self) -> int:
        """Number of triples with a probability above zero, in closed form."""
        return int(self.pair_counts.sum())

    @property
    def n_new(self) -> int:
        """Number of triples of the support that are neither in train nor excluded."""
        return int(self.new_counts.sum())

    def log_prob(self, triples: ArrayLike) -> Array:
        """Return log p of each row of ids, shape (n, 3); −∞ outside the support."""
        ids = np.asarray(triples)
        self.graph.vocabulary.check_ids(ids)
        ids = ids.astype(np.int64)
        logs = np.full(len(ids), -np.inf)
        possible = self._in_support(ids)
        logs[possible] = log(self._weights)[self._places(ids[possible])]
        return logs

    def draw(self, n: int, *, seed: int) -> IntArray:
        """Draw n triples independently, shape (n, 3); they may repeat and may be in train."""
        rng = generator(seed, Stream.UNIFORM, DRAW)
        places = rng.choice(len(self.relations), size=check_count(n), p=self.chances)
        return self._propose(places, rng).astype(np.int32)

    def sample(self, n: int, *, seed: int) -> Sample:
        """Draw n different triples that are neither in train nor excluded, in drawing order.

        Raises
        ------
        SamplingError
            If there are fewer than n.
        """
        if check_count(n) > self.n_new:
            partial = self.sample(self.n_new, seed=seed) if self.n_new <= MAX_LISTED else None
            raise SamplingError(too_few(n, self.n_new), available=self.n_new, partial=partial)
        rng = generator(seed, Stream.UNIFORM, SAMPLE)
        places = _race(self._weights, self.new_counts, n, rng)
        return self._sample(self._fill(places, rng))

    def top(self, n: int) -> Sample:
        """Return the n most probable new triples; equally probable ones by id."""
        if self.support_size > MAX_LISTED:
            raise too_many_to_list(self.support_size, self.n_new)
        parts = [self._list(place) for place in range(len(self.relations))]
        triples = np.concatenate(parts)
        keys = self.graph.vocabulary.keys(triples)
        order = np.lexsort((keys, -self.log_prob(triples)))
        if check_count(n) > len(order):
            partial = self._sample(triples[order])
            raise SamplingError(too_few(n, self.n_new), available=self.n_new, partial=partial)
        return self._sample(triples[order[:n]])

    def restrict(
        self,
        *,
        relations: Iterable[str] | None = None,
        heads: Iterable[str] | None = None,
        tails: Iterable[str] | None = None,
        exclude: KnowledgeGraph | None = None,
    ) -> RelationUniform:
        """Return the conditional distribution; see ``Distribution.restrict``."""
        names = self.graph.vocabulary
        masks = Masks.of(names, relations, heads, tails)
        allowed = masks.relations[self.relations]
        part = self._within(allowed, masks)
        if not part.support_size:
            raise SamplingError("no triple is possible: none meets the conditions", available=0)
        possible = part.pair_counts > 0
        mass = part.pair_counts * self._weights[allowed]
        return replace(
            part,
            relations=part.relations[possible],
            chances=(mass / mass.sum())[possible],
            heads=part.heads[possible],
            tails=part.tails[possible],
            excluded=exclude_also(self.excluded, exclude, names),
        )

    def _within(self, allowed: Bools, masks: Masks) -> RelationUniform:
        """Keep some relations and entities, at first with the probabilities that the relations had."""
        n_entities = self.sets.n_entities
        head_sets, heads = np.unique(self.heads[allowed], return_inverse=True)
        tail_sets, tails = np.unique(self.tails[allowed], return_inverse=True)
        n_heads = len(head_sets)
        head_keys = self.sets.keep(head_sets, masks.heads).keys
        tail_keys = self.sets.keep(tail_sets, masks.tails).keys
        keys = np.concatenate([head_keys, n_heads * n_entities + tail_keys])
        return replace(
            self,
            relations=self.relations[allowed],
            chances=self.chances[allowed],
            heads=heads,
            tails=n_heads + tails,
            sets=EntitySets(keys, n_heads + len(tail_sets), n_entities),
        )

    @property
    def _weights(self) -> Array:
        """Probability of each triple of a relation."""
        weights: Array = self.chances / self.pair_counts
        return weights

    @cached_property
    def _known(self) -> SortedKeys:
        """Keys of the triples that are in train or excluded."""
        graphs = (self.graph, *self.excluded)
        keys = [graph.vocabulary.keys(graph.triples) for graph in graphs]
        return SortedKeys(sorted_unique(np.concatenate(keys)))

    def _places(self, triples: Ids) -> Ids:
        """Return the position in ``relations`` of each triple's relation; any position if it is absent."""
        return SortedKeys(self.relations).find(triples[:, 1])[1]

    def _in_support(self, triples: Ids) -> Bools:
        h, r, t = triples.T
        listed, places = SortedKeys(self.relations).find(r)
        possible = listed & (h != t)
        possible &= self.sets.contain(self.heads[places], h)
        possible &= self.sets.contain(self.tails[places], t)
        return np.asarray(possible)

    def _propose(self, places: Ids, rng: np.random.Generator) -> Ids:
        """Draw a pair for each position of a relation; at least every second proposal has different ends."""
        triples = np.zeros((len(places), 3), dtype=np.int64)
        triples[:, 1] = self.relations[places]
        waiting = np.arange(len(places))
        while len(waiting):
            triples[waiting, 0] = self.sets.pick(self.heads[places[waiting]], rng)
            triples[waiting, 2] = self.sets.pick(self.tails[places[waiting]], rng)
            waiting = waiting[triples[waiting, 0] == triples[waiting, 2]]
        return triples

    def _fill(self, places: Ids, rng: np.random.Generator) -> Ids:
        """Draw different new pairs, one for each position of a relation.

        Pairs are proposed while at least half of a relation's are free. For other relations all new pairs are
        listed: those have fewer than twice as many pairs as are known or wanted. A refused proposal is repeated
        for its own row, which changes no probability, since all pairs of a relation are equally probable.
        """
        triples = np.zeros((len(places), 3), dtype=np.int64)
        wanted = np.bincount(places, minlength=len(self.relations))
        crowded = 2 * (self.new_counts - wanted) < self.pair_counts
        rows = np.split(np.argsort(places, kind="stable"), np.cumsum(wanted)[:-1])
        for place in np.flatnonzero(crowded & (wanted > 0)):
            triples[rows[place]] = rng.permutation(self._list(int(place)))[: wanted[place]]
        self._fill_by_proposals(triples, places, np.flatnonzero(~crowded[places]), rng)
        return triples

    def _fill_by_proposals(self, triples: Ids, places: Ids, waiting: Ids, rng: np.random.Generator) -> None:
        """Fill the waiting rows with different new pairs."""
        taken = self._known.keys
        while len(waiting):
            proposals = self._propose(places[waiting], rng)
            keys, first = np.unique(self.graph.vocabulary.keys(proposals), return_index=True)
            new = ~SortedKeys(taken).contain(keys)
            rows = first[new]
            triples[waiting[rows]] = proposals[rows]
            # a stable sort merges what is sorted already
            taken = np.sort(np.concatenate([taken, keys[new]]), kind="stable")
            waiting = np.delete(waiting, rows)

    def _list(self, place: int) -> Ids:
        """Return all new triples of one relation."""
        heads = self.sets.members(int(self.heads[place]))
        tails = self.sets.members(int(self.tails[place]))
        h = np.repeat(heads, len(tails))
        t = np.tile(tails, len(heads))
        r = np.full(len(h), self.relations[place])
        triples: Ids = np.stack([h, r, t], axis=1)[h != t]
        known = self._known.contain(self.graph.vocabulary.keys(triples))
        return triples[~known]

    def _sample(self, triples: Ids) -> Sample:
        return Sample(KnowledgeGraph(self.graph.vocabulary, triples.astype(np.int32)), self)


def _race(weights: Array, left: Ids, n: int, rng: np.random.Generator) -> Ids:
    """Return the group of each of n draws without repeats, where group i has ``left[i]`` things of weight wᵢ.

    Drawing one by one is a race: a thing arrives at time t ~ Exp(wᵢ). The number of a group that arrives within a
    span s is Binomial(leftᵢ, 1 − exp(−wᵢ·s)); the others are as good as new, so spans follow until n things
    arrived.
    """
    left = left.copy()
    parts = [np.zeros(0, dtype=np.int64)]
    while n > 0:
        span = _span(weights, left, n + 4 * np.sqrt(n) + 16)
        chances = -expm1(-weights * span)
        arrived = rng.binomial(left, chances)
        groups = np.repeat(np.arange(len(left)), arrived)
        times = -log1p(-rng.random(len(groups)) * chances[groups]) / weights[groups]
        parts.append(groups[np.argsort(times, kind="stable")[:n]])
        left -= arrived
        n -= len(parts[-1])
    return np.concatenate(parts)


def _span(weights: Array, left: Ids, wanted: float) -> float:
    """Return a time within which so many are expected to arrive, and not many times more; ∞ if nearly all."""
    if wanted > 0.9 * left.sum():
        return np.inf
    span = wanted / float(np.add.reduce(weights * left))
    while np.add.reduce(-expm1(-weights * span) * left) < wanted:
        span *= 2
    return span
