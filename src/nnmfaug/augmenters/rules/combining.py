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

from typing import Literal, NamedTuple

import numpy as np

from nnmfaug.core.arrays import Array, Ids
from nnmfaug.core.elementary import expm1, log1p

Combine = Literal["max", "fading", "noisy-or"]
N_BEST = 3
"""Number of rules that are kept for each triple: they break ties and are shown."""
MAX_CERTAINTY = 1 - 1e-12
"""A confidence of 1 would make all other rules irrelevant."""
MAX_RANK = 60
"""Rules after so many better ones all count alike, which is not at all."""


class Conclusions(NamedTuple):
    """Triples that rules conclude, the highest confidence first.

    Parameters
    ----------
    keys, confidence : ndarray of shape (n_triples,)
        Key and confidence of each triple.
    best_rules : ndarray of shape (n_triples, 3)
        The rules of highest confidence that conclude it; −1 if there are fewer.
    """

    keys: Ids
    confidence: Array
    best_rules: Ids


def log_doubt(confidence: Array) -> Array:
    """Return log(1 − c)."""
    return log1p(-np.minimum(confidence, MAX_CERTAINTY))


def fading_weight(rank: Ids) -> Array:
    """Return the weight of each rank from 0: 1, ½, ¼ and so on."""
    weights: Array = 0.5 ** np.minimum(rank, MAX_RANK)
    return weights


def combine_rules(keys: Ids, rules: Ids, confidence: Array, combine: Combine) -> Conclusions:
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
    return Conclusions(keys[first][ranking], combined[ranking], best_rules[ranking])


def _best(triple: Ids, rank: Ids, rules: Ids, n_triples: int) -> Ids:
    """The first rules of each triple, shape (n_triples, 3)."""
    best = np.full((n_triples, N_BEST), -1, dtype=np.int64)
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
