"""Enumerate the bodies of rules r(x, y) ← b(x, y): all paths of one, two or three steps.

All entities on a path differ. The pairs of a body come from sparse products of the matrices M_s of
:mod:`~nnmfaug.augmenters.rules.steps`, for one last step after another side by side,

    M_{s₁}·[M_{t₁}, M_{t₂}, …] = [pairs of (s₁, t₁), pairs of (s₁, t₂), …],

and :mod:`~nnmfaug.augmenters.rules.counting` counts the rules of each. Relations of few triples are joined without
matrices, many at a time (:mod:`~nnmfaug.augmenters.rules.joins`). Of a path of two steps and its reversal only one
is counted. Bodies of too many paths are left out, and so are the largest ones if all together have too many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from nnmfaug.augmenters.rules.counting import RuleCounter
from nnmfaug.augmenters.rules.joins import BodyPairs, join_one_step, join_two_steps
from nnmfaug.augmenters.rules.paths import Beginnings, affordable, beginnings
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.augmenters.rules.table import RuleTable, Threshold
from nnmfaug.core.arrays import Bools, Ids
from nnmfaug.core.progress import report
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

CHUNK_COLUMNS = 1 << 20
"""Columns of one product: the scratch row of a sparse product should fit into the cache."""
CHUNK_PATHS = 1 << 24
"""Number of paths that one product may enumerate."""
JOIN_COST = 8
"""Memory of a path or a look-up in a join, in paths of a product."""
CHUNK_CELLS = 1 << 24
"""Number of rules, a body and a step each, that are counted at a time."""
PRODUCT_COST = 10_000
"""What a product costs beside its paths, in paths: the cost of its calls, …"""
ENTITIES_PER_PATH = 16
"""… and that of its rows, of which so many cost as much as a path."""


@dataclass(frozen=True)
class Limits:
    """How much is mined.

    Parameters
    ----------
    max_paths
        Bodies of more paths are left out.
    max_total_paths
        Number of paths of all bodies of a length; if there are more, only the bodies of the fewest paths are
        counted.
    max_rules
        Number of rules; those of the highest confidence remain.
    """

    max_paths: int
    max_total_paths: int
    max_rules: int


def mine(graph: KnowledgeGraph, threshold: Threshold, limits: Limits, *, depth: int) -> RuleTable:
    """Count all rules with bodies of at most ``depth`` steps, as far as the limits allow."""
    miner = _Miner(Steps(graph), threshold, limits, depth)
    miner.count_one_step()
    if depth > 1:
        miner.count_two_steps()
    if depth > 2:
        miner.count_three_steps()
    return miner.counter.table(miner.skipped)


class _Miner:
    """Passes all bodies of a length to a counter of rules, in chunks that fit into memory."""

    def __init__(self, steps: Steps, threshold: Threshold, limits: Limits, depth: int) -> None:
        self.steps = steps
        self.min_paths = threshold.min_support  # a body of fewer paths has less support
        self.limits = limits
        self.counter = RuleCounter(steps, threshold, depth, limits.max_rules)
        self.skipped = 0
        self.product_cost = PRODUCT_COST + steps.n // ENTITIES_PER_PATH
        self.max_bodies = max(CHUNK_COLUMNS // max(steps.n, 1), 1)

    def count_one_step(self) -> None:
        """Count the rules whose body is one step; the cost of a step is the number of steps beside its edges."""
        n_edges = np.diff(self.steps.begins)
        has_step = self.steps.has_step
        costs = np.asarray(has_step.T @ np.diff(has_step.indptr).astype(np.int64))
        chosen = np.flatnonzero(n_edges >= self.min_paths)
        chosen = chosen[self._paid(costs[chosen], self.limits.max_total_paths)]
        for rows in self._chunks(costs[chosen]):
            self.counter.add(join_one_step(self.steps, chosen[rows]), chosen[rows, None])

    def count_two_steps(self) -> None:
        """Count the rules whose body is a path of two steps."""
        steps = self.steps
        bodies = beginnings(steps, 2, self.min_paths)
        if bodies is None:
            self.skipped += steps.n_steps * (steps.n_steps + 1) // 2
            return
        bodies = bodies.take(steps.inverse(bodies.second) >= bodies.first)  # the others are these, reversed
        bodies = bodies.take(self._not_too_large(bodies.n_paths))
        is_joined, overhead = self._plan(bodies)
        is_paid = self._paid(bodies.n_paths, self.limits.max_total_paths - overhead)
        self._join(bodies.take(is_paid & is_joined))
        self._multiply(bodies.take(is_paid & ~is_joined))

    def _plan(self, bodies: Beginnings) -> tuple[Bools, int]:
        """Mark the bodies of first steps for which joins are cheaper than a product; return the cost beside paths.

        A join looks up each edge of the first step, for each body.
        """
        n_lookups = np.diff(self.steps.begins)[bodies.first]
        by_first = np.bincount(bodies.first, n_lookups, minlength=self.steps.n_steps).astype(np.int64)
        paths_by_first = np.bincount(bodies.first, bodies.n_paths, minlength=self.steps.n_steps)
        is_cheap = by_first + paths_by_first <= self.product_cost
        overhead = np.minimum(by_first, self.product_cost).sum()
        return is_cheap[bodies.first], int(overhead)

    def _join(self, bodies: Beginnings) -> None:
        """Count the rules of small bodies, those of several first steps at a time."""
        n_lookups = np.diff(self.steps.begins)[bodies.first]
        for rows in self._chunks(JOIN_COST * (bodies.n_paths + n_lookups)):
            report("mining rules of small relations", rows.stop, len(bodies))
            pairs = join_two_steps(self.steps, bodies.first[rows], bodies.second[rows])
            self._add_both_ways(pairs, bodies.first[rows], bodies.second[rows])

    def _multiply(self, bodies: Beginnings) -> None:
        """Count the rules of large bodies, those of one first step after the other."""
        for first, group in _groups(bodies.first):
            report("mining rules", first + 1, self.steps.n_steps)
            matrix = self.steps.matrix(first)
            seconds = bodies.second[group]
            for rows in self._chunks(bodies.n_paths[group], self.max_bodies):
                pairs = BodyPairs.of(csr_array(matrix @ self.steps.side_by_side(seconds[rows])))
                self._add_both_ways(pairs, bodies.first[group][rows], seconds[rows])

    def _add_both_ways(self, pairs: BodyPairs, first: Ids, second: Ids) -> None:
        is_other_path = self.steps.inverse(second) != first  # (s, s⁻¹) is its own reversal
        self.counter.add(pairs, np.column_stack([first, second]), backwards=is_other_path)

    def count_three_steps(self) -> None:
        """Count the rules whose body is a path of three steps; reversals are enumerated on their own."""
        n_steps = self.steps.n_steps
        starts = beginnings(self.steps, 3, self.min_paths)
        if starts is None:
            self.skipped += n_steps**3
            return
        skipped = self.skipped
        starts = starts.take(self._not_too_large(starts.n_two))
        starts = starts.take(self._paid(starts.n_paths + self.product_cost, self.limits.max_total_paths))
        self.skipped += (self.skipped - skipped) * (n_steps - 1)  # each with every third step
        for done, (first, second) in enumerate(zip(starts.first.tolist(), starts.second.tolist(), strict=True), 1):
            report("mining rules of three steps", done, len(starts))
            self._count_third_steps(first, second)

    def _count_third_steps(self, first: int, second: int) -> None:
        """Count the rules whose body begins with two given steps."""
        steps = self.steps
        start = steps.body((first, second))
        n_paths = np.asarray(start.sum(axis=0) @ steps.degrees)
        thirds = np.flatnonzero(n_paths >= self.min_paths)
        thirds = thirds[self._not_too_large(n_paths[thirds])]
        may_return = np.zeros(steps.n_steps, dtype=np.bool_)
        may_return[steps.returns(second).indices] = True  # to where the second step began
        onwards = thirds[~may_return[thirds]]
        for rows in self._chunks(n_paths[onwards], self.max_bodies):
            pairs = BodyPairs.of(csr_array(start @ steps.side_by_side(onwards[rows])))
            self.counter.add(pairs, _bodies(first, second, onwards[rows]))
        returning = thirds[may_return[thirds]]
        for rows in self._chunks(n_paths[returning], self.max_bodies):
            pairs = BodyPairs.of(steps.third_steps(first, second, returning[rows]))
            self.counter.add(pairs, _bodies(first, second, returning[rows]))

    def _not_too_large(self, n_paths: Ids) -> Bools:
        """Mark the bodies that do not have too many paths; count the others as skipped."""
        return self._remaining(n_paths <= self.limits.max_paths)

    def _paid(self, costs: Ids, budget: int) -> Bools:
        """Mark the bodies that the budget pays for; count the others as skipped."""
        return self._remaining(affordable(costs, budget))

    def _remaining(self, mask: Bools) -> Bools:
        self.skipped += int(np.count_nonzero(~mask))
        return mask

    def _chunks(self, n_paths: Ids, max_bodies: int | None = None) -> Iterator[slice]:
        """Yield chunks of bodies that fit into memory, given the number of paths of each."""
        width = max(CHUNK_CELLS // max(self.steps.n_steps, 1), 1)
        width = width if max_bodies is None else min(width, max_bodies)
        start = 0
        while start < len(n_paths):
            total = np.cumsum(n_paths[start : start + width])
            stop = start + max(int(np.searchsorted(total, CHUNK_PATHS, side="right")), 1)
            stop = min(stop, start + width, len(n_paths))
            yield slice(start, stop)
            start = stop


def _bodies(first: int, second: int, thirds: Ids) -> Ids:
    """The steps of bodies that begin alike, shape (len(thirds), 3)."""
    return np.column_stack([np.full(len(thirds), first), np.full(len(thirds), second), thirds])


def _groups(first: Ids) -> Iterator[tuple[int, slice]]:
    """Yield each different number of an ascending row, and where it is."""
    numbers, begins = np.unique(first, return_index=True)
    ends = np.append(begins, len(first)).tolist()
    for number, (begin, end) in zip(numbers.tolist(), pairwise(ends), strict=True):
        yield number, slice(begin, end)
