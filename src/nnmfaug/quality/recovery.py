"""Recovery: the triples of a graph that an augmenter lists after they were left out.

There are two ways to leave triples out. Rules are counts, so it is known what each rule would be without a triple:
:mod:`~nnmfaug.quality.leave_one_out` leaves out every triple, one at a time, without mining again. Any other
augmenter is fitted again without a random fraction of the graph (:mod:`~nnmfaug.quality.holdout`).

Recovery is what can be counted without labels. Let a be the probability that a listed triple of some description
is in the graph G, and s the fraction of G that is left out. Listed are those of G that were left out, in
proportion s·a, and those that are not in G, in proportion 1 − a. Of all listed triples of that description,
therefore,

    P(recovered) = s·a / (s·a + 1 − a),        odds of being recovered = s · a / (1 − a),

and the number of recovered and of listed triples determine a (:mod:`nnmfaug.quality.membership`). Left out one
at a time, every triple of G is listed once as if it were missing: s = 1. The counts do not determine how many of
the triples outside G are true: that also takes the completeness of G (:mod:`nnmfaug.quality.completeness`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nnmfaug.augmenters.listed import Listed
from nnmfaug.core.arrays import Array, Bools, Ids, IntArray
from nnmfaug.graph.keys import first_places
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

N_KINDS = 8
"""Number of different values of :func:`kinds`."""
MAX_CONCLUSIONS = 100_000
"""Only so many new triples of a list are used, those of highest confidence."""


@dataclass(frozen=True, eq=False)
class Conclusions:
    """Triples that a fitted augmenter lists, with what the graph contains beside them.

    Parameters
    ----------
    relation : ndarray of shape (n,)
        Relation of each triple.
    kind : ndarray of shape (n,)
        Which parts of the triple occur together in other triples of the graph, see :func:`kinds`.
    confidence : ndarray of shape (n,)
        Confidence of the augmenter.
    parts : ndarray of shape (n, n_rule_kinds), optional
        Confidence of each kind of rules, 0 where it does not conclude the triple. Default: there is one kind.
    """

    relation: Ids
    kind: Ids
    confidence: Array
    parts: Array | None = None

    def __len__(self) -> int:
        return len(self.confidence)

    @classmethod
    def of(
        cls, graph: KnowledgeGraph, triples: IntArray, confidence: Array, parts: Array | None = None
    ) -> Conclusions:
        """Look up the kinds of triples in a graph."""
        return cls(triples[:, 1].astype(np.int64), kinds(graph, triples), confidence, parts)

    @classmethod
    def join(cls, conclusions: Sequence[Conclusions]) -> Conclusions:
        """Return the conclusions of several, which have the same kinds of rules, one after the other."""
        parts = [each.parts for each in conclusions if each.parts is not None]
        return cls(
            relation=np.concatenate([each.relation for each in conclusions]),
            kind=np.concatenate([each.kind for each in conclusions]),
            confidence=np.concatenate([each.confidence for each in conclusions]),
            parts=np.concatenate(parts) if parts else None,
        )

    def parts_or_whole(self, n: int) -> Array:
        """Return the confidence of each of n kinds of rules, or of all kinds as one, shape (n_rows, n)."""
        if n == 1 or self.parts is None:
            return self.confidence[:, None]
        return self.parts

    def take(self, rows: Bools | Ids | slice) -> Conclusions:
        """Return the conclusions of some rows."""
        parts = None if self.parts is None else self.parts[rows]
        return Conclusions(self.relation[rows], self.kind[rows], self.confidence[rows], parts)


@dataclass(frozen=True, eq=False)
class Recovery:
    """Conclusions, and which of them are recovered.

    Parameters
    ----------
    conclusions
        What is listed while triples are left out.
    recovered : ndarray of shape (n,)
        Whether each conclusion is a triple that was left out.
    fold : ndarray of shape (n,)
        Numbers from 0: a model that rates the conclusions of a fold is fitted to those of the others.
    fraction
        s, the fraction of the graph that is left out.
    weights : ndarray of shape (n,), optional
        Number of conclusions that each row stands for. Default: one.
    cell : ndarray of shape (n,), optional
        Numbers from 0, equal for rows that differ in nothing but their fold. Default: there are no such rows.
    """

    conclusions: Conclusions
    recovered: Bools
    fold: Ids
    fraction: float = 1.0
    weights: Array | None = None
    cell: Ids | None = None

    def __len__(self) -> int:
        return len(self.conclusions)

    @cached_property
    def weight(self) -> Array:
        """Number of conclusions that each row stands for."""
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    def n_listed(self) -> int:
        """Number of conclusions."""
        return round(float(self.weight.sum()))

    @property
    def n_recovered(self) -> int:
        """Number of recovered triples."""
        return round(float(self.weight[self.recovered].sum()))

    @property
    def confidence(self) -> Array:
        """Confidence of each conclusion."""
        return self.conclusions.confidence

    @property
    def parts(self) -> Array:
        """Confidence of each kind of rules, shape (n, n_rule_kinds)."""
        parts = self.conclusions.parts
        return self.confidence[:, None] if parts is None else parts

    def take(self, rows: Bools | Ids) -> Recovery:
        """Return some rows."""
        return Recovery(
            self.conclusions.take(rows),
            self.recovered[rows],
            self.fold[rows],
            self.fraction,
            weights=None if self.weights is None else self.weights[rows],
            cell=None if self.cell is None else self.cell[rows],
        )

    def merge_folds(self) -> Recovery:
        """Return one row, with all its weight, in place of those that differ in nothing but their fold."""
        if self.cell is None:
            return self
        first = first_places(self.cell)
        sums = np.bincount(self.cell, self.weight).astype(np.float64)
        return replace(self.take(first), weights=sums[self.cell[first]], cell=None)


@dataclass(frozen=True, eq=False)
class Measured:
    """The list of a fitted augmenter, and its recovery.

    Parameters
    ----------
    full
        The list.
    conclusions
        The listed triples with what the graph contains beside them.
    recovery
        What is listed while triples are left out.
    """

    full: Listed
    conclusions: Conclusions
    recovery: Recovery

    @classmethod
    def of(cls, full: Listed, recovery: Recovery) -> Measured:
        """Look up the listed triples in the graph."""
        return cls(full, Conclusions.of(full.graph, full.triples, full.confidence), recovery)


def kinds(graph: KnowledgeGraph, triples: IntArray) -> Ids:
    """Which parts of each triple (h, r, t) occur together in other triples of the graph: a sum of numbers.

    1 if it contains (h, r, ·), another tail; 2 if it contains (·, r, t), another head; 4 if it contains (h, ·, t),
    another relation of the pair.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("a", "r", "b"), ("c", "r", "d")])
    >>> kinds(graph, np.array([[0, 0, 3], [1, 0, 0], [0, 0, 1]])).tolist()
    [3, 0, 0]
    """
    sums = np.zeros(len(triples), dtype=np.int64)
    base = graph.n_entities + graph.n_relations
    is_known = graph.contains(triples)
    for number, first, second in ((1, 0, 1), (2, 2, 1), (4, 0, 2)):
        pairs = triples[:, first].astype(np.int64) * base + triples[:, second]
        known_pairs = np.sort(graph.triples[:, first].astype(np.int64) * base + graph.triples[:, second])
        begins = np.searchsorted(known_pairs, pairs)
        n_known = np.searchsorted(known_pairs, pairs, side="right") - begins
        sums += number * (n_known > is_known)
    return sums
