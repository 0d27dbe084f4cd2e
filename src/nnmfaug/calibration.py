"""From confidence to the probability of truth, without labels.

Leave a share s of train out at random, fit again, and see which of the triples that the refit lists come back.
Let a be the chance that a triple like this one is in the graph. Among those that the refit does not know, the
odds that one comes back are s times the odds of a: s·a / (1 − a). If the graph holds a share q of all facts, a/q
of such triples are true, so of those that are not in the graph

    π = (a/q − a) / (1 − a) = (1 − q)/q · a/(1 − a)

are. What comes back therefore tells a, and tells π once q is known; q itself it does not tell, whatever the share
(docs/decisions/0009). It is given, or the surest triples are taken for true: then π = 1 there, and q = a.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from scipy.stats import beta

from nnmfaug.graph import KnowledgeGraph
from nnmfaug.listed import Listed
from nnmfaug.progress import report
from nnmfaug.seeding import generator
from nnmfaug.vocabulary import IntArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ids = NDArray[np.int64]

_STREAM = 0xCA1
N_KINDS = 8
QUARTER = 0.25
"""This share of all that came back tells the completeness, the surest first."""
FEW = 20
"""Fewer triples that come back say nothing about single ones."""
ENOUGH = 50
"""So many triples that two fits have in common tell how their confidences compare."""
IMPOSSIBLE = -20.0
"""Log odds of what nothing speaks for."""
MAX_SEEN = 100_000
"""Listed triples of a refit that are looked at."""


@dataclass(frozen=True, eq=False)
class Refits:
    """Triples that refits listed, what is known of them, and which of them had been left out.

    ``confidence`` is on the scale of the fit to all of train, ``share`` what each refit was without.
    """

    triples: IntArray
    confidence: Array
    kind: Ids
    hit: Bools
    number: Ids
    share: float

    @property
    def n_refits(self) -> int:
        """Number of refits."""
        return int(self.number.max(initial=-1)) + 1

    def take(self, rows: Bools) -> Refits:
        """Return some of the triples."""
        parts = (self.triples[rows], self.confidence[rows], self.kind[rows], self.hit[rows], self.number[rows])
        return Refits(*parts, self.share)


def refit(
    fit: Callable[[KnowledgeGraph], Listed], full: Listed, *, share: float = 0.1, n_refits: int = 5, seed: int = 0
) -> Refits:
    """Fit again and again without a random share of the graph."""
    graph, parts = full.graph, []
    for i in range(n_refits):
        report("refitting", i, n_refits)
        out = generator(seed, _STREAM, i).random(len(graph)) < share
        rest, held = (KnowledgeGraph(graph.vocabulary, graph.triples[mask]) for mask in (~out, out))
        listed = fit(rest)
        triples = listed.triples[:MAX_SEEN]
        confidence = _on_scale_of(full, listed)
        hit, number = held.contains(triples), np.full(len(triples), i)
        parts.append((triples, confidence, kinds(rest, triples), hit, number))
    triples, confidence, kind, hit, number = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return Refits(triples, confidence, kind, hit, number, share)


def kinds(graph: KnowledgeGraph, triples: IntArray) -> Ids:
    """What the graph has already: a tail of head and relation (1), a head of relation and tail (2), the pair (4).

    The numbers of what it has are added.
    """
    found = np.zeros(len(triples), dtype=np.int64)
    for weight, one, other in ((1, 0, 1), (2, 2, 1), (4, 0, 2)):
        wanted, known = (
            rows[:, one].astype(np.int64) * (graph.n_entities + graph.n_relations) + rows[:, other]
            for rows in (triples, graph.triples)
        )
        found += weight * np.isin(wanted, known)
    return found


@dataclass(frozen=True, eq=False)
class Calibration:
    """Probability of truth by confidence, relation, and what is known of head and tail with it.

    The log odds of a are ``slopes · base + offsets``, both of shape (relations, kinds), where the base is a rising
    function of the confidence, linear between ``knots`` (confidence, value).
    """

    knots: tuple[Array, Array]
    slopes: Array
    offsets: Array
    completeness: float = 0.5

    def log_odds(self, triples: IntArray, confidence: Array, kind: Ids) -> Array:
        """Logarithm of the odds that such a triple is in the graph."""
        base = np.interp(confidence, *self.knots)
        group = triples[:, 1], kind
        found: Array = self.slopes[group] * base + self.offsets[group]
        return found

    def __call__(self, graph: KnowledgeGraph, triples: IntArray, confidence: Array) -> Array:
        """Return the probability of truth of triples that are not in the graph."""
        return truth(self.log_odds(triples, confidence, kinds(graph, triples)), self.completeness)


def truth(log_odds: Array, completeness: float) -> Array:
    """Probability of truth of what is not in the graph: π above, and at most 1."""
    shift = np.log((1 - completeness) / completeness)
    probability: Array = np.exp(np.minimum(log_odds + shift, 0.0))
    return probability


def calibrate(refits: Refits, n_relations: int, completeness: float) -> Calibration:
    """Learn from refits: a rising curve, then how each relation and kind differs from it, as far as they do."""
    return replace(_learn(refits, n_relations), completeness=completeness)


def curve(refits: Refits) -> tuple[Array, Array]:
    """Log odds of being in the graph as a rising function of confidence, as knots (confidence, value)."""
    confidence, back = _curve(refits.confidence, refits.hit)
    return confidence, back - np.log(refits.share)


def _learn(refits: Refits, n_relations: int) -> Calibration:
    knots, shape = _curve(refits.confidence, refits.hit), (n_relations, N_KINDS)
    hits = int(refits.hit.sum())
    if FEW <= hits < len(refits.hit):
        slopes, offsets = _by_group(refits, np.interp(refits.confidence, *knots), n_relations * N_KINDS)
    else:  # all came back; or little is known: next to impossible, however much is missing
        slopes, offsets = np.zeros(shape), np.full(shape, knots[1][-1] if hits >= FEW else IMPOSSIBLE)
    return Calibration(knots, slopes.reshape(shape), offsets.reshape(shape) - np.log(refits.share))


def _by_group(refits: Refits, base: Array, n_groups: int) -> tuple[Array, Array]:
    """Slope and offset of each relation and kind; those that tell little are as all together."""
    from sklearn.linear_model import LogisticRegression

    middle = float(base[refits.hit].mean())
    groups = refits.triples[:, 1].astype(np.int64) * N_KINDS + refits.kind
    places, shape = (np.arange(len(groups)), groups), (len(groups), n_groups)
    own, sloped = (csr_array((values, places), shape=shape) for values in (np.ones(len(groups)), base - middle))
    columns = hstack([csr_array((base - middle)[:, None]), sloped, own])
    model = LogisticRegression(C=1.0, max_iter=1000).fit(columns, refits.hit)
    slopes = model.coef_[0, 0] + model.coef_[0, 1 : n_groups + 1]
    return slopes, model.intercept_[0] + model.coef_[0, n_groups + 1 :] - slopes * middle


def _curve(confidence: Array, hit: Bools) -> tuple[Array, Array]:
    """Log odds of coming back as a rising function of confidence, given at the ends of its steps."""
    from sklearn.isotonic import isotonic_regression

    if not len(hit):
        return np.array([0.0, 1.0]), np.full(2, IMPOSSIBLE)
    values, places = np.unique(confidence.round(9), return_inverse=True)
    counts = np.bincount(places)
    levels = isotonic_regression(np.bincount(places, hit) / counts, sample_weight=counts)
    ends = np.flatnonzero(np.diff(levels))
    knots = np.unique(np.concatenate([[0], ends, ends + 1, [len(levels) - 1]]))
    return values[knots], _logit(np.clip(levels[knots], min(0.5 / len(hit), 0.01), 1 - 0.5 / len(hit)))


def surest(refits: Refits, n_relations: int) -> float:
    """Share of the surest triples that are in the graph: the completeness, if all are true.

    Which are the surest, the other refits say. They are as many as hold a quarter of all that came back.
    """
    hits = total = 0
    for i in range(refits.n_refits):
        own = refits.number == i
        one, others = refits.take(own), refits.take(~own)
        calibration = _learn(others, n_relations)
        order = np.argsort(-calibration.log_odds(one.triples, one.confidence, one.kind), kind="stable")
        running = np.cumsum(one.hit[order])
        n = int(np.searchsorted(running, QUARTER * one.hit.sum())) + 1
        hits, total = hits + int(one.hit[order[:n]].sum()), total + min(n, len(order))
    rate = (hits + 0.5) / (total + 1)
    odds = rate / (1 - rate) / refits.share
    return odds / (1 + odds)


def jeffreys(hits: int, total: int) -> tuple[float, float]:
    """95 % interval of a share."""
    low, high = (float(beta.ppf(level, hits + 0.5, total - hits + 0.5)) for level in (0.025, 0.975))
    return (0.0 if hits == 0 else low), (1.0 if hits == total else high)


def _on_scale_of(full: Listed, listed: Listed) -> Array:
    """Confidences of a refit as the full fit, which knows more, would give them: all higher by the same factor."""
    own = listed.confidence[:MAX_SEEN]
    theirs = full.confidence_of(listed.triples[:MAX_SEEN])
    both = theirs > 0
    if both.sum() < ENOUGH:
        return own
    scaled: Array = np.minimum(own * np.median(theirs[both] / own[both]), 1.0)
    return scaled


def _logit(p: Array) -> Array:
    return np.asarray(np.log(p / (1 - p)))
