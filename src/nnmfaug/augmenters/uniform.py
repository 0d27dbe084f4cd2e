"""A law over triples that is uniform within a relation.

Drawing n different new triples one by one from such a law falls apart into two steps: which relations, in which
order, and then for each relation different new pairs, all equally probable. That needs time and memory for n and
the graph alone, however large or exhausted the support is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from nnmfaug.augmenters.nnmf.distribution import MAX_LISTED
from nnmfaug.augmenters.samples import Sample
from nnmfaug.core.arrays import Array, Bools, Ids, IntArray
from nnmfaug.core.checks import check_count
from nnmfaug.core.errors import SamplingError
from nnmfaug.core.seeding import Stream, generator
from nnmfaug.graph.keys import sorted_unique
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

_DRAW, _SAMPLE = 0, 1


@dataclass(frozen=True, eq=False)
class EntitySets:
    """Numbered sets of entities; ``keys`` holds set · n_entities + entity for every member, ascending."""

    keys: Ids
    n_sets: int
    n_entities: int

    @classmethod
    def of(cls, sets: Ids, entities: Ids, *, n_sets: int, n_entities: int) -> EntitySets:
        """Put ``entities[i]`` into set ``sets[i]``; it may be there already."""
        keys = sorted_unique(sets * n_entities + entities)
        keys.setflags(write=False)
        return cls(keys, n_sets, n_entities)

    @cached_property
    def bounds(self) -> Ids:
        """Set i lies from ``bounds[i]`` to below ``bounds[i + 1]``."""
        return np.searchsorted(self.keys, np.arange(self.n_sets + 1) * self.n_entities)

    @property
    def sizes(self) -> Ids:
        """Number of entities of each set."""
        return np.diff(self.bounds)

    def members(self, number: int) -> Ids:
        """Return the entities of one set, ascending."""
        members: Ids = self.keys[self.bounds[number] : self.bounds[number + 1]] - number * self.n_entities
        return members

    def contain(self, sets: Ids, entities: Ids) -> Bools:
        """Say for each i whether set ``sets[i]`` has ``entities[i]``."""
        return _among(self.keys, sets * self.n_entities + entities)

    def pick(self, sets: Ids, rng: np.random.Generator) -> Ids:
        """Draw from each named set one entity, all equally probable."""
        places = self.bounds[sets] + rng.integers(0, self.sizes[sets])
        picked: Ids = self.keys[places] - sets * self.n_entities
        return picked

    def overlaps(self, first: Ids, second: Ids) -> Ids:
        """Return for each i how many entities set ``first[i]`` and set ``second[i]`` have in common."""
        pairs, inverse = np.unique(first * self.n_sets + second, return_inverse=True)
        members = [(self.members(int(pair) // self.n_sets), pair % self.n_sets) for pair in pairs]
        common = [np.count_nonzero(self.contain(other, entities)) for entities, other in members]
        return np.array(common, dtype=np.int64)[inverse]


@dataclass(frozen=True, eq=False)
class RelationProduct:
    """A law over triples: a relation by its chance, then a pair of its heads and tails, all equally probable.

    ``relations[i]`` has the chance ``chances[i]`` above zero, the heads of set ``heads[i]`` and the tails of set
    ``tails[i]``, of which at least one pair differs. A pair of an entity with itself is no pair, so
    p(h, r, t) = chance of r / number of its pairs. The law covers triples of train too; ``n_new`` and ``sample``
    leave those out.
    """

    graph: KnowledgeGraph
    relations: Ids
    chances: Array
    heads: Ids
    tails: Ids
    sets: EntitySets

    def __post_init__(self) -> None:
        for array in (self.relations, self.chances, self.heads, self.tails):
            array.setflags(write=False)

    @cached_property
    def pair_counts(self) -> Ids:
        """Number of pairs of each relation: |heads|·|tails| − |both|."""
        heads, tails = self.sets.sizes[self.heads], self.sets.sizes[self.tails]
        counts: Ids = heads * tails - self.sets.overlaps(self.heads, self.tails)
        return counts

    @cached_property
    def new_counts(self) -> Ids:
        """Number of pairs of each relation that are not in train with it."""
        known = self.graph.triples.astype(np.int64)
        places = self._places(known)[self._in_support(known)]
        counts: Ids = self.pair_counts - np.bincount(places, minlength=len(self.relations))
        return counts

    @property
    def support_size(self) -> int:
        """Number of triples with a probability above zero, in closed form."""
        return int(self.pair_counts.sum())

    @property
    def n_new(self) -> int:
        """Number of triples of the support that are not in train."""
        return int(self.new_counts.sum())

    def log_prob(self, triples: ArrayLike) -> Array:
        """Logarithm of the probability of each row of ids, shape (n, 3); −∞ outside the support."""
        ids = np.asarray(triples)
        self.graph.vocabulary.check_ids(ids)
        ids = ids.astype(np.int64)
        logs = np.full(len(ids), -np.inf)
        possible = self._in_support(ids)
        logs[possible] = np.log(self._weights)[self._places(ids[possible])]
        return logs

    def draw(self, n: int, *, seed: int) -> IntArray:
        """Draw n triples independently, shape (n, 3); they may repeat and may be known."""
        rng = generator(seed, Stream.UNIFORM, _DRAW)
        places = rng.choice(len(self.relations), size=check_count(n), p=self.chances)
        return self._propose(places, rng).astype(np.int32)

    def sample(self, n: int, *, seed: int) -> Sample:
        """Draw until there are n different triples that are not in train, in drawing order.

        Raises
        ------
        SamplingError
            If there are fewer than n.
        """
        if check_count(n) > self.n_new:
            partial = self.sample(self.n_new, seed=seed) if self.n_new <= MAX_LISTED else None
            msg = f"{n:,} new triples were asked for, but only {self.n_new:,} are possible"
            raise SamplingError(msg, available=self.n_new, partial=partial)
        rng = generator(seed, Stream.UNIFORM, _SAMPLE)
        places = _race(self._weights, self.new_counts, n, rng)
        triples = self._fill(places, rng).astype(np.int32)
        return Sample(KnowledgeGraph(self.graph.vocabulary, triples), self)

    @property
    def _weights(self) -> Array:
        """Probability of each triple of a relation."""
        weights: Array = self.chances / self.pair_counts
        return weights

    @cached_property
    def _known(self) -> Ids:
        return sorted_unique(self.graph.vocabulary.keys(self.graph.triples))

    def _places(self, triples: Ids) -> Ids:
        """Where in ``relations`` the relation of each triple is; anywhere, if it is not there."""
        places = np.searchsorted(self.relations, triples[:, 1])
        return np.minimum(places, len(self.relations) - 1)

    def _in_support(self, triples: Ids) -> Bools:
        h, r, t = triples.T
        places = self._places(triples)
        possible = (self.relations[places] == r) & (h != t)
        possible &= self.sets.contain(self.heads[places], h) & self.sets.contain(self.tails[places], t)
        return np.asarray(possible)

    def _propose(self, places: Ids, rng: np.random.Generator) -> Ids:
        """Draw a pair for each place of a relation; at least every second proposal has different ends."""
        triples = np.zeros((len(places), 3), dtype=np.int64)
        triples[:, 1] = self.relations[places]
        waiting = np.arange(len(places))
        while len(waiting):
            triples[waiting, 0] = self.sets.pick(self.heads[places[waiting]], rng)
            triples[waiting, 2] = self.sets.pick(self.tails[places[waiting]], rng)
            waiting = waiting[triples[waiting, 0] == triples[waiting, 2]]
        return triples

    def _fill(self, places: Ids, rng: np.random.Generator) -> Ids:
        """Draw different new pairs, one for each place of a relation.

        Pairs are proposed while at least half of a relation's are still to be had. Of other relations all new
        ones are listed: those have fewer than twice as many pairs as are known or wanted. A refused proposal is
        repeated for its own row, which changes no chances, since all pairs of a relation are alike.
        """
        triples, names = np.zeros((len(places), 3), dtype=np.int64), self.graph.vocabulary
        wanted = np.bincount(places, minlength=len(self.relations))
        crowded = 2 * (self.new_counts - wanted) < self.pair_counts
        rows = np.split(np.argsort(places, kind="stable"), np.cumsum(wanted)[:-1])
        for place in np.flatnonzero(crowded & (wanted > 0)):
            triples[rows[place]] = rng.permutation(self._list(int(place)))[: wanted[place]]
        waiting, taken = np.flatnonzero(~crowded[places]), self._known
        while len(waiting):
            part = self._propose(places[waiting], rng)
            keys, first = np.unique(names.keys(part), return_index=True)
            new = ~_among(taken, keys)
            triples[waiting[first[new]]] = part[first[new]]
            # a stable sort merges what is sorted already
            taken = np.sort(np.concatenate([taken, keys[new]]), kind="stable")
            waiting = np.delete(waiting, first[new])
        return triples

    def _list(self, place: int) -> Ids:
        """All new triples of one relation."""
        heads, tails = (self.sets.members(int(numbers[place])) for numbers in (self.heads, self.tails))
        h, t = np.repeat(heads, len(tails)), np.tile(tails, len(heads))
        triples: Ids = np.stack([h, np.full(len(h), self.relations[place]), t], axis=1)[h != t]
        return triples[~_among(self._known, self.graph.vocabulary.keys(triples))]


def _race(weights: Array, left: Ids, n: int, rng: np.random.Generator) -> Ids:
    """Return the group of each of n draws without repeats, where group i has ``left[i]`` things of one weight.

    Drawing one by one is a race: a thing arrives after an exponential time over its weight. How many of a group
    arrive within a span is binomial, and those that do not are as good as new, so spans follow until n arrived.
    """
    left, parts = left.copy(), [np.zeros(0, dtype=np.int64)]
    while n > 0:
        shares = -np.expm1(-weights * _span(weights, left, n + 4 * np.sqrt(n) + 16))
        arrived = rng.binomial(left, shares)
        groups = np.repeat(np.arange(len(left)), arrived)
        times = -np.log1p(-rng.random(len(groups)) * shares[groups]) / weights[groups]
        parts.append(groups[np.argsort(times, kind="stable")[:n]])
        left -= arrived
        n -= len(parts[-1])
    return np.concatenate(parts)


def _span(weights: Array, left: Ids, wanted: float) -> float:
    """Return a time within which so many are expected to arrive, and not many times more; ∞ if nearly all."""
    if wanted > 0.9 * left.sum():
        return np.inf
    span = wanted / float(weights @ left)
    while -np.expm1(-weights * span) @ left < wanted:
        span *= 2
    return span


def _among(ascending: Ids, keys: Ids) -> Bools:
    """Say for each key whether it is among those in ascending order."""
    if not len(ascending):
        return np.zeros(len(keys), dtype=np.bool_)
    places = np.minimum(np.searchsorted(ascending, keys), len(ascending) - 1)
    return np.asarray(ascending[places] == keys)
