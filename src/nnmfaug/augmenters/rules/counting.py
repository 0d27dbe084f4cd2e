"""Counting the rules of bodies. Several bodies lie side by side in one sparse matrix.

For a body b and a step s, over pairs of different entities,

    support(s ← b)  = |{(x, y) : b(x, y) and s(x, y)}|
    size(b)         = |{(x, y) : b(x, y)}|
    pca_size(s ← b) = |{(x, y) : b(x, y) and s(x, y′) for some y′}|.

A rule for an inverse step, r⁻¹(x, y) ← b(x, y), is the rule r(y, x) ← b(x, y), that is r(x, y) ← b⁻¹(x, y): the
body is read backwards. So one product counts the rules of two bodies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nnmfaug.augmenters.rules.steps import BoolMatrix, Steps
from nnmfaug.augmenters.rules.table import RuleTable, Threshold
from nnmfaug.core.arrays import Bools, Ids, Places
from nnmfaug.graph.keys import stable_order


@dataclass(frozen=True, eq=False)
class BodyPairs:
    """The pairs that bodies join: body number ``body[i]`` joins ``x[i]`` with ``y[i]``, which may be equal."""

    x: Ids
    y: NDArray[np.integer]
    body: NDArray[np.integer]

    @classmethod
    def of(cls, bodies: BoolMatrix) -> BodyPairs:
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

    def rows_by_body(self, wanted: Bools) -> tuple[Places, Places]:
        """Return the rows of the wanted bodies without loops, body after body, and where each body begins."""
        rows = np.flatnonzero((self.x != self.y) & wanted[self.body])
        rows = rows[stable_order(self.body[rows].astype(np.int64))]
        return rows, np.searchsorted(self.body[rows], np.arange(len(wanted) + 1))


class RuleCounter:
    """Collects the rules that pass a threshold, body after body."""

    def __init__(self, steps: Steps, threshold: Threshold, depth: int) -> None:
        self.steps = steps
        self.threshold = threshold
        self.depth = depth
        self._tables = [RuleTable.empty(depth)]

    def add(
        self, bodies: BoolMatrix, first: tuple[int, ...], last: Ids, *, backwards: Bools | bool = False
    ) -> None:
        """Count the rules of some bodies.

        Parameters
        ----------
        bodies : sparse matrix of shape (n, len(last)·n)
            The pairs of each body, side by side.
        first
            The steps with which all these bodies begin.
        last : ndarray of shape (n_bodies,)
            The last step of each body.
        backwards
            Whether the rules of the reversed body are counted as well, for each body or for all.
        """
        pairs = BodyPairs.of(bodies)
        sizes = pairs.sizes(len(last))
        support = self._support(pairs, len(last))
        passed = self._may_pass(support, sizes)
        passed[self.steps.graph.n_relations :] &= backwards
        if not first:
            passed[last, np.arange(len(last))] = False  # r(x, y) ← r(x, y)
        heads, numbers = np.nonzero(passed)
        if not len(heads):
            return
        table = RuleTable(
            heads=heads % self.steps.graph.n_relations,
            bodies=self._paths(first, last[numbers], heads),
            support=support[heads, numbers],
            sizes=sizes[numbers],
            pca_sizes=self._pca_sizes(pairs, heads, numbers),
        )
        self._tables.append(table.take(self.threshold.passed(table.support, self.threshold.sizes_of(table))))

    def table(self, skipped: int) -> RuleTable:
        """Return all rules collected so far, by relation, then by body."""
        return RuleTable.join(self._tables, skipped).sorted()

    def _may_pass(self, support: Ids, sizes: Ids) -> Bools:
        """Whether a rule may pass the threshold, shape (n_steps, n_bodies); PCA sizes are not known yet."""
        smallest_sizes = np.zeros_like(sizes) if self.threshold.pca else sizes
        return self.threshold.passed(support, smallest_sizes)

    def _support(self, pairs: BodyPairs, n_bodies: int) -> Ids:
        """support(s ← b) of each step s and body b, shape (n_steps, n_bodies)."""
        keys = pairs.x * self.steps.n + pairs.y
        rows, known_pairs = self.steps.pairs.find(keys)
        steps, lengths = self.steps.pairs.steps_of(known_pairs)
        bodies = np.repeat(pairs.body[rows], lengths)
        n_steps = self.steps.n_steps
        counts = np.bincount(steps * n_bodies + bodies, minlength=n_steps * n_bodies)
        return counts.reshape(n_steps, n_bodies)

    def _pca_sizes(self, pairs: BodyPairs, heads: Ids, numbers: Ids) -> Ids:
        """pca_size of the rule for step ``heads[i]`` with body number ``numbers[i]``, for each i."""
        n_relations = self.steps.graph.n_relations
        wanted = np.zeros(pairs.body.max() + 1, dtype=np.bool_)
        wanted[numbers] = True
        rows, begins = pairs.rows_by_body(wanted)
        sizes = []
        for head, number in zip(heads.tolist(), numbers.tolist(), strict=True):
            own_rows = rows[begins[number] : begins[number + 1]]
            subjects = pairs.x[own_rows] if head < n_relations else pairs.y[own_rows]
            has_tail = self.steps.starts[head % n_relations]
            sizes.append(np.count_nonzero(has_tail[subjects]))
        return np.array(sizes)

    def _paths(self, first: tuple[int, ...], last: Ids, heads: Ids) -> Ids:
        """The body of each rule, reversed where the rule concludes an inverse step, shape (n_rules, depth)."""
        beginnings = np.tile(np.array(first, dtype=np.int64), (len(last), 1))
        forwards = np.column_stack([beginnings, last])
        reverse = self.steps.inverse(forwards[:, ::-1])
        is_inverse = heads >= self.steps.graph.n_relations
        paths = np.where(is_inverse[:, None], reverse, forwards)
        return np.pad(paths, ((0, 0), (0, self.depth - paths.shape[1])), constant_values=-1)
