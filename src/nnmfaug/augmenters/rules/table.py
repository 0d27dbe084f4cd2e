"""Mined rules as a table, and the threshold that decides which rules enter it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nnmfaug.core.arrays import Array, Bools, Ids, Places


@dataclass(frozen=True, eq=False)
class RuleTable:
    """Mined rules r(x, y) ← b(x, y), one per row.

    Parameters
    ----------
    heads : ndarray of shape (n_rules,)
        The relation r that a rule concludes.
    bodies : ndarray of shape (n_rules, depth)
        The steps of the path b from x to y; −1 after the end of a shorter path.
    support : ndarray of shape (n_rules,)
        |{(x, y) : b(x, y) and r(x, y) in train}|.
    sizes : ndarray of shape (n_rules,)
        |{(x, y) : b(x, y)}|.
    pca_sizes : ndarray of shape (n_rules,)
        |{(x, y) : b(x, y) and r(x, y′) in train for some y′}|.
    skipped
        Number of bodies that were not counted, because they have too many paths, or the budget was spent. A body
        and its reversal are one.
    unpaid
        Number of those for which the budget was spent.
    dropped
        Number of rules that were left out because a shorter one says the same.
    cut
        Number of rules that were left out because they are beyond the best; some may say the same as others.
    """

    heads: Ids
    bodies: Ids
    support: Ids
    sizes: Ids
    pca_sizes: Ids
    skipped: int = 0
    unpaid: int = 0
    dropped: int = 0
    cut: int = 0

    def __len__(self) -> int:
        return len(self.heads)

    @classmethod
    def empty(cls, depth: int) -> RuleTable:
        """Return a table without rules."""
        none = np.zeros(0, dtype=np.int64)
        return cls(none, np.zeros((0, depth), dtype=np.int64), none, none, none)

    @classmethod
    def join(cls, tables: Sequence[RuleTable]) -> RuleTable:
        """Return the rules of several tables, one table after the other."""
        return cls(
            heads=np.concatenate([table.heads for table in tables]),
            bodies=np.concatenate([table.bodies for table in tables]),
            support=np.concatenate([table.support for table in tables]),
            sizes=np.concatenate([table.sizes for table in tables]),
            pca_sizes=np.concatenate([table.pca_sizes for table in tables]),
        )

    def take(self, rows: Places | Bools) -> RuleTable:
        """Return some of the rules, in the order of ``rows``."""
        return RuleTable(
            heads=self.heads[rows],
            bodies=self.bodies[rows],
            support=self.support[rows],
            sizes=self.sizes[rows],
            pca_sizes=self.pca_sizes[rows],
            skipped=self.skipped,
            unpaid=self.unpaid,
            dropped=self.dropped,
            cut=self.cut,
        )

    def order(self) -> Places:
        """Return the places of the rules by relation, then by body."""
        return np.lexsort((*self.bodies[:, ::-1].T, self.heads))

    def is_symmetric(self, n_relations: int) -> Bools:
        """Return whether each rule is r(x, y) ← r(y, x)."""
        is_one_step = np.count_nonzero(self.bodies >= 0, axis=1) == 1
        return np.asarray(is_one_step & (self.bodies[:, 0] == self.heads + n_relations))


@dataclass(frozen=True)
class Threshold:
    """Minimum support and confidence of a rule, where confidence = support / (size + prior).

    With ``pca`` the size is the PCA size, that of the partial completeness assumption of AMIE
    (Galárraga et al., 2013).
    """

    min_support: int
    min_confidence: float
    prior: float
    pca: bool = False

    def passed(self, support: Ids, sizes: Ids) -> Bools:
        """Return whether support and confidence are high enough, by the sizes given."""
        is_frequent = support >= self.min_support
        is_confident = support >= self.min_confidence * (sizes + self.prior)
        return np.asarray(is_frequent & is_confident)

    def sizes_of(self, table: RuleTable) -> Ids:
        """Return the sizes that the confidence refers to."""
        return table.pca_sizes if self.pca else table.sizes

    def confidence(self, table: RuleTable) -> Array:
        """Return the confidence of each rule, shape (n_rules,)."""
        return self.ratio(table.support, self.sizes_of(table))

    def left_out_confidence(self, table: RuleTable, n_relations: int) -> Array:
        """Return the confidence of each rule after leaving out one triple (h, r, t) that it concludes.

        The bodies from h to t remain, and the support is one less. If the body is r⁻¹, a symmetric rule, then
        (h, r, t) is itself the body of (t, r, h): the support is two less, and the size one. The other bodies that
        contain (h, r, t) are not looked for; neither are, with ``pca``, the bodies of h that leave the PCA size if
        (h, r, t) is its only triple. 0 if the rule does not pass the threshold any more.
        """
        is_symmetric = table.is_symmetric(n_relations)
        support = table.support - 1 - is_symmetric
        sizes = self.sizes_of(table) - is_symmetric
        return np.where(self.passed(support, sizes), self.ratio(support, sizes), 0.0)

    def ratio(self, support: Ids, sizes: Ids) -> Array:
        """Return support / (size + prior)."""
        confidence: Array = support / (sizes + self.prior)
        return confidence

    def best(self, table: RuleTable, n: int) -> RuleTable:
        """Return the n rules of the highest confidence, then support, in the order of the table."""
        best = table.take(self.best_places(table, n))
        return replace(best, cut=table.cut + len(table) - len(best))

    def best_places(self, table: RuleTable, n: int) -> Places:
        """Return the places of the n rules of the highest confidence, then support, ascending."""
        order = np.lexsort((-table.support, -self.confidence(table)))
        return np.sort(order[:n])
