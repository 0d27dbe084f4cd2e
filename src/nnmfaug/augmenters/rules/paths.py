"""How many paths a body has, and which bodies a budget allows to count.

The numbers depend on the graph alone, not on time or memory, so what is left out is the same on every machine.
A body and its reversal join the same pairs, so only one of them is listed: that whose middle is not the later one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.core.arrays import Bools, Ids, Places

MAX_STEP_PAIRS = 1 << 25
"""Different pairs of steps that may meet in an entity, up to which their paths are counted."""
MAX_MEETINGS = 1 << 30
"""Pairs of steps that meet in an entity, over all entities, up to which their paths are counted."""
MAX_STEP_TRIPLES = 1 << 26
"""Pairs of steps that begin and end where a triple does, over all triples, up to which they are counted."""
MAX_BODIES = 1 << 24
"""Bodies of four steps, whether there are such paths or not, up to which they are listed."""


@dataclass(frozen=True, eq=False)
class Bodies:
    """Bodies of one length.

    Parameters
    ----------
    steps : ndarray of shape (n, length)
        The steps of each body.
    n_paths : ndarray of shape (n,)
        Number of paths of each, also of those that return to an entity.
    """

    steps: Ids
    n_paths: Ids

    def __len__(self) -> int:
        return len(self.steps)

    def take(self, rows: Bools | Places | slice) -> Bodies:
        """Return some of them."""
        return Bodies(self.steps[rows], self.n_paths[rows])


def bodies_of(steps: Steps, length: int, least: int) -> Bodies | None:
    """Return all bodies of two, three or four steps that have at least so many paths, without their reversals.

    None if there may be too many to be listed.
    """
    listed = {2: _two_steps, 3: _three_steps, 4: _four_steps}[length]
    return listed(steps, least)


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


def two_paths(steps: Steps) -> csr_array:
    """Return the number of paths of each two steps, also of those that return, shape (n_steps, n_steps)."""
    return csr_array(_arrivals(steps).T @ steps.degrees)


def _arrivals(steps: Steps) -> csr_array:
    """Number of edges of each step that arrive at each entity, shape (n, n_steps)."""
    return csr_array(steps.degrees[:, steps.inverse(np.arange(steps.n_steps))])


def _two_steps(steps: Steps, least: int) -> Bodies | None:
    chosen = _promising(steps, least)
    departures = csr_array(steps.degrees[:, chosen])
    arrivals = csr_array(steps.degrees[:, steps.inverse(chosen)])
    n_meetings = int(np.diff(arrivals.indptr).astype(np.int64) @ np.diff(departures.indptr))
    if n_meetings > MAX_MEETINGS or min(n_meetings, len(chosen) ** 2) > MAX_STEP_PAIRS:
        return None
    first, second, n_paths = _cells(csr_array(arrivals.T @ departures))
    first, second = chosen[first], chosen[second]
    bodies = Bodies(np.column_stack([first, second]), n_paths)
    return bodies.take((n_paths >= least) & (first <= steps.inverse(second)))


def _three_steps(steps: Steps, least: int) -> Bodies | None:
    """Count, for each second step b, the paths by the steps a before and c after its edges (z, w).

    N[a, c] = Σ_{(z, w) in b} |{x : a leads from x to z}| · |{y : c leads from w to y}|
    """
    departures = steps.degrees
    arrivals = _arrivals(steps)
    z, _, w = steps.edges_of(np.arange(steps.graph.n_relations))
    n_products = np.diff(arrivals.indptr).astype(np.int64)[z] @ np.diff(departures.indptr)[w]
    if n_products + steps.graph.n_relations * steps.n_steps > MAX_STEP_TRIPLES:  # each product has a row per step
        return None
    parts = (
        (np.array([second]), csr_array(arrivals[z].T @ departures[w])) for second, z, w in _edges_by_step(steps)
    )
    return _joined(parts, least, 3)


def _four_steps(steps: Steps, least: int) -> Bodies | None:
    """Count, for each two steps (b, c) in the middle, the paths by the steps before and after."""
    middles = _two_steps(steps, 1)
    if middles is None or len(middles) * steps.n_steps**2 > MAX_BODIES:
        return None
    departures = steps.degrees
    arrivals = _arrivals(steps)
    after = [csr_array(steps.matrix(step).astype(np.int64) @ departures) for step in range(steps.n_steps)]
    before = [csr_array(steps.matrix(step).astype(np.int64).T @ arrivals) for step in range(steps.n_steps)]
    parts = ((middle, csr_array(before[middle[0]].T @ after[middle[1]])) for middle in middles.steps)
    bodies = _joined(parts, least, 4)
    first, second, third, fourth = bodies.steps.T
    is_reversal = (second == steps.inverse(third)) & (first > steps.inverse(fourth))
    return bodies.take(~is_reversal)


def _joined(parts: Iterator[tuple[Ids, csr_array]], least: int, length: int) -> Bodies:
    """Join the bodies of several middles, given the number of paths by first and last step for each middle."""
    steps = [np.zeros((0, length), dtype=np.int64)]
    numbers = [np.zeros(0, dtype=np.int64)]
    for middle, table in parts:
        first, last, n_paths = _cells(table)
        enough = n_paths >= least
        middles = np.broadcast_to(middle, (int(enough.sum()), len(middle)))
        steps.append(np.column_stack([first[enough], middles, last[enough]]))
        numbers.append(n_paths[enough])
    return Bodies(np.concatenate(steps), np.concatenate(numbers))


def _edges_by_step(steps: Steps) -> Iterator[tuple[int, Ids, Ids]]:
    """Yield each relation with the starts and stops of its edges."""
    start, _, stop = steps.edges
    for relation in range(steps.graph.n_relations):
        rows = slice(steps.begins[relation], steps.begins[relation + 1])
        yield relation, start[rows], stop[rows]


def _promising(steps: Steps, least: int) -> Ids:
    """Return the steps that may have enough paths, by their numbers of edges."""
    n_edges = np.diff(steps.begins)
    most = int(n_edges.max(initial=0))
    return np.flatnonzero(n_edges * min(most, least) >= least)


def _cells(table: csr_array) -> tuple[Ids, Ids, Ids]:
    """Rows, columns and values of the entries, ascending."""
    table.sort_indices()
    rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    return rows, table.indices.astype(np.int64), table.data
