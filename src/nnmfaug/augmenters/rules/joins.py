"""The pairs that bodies join, as one row per pair; small bodies are joined without a matrix of all entities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nnmfaug.augmenters.rules.steps import Steps, ends, ranges
from nnmfaug.core.arrays import Bools, Ids
from nnmfaug.graph.keys import sorted_unique


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


def join_one_step(steps: Steps, last: Ids) -> BodyPairs:
    """Return the pairs of bodies of one step."""
    x, body, y = steps.edges_of(last)
    return BodyPairs(x, y, body)


def join_two_steps(steps: Steps, first: Ids, second: Ids) -> BodyPairs:
    """Return the pairs of bodies of two steps, by looking up the second step of each edge of the first."""
    x, body, z = steps.edges_of(first)
    begins, lengths = steps.rows(second[body], z)
    y = steps.edges[2][ranges(begins, lengths)]
    n = steps.n
    rows = np.repeat(body * n + x, lengths)
    keys = sorted_unique(rows * n + y)  # several paths may join a pair
    rows = keys // n
    return BodyPairs(rows % n, keys - rows * n, rows // n)


def pairs_of(steps: Steps, path: tuple[int, ...]) -> tuple[Ids, Ids]:
    """Return the different entities that a path of one, two or three steps joins, by x, then y."""
    if len(path) == 1:
        pairs = join_one_step(steps, np.array(path))
    elif len(path) == 2 and steps.is_small(path[0]):
        pairs = join_two_steps(steps, np.array(path[:1]), np.array(path[1:]))
    else:
        return ends(steps.body(path))
    differ = pairs.x != pairs.y
    return pairs.x[differ], pairs.y[differ].astype(np.int64)
