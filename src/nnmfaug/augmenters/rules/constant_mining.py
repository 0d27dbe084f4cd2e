"""Counting the rules between attributes of an entity, a(x) ← b(x), by sparse co-occurrence products.

With the indicator matrix X of :mod:`~nnmfaug.augmenters.rules.attributes`, for attributes a = s(x, c) and b,

    support(a ← b) = (X·Xᵀ)[a, b]                     entities with both
    size(a ← b)    = Σ_x X[b, x] − X[b, c]            entities with b, without c itself.

A body never uses the triple that is concluded. So s(x, c) ← s(x, ·) needs another end than c: entities that have c
alone count neither in its support nor in its size. Rows of X·Xᵀ are computed some heads at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from nnmfaug.augmenters.rules.attributes import NONE, Attributes
from nnmfaug.augmenters.rules.constant_table import MAX_ATOMS, ConstantTable
from nnmfaug.augmenters.rules.paths import affordable
from nnmfaug.augmenters.rules.table import Threshold
from nnmfaug.core.arrays import Array, Bools, Ids, Places
from nnmfaug.core.progress import report
from nnmfaug.core.sparse import DistinctRows
from nnmfaug.graph.keys import SortedKeys, first_places

CHUNK_PAIRS = 1 << 24
"""Number of co-occurrences, of a head and a body in an entity, that one product may enumerate."""


def mine_constants(
    attributes: Attributes, threshold: Threshold, *, max_pairs: int, max_rules: int
) -> ConstantTable:
    """Count the rules between attributes that pass a threshold.

    Parameters
    ----------
    max_pairs
        Number of co-occurrences; if there are more, only the heads of the fewest are counted.
    max_rules
        Number of rules; those of the highest confidence remain.

    Examples
    --------
    >>> from nnmfaug import KnowledgeGraph
    >>> from nnmfaug.augmenters.rules.steps import Steps
    >>> rows = [(x, "born_in", "rome") for x in "abc"] + [(x, "speaks", "italian") for x in "ab"]
    >>> attributes = Attributes(Steps(KnowledgeGraph.from_labels(rows)), 2)
    >>> table = mine_constants(attributes, Threshold(2, 0.01, 0.0), max_pairs=99, max_rules=99)
    >>> (table.support / table.sizes).round(2).tolist()
    [1.0, 1.0, 1.0, 0.67]
    """
    return _Miner(attributes, threshold, max_rules).mine(max_pairs)


@dataclass(frozen=True, eq=False)
class _Miner:
    """Counts rules of some heads at a time."""

    attributes: Attributes
    threshold: Threshold
    max_rules: int

    def mine(self, max_pairs: int) -> ConstantTable:
        """Count the rules of all heads that the budget pays for."""
        heads = np.flatnonzero(self.attributes.has_constant)
        n_pairs = self._n_pairs[heads]
        is_paid = affordable(n_pairs, max_pairs)
        heads = heads[is_paid]
        tables = [replace(ConstantTable.empty(), skipped=int(np.count_nonzero(~is_paid)))]
        n_rules = 0
        for rows in chunks(n_pairs[is_paid], CHUNK_PAIRS):
            report("mining rules with constants", rows.stop, len(heads))
            tables.append(self._count(heads[rows]))
            n_rules += len(tables[-1])
            if n_rules > 4 * self.max_rules:
                tables = [ConstantTable.join(tables).best(self.max_rules, self.threshold)]
                n_rules = len(tables[0])
        tables.append(self._without_body(heads))
        return ConstantTable.join(tables).sorted().best(self.max_rules, self.threshold)

    @cached_property
    def _n_pairs(self) -> Ids:
        """Number of co-occurrences of each attribute: the attributes of all its entities."""
        per_entity = np.diff(self.attributes.by_entity.indptr).astype(np.int64)
        sums = np.append(0, np.cumsum(per_entity[self.attributes.all_entities]))
        n_pairs: Ids = sums[self.attributes.begins[1:]] - sums[self.attributes.begins[:-1]]
        return n_pairs

    @cached_property
    def _any_end(self) -> Places:
        """For each attribute that of its step with any end, by its place; all of these are frequent enough."""
        return np.searchsorted(self.attributes.codes, self.attributes.any_end(self.attributes.step))

    @cached_property
    def _same_entities(self) -> Places:
        """The same number for attributes that the same entities have."""
        return DistinctRows.of(self.attributes.matrix).inverse

    def _count(self, heads: Places) -> ConstantTable:
        """Count the rules of some heads."""
        attributes = self.attributes
        together = csr_array(attributes.matrix[heads] @ attributes.by_entity)
        together.sort_indices()  # of bodies that say the same the first counts
        body = together.indices.astype(np.int64)
        head = np.repeat(heads, np.diff(together.indptr))
        support = together.data.astype(np.int64)
        is_frequent = (support >= self.threshold.min_support) & (body != head)
        head = head[is_frequent]
        body = body[is_frequent]
        is_own = body == self._any_end[head]
        n_alone = np.where(is_own, attributes.n_single[head], 0)
        support = support[is_frequent] - n_alone
        sizes = attributes.sizes[body] - n_alone
        may_pass = self.threshold.passed(support, sizes - 1)
        head, body, support, sizes = (each[may_pass] for each in (head, body, support, sizes))
        sizes = sizes - attributes.have(attributes.end[head], body)
        passed = self.threshold.passed(support, sizes)
        head, body, support, sizes = (each[passed] for each in (head, body, support, sizes))
        wanted = self._not_redundant(head, body, self.threshold.ratio(support, sizes))
        table = self._table(head, body, support, sizes).take(wanted)
        return replace(table, dropped=int(np.count_nonzero(~wanted)))

    def _table(self, head: Ids, body: Ids, support: Ids, sizes: Ids) -> ConstantTable:
        bodies = np.full((len(head), MAX_ATOMS), NONE)
        bodies[:, 0] = self.attributes.codes[body]
        return ConstantTable(self.attributes.codes[head], bodies, support, sizes)

    def _not_redundant(self, head: Ids, body: Ids, confidence: Array) -> Bools:
        """Mark the rules that are not implied by more general ones, and of equal conclusions only one."""
        wanted = np.flatnonzero(~self._is_implied(head, body, confidence))
        width = len(self.attributes)
        is_own = body == self._any_end[head]  # its body depends on the head, so it equals no other
        same = np.where(is_own, width, self._same_entities[body])
        marked = np.zeros(len(head), dtype=np.bool_)
        marked[wanted[first_places((head * (width + 1) + same)[wanted])]] = True
        return marked

    def _is_implied(self, head: Ids, body: Ids, confidence: Array) -> Bools:
        """Mark the rules r(x, c) ← s(x, d) of no more confidence than the more general r(x, c) ← s(x, ·)."""
        width = len(self.attributes)
        keys = head * width + body
        general = head * width + self._any_end[body]
        order = np.argsort(keys)
        is_present, places = SortedKeys(keys[order]).find(general)
        others = order[places]
        return np.asarray(is_present & (keys != general) & (confidence <= confidence[others]))

    def _without_body(self, heads: Places) -> ConstantTable:
        """The rules without a body."""
        attributes = self.attributes
        any_end = self._any_end[heads]
        sizes = attributes.sizes[any_end] - attributes.have(attributes.end[heads], any_end)
        support = attributes.sizes[heads]
        passed = self.threshold.passed(support, sizes)
        bodies = np.full((int(passed.sum()), MAX_ATOMS), NONE)
        return ConstantTable(attributes.codes[heads[passed]], bodies, support[passed], sizes[passed])


def chunks(costs: Ids, most: int) -> Iterator[slice]:
    """Yield slices of rows whose costs together are at most so many, or of one row.

    Examples
    --------
    >>> list(chunks(np.array([3, 4, 9, 1]), 8))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    total = np.append(0, np.cumsum(costs))
    begin = 0
    while begin < len(costs):
        end = max(int(np.searchsorted(total, total[begin] + most, side="right")) - 1, begin + 1)
        yield slice(begin, end)
        begin = end
