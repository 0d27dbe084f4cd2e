"""Counting the rules of bodies, of several bodies at a time.

For a body b and a step s, over pairs of different entities,

    support(s ← b)  = |{(x, y) : b(x, y) and s(x, y)}|
    size(b)         = |{(x, y) : b(x, y)}|
    pca_size(s ← b) = |{(x, y) : b(x, y) and s(x, y′) for some y′}|.

A rule for an inverse step, r⁻¹(x, y) ← b(x, y), is the rule r(y, x) ← b(x, y), that is r(x, y) ← b⁻¹(x, y): the
body is read backwards. So one product counts the rules of two bodies.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from nnmfaug.augmenters.rules.joins import BodyPairs
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.augmenters.rules.table import RuleTable, Threshold
from nnmfaug.core.arrays import Bools, Ids
from nnmfaug.core.sparse import entries


class RuleCounter:
    """Collects the rules that pass a threshold, body after body; of too many, those of the highest confidence."""

    def __init__(self, steps: Steps, threshold: Threshold, depth: int, max_rules: int) -> None:
        self.steps = steps
        self.threshold = threshold
        self.depth = depth
        self.max_rules = max_rules
        self._tables = [RuleTable.empty(depth)]
        self._least = 0.0  # confidence below which a rule is not among the best

    def add(self, pairs: BodyPairs, bodies: Ids, *, backwards: Bools | None = None) -> None:
        """Count the rules of some bodies of one length.

        Parameters
        ----------
        pairs
            The pairs that each body joins.
        bodies : ndarray of shape (n_bodies, length)
            The steps of each body.
        backwards : ndarray of shape (n_bodies,), optional
            Whether the rules of the reversed body are counted as well. Default: of none.
        """
        n_relations = self.steps.graph.n_relations
        sizes = pairs.sizes(len(bodies))
        support = self._support(pairs, len(bodies))
        heads = support.indices.astype(np.int64)
        numbers = np.repeat(np.arange(len(bodies)), np.diff(support.indptr))
        passed = self._may_pass(support.data, sizes[numbers])
        passed &= heads < n_relations if backwards is None else (heads < n_relations) | backwards[numbers]
        if bodies.shape[1] == 1:
            passed &= heads != bodies[numbers, 0]  # r(x, y) ← r(x, y)
        if not passed.any():
            return
        heads = heads[passed]
        numbers = numbers[passed]
        table = RuleTable(
            heads=heads % n_relations,
            bodies=self._paths(bodies[numbers], heads),
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

    def _paths(self, bodies: Ids, heads: Ids) -> Ids:
        """The body of each rule, reversed where the rule concludes an inverse step, shape (n_rules, depth)."""
        reverse = self.steps.inverse(bodies[:, ::-1])
        is_inverse = heads >= self.steps.graph.n_relations
        paths = np.where(is_inverse[:, None], reverse, bodies)
        return np.pad(paths, ((0, 0), (0, self.depth - paths.shape[1])), constant_values=-1)
