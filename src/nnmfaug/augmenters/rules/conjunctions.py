"""Counting the rules whose bodies are two attributes of an entity, a(x) ← b₁(x), b₂(x).

They are made of the rules a(x) ← b(x), of each head the most useful ones. With the indicator matrix X of
:mod:`~nnmfaug.augmenters.rules.attributes`, for attributes a = s(x, c), b₁ and b₂,

    support(a ← b₁, b₂) = Σ_x X[a, x] · X[b₁, x] · X[b₂, x]                  entities with all three
    size(a ← b₁, b₂)    = Σ_x X[b₁, x] · X[b₂, x] − X[b₁, c] · X[b₂, c]      entities with both, without c itself.

The support needs the entities of the head alone, which are few. The size is counted only where the support allows
a confidence clearly above those of both parts, and once for all heads with the same two attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array, triu

from nnmfaug.augmenters.rules.attributes import Attributes
from nnmfaug.augmenters.rules.constant_mining import CHUNK_PAIRS, chunks
from nnmfaug.augmenters.rules.constant_table import ConstantTable
from nnmfaug.augmenters.rules.paths import affordable
from nnmfaug.augmenters.rules.steps import ranges
from nnmfaug.augmenters.rules.table import Threshold
from nnmfaug.core.arrays import Array, Bools, Ids, Places
from nnmfaug.core.progress import report
from nnmfaug.graph.keys import sorted_unique

MAX_PARTS = 20
"""Number of rules of each head that are joined in pairs."""
MAX_CONJUNCTIONS = 10
"""Number of conjunctions of each head."""
MIN_GAIN = 0.05
"""Least difference between the confidence of a conjunction and that of its better part."""


def mine_conjunctions(
    attributes: Attributes,
    threshold: Threshold,
    singles: ConstantTable,
    *,
    max_pairs: int,
    max_parts: int = MAX_PARTS,
    max_conjunctions: int = MAX_CONJUNCTIONS,
) -> ConstantTable:
    """Count the rules with two attributes in the body that pass a threshold and say more than their parts.

    Parameters
    ----------
    singles
        The rules with one attribute in the body.
    max_pairs
        Number of co-occurrences; if there are more, only the heads, then the bodies of the fewest are counted.
    max_parts, max_conjunctions
        Number of rules of each head that are joined in pairs, and of pairs that are kept.

    Examples
    --------
    >>> from nnmfaug import KnowledgeGraph
    >>> from nnmfaug.augmenters.rules.constant_mining import mine_constants
    >>> from nnmfaug.augmenters.rules.constant_rules import ConstantRules
    >>> from nnmfaug.augmenters.rules.steps import Steps
    >>> rows = [(x, "lives_in", "bern") for x in "abcdef"] + [(x, "works_in", "geneva") for x in "efghij"]
    >>> rows += [(x, "speaks", "french") for x in "ef"]
    >>> steps = Steps(KnowledgeGraph.from_labels(rows))
    >>> attributes, threshold = Attributes(steps, 2), Threshold(2, 0.01, 0.0)
    >>> singles = mine_constants(attributes, threshold, max_pairs=999, max_rules=999)
    >>> table = mine_conjunctions(attributes, threshold, singles, max_pairs=999)
    >>> ConstantRules(steps, table, threshold).describe(0)
    'speaks(x, french) ← lives_in(x, z), works_in(x, z)'
    >>> table.support.tolist(), table.sizes.tolist()
    ([2], [2])
    """
    parts = _choose_parts(attributes, threshold, singles, max_parts)
    return _Joiner(attributes, threshold, parts, max_conjunctions).mine(max_pairs)


@dataclass(frozen=True, eq=False)
class _Parts:
    """Rules a(x) ← b(x) to be joined: the places of their heads and bodies, and their confidence, by head."""

    head: Places
    body: Places
    confidence: Array

    def __len__(self) -> int:
        return len(self.head)

    def take(self, rows: Places | Bools) -> _Parts:
        return _Parts(self.head[rows], self.body[rows], self.confidence[rows])


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of parts of the same head, by the numbers of the parts, and the support of each."""

    first: Places
    second: Places
    support: Ids

    @classmethod
    def empty(cls) -> _Pairs:
        none = np.zeros(0, dtype=np.int64)
        return cls(none, none, none)

    @classmethod
    def join(cls, each: Sequence[_Pairs]) -> _Pairs:
        return cls(
            np.concatenate([pairs.first for pairs in each]),
            np.concatenate([pairs.second for pairs in each]),
            np.concatenate([pairs.support for pairs in each]),
        )

    def take(self, rows: Places | Bools) -> _Pairs:
        return _Pairs(self.first[rows], self.second[rows], self.support[rows])


