"""Conclusions of several rules: from the rules that conclude a triple to one confidence.

With the confidences c₁ ≥ c₂ ≥ … of the rules that conclude a triple, its confidence is

    max        c₁
    fading     1 − (1 − c₁) · (1 − c₂)^½ · (1 − c₃)^¼ · …
    noisy-or   1 − (1 − c₁) · (1 − c₂) · (1 − c₃) · …

Rules are seldom independent: the better ones say most of what the others say. ``fading`` allows for that, and
still tells apart two triples with equal best rules. Equal confidences are ranked by the best rule, then by the
second, then by the third.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from nnmfaug.core.arrays import Array, Ids, IntArray, Places
from nnmfaug.core.elementary import expm1, log1p
from nnmfaug.graph.keys import sorted_unique

Combine = Literal["max", "fading", "noisy-or"]
N_BEST = 3
"""Number of rules that are kept for each triple: they break ties and are shown."""
MAX_CERTAINTY = 1 - 1e-12
"""A confidence of 1 would make all other rules irrelevant."""
MAX_RANK = 60
"""Rules after so many better ones all count alike, which is not at all."""

BLOCK_ROWS = 1 << 18
"""Number of triples whose best rules of all kinds are compared at a time."""
NO_RULE = -1
"""Number of no rule."""


class KindConclusions(NamedTuple):
    """Triples that rules of one kind conclude, the highest confidence first.

    Parameters
    ----------
    keys, confidence : ndarray of shape (n_triples,)
        Key and confidence of each triple.
    best_rules : ndarray of shape (n_triples, 3)
        The rules of highest confidence that conclude it; −1 if there are fewer.
    """

    keys: Ids
    confidence: Array
    best_rules: IntArray


class Conclusions(NamedTuple):
    """Triples that rules of several kinds conclude, the highest confidence first.

    Parameters
    ----------
    keys, confidence : ndarray of shape (n_triples,)
        Key of each triple, and the highest of its confidences by kind.
    best_rules : ndarray of shape (n_triples, 3)
        The rules of highest confidence that conclude it, of all kinds; −1 if there are fewer.
    by_kind : ndarray of shape (n_triples, n_kinds)
        Confidence of the rules of each kind; 0 where they do not conclude the triple.
    """

    keys: Ids
    confidence: Array
    best_rules: IntArray
    by_kind: Array

    @classmethod
    def merge(cls, parts: Sequence[KindConclusions], confidence: Array) -> Conclusions:
        """Merge the conclusions of two kinds of rules, given the confidence of each rule."""
        keys = sorted_unique(np.concatenate([part.keys for part in parts]))
        by_kind = np.zeros((len(keys), len(parts)))
        rules = np.full((len(keys), len(parts) * N_BEST), NO_RULE, dtype=np.int32)
        for kind, part in enumerate(parts):
            rows = np.searchsorted(keys, part.keys)
            by_kind[rows, kind] = part.confidence
            rules[rows, kind * N_BEST : (kind + 1) * N_BEST] = part.best_rules
        best_rules = _first_of(rules, confidence)
        best = confidence_of(best_rules, confidence)
        highest = by_kind.max(axis=1, initial=0.0)
        del rules  # of millions of triples
        ranking = np.lexsort((-best[:, 2], -best[:, 1], -best[:, 0], -highest))  # stable: then by key
        return cls(keys[ranking], highest[ranking], best_rules[ranking], by_kind[ranking])


class BestRules(NamedTuple):
    """The best rules of triples, which are in no particular order.

    Parameters
    ----------
    keys : ndarray of shape (n_triples,)
        Key of each triple, or of a cell of a table of triples.
    rules : ndarray of shape (n_triples, 3)
        The rules of highest confidence that conclude it; −1 if there are fewer.
    """

    keys: Ids
    rules: IntArray

    @classmethod
    def empty(cls) -> BestRules:
        """Return no triples."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros((0, N_BEST), dtype=np.int32))

    @classmethod
    def join(cls, parts: Sequence[BestRules]) -> BestRules:
        """Return the triples of several parts, one part after the other."""
        return cls(np.concatenate([part.keys for part in parts]), np.concatenate([part.rules for part in parts]))

    def best(self, n: int, confidence: Array) -> BestRules:
        """Return the n triples whose best rules have the highest confidence; of equal ones all or none."""
        if len(self.keys) <= n:
            return self
        highest = confidence[self.rules[:, 0]]
        least = np.partition(highest, len(highest) - n - 1)[len(highest) - n - 1]
        return BestRules(self.keys[highest > least], self.rules[highest > least])

    def conclusions(self, confidence: Array, combine: Combine) -> KindConclusions:
        """Combine the confidences of the best rules of each triple; the highest first."""
        best = confidence_of(self.rules, confidence)
        combined = combine_best(best, combine)
        ranking = np.lexsort((self.keys, -best[:, 2], -best[:, 1], -best[:, 0], -combined))
        return KindConclusions(self.keys[ranking], combined[ranking], self.rules[ranking])


def _first_of(rules: IntArray, confidence: Array) -> IntArray:
    """The three rules of the highest confidence in each row, some rows at a time."""
    first = np.empty((len(rules), N_BEST), dtype=np.int32)
    for begin in range(0, len(rules), BLOCK_ROWS):
        block = slice(begin, begin + BLOCK_ROWS)
        ranking = np.argsort(-confidence_of(rules[block], confidence), axis=1, kind="stable")
        first[block] = np.take_along_axis(rules[block], ranking[:, :N_BEST], axis=1)
    return first


