"""Keys, one number for a triple: sorted, looked up, and freed of repeats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nnmfaug.core.arrays import Bools, Ids, IntArray, Places

if TYPE_CHECKING:
    from nnmfaug.graph.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class SortedKeys:
    """Keys in ascending order, in which other keys are looked up.

    Examples
    --------
    >>> known = SortedKeys(np.array([2, 3, 7]))
    >>> known.contain(np.array([7, 1, 2])).tolist()
    [True, False, True]
    """

    keys: Ids

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, keys: Ids) -> tuple[Bools, Places]:
        """Return whether each key is present, and its position; the position of an absent key means nothing."""
        if not len(self.keys):
            return np.zeros(len(keys), dtype=np.bool_), np.zeros(len(keys), dtype=np.intp)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.asarray(self.keys[places] == keys), places

    def contain(self, keys: Ids) -> Bools:
        """Return whether each key is present."""
        return self.find(keys)[0]


def unique_triples(triples: IntArray, vocabulary: Vocabulary, *, sort: bool) -> IntArray:
    """Drop repeated rows; the others sorted, or each where it first stood."""
    keys = vocabulary.keys(triples)
    if sort:
        return vocabulary.from_keys(sorted_unique(keys))
    return triples[np.sort(first_places(keys))]


def first_places(keys: NDArray[np.int64]) -> NDArray[np.intp]:
    """Where each different key first stands, the smallest key first."""
    order = stable_order(keys)
    ordered = keys[order]
    first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return order[first]


def stable_order(keys: NDArray[np.int64]) -> NDArray[np.intp]:
    """The order that sorts numbers from 0, equal ones as they stand: by 16 bits at a time, without comparing.

    Examples
    --------
    >>> stable_order(np.array([70_000, 3, 70_000, 0]))
    array([3, 1, 0, 2])
    """
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    for shift in range(16, int(keys.max(initial=0)).bit_length(), 16):
        order = order[np.argsort((keys >> shift).astype(np.uint16)[order], kind="stable")]
    return order


def sorted_unique(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same as ``np.unique``, whose hash table is ten times slower on a million keys."""
    if (keys[1:] > keys[:-1]).all():
        return keys
    ordered = np.sort(keys)
    first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered if first.all() else ordered[first]
