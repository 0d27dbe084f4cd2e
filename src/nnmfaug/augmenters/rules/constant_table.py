"""Mined rules with constants as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nnmfaug.augmenters.rules.attributes import NONE
from nnmfaug.augmenters.rules.table import Threshold
from nnmfaug.core.arrays import Array, Bools, Ids, Places

MAX_ATOMS = 2
"""Number of atoms in the longest body."""


@dataclass(frozen=True, eq=False)
class ConstantTable:
    """Mined rules a(x) ← b(x) and a(x) ← b₁(x), b₂(x) between attributes of an entity x, one per row.

    An attribute is given by its code, see :mod:`~nnmfaug.augmenters.rules.attributes`. Whoever has the body but is
    the constant of the head itself does not count.

    Parameters
    ----------
    heads : ndarray of shape (n_rules,)
        The attribute that a rule concludes; its end is an entity.
    bodies : ndarray of shape (n_rules, 2)
        The attributes of the body; −1 for none. A rule without a body concludes the usual end of a step.
    support : ndarray of shape (n_rules,)
        |{x : b(x) and a(x) in train}|.
    sizes : ndarray of shape (n_rules,)
        |{x : b(x)}|; without a body, the number of entities that the step leaves.
    skipped
        Number of heads that were not counted, because they have too many pairs of attributes.
    dropped
        Number of rules that were left out because another one says the same.
    cut
        Number of rules that were left out because they are beyond the best.
    """

    heads: Ids
    bodies: Ids
    support: Ids
    sizes: Ids
    skipped: int = 0
    dropped: int = 0
    cut: int = 0

    def __len__(self) -> int:
        return len(self.heads)

    @classmethod
    def empty(cls) -> ConstantTable:
        """Return a table without rules."""
        none = np.zeros(0, dtype=np.int64)
        return cls(none, np.zeros((0, MAX_ATOMS), dtype=np.int64), none, none)

    @classmethod
    def join(cls, tables: Sequence[ConstantTable]) -> ConstantTable:
        """Return the rules of several tables, one table after the other."""
        return cls(
            heads=np.concatenate([table.heads for table in tables]),
            bodies=np.concatenate([table.bodies for table in tables]),
            support=np.concatenate([table.support for table in tables]),
            sizes=np.concatenate([table.sizes for table in tables]),
            skipped=sum(table.skipped for table in tables),
            dropped=sum(table.dropped for table in tables),
            cut=sum(table.cut for table in tables),
        )

    def take(self, rows: Places | Bools) -> ConstantTable:
        """Return some of the rules, in the order of ``rows``."""
        return ConstantTable(
            heads=self.heads[rows],
            bodies=self.bodies[rows],
            support=self.support[rows],
            sizes=self.sizes[rows],
            skipped=self.skipped,
            dropped=self.dropped,
            cut=self.cut,
        )

    @property
    def has_body(self) -> Bools:
        """Whether each rule has a body."""
        return np.asarray(self.bodies[:, 0] != NONE)

    def confidence(self, threshold: Threshold) -> Array:
        """Return the confidence of each rule."""
        return threshold.ratio(self.support, self.sizes)

    def left_out_confidence(self, threshold: Threshold) -> Array:
        """Return the confidence of each rule after leaving out one triple (h, r, t) that it concludes.

        The support is one less, the size is the same: neither the body of another entity nor, as r(x, c) ← r(x, z)
        needs z ≠ c, that of the same one contains (h, r, t). 0 if the rule does not pass the threshold any more.
        """
        support = self.support - 1
        passed = threshold.passed(support, self.sizes)
        return np.where(passed, threshold.ratio(support, self.sizes), 0.0)

    def sorted(self) -> ConstantTable:
        """Return the rules by head, then by body."""
        return self.take(np.lexsort((*self.bodies[:, ::-1].T, self.heads)))

    def best(self, n: int, threshold: Threshold) -> ConstantTable:
        """Return the n rules of the highest confidence, then support, in the order of the table."""
        if len(self) <= n:
            return self
        order = np.lexsort((-self.support, -self.confidence(threshold)))
        best = self.take(np.sort(order[:n]))
        return replace(best, cut=self.cut + len(self) - n)
