"""Enumerate the bodies of rules r(x, y) ← b(x, y): all paths of one, two or three steps.

All entities on a path differ. The pairs of a body come from sparse products of the matrices M_s of
:mod:`~nnmfaug.augmenters.rules.steps`, for one last step after another side by side,

    M_{s₁}·[M_{t₁}, M_{t₂}, …] = [pairs of (s₁, t₁), pairs of (s₁, t₂), …],

and :mod:`~nnmfaug.augmenters.rules.counting` counts the rules of each. Of a path of two steps and its
reversal only one is multiplied.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from nnmfaug.augmenters.rules.counting import RuleCounter
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.augmenters.rules.table import RuleTable, Threshold
from nnmfaug.core.arrays import Ids
from nnmfaug.core.progress import report
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

CHUNK_COLUMNS = 1 << 20
"""Columns of one product: the scratch row of a sparse product should fit into the cache."""
CHUNK_PATHS = 1 << 24
"""Number of paths that one product may enumerate."""


def mine(graph: KnowledgeGraph, threshold: Threshold, *, depth: int, max_paths: int) -> RuleTable:
    """Count all rules with bodies of at most ``depth`` steps; skip bodies of more than ``max_paths`` paths."""
    miner = _Miner(Steps(graph), threshold, depth, max_paths)
    miner.count_one_step()
    if depth > 1:
        miner.count_two_steps()
    if depth > 2:
        miner.count_three_steps()
    return miner.counter.table(miner.skipped)


class _Miner:
    """Passes all bodies of a length to a counter of rules, in chunks that fit into memory."""

    def __init__(self, steps: Steps, threshold: Threshold, depth: int, max_paths: int) -> None:
        self.steps = steps
        self.min_paths = threshold.min_support  # a body of fewer paths has less support
        self.max_paths = max_paths
        self.counter = RuleCounter(steps, threshold, depth)
        self.skipped = 0
        self._all_steps = np.arange(steps.n_steps)

    def count_one_step(self) -> None:
        """Count the rules whose body is one step."""
        for step, matrix in enumerate(self.steps.matrices):
            self.counter.add(matrix, (), np.array([step]))

    def count_two_steps(self) -> None:
        """Count the rules whose body is a path of two steps."""
        steps = self.steps
        for first in range(steps.n_steps):
            report("mining rules", first + 1, steps.n_steps)
            seconds = self._all_steps[steps.inverse(self._all_steps) >= first]  # the others are these, reversed
            for chunk in self._chunks(steps.path_counts[first], seconds):
                bodies = csr_array(steps.matrices[first] @ steps.side_by_side(chunk))
                is_other_path = steps.inverse(chunk) != first  # (s, s⁻¹) is its own reversal
                self.counter.add(bodies, (first,), chunk, backwards=is_other_path)

    def count_three_steps(self) -> None:
        """Count the rules whose body is a path of three steps; reversals are enumerated on their own."""
        n_steps = self.steps.n_steps
        for first, second in np.ndindex(n_steps, n_steps):
            report("mining rules of three steps", first * n_steps + second + 1, n_steps**2)
            n_paths = self.steps.path_counts[first, second]
            if n_paths > self.max_paths:
                self.skipped += n_steps
            elif n_paths > 0:
                self._count_third_steps(first, second)

    def _count_third_steps(self, first: int, second: int) -> None:
        """Count the rules whose body begins with two given steps."""
        steps = self.steps
        start = steps.body((first, second))
        path_counts = np.asarray(start.sum(axis=0) @ steps.degrees)
        may_return = steps.shared[second][steps.inverse(self._all_steps)]  # to where the second step began
        for chunk in self._chunks(path_counts, self._all_steps[~may_return]):
            bodies = csr_array(start @ steps.side_by_side(chunk))
            self.counter.add(bodies, (first, second), chunk)
        for chunk in self._chunks(path_counts, self._all_steps[may_return]):
            for third in chunk.tolist():
                self.counter.add(steps.body((first, second, third)), (first, second), np.array([third]))

    def _chunks(self, path_counts: Ids, last_steps: Ids) -> Iterator[Ids]:
        """Yield last steps in chunks whose product fits into memory; skip and count bodies of too many paths.

        Parameters
        ----------
        path_counts : ndarray of shape (n_steps,)
            Number of paths with each last step.
        last_steps : ndarray
            The last steps to be considered.
        """
        n_paths = path_counts[last_steps]
        is_too_large = n_paths > self.max_paths
        self.skipped += int(is_too_large.sum())
        affordable = last_steps[(n_paths >= self.min_paths) & ~is_too_large]
        width = max(CHUNK_COLUMNS // max(self.steps.n, 1), 1)
        start = 0
        while start < len(affordable):
            total = np.cumsum(path_counts[affordable[start : start + width]])
            stop = start + max(int(np.searchsorted(total, CHUNK_PATHS, side="right")), 1)
            yield affordable[start:stop]
            start = stop
