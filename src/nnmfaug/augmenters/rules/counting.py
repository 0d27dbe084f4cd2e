"""Counting the rules of bodies, of several bodies at a time.

For a body b and a step s, over pairs of different entities,

    support(s ← b)  = |{(x, y) : b(x, y) and s(x, y)}|
    size(b)         = |{(x, y) : b(x, y)}|
    pca_size(s ← b) = |{(x, y) : b(x, y) and s(x, y′) for some y′}|.

A rule for an inverse step, r⁻¹(x, y) ← b(x, y), is the rule r(y, x) ← b(x, y), that is r(x, y) ← b⁻¹(x, y): the
body is read backwards. So one product counts the rules of two bodies.

Rules of a relation whose bodies join the same pairs say the same. Only the shortest of them remains, or it would
count several times where rules are combined.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nnmfaug.augmenters.rules.joins import BodyPairs
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.augmenters.rules.table import RuleTable, Threshold
from nnmfaug.core.arrays import Bools, Ids, Places
from nnmfaug.core.sparse import entries

Digests = NDArray[np.uint64]


class RuleCounter:
    """Collects the rules that pass a threshold, body after body; of too many, those of the highest confidence."""

    def __init__(self, steps: Steps, threshold: Threshold, depth: int, max_rules: int) -> None:
        self.steps = steps
        self.threshold = threshold
        self.depth = depth
        self.max_rules = max_rules
        self._tables = [RuleTable.empty(depth)]
        self._digests = [np.zeros(0, dtype=np.uint64)]  # of the pairs of each rule
        self.dropped = 0  # rules that say the same as others
        self.cut = 0  # rules beyond the best
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
        passed &= self._may_be_best(passed, support.data, sizes[numbers])
        if not passed.any():
            return
        heads = heads[passed]
        numbers = numbers[passed]
        pairs = _of_bodies(pairs, numbers)
        table = RuleTable(
            heads=heads % n_relations,
            bodies=self._paths(bodies[numbers], heads),
            support=support.data[passed],
            sizes=sizes[numbers],
            pca_sizes=self._pca_sizes(pairs, heads, numbers),
        )
        self._collect(table, self._digests_of(pairs, heads, numbers))

    def _collect(self, table: RuleTable, digests: Digests) -> None:
        """Add the rules that pass the threshold."""
        passed = self.threshold.passed(table.support, self.threshold.sizes_of(table))
        is_good = self.threshold.confidence(table) >= self._least
        self.cut += int(np.count_nonzero(passed & ~is_good))
        passed &= is_good
        self._tables.append(table.take(passed))
        self._digests.append(digests[passed])
        if sum(map(len, self._tables)) > 4 * self.max_rules:
            self._keep_best()

    def _keep_best(self) -> None:
        """Forget all rules but the best, which are the same in whatever order the rules come."""
        table, digests = self._best()
        self._tables = [table]
        self._digests = [digests]
        self._least = float(self.threshold.confidence(table).min())

    def _best(self) -> tuple[RuleTable, Digests]:
        """The best different rules so far, by relation, then by body, and their digests."""
        table = RuleTable.join(self._tables)
        digests = np.concatenate(self._digests)
        rows = first_of_equal(table, digests, self.steps.graph.n_relations)
        self.dropped += len(table) - len(rows)
        self.cut += max(len(rows) - self.max_rules, 0)
        rows = rows[table.take(rows).order()]
        rows = rows[self.threshold.best_places(table.take(rows), self.max_rules)]
        return table.take(rows), digests[rows]

    def table(self) -> RuleTable:
        """Return the best different rules so far, by relation, then by body."""
        table, _ = self._best()
        return replace(table, dropped=self.dropped, cut=self.cut)

    def _may_pass(self, support: Ids, sizes: Ids) -> Bools:
        """Whether a rule may pass the threshold; PCA sizes are not known yet."""
        return self.threshold.passed(support, np.zeros_like(sizes) if self.threshold.pca else sizes)

    def _may_be_best(self, passed: Bools, support: Ids, sizes: Ids) -> Bools:
        """Whether a rule may be among the best; count those that passed the threshold but are not."""
        if self.threshold.pca:
            return passed
        is_good = self.threshold.ratio(support, sizes) >= self._least
        self.cut += int(np.count_nonzero(passed & ~is_good))
        return is_good

    def _support(self, pairs: BodyPairs, n_bodies: int) -> csr_array:
        """support(s ← b) of each body b and step s, shape (n_bodies, n_steps)."""
        has_step = self.steps.has_step
        rows, known_pairs = self.steps.pairs.find(pairs.x * self.steps.n + pairs.y)
        ones = np.ones(len(rows), dtype=np.int32)
        joins = csr_array((ones, (pairs.body[rows], known_pairs)), shape=(n_bodies, has_step.shape[0]))
        return csr_array(joins @ has_step, dtype=np.int64)

    def _pca_sizes(self, pairs: BodyPairs, heads: Ids, numbers: Ids) -> Ids:
        """pca_size of the rule for step ``heads[i]`` with body number ``numbers[i]``, for each i."""
        n_relations = self.steps.graph.n_relations
        n_bodies = int(numbers.max()) + 1
        sizes = np.zeros(len(heads), dtype=np.int64)
        for subjects, is_step in ((pairs.x, heads < n_relations), (pairs.y, heads >= n_relations)):
            ones = np.ones(len(subjects), dtype=np.int64)
            n_pairs = csr_array((ones, (pairs.body, subjects)), shape=(n_bodies, self.steps.n))
            with_tail = csr_array(n_pairs @ self.steps.has_tail)
            sizes[is_step] = entries(with_tail, numbers[is_step], heads[is_step] % n_relations)
        return sizes

    def _digests_of(self, pairs: BodyPairs, heads: Ids, numbers: Ids) -> Digests:
        """A number for the pairs of each rule, the same for equal pairs in any order."""
        n = np.uint64(self.steps.n)
        is_inverse = heads >= self.steps.graph.n_relations
        x = pairs.x.astype(np.uint64)
        y = pairs.y.astype(np.uint64)
        digests = np.zeros((2, int(numbers.max()) + 1), dtype=np.uint64)
        np.add.at(digests[0], pairs.body, _scrambled(x * n + y))
        np.add.at(digests[1], pairs.body, _scrambled(y * n + x))
        return np.asarray(digests[is_inverse.astype(np.intp), numbers])

    def _paths(self, bodies: Ids, heads: Ids) -> Ids:
        """The body of each rule, reversed where the rule concludes an inverse step, shape (n_rules, depth)."""
        reverse = self.steps.inverse(bodies[:, ::-1])
        is_inverse = heads >= self.steps.graph.n_relations
        paths = np.where(is_inverse[:, None], reverse, bodies)
        return np.pad(paths, ((0, 0), (0, self.depth - paths.shape[1])), constant_values=-1)


def _of_bodies(pairs: BodyPairs, numbers: Ids) -> BodyPairs:
    """The pairs of different entities of some bodies."""
    wanted = np.zeros(int(pairs.body.max()) + 1, dtype=np.bool_)
    wanted[numbers] = True
    return pairs.take((pairs.x != pairs.y) & wanted[pairs.body])


def first_of_equal(table: RuleTable, digests: Digests, n_relations: int) -> Places:
    """Return the rules but those that conclude the same as a shorter one, given digests of what they conclude.

    Of equally short ones a symmetric rule comes last: a triple that it concludes is the body of another one, so it
    says less about the triples of train.
    """
    lengths = np.count_nonzero(table.bodies >= 0, axis=1)
    order = np.lexsort((*table.bodies[:, ::-1].T, table.is_symmetric(n_relations), lengths))
    conclusions = np.stack([table.heads, table.support, table.sizes, digests.view(np.int64)], axis=1)[order]
    _, first = np.unique(conclusions, axis=0, return_index=True)
    return np.sort(order[first])


def _scrambled(numbers: Digests) -> Digests:
    """Return other numbers, whose sums differ for different sets; the finalizer of SplitMix64 (Steele, 2014)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
