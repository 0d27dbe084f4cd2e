"""The first path between two entities along given steps, without listing all neighbours of a hub."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from nnmfaug.augmenters.rules.joins import extend
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.core.arrays import Ids
from nnmfaug.graph.keys import SortedKeys

FIRST_PART = 64
"""So many of the shorter row are looked up first, then four times as many, and so on."""
Chain = tuple[int, ...]
"""The entities on a path, from one end to the other."""


class Chains:
    """Finds paths between the ends of a rule's body; of several paths the first by the ids of its entities."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        # Many conclusions of one rule may pass the same two hubs.
        self._meeting = lru_cache(maxsize=1 << 14)(self._meeting_uncached)

    def first(self, path: tuple[int, ...], x: int, y: int) -> Chain:
        """Return the first chain of different entities from x to y along one to four steps."""
        if len(path) == 1:
            return (x, y)
        if len(path) == 2:
            return (x, self._meeting(path[0], x, self._back(path[1]), y)[0], y)
        if len(path) == 3:
            return min(self._three_steps(path, x, y))
        return self._first_of_all(path, x, y)

    def _three_steps(self, path: tuple[int, ...], x: int, y: int) -> Iterator[Chain]:
        """Yield the first chain x, z, w, y of each z until there is one, or of each w, whichever are fewer."""
        first, second, third = path
        third_back = self._back(third)
        after_x = self.steps.stops(first, x)
        before_y = self.steps.stops(third_back, y)
        if len(after_x) <= len(before_y):
            for z in after_x[after_x != y].tolist():
                chains = [(x, z, w, y) for w in self._meeting(second, z, third_back, y) if w != x]
                if chains:
                    yield chains[0]
                    return
        else:
            for w in before_y[before_y != x].tolist():
                chains = [(x, z, w, y) for z in self._meeting(first, x, self._back(second), w) if z != y]
                yield from chains[:1]

    def _first_of_all(self, path: tuple[int, ...], x: int, y: int) -> Chain:
        """Return the first chain of all that leave x; they come in ascending order."""
        chains, _ = extend(self.steps, [np.array([x])], np.array([0]), np.array([path]))
        row = np.flatnonzero(chains[-1] == y)[0]
        return tuple(int(entities[row]) for entities in chains)

    def _meeting_uncached(self, step: int, x: int, other_step: int, y: int) -> Chain:
        """The first two entities to which one step leads from x and another from y, or as many as there are."""
        return first_common(self.steps.stops(step, x), self.steps.stops(other_step, y), 2)

    def _back(self, step: int) -> int:
        return int(self.steps.inverse(np.array(step)))


def first_common(one: Ids, other: Ids, n: int) -> tuple[int, ...]:
    """Return the first n numbers that two ascending rows have in common, or as many as there are.

    Examples
    --------
    >>> first_common(np.array([1, 3, 5, 7]), np.array([2, 3, 7]), 1)
    (3,)
    """
    short, long = sorted((one, other), key=len)
    known = SortedKeys(long)
    common: list[int] = []
    begin = 0
    width = FIRST_PART
    while begin < len(short) and len(common) < n:
        part = short[begin : begin + width]
        common += part[known.contain(part)].tolist()
        begin += width
        width *= 4
    return tuple(common[:n])
