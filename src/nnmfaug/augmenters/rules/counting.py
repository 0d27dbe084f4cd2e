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
from scipy.sparse import csr_array

from nnmfaug.augmenters.rules.steps import BoolMatrix, Steps
from nnmfaug.augmenters.rules.table import RuleTable, Threshold
from nnmfaug.core.arrays import Bools, Ids
from nnmfaug.core.sparse import entries


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

    def take(self, rows: Bools) -> BodyPairs:
        """Return some of the pairs."""
        return BodyPairs(self.x[rows], self.y[rows], self.body[rows])


class RuleCounter:
    """Collects the rules that pass a threshold, body after body; of too many, those of the highest confidence."""

    def __init__(self, steps: Steps, threshold: Threshold, depth: int, max_rules: int) -> None:
        self.steps = steps
        self.threshold = threshold
        self.depth = depth
        self.max_rules = max_rules
        self._tables = [RuleTable.empty(depth)]
        self._least = 0.0  # confidence below which a rule is not among the best

    def add(self, pairs: BodyPairs, first: tuple[int, ...], last: Ids, *, backwards: Bools | None = None) -> None:
        """Count the rules of some bodies.

        Parameters
        ----------
        pairs
            The pairs that each body joins.
        first
            The steps with which all these bodies begin.
        last : ndarray of shape (n_bodies,)
            The last step of each body.
        backwards : ndarray of shape (n_bodies,), optional
            Whether the rules of the reversed body are counted as well. Default: of none.
        """
        n_relations = self.steps.graph.n_relations
        sizes = pairs.sizes(len(last))
        support = self._support(pairs, len(last))
        heads = support.indices.astype(np.int64)
        numbers = np.repeat(np.arange(len(last)), np.diff(support.indptr))
        passed = self._may_pass(support.data, sizes[numbers])
        passed &= heads < n_relations if backwards is None else (heads < n_relations) | backwards[numbers]
        if not first:
            passed &= heads != last[numbers]  # r(x, y) ← r(x, y)
        if not passed.any():
            return
        heads = heads[passed]
        numbers = numbers[passed]
        table = RuleTable(
            heads=heads % n_relations,
            bodies=self._paths(first, last[numbers], heads),
            support=support.data[passed],
            sizes=sizes[numbers],
            pca_sizes=self._pca_sizes(pairs, heads, numbers),
        )
        self._collect(table)

    def _collect(self, table: RuleTable) -> None:
        """Add the rules that pass the threshold."""
        table = table.take(self.threshold.passed(table.support, self.threshold.sizes_of(table)))
        self._tables.append(table.take(self.threshold.confidence(table) >= self._least))
        if sum(map(len, self._tables)) > 4 * self.max_rules:
            self._keep_best()

    def _keep_best(self) -> None:
        """Forget all rules but the best, which are the same in whatever order the rules come."""
        best = self.table(skipped=0)
        self._tables = [best]
        self._least = float(self.threshold.confidence(best).min())

    def table(self, skipped: int) -> RuleTable:
        """Return the best rules so far, by relation, then by body."""
        return self.threshold.best(RuleTable.join(self._tables, skipped).sorted(), self.max_rules)

    def _may_pass(self, support: Ids, sizes: Ids) -> Bools:
        """Whether a rule may pass the threshold and be among the best; PCA sizes are not known yet."""
        if self.threshold.pca:
            return self.threshold.passed(support, np.zeros_like(sizes))
        return self.threshold.passed(support, sizes) & (self.threshold.ratio(support, sizes) >= self._least)

    def _support(self, pairs: BodyPairs, n_bodies: int) -> csr_array:
        """support(s ← b) of each body b and step s, shape (n_bodies, n_steps)."""
        has_step = self.steps.has_step
        rows, known_pairs = self.steps.pairs.find(pairs.x * self.steps.n + pairs.y)
        ones = np.ones(len(rows), dtype=np.int64)
        joins = csr_array((ones, (pairs.body[rows], known_pairs)), shape=(n_bodies, has_step.shape[0]))
        return csr_array(joins @ has_step)

    def _pca_sizes(self, pairs: BodyPairs, heads: Ids, numbers: Ids) -> Ids:
        """pca_size of the rule for step ``heads[i]`` with body number ``numbers[i]``, for each i."""
        n_relations = self.steps.graph.n_relations
        wanted = np.zeros(int(pairs.body.max()) + 1, dtype=np.bool_)
        wanted[numbers] = True
        pairs = pairs.take((pairs.x != pairs.y) & wanted[pairs.body])
        sizes = np.zeros(len(heads), dtype=np.int64)
        for subjects, is_step in ((pairs.x, heads < n_relations), (pairs.y, heads >= n_relations)):
            ones = np.ones(len(subjects), dtype=np.int64)
            n_pairs = csr_array((ones, (pairs.body, subjects)), shape=(len(wanted), self.steps.n))
            with_tail = csr_array(n_pairs @ self.steps.has_tail)
            sizes[is_step] = entries(with_tail, numbers[is_step], heads[is_step] % n_relations)
        return sizes

    def _paths(self, first: tuple[int, ...], last: Ids, heads: Ids) -> Ids:
        """The body of each rule, reversed where the rule concludes an inverse step, shape (n_rules, depth)."""
        beginnings = np.tile(np.array(first, dtype=np.int64), (len(last), 1))
        forwards = np.column_stack([beginnings, last])
        reverse = self.steps.inverse(forwards[:, ::-1])
        is_inverse = heads >= self.steps.graph.n_relations
        paths = np.where(is_inverse[:, None], reverse, forwards)
        return np.pad(paths, ((0, 0), (0, self.depth - paths.shape[1])), constant_values=-1)
