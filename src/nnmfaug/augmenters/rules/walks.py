"""Where paths lead from some entities: the rows of the bodies of rules, without the other rows."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.sparse import csr_array

from nnmfaug.augmenters.rules.joins import extend
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.core.arrays import Ids

CACHED_ROWS = 1 << 24
"""Rows of the matrices of steps that stay in memory."""
CACHED_BEGINNINGS = 512
"""Numbers of paths that stay in memory for their third steps."""


class Walks:
    """Walks of a graph; the matrices of steps are kept for the next ones."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        n_cached = max(CACHED_ROWS // max(steps.n, 1), 2)
        self.matrix = lru_cache(maxsize=n_cached)(self._matrix)
        self.returns = lru_cache(maxsize=n_cached)(steps.returns)
        self.return_steps = lru_cache(maxsize=None)(self._return_steps)

    def _matrix(self, step: int) -> csr_array:
        return self.steps.matrix(step).astype(np.int32)

    def _return_steps(self, step: int) -> frozenset[int]:
        """The steps that lead back to some entity that a step left."""
        return frozenset(self.returns(step).indices.tolist())

    def leaving(self, starts: Ids) -> WalksFrom:
        """Return the walks that leave some entities."""
        return WalksFrom(self, starts)


class WalksFrom:
    """Where paths lead from some entities.

    Examples
    --------
    >>> from nnmfaug import KnowledgeGraph
    >>> graph = KnowledgeGraph.from_labels([("a", "likes", "b"), ("b", "likes", "c")])
    >>> Walks(Steps(graph)).leaving(np.array([0])).along((0, 0)).toarray().tolist()
    [[0, 0, 1]]
    """

    def __init__(self, walks: Walks, starts: Ids) -> None:
        self.walks = walks
        self.starts = starts
        self._two_steps = lru_cache(maxsize=CACHED_BEGINNINGS)(self._count_two_steps)

    def along(self, path: tuple[int, ...]) -> csr_array:
        """Return the number of paths from each start to each entity, shape (n_starts, n); only positive ones.

        As in :meth:`Steps.body`, all entities on a path differ.
        """
        if len(path) == 1:
            return self._one_step(path[0])
        if len(path) == 2:
            return self._two_steps(*path)
        if len(path) == 3:
            return self._three_steps(*path)
        return self._list_paths(path)

    def _one_step(self, step: int) -> csr_array:
        rows, stops = self.walks.steps.stops_of(step, self.starts)
        begins = np.searchsorted(rows, np.arange(len(self.starts) + 1))
        ones = np.ones(len(rows), dtype=np.int32)
        return csr_array((ones, stops, begins), shape=(len(self.starts), self.walks.steps.n))

    def _count_two_steps(self, first: int, second: int) -> csr_array:
        return self._without_starts(csr_array(self._one_step(first) @ self.walks.matrix(second)))

    def _three_steps(self, first: int, second: int, third: int) -> csr_array:
        """The equation of :meth:`Steps.body`, for the rows of the starts."""
        a = self._one_step(first)
        onwards = csr_array(self._two_steps(first, second) @ self.walks.matrix(third))
        if third in self.walks.return_steps(second):
            returns = self.walks.returns(second)[:, [third]].toarray().ravel()
            turns = csr_array((a.data * returns[a.indices], a.indices, a.indptr), shape=a.shape)
            back = self._one_step(int(self.walks.steps.inverse(np.array(second))))
            at_start = a.multiply(back).multiply(self._one_step(third))
            onwards = csr_array(onwards - turns + at_start)
        return self._without_starts(onwards)

    def _list_paths(self, path: tuple[int, ...]) -> csr_array:
        rows = np.arange(len(self.starts))
        chains, rows = extend(self.walks.steps, [self.starts], rows, np.tile(path, (len(self.starts), 1)))
        ones = np.ones(len(rows), dtype=np.int32)
        return csr_array((ones, (rows, chains[-1])), shape=(len(self.starts), self.walks.steps.n))

    def _without_starts(self, counts: csr_array) -> csr_array:
        """Leave out paths that return to their start, and entries that are 0."""
        rows = np.repeat(np.arange(len(self.starts)), np.diff(counts.indptr))
        wanted = (counts.indices != self.starts[rows]) & (counts.data > 0)
        begins = np.append(0, np.cumsum(wanted))[counts.indptr]
        return csr_array((counts.data[wanted], counts.indices[wanted], begins), shape=counts.shape)