def _choose_parts(attributes: Attributes, threshold: Threshold, singles: ConstantTable, n: int) -> _Parts:
    """Choose the rules of each head by support × (confidence − fraction of the step's entities with the head).

    s(x, c) ← s(x, ·) is no part: which entities have its body depends on the head.
    """
    head_step = singles.heads // (attributes.n + 1)
    singles = singles.take(singles.has_body & (singles.bodies[:, 0] != attributes.any_end(head_step)))
    head = np.searchsorted(attributes.codes, singles.heads)
    body = np.searchsorted(attributes.codes, singles.bodies[:, 0])
    confidence = singles.confidence(threshold)
    any_end = np.searchsorted(attributes.codes, attributes.any_end(attributes.step[head]))
    base = attributes.sizes[head] / attributes.sizes[any_end]
    gain = singles.support * (confidence - base)
    order = np.lexsort((body, -gain, head))
    return _Parts(head, body, confidence).take(np.sort(order[_place_in_run(head[order]) < n]))


@dataclass(frozen=True, eq=False)
class _Joiner:
    """Joins parts in pairs."""

    attributes: Attributes
    threshold: Threshold
    parts: _Parts
    max_conjunctions: int

    def mine(self, max_pairs: int) -> ConstantTable:
        """Count the conjunctions that the budget pays for."""
        heads, n_parts = np.unique(self.parts.head, return_counts=True)
        costs = self.attributes.sizes[heads] * n_parts**2
        is_paid = affordable(costs, max_pairs)
        numbers = np.flatnonzero(np.repeat(is_paid, n_parts))
        begins = np.append(0, np.cumsum(n_parts[is_paid]))
        pairs = [_Pairs.empty()]
        for rows in chunks(costs[is_paid], CHUNK_PAIRS):
            report("joining rules with constants", rows.stop, len(begins) - 1)
            pairs.append(self._count_support(numbers[begins[rows.start] : begins[rows.stop]]))
        table = self._count_sizes(_Pairs.join(pairs), max_pairs)
        return replace(table, skipped=int(np.count_nonzero(~is_paid)))

    def _count_support(self, numbers: Places) -> _Pairs:
        """Count the entities of each head that have both bodies, for all pairs of some parts."""
        attributes = self.attributes
        head = self.parts.head[numbers]
        lengths = attributes.sizes[head]
        cells = ranges(attributes.begins[head], lengths)  # a head and an entity that has it
        part = np.repeat(np.arange(len(numbers)), lengths)
        has = attributes.have(attributes.all_entities[cells], self.parts.body[numbers][part])
        first_cell = int(attributes.begins[head[0]])
        shape = len(numbers), int(attributes.begins[head[-1] + 1]) - first_cell
        ones = np.ones(int(has.sum()), dtype=np.int32)
        matrix = csr_array((ones, (part[has], cells[has] - first_cell)), shape=shape)
        together = triu(matrix @ matrix.T, k=1, format="coo")
        support = together.data.astype(np.int64)
        pairs = _Pairs(numbers[together.row], numbers[together.col], support)
        return pairs.take(self._are_wanted(pairs, support))  # the size is at least the support

    def _are_wanted(self, pairs: _Pairs, sizes: Ids) -> Bools:
        """Whether pairs of these sizes pass the threshold, and say clearly more than their parts."""
        confidence = self.parts.confidence
        better = np.maximum(confidence[pairs.first], confidence[pairs.second])
        is_better = self.threshold.ratio(pairs.support, sizes) >= better + MIN_GAIN
        return np.asarray(is_better & self.threshold.passed(pairs.support, sizes))

    def _count_sizes(self, pairs: _Pairs, max_pairs: int) -> ConstantTable:
        """Count the entities that have both bodies, and return the pairs that are wanted."""
        bodies, places = self._distinct_bodies(pairs)
        costs = self.attributes.sizes[bodies[:, 0]]
        is_paid = affordable(costs, max_pairs)
        n_entities = np.zeros(len(bodies), dtype=np.int64)
        n_entities[is_paid] = self._count_both(bodies[is_paid])
        pairs = pairs.take(is_paid[places])
        places = places[is_paid[places]]
        constant = self.attributes.end[self.parts.head[pairs.first]]
        sizes = n_entities[places] - self._have_both(constant, bodies[places])
        wanted = np.flatnonzero(self._are_wanted(pairs, sizes))
        return self._best(pairs.take(wanted), bodies[places[wanted]], sizes[wanted])

    def _distinct_bodies(self, pairs: _Pairs) -> tuple[Places, Places]:
        """The distinct pairs of attributes, that of fewer entities first, and the place of each pair."""
        one = self.parts.body[pairs.first]
        other = self.parts.body[pairs.second]
        sizes = self.attributes.sizes
        is_first = (sizes[one] < sizes[other]) | ((sizes[one] == sizes[other]) & (one < other))
        keys = np.where(is_first, one, other) * len(self.attributes) + np.where(is_first, other, one)
        distinct = sorted_unique(keys)
        bodies = np.stack(np.divmod(distinct, max(len(self.attributes), 1)), axis=1)
        return bodies, np.searchsorted(distinct, keys)

    def _count_both(self, bodies: Places) -> Ids:
        """The number of entities that have both of two attributes, for each row."""
        counts = np.zeros(len(bodies), dtype=np.int64)
        for rows in chunks(self.attributes.sizes[bodies[:, 0]], CHUNK_PAIRS):
            places, entities = self.attributes.entities_of(bodies[rows, 0])
            has = self.attributes.have(entities, bodies[rows, 1][places])
            counts[rows] = np.bincount(places[has], minlength=rows.stop - rows.start)
        return counts

    def _have_both(self, entities: Ids, bodies: Places) -> Bools:
        """Whether each entity has the two attributes beside it."""
        has_first = self.attributes.have(entities, bodies[:, 0])
        return np.asarray(has_first & self.attributes.have(entities, bodies[:, 1]))

    def _best(self, pairs: _Pairs, bodies: Places, sizes: Ids) -> ConstantTable:
        """The conjunctions of the highest confidence, then support, of each head."""
        head = self.parts.head[pairs.first]
        confidence = self.threshold.ratio(pairs.support, sizes)
        order = np.lexsort((bodies[:, 1], bodies[:, 0], -pairs.support, -confidence, head))
        rows = order[_place_in_run(head[order]) < self.max_conjunctions]
        codes = self.attributes.codes
        table = ConstantTable(codes[head[rows]], codes[bodies[rows]], pairs.support[rows], sizes[rows])
        return replace(table.sorted(), cut=len(order) - len(rows))


def _place_in_run(values: Ids) -> Places:
    """The place of each value in its run of equal values.

    Examples
    --------
    >>> _place_in_run(np.array([5, 5, 7, 5]))
    array([0, 1, 0, 0])
    """
    begins = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])
    lengths = np.diff(np.append(begins, len(values)))
    return np.arange(len(values)) - np.repeat(begins, lengths)
