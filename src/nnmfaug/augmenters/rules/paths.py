"""How many paths begin with which steps, and which of them a budget allows to count.

The numbers depend on the graph alone, not on time or memory, so what is left out is the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.core.arrays import Bools, Ids

MAX_STEP_PAIRS = 1 << 25
"""Pairs of steps that meet in an entity, over all entities, up to which their paths are counted."""


@dataclass(frozen=True, eq=False)
class Beginnings:
    """The first two steps of paths of two or three steps.

    Parameters
    ----------
    first, second : ndarray of shape (n,)
        The steps, ascending by the first, then the second.
    n_two : ndarray of shape (n,)
        Number of paths of these two steps.
    n_paths : ndarray of shape (n,)
        Number of paths that begin with these two steps. All numbers include paths that return to an entity.
    """

    first: Ids
    second: Ids
    n_two: Ids
    n_paths: Ids

    def __len__(self) -> int:
        return len(self.first)

    def take(self, rows: Bools) -> Beginnings:
        """Return some of them."""
        return Beginnings(self.first[rows], self.second[rows], self.n_two[rows], self.n_paths[rows])


def beginnings(steps: Steps, length: int, least: int) -> Beginnings | None:
    """Return the first two steps of all paths of a length, if at least so many paths begin with them.

    None if so many steps meet in single entities that their pairs cannot be listed.
    """
    start, step, stop = _promising_edges(steps, length, least)
    ones = np.ones(len(start), dtype=np.int64)
    arrivals = _table(stop, step, ones, steps)
    departures = _table(start, step, ones, steps)
    if np.diff(arrivals.indptr).astype(np.int64) @ np.diff(departures.indptr) > MAX_STEP_PAIRS:
        return None
    two = _product(arrivals, departures)
    degree = np.bincount(steps.edges[0], minlength=steps.n)
    whole = two if length == 2 else _product(arrivals, _table(start, step, degree[stop], steps))
    first = np.repeat(np.arange(steps.n_steps), np.diff(two.indptr))
    every = Beginnings(first, two.indices.astype(np.int64), two.data, whole.data)
    return every.take(every.n_paths >= least)


def affordable(costs: Ids, budget: int) -> Bools:
    """Mark the cheapest, as many as the budget pays for; of equally expensive ones all or none.

    Examples
    --------
    >>> affordable(np.array([5, 1, 5, 2]), 9).tolist()
    [False, True, False, True]
    """
    ordered = np.sort(costs)
    n_paid = int(np.searchsorted(np.cumsum(ordered), budget, side="right"))
    if n_paid == len(costs):
        return np.ones(len(costs), dtype=np.bool_)
    return np.asarray(costs < ordered[n_paid])


def _promising_edges(steps: Steps, length: int, least: int) -> tuple[Ids, Ids, Ids]:
    """Start, step and stop of the edges of steps that may have enough paths, by their numbers of edges."""
    start, step, stop = steps.edges
    n_edges = np.diff(steps.begins)
    most = int(n_edges.max(initial=0))
    chosen = n_edges[step] * min(most ** (length - 1), least) >= least
    return start[chosen], step[chosen], stop[chosen]


def _table(entities: Ids, step: Ids, values: Ids, steps: Steps) -> csr_array:
    """Sum of the values by entity and step, shape (n, n_steps)."""
    return csr_array((values, (entities, step)), shape=(steps.n, steps.n_steps))


def _product(arrivals: csr_array, departures: csr_array) -> csr_array:
    """Number of edges that arrive by one step, times those that leave by another, over all entities."""
    product = csr_array(arrivals.T @ departures)
    product.sort_indices()
    return product
