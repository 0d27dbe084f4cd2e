"""Keys, one number for each triple: sorting, look-up and removal of repeats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nnmfaug.core.arrays import Bools, Ids, IntArray, Places

if TYPE_CHECKING:
    from nnmfaug.graph.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class SortedKeys:
    """Keys in ascending order, for looking up other keys.

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
        """Return whether each key is present, and its position; the position of an absent key has no meaning."""
        if not len(self.keys):
            return np.zeros(len(keys), dtype=np.bool_), np.zeros(len(keys), dtype=np.intp)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.asarray(self.keys[places] == keys), places

    def contain(self, keys: Ids) -> Bools:
        """Return whether each key is present."""
        is_present, _ = self.find(keys)
        return is_present


def unique_triples(triples: IntArray, vocabulary: Vocabulary, *, sort: bool) -> IntArray:
    """Return the distinct rows, sorted, or in the order in which they first occur."""
    keys = vocabulary.keys(triples)
    if sort:
        return vocabulary.from_keys(sorted_unique(keys))
    return triples[np.sort(first_places(keys))]


def first_places(keys: Ids) -> Places:
    """Return the first position of each distinct key, in ascending order of the keys.

    Examples
    --------
    >>> first_places(np.array([7, 3, 7, 3]))
    array([1, 0])
    """
    order = stable_order(keys)
    return order[_is_first(keys[order])]


def stable_order(keys: Ids) -> Places:
    """Return the order that sorts keys, which must not be negative; equal keys keep their order.

    A radix sort by 16 bits at a time, faster than a sort by comparison.

    Examples
    --------
    >>> stable_order(np.array([70_000, 3, 70_000, 0]))
    array([3, 1, 0, 2])
    """
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    n_bits = int(keys.max(initial=0)).bit_length()
    for shift in range(16, n_bits, 16):
        digits = (keys >> shift).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
    return order


def sorted_unique(keys: Ids) -> Ids:
    """Return the distinct keys in ascending order.

    The same as ``np.unique``, whose hash table is ten times slower on a million keys.
    """
    if (keys[1:] > keys[:-1]).all():
        return keys
    ordered = np.sort(keys)
    is_first = _is_first(ordered)
    return ordered if is_first.all() else ordered[is_first]


def _is_first(ordered: Ids) -> Bools:
    """Return for each of the sorted keys whether it differs from the one before."""
    is_first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return is_first


def run_lengths(ordered: Ids) -> tuple[Ids, Ids]:
    """Return the distinct ones of sorted keys, and how often each occurs.

    Examples
    --------
    >>> run_lengths(np.array([3, 3, 7]))
    (array([3, 7]), array([2, 1]))
    """
    begins = np.flatnonzero(_is_first(ordered))
    return ordered[begins], np.diff(np.append(begins, len(ordered)))