def confidence_of(rules: Ids | IntArray, confidence: Array) -> Array:
    """Return the confidence of each rule, 0 for none."""
    return np.append(confidence, 0.0)[rules]


def combine_best(best: Array, combine: Combine) -> Array:
    """Combine the confidences in each row, which are descending, shape (n_triples, 3).

    Examples
    --------
    >>> combine_best(np.array([[0.75, 0.5, 0.0]]), "fading").round(3)
    array([0.823])
    """
    if combine == "max":
        return best[:, 0]
    doubts = log_doubt(best)
    if combine == "fading":
        doubts = doubts * fading_weight(np.arange(N_BEST))
    return -expm1(doubts[:, 0] + doubts[:, 1] + doubts[:, 2])


def find_best_rules(cells: Ids, rules: Ids, rank: Places) -> BestRules:
    """Return the best three rules of each cell, given a rule of a cell in each row.

    Parameters
    ----------
    cells, rules : ndarray of shape (n,)
        A cell of some table, and the number of a rule that concludes it.
    rank : ndarray of shape (n_rules,)
        The place of each rule, the best first.

    Examples
    --------
    >>> best = find_best_rules(np.array([7, 7, 9]), np.array([0, 1, 0]), np.array([1, 0]))
    >>> best.keys.tolist(), best.rules.tolist()
    ([7, 9], [[1, 0, -1], [0, -1, -1]])
    """
    n_rules = max(len(rank), 1)
    if int(cells.max(initial=0)) >= np.iinfo(np.int64).max // n_rules:
        distinct, places = np.unique(cells, return_inverse=True)
        dense = find_best_rules(places.ravel(), rules, rank)
        return BestRules(distinct[dense.keys], dense.rules)
    both = np.sort(cells * n_rules + rank[rules])  # one number per row sorts ten times as fast as two
    cells = both // n_rules
    first = np.flatnonzero(np.append(True, cells[1:] != cells[:-1])[: len(cells)])
    best = np.full((len(first), N_BEST), NO_RULE, dtype=np.int32)
    rule_of = np.empty(n_rules, dtype=np.int64)
    rule_of[rank] = np.arange(len(rank))
    for place in range(N_BEST):
        row = np.minimum(first + place, len(cells) - 1)
        is_same = (cells[row] == cells[first]) & (first + place < len(cells))
        best[is_same, place] = rule_of[both[row[is_same]] - cells[first[is_same]] * n_rules]
    return BestRules(cells[first], best)


def log_doubt(confidence: Array) -> Array:
    """Return log(1 − c)."""
    return log1p(-np.minimum(confidence, MAX_CERTAINTY))


def fading_weight(rank: Ids) -> Array:
    """Return the weight of each rank from 0: 1, ½, ¼ and so on."""
    weights: Array = 0.5 ** np.minimum(rank, MAX_RANK)
    return weights


def combine_rules(keys: Ids, rules: Ids, confidence: Array, combine: Combine) -> KindConclusions:
    """Return the triples that rules conclude, each once, the highest confidence first.

    Parameters
    ----------
    keys, rules : ndarray of shape (n,)
        The key of a triple, and the number of a rule that concludes it.
    confidence : ndarray of shape (n_rules,)
        The confidence of each rule; a rule of confidence 0 concludes nothing.

    Examples
    --------
    >>> keys, rules = np.array([7, 7, 9]), np.array([0, 1, 0])
    >>> combine_rules(keys, rules, np.array([0.5, 0.75]), "fading").confidence.round(3)
    array([0.823, 0.5  ])
    """
    applies = confidence[rules] > 0
    keys = keys[applies]
    rules = rules[applies]
    order = np.lexsort((rules, -confidence[rules], keys))
    keys = keys[order]
    rules = rules[order]
    is_first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    first = np.flatnonzero(is_first)
    triple = np.cumsum(is_first) - 1
    rank = np.arange(len(keys)) - first[triple]
    best_rules = _best(triple, rank, rules, len(first))
    best = np.append(confidence, 0.0)[best_rules]  # rule −1 has confidence 0
    combined = best[:, 0] if combine == "max" else _disjunction(confidence[rules], rank, first, combine)
    ranking = np.lexsort((keys[first], -best[:, 2], -best[:, 1], -best[:, 0], -combined))
    return KindConclusions(keys[first][ranking], combined[ranking], best_rules[ranking])


def _best(triple: Ids, rank: Ids, rules: Ids, n_triples: int) -> IntArray:
    """The first rules of each triple, shape (n_triples, 3)."""
    best = np.full((n_triples, N_BEST), NO_RULE, dtype=np.int32)
    among_best = rank < N_BEST
    best[triple[among_best], rank[among_best]] = rules[among_best]
    return best


def _disjunction(confidence: Array, rank: Ids, first: Ids, combine: Combine) -> Array:
    """1 − Π(1 − c)^weight over the rules of each triple."""
    if not len(first):
        return np.zeros(0)
    doubts = log_doubt(confidence)
    if combine == "fading":
        doubts = doubts * fading_weight(rank)
    return -expm1(np.add.reduceat(doubts, first))
