"""The distinct rows of a dense matrix, found a block at a time: copies of a large one would fill the memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nnmfaug.core.arrays import Array, Ids, Places
from nnmfaug.core.blocks import blocks


class Distinct(NamedTuple):
    """The distinct rows, ordered by their bytes, not by their numbers.

    Parameters
    ----------
    rows : ndarray of shape (n_distinct, n_columns)
        The distinct rows.
    inverse : ndarray of shape (n,)
        The position of each row in ``rows``.
    counts : ndarray of shape (n_distinct,)
        How often each occurs.
    """

    rows: Array
    inverse: Places
    counts: Ids


def distinct_rows(matrix: Array, places: Places) -> Distinct:
    """Return the distinct ones of the rows at these places.

    Examples
    --------
    >>> matrix = np.array([[9.0, 9.0], [0.0, 1.0], [0.0, 2.0], [-0.0, 1.0]])
    >>> distinct_rows(matrix, np.array([1, 2, 3])).rows.tolist()
    [[0.0, 2.0], [0.0, 1.0]]
    """
    parts = [hashes(_plain(matrix[places[block]])) for block in blocks(len(places))]
    numbers = np.concatenate([np.zeros(0, dtype=np.uint64), *parts])
    _, first, inverse, counts = np.unique(numbers, return_index=True, return_inverse=True, return_counts=True)
    rows = _plain(matrix[places[first]])
    if not _equal(matrix, places, rows, inverse):  # two different rows have the same hash
        _, first, inverse, counts = np.unique(
            _as_bytes(_plain(matrix[places])), return_index=True, return_inverse=True, return_counts=True
        )
        rows = _plain(matrix[places[first]])
    order = np.argsort(_as_bytes(rows), kind="stable")
    numbers_in_order = np.empty_like(order)
    numbers_in_order[order] = np.arange(len(order))
    return Distinct(rows[order], numbers_in_order[inverse], counts[order])


def hashes(rows: Array) -> NDArray[np.uint64]:
    """Return a number for each row, equal for equal rows and rarely for others."""
    total = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        total *= np.uint64(0x9E3779B97F4A7C15)
        total += np.ascontiguousarray(column).view(np.uint64)
        total ^= total >> np.uint64(29)
    return total


def _plain(rows: Array) -> Array:
    """Return the rows with 0 for -0, whose bytes differ."""
    return np.ascontiguousarray(rows + 0.0)


def _as_bytes(rows: Array) -> NDArray[np.void]:
    """Return each row as one value, which sorts many times faster than ``np.unique(rows, axis=0)``."""
    return rows.view(f"V{rows.itemsize * rows.shape[1]}").ravel()


def _equal(matrix: Array, places: Places, rows: Array, inverse: Places) -> bool:
    """Whether ``rows[inverse]`` are the rows at these places."""
    return all(np.array_equal(matrix[places[block]], rows[inverse[block]]) for block in blocks(len(places)))
