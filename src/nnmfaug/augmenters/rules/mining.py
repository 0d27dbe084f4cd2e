"""Enumerate the bodies of rules r(x, y) ← b(x, y): all paths of one to four steps, as far as a budget allows.

All entities on a path differ. The pairs of a body come from sparse products of the matrices M_s of
:mod:`~nnmfaug.augmenters.rules.steps`, for one last step after another side by side,

    M_{s₁}·[M_{t₁}, M_{t₂}, …] = [pairs of (s₁, t₁), pairs of (s₁, t₂), …],

and :mod:`~nnmfaug.augmenters.rules.counting` counts the rules of each. Bodies of few paths are joined without
matrices, many at a time (:mod:`~nnmfaug.augmenters.rules.joins`). Of a path and its reversal only one is counted.

The budget is a number of paths. It is spent on short bodies first, and on those of a length in the order of their
cost: most rules of high confidence have bodies of few paths. Bodies of too many paths are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from nnmfaug.augmenters.rules.counting import RuleCounter
from nnmfaug.augmenters.rules.joins import BodyPairs, join_paths
from nnmfaug.augmenters.rules.paths import Bodies, affordable, bodies_of, two_paths
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.augmenters.rules.table import RuleTable, Threshold
from nnmfaug.core.arrays import Bools, Ids
from nnmfaug.core.progress import report
from nnmfaug.core.sparse import entries
from nnmfaug.graph.keys import stable_order
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

CHUNK_COLUMNS = 1 << 20
"""Columns of one product: the scratch row of a sparse product should fit into the cache."""
CHUNK_PATHS = 1 << 24
"""Number of paths that one product may enumerate."""
JOIN_COST = 8
"""Memory and time of a path or a look-up in a join, in paths of a product."""
CHUNK_CELLS = 1 << 24
"""Number of rules, a body and a step each, that are counted at a time."""
PRODUCT_COST = 10_000
"""What a product costs beside its paths, in paths: the cost of its calls, …"""
ENTITIES_PER_PATH = 16
"""… and that of its rows, of which so many cost as much as a path."""
TWO_STEPS_COST = 4
"""Cost of the product of two steps, to which others are added, in products; …"""
THIRD_STEP_COST = 0.25
"""… and that of adding one, of several at a time."""


@dataclass(frozen=True)
class Limits:
    """How much is mined.

    Parameters
    ----------
    max_paths
        Bodies of more paths are left out.
    budget
        Number of paths that all bodies together may have; if there are more, those of the longest bodies, and of
        the most paths, are left out. The cost of a product beside its paths counts as paths, too.
    max_rules
        Number of rules; those of the highest confidence remain.
    """

    max_paths: int
    budget: int
    max_rules: int


def mine(graph: KnowledgeGraph, threshold: Threshold, limits: Limits, *, depth: int) -> RuleTable:
    """Count all rules with bodies of at most ``depth`` steps, as far as the limits allow."""
    miner = _Miner(Steps(graph), threshold, limits, depth)
    lengths = (miner.count_one_step, miner.count_two_steps, miner.count_three_steps, miner.count_four_steps)
    for count in lengths[:depth]:
        count()
    return replace(miner.counter.table(), skipped=miner.skipped, unpaid=miner.unpaid)


class _Miner:
    """Passes all bodies of a length to a counter of rules, in chunks that fit into memory."""

    def __init__(self, steps: Steps, threshold: Threshold, limits: Limits, depth: int) -> None:
        self.steps = steps
        self.min_paths = threshold.min_support  # a body of fewer paths has less support
        self.limits = limits
        self.counter = RuleCounter(steps, threshold, depth, limits.max_rules)
        self.skipped = 0
        self.unpaid = 0  # of these, bodies for which the budget was spent
        self.budget = limits.budget  # what is left of it
        self.product_cost = PRODUCT_COST + steps.n // ENTITIES_PER_PATH
        self.max_bodies = max(CHUNK_COLUMNS // max(steps.n, 1), 1)

    def count_one_step(self) -> None:
        """Count the rules whose body is one step; the cost of a step is the number of steps beside its edges."""
        n_edges = np.diff(self.steps.begins)
        has_step = self.steps.has_step
        costs = np.asarray(has_step.T @ np.diff(has_step.indptr).astype(np.int64))
        chosen = np.flatnonzero(n_edges >= self.min_paths)
        chosen = chosen[self._paid(costs[chosen])]
        for rows in self._chunks(costs[chosen]):
            self.counter.add(join_paths(self.steps, chosen[rows, None]), chosen[rows, None])

    def count_two_steps(self) -> None:
        """Count the rules whose body is a path of two steps."""
        n_steps = self.steps.n_steps
        bodies = self._listed(2, n_steps * (n_steps + 1) // 2)
        is_joined, overhead = self._plan(bodies)
        self.budget -= overhead
        is_paid = self._paid(bodies.n_paths)
        self._join(bodies.take(is_paid & is_joined))
        self._multiply(bodies.take(is_paid & ~is_joined))

    def count_three_steps(self) -> None:
        """Count the rules whose body is a path of three steps.

        A body is joined if that costs less than its part of the products for the two steps it begins with.
        """
        n_steps = self.steps.n_steps
        bodies = self._listed(3, n_steps**3 // 2)
        product_costs = self._third_step_costs(bodies)
        join_costs = self._join_costs(bodies)
        is_joined = join_costs < product_costs
        is_paid = self._paid(np.minimum(join_costs, product_costs))
        self._join(bodies.take(is_paid & is_joined))
        self._multiply_thrice(bodies.take(is_paid & ~is_joined))

    def count_four_steps(self) -> None:
        """Count the rules whose body is a path of four steps."""
        n_steps = self.steps.n_steps
        bodies = self._listed(4, n_steps**2 * (n_steps**2 + 1) // 2)
        self._join(bodies.take(self._paid(self._join_costs(bodies))))

    def _listed(self, length: int, n_bodies: int) -> Bodies:
        """Return the bodies of a length that are not too large; if they cannot be listed, none of so many."""
        bodies = bodies_of(self.steps, length, self.min_paths)
        if bodies is None:
            self.skipped += n_bodies
            return Bodies(np.zeros((0, length), dtype=np.int64), np.zeros(0, dtype=np.int64))
        return bodies.take(self._remaining(bodies.n_paths <= self.limits.max_paths))

    def _third_step_costs(self, bodies: Bodies) -> Ids:
        """Cost of each body of three steps: its paths, its own product, and its part of that of the first two."""
        _, beginning, n_alike = np.unique(self._beginnings(bodies), return_inverse=True, return_counts=True)
        last_step = bodies.n_paths + THIRD_STEP_COST * self.product_cost
        return np.asarray(last_step + TWO_STEPS_COST * self.product_cost // n_alike[beginning]).astype(np.int64)

    def _beginnings(self, bodies: Bodies) -> Ids:
        """A number for the first two steps of each body."""
        return bodies.steps[:, 0] * self.steps.n_steps + bodies.steps[:, 1]

    def _join_costs(self, bodies: Bodies) -> Ids:
        """Cost of joining each body: its paths, and the look-ups before."""
        return JOIN_COST * (bodies.n_paths + self._cheaper_way(bodies.steps)[1])

    def _cheaper_way(self, bodies: Ids) -> tuple[Ids, Ids]:
        """Read each body from the end at which a join looks up less; return the path, and how much it looks up."""
        backwards = self.steps.inverse(bodies[:, ::-1])
        n_forwards = self._n_lookups(bodies)
        n_backwards = self._n_lookups(backwards)
        paths: Ids = np.where((n_backwards < n_forwards)[:, None], backwards, bodies)
        return paths, np.minimum(n_forwards, n_backwards)

    def _n_lookups(self, paths: Ids) -> Ids:
        """Number of edges of the first step, and, if there are more than two steps, of paths of the first two."""
        n_edges: Ids = np.diff(self.steps.begins)[paths[:, 0]]
        if paths.shape[1] == 2 or not len(paths):
            return n_edges
        n_two = entries(self._two_paths, paths[:, 0], paths[:, 1])
        return n_edges + n_two.astype(np.int64)

    @cached_property
    def _two_paths(self) -> csr_array:
        return two_paths(self.steps)

    def _plan(self, bodies: Bodies) -> tuple[Bools, int]:
        """Mark the bodies of first steps for which joins are cheaper than a product; return the cost beside paths.

        A join looks up each edge of the first step, for each body.
        """
        first = bodies.steps[:, 0]
        n_lookups = np.diff(self.steps.begins)[first]
        by_first = np.bincount(first, n_lookups + bodies.n_paths, minlength=self.steps.n_steps)
        is_cheap = by_first <= self.product_cost
        # The number of steps that are first depends on their order, but what is paid for must not.
        overhead = min(int(self._cheaper_way(bodies.steps)[1].sum()), self.steps.n_steps * self.product_cost)
        return is_cheap[first], overhead

    def _join(self, bodies: Bodies) -> None:
        """Count the rules of small bodies, many at a time."""
        paths, n_lookups = self._cheaper_way(bodies.steps)
        for rows in self._chunks(JOIN_COST * (bodies.n_paths + n_lookups)):
            report("mining rules of small bodies", rows.stop, len(bodies))
            self._add(join_paths(self.steps, paths[rows]), paths[rows])

    def _multiply(self, bodies: Bodies) -> None:
        """Count the rules of large bodies of two steps, those of one first step after the other."""
        for group in groups(bodies.steps[:, 0]):
            first = int(bodies.steps[group.start, 0])
            report("mining rules", first + 1, self.steps.n_steps)
            matrix = self.steps.matrix(first)
            for some in self._parts(bodies.take(group)):
                pairs = BodyPairs.of(csr_array(matrix @ self.steps.side_by_side(some[:, 1])))
                self._add(pairs, some)

    def _multiply_thrice(self, bodies: Bodies) -> None:
        """Count the rules of large bodies of three steps, those that begin with the same two steps at a time."""
        bodies = bodies.take(stable_order(self._beginnings(bodies)))
        for group in groups(self._beginnings(bodies)):
            report("mining rules of three steps", group.stop, len(bodies))
            self._count_third_steps(bodies.take(group))

    def _count_third_steps(self, bodies: Bodies) -> None:
        """Count the rules of bodies that begin with the same two steps."""
        steps = self.steps
        first, second = bodies.steps[0, :2].tolist()
        may_return = np.zeros(steps.n_steps, dtype=np.bool_)
        may_return[steps.returns(second).indices] = True  # to where the second step began
        returns = may_return[bodies.steps[:, 2]]
        start = steps.body((first, second))
        for some in self._parts(bodies.take(~returns)):
            self._add(BodyPairs.of(csr_array(start @ steps.side_by_side(some[:, 2]))), some)
        for some in self._parts(bodies.take(returns)):
            self._add(BodyPairs.of(steps.third_steps(first, second, some[:, 2])), some)

    def _add(self, pairs: BodyPairs, bodies: Ids) -> None:
        """Count the rules of some bodies and of their reversals."""
        is_other_path = (self.steps.inverse(bodies[:, ::-1]) != bodies).any(axis=1)  # (s, s⁻¹) is its own reversal
        self.counter.add(pairs, bodies, backwards=is_other_path)

    def _paid(self, costs: Ids) -> Bools:
        """Mark the bodies that the rest of the budget pays for; count the others as skipped."""
        is_paid = self._remaining(affordable(costs, self.budget))
        self.unpaid += int(np.count_nonzero(~is_paid))
        self.budget -= int(costs[is_paid].sum())
        return is_paid

    def _remaining(self, mask: Bools) -> Bools:
        self.skipped += int(np.count_nonzero(~mask))
        return mask

    def _parts(self, bodies: Bodies) -> Iterator[Ids]:
        """Yield bodies, so many at a time as one product should have."""
        for rows in self._chunks(bodies.n_paths, self.max_bodies):
            yield bodies.steps[rows]

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


def groups(numbers: Ids) -> Iterator[slice]:
    """Yield where each different number of an ascending row is.

    Examples
    --------
    >>> list(groups(np.array([2, 2, 7])))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    begins = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
    for begin, end in pairwise([*begins, len(numbers)]):
        yield slice(begin, end)
