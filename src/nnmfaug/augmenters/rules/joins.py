"""The pairs that bodies join, as one row per pair; small bodies are joined without a matrix of all entities.

Bodies of four steps are always joined: there is no simple equation for their paths without a repeated entity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nnmfaug.augmenters.rules.steps import Steps, ends, ranges
from nnmfaug.core.arrays import Array, Bools, Ids
from nnmfaug.graph.keys import sorted_unique

LOOKUPS = 1 << 12
"""Number of look-ups that cost as much as the products of three small matrices."""


@dataclass(frozen=True, eq=False)
class BodyPairs:
    """The pairs that bodies join: body number ``body[i]`` joins ``x[i]`` with ``y[i]``, which may be equal."""

    x: Ids
    y: NDArray[np.integer]
    body: NDArray[np.integer]

    @classmethod
    def of(cls, bodies: csr_array) -> BodyPairs:
        """Read the pairs of bodies that lie side by side, shape (n, n_bodies·n)."""
        n = bodies.shape[0]
        x = np.repeat(np.arange(n), np.diff(bodies.indptr))
        body = bodies.indices // n
        return cls(x, bodies.indices - body * n, body)

    def sizes(self, n_bodies: int) -> Ids:
        """Return size(b) of each body, shape (n_bodies,)."""
        loops = np.flatnonzero(self.x == self.y)  # few, so it is cheaper to subtract than to filter them out
        with_loops = np.bincount(self.body, minlength=n_bodies)
        return with_loops - np.bincount(self.body[loops], minlength=n_bodies)

    def take(self, rows: Bools) -> BodyPairs:
        """Return some of the pairs."""
        return BodyPairs(self.x[rows], self.y[rows], self.body[rows])


def extend(steps: Steps, chains: list[Ids], body: Ids, bodies: Ids) -> tuple[list[Ids], Ids]:
    """Return all chains that continue the given ones along the steps of their bodies, without a repeated entity.

    Parameters
    ----------
    chains
        The entities of each chain so far: an array for the first ones, one for the second ones, …
    body : ndarray of shape (n_chains,)
        The number of the body of each chain.
    bodies : ndarray of shape (n_bodies, length)
        The steps to be taken.

    Returns
    -------
    chains, body
        In the order of the given chains; those that continue the same chain by the ids of their entities.

    Examples
    --------
    >>> from nnmfaug import KnowledgeGraph
    >>> steps = Steps(KnowledgeGraph.from_labels([("a", "likes", "b"), ("b", "likes", "c"), ("b", "likes", "a")]))
    >>> extend(steps, [np.array([0])], np.array([0]), np.array([[0, 0]]))[0]
    [array([0]), array([1]), array([2])]
    """
    for step in bodies.T:
        begins, lengths = steps.rows(step[body], chains[-1])
        stops = steps.edges[2][ranges(begins, lengths)]
        before = np.repeat(np.arange(len(body)), lengths)
        is_new = np.logical_and.reduce([entities[before] != stops for entities in chains])
        before = before[is_new]
        chains = [*(entities[before] for entities in chains), stops[is_new]]
        body = body[before]
    return chains, body


def join_paths(steps: Steps, bodies: Ids) -> BodyPairs:
    """Return the pairs of bodies, shape (n_bodies, length), by looking up one step after the other."""
    x, body, stop = steps.edges_of(bodies[:, 0])
    chains, body = extend(steps, [x, stop], body, bodies[:, 1:])
    n = steps.n
    keys = sorted_unique((body * n + chains[0]) * n + chains[-1])  # several paths may join a pair
    rows = keys // n
    return BodyPairs(rows % n, keys - rows * n, rows // n)


def pairs_of(steps: Steps, path: tuple[int, ...]) -> tuple[Ids, Ids]:
    """Return the different entities that a path of one to four steps joins, by x, then y."""
    if 1 < len(path) < 4 and not _is_joined(steps, path):
        return ends(steps.body(path))
    pairs = join_paths(steps, np.array([path]))
    return pairs.x, pairs.y.astype(np.int64)


def n_paths_of(steps: Steps, path: tuple[int, ...]) -> int:
    """Return the number of paths along some steps, also of those that return to an entity."""
    start, _, stop = steps.edges
    n_onwards: Array = np.ones(steps.n)
    for step in reversed(path):
        rows = slice(steps.begins[step], steps.begins[step + 1])
        n_onwards = np.bincount(start[rows], n_onwards[stop[rows]], minlength=steps.n).astype(np.float64)
    return int(n_onwards.sum())


def _is_joined(steps: Steps, path: tuple[int, ...]) -> bool:
    """Whether looking up the steps costs less than products of matrices of all entities."""
    if len(path) == 2:
        return steps.is_small(path[0])
    n_edges = int(steps.begins[path[0] + 1] - steps.begins[path[0]])
    return n_edges + n_paths_of(steps, path) <= max(LOOKUPS, steps.n)
