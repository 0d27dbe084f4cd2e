"""Numbered sets of entities, kept as one sorted array."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nnmfaug.core.arrays import Bools, Ids
from nnmfaug.graph.keys import SortedKeys, sorted_unique


@dataclass(frozen=True, eq=False)
class EntitySets:
    """Numbered sets of entities; ``keys`` holds set · n_entities + entity for every member, ascending."""

    keys: Ids
    n_sets: int
    n_entities: int

    @classmethod
    def of(cls, sets: Ids, entities: Ids, *, n_sets: int, n_entities: int) -> EntitySets:
        """Put ``entities[i]`` into set ``sets[i]``; it may be there already."""
        return cls(sorted_unique(sets * n_entities + entities), n_sets, n_entities)

    def __post_init__(self) -> None:
        self.keys.setflags(write=False)

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
        """Return for each i whether set ``sets[i]`` has ``entities[i]``."""
        return SortedKeys(self.keys).contain(sets * self.n_entities + entities)

    def pick(self, sets: Ids, rng: np.random.Generator) -> Ids:
        """Draw from each named set one entity, all equally probable."""
        places = self.bounds[sets] + rng.integers(0, self.sizes[sets])
        picked: Ids = self.keys[places] - sets * self.n_entities
        return picked

    def overlaps(self, first: Ids, second: Ids) -> Ids:
        """Return for each i how many entities set ``first[i]`` and set ``second[i]`` have in common."""
        pairs, inverse = np.unique(first * self.n_sets + second, return_inverse=True)
        common = []
        for pair in pairs.tolist():
            one, other = divmod(pair, self.n_sets)
            shared = self.contain(np.array(other), self.members(one))
            common.append(np.count_nonzero(shared))
        return np.array(common, dtype=np.int64)[inverse]

    def keep(self, sets: Ids, allowed: Bools) -> EntitySets:
        """Return these sets one after the other, reduced to the allowed entities."""
        members = [self.members(number) for number in sets.tolist()]
        reduced = [entities[allowed[entities]] for entities in members]
        numbers = np.repeat(np.arange(len(sets)), [len(entities) for entities in reduced])
        entities = np.concatenate([np.zeros(0, dtype=np.int64), *reduced])
        return EntitySets.of(numbers, entities, n_sets=len(sets), n_entities=self.n_entities)
