"""Hold-out recovery: the triples of a graph that an augmenter lists after they were left out.

A *hold-out refit* leaves each triple of the graph G out with probability s, independently, and fits the augmenter
again to the remaining triples. A triple that the refit lists is *recovered* if it is one of those left out.

Recovery is what can be counted without labels. Let a be the probability that a listed triple of some description
is in G. The refit lists only triples that it was not given: those of G that were left out, in proportion s·a,
and those that are not in G, in proportion 1 − a. Of all listed triples of that description, therefore,

    P(recovered) = s·a / (s·a + 1 − a),        odds of being recovered = s · a / (1 − a),

and the number of recovered and of listed triples determine a (:mod:`nnmfaug.quality.membership`). They do not
determine how many of the triples outside G are true: that also takes the completeness of G
(:mod:`nnmfaug.quality.completeness`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from nnmfaug.augmenters.listed import Listed
from nnmfaug.core.arrays import Array, Bools, Ids, IntArray
from nnmfaug.core.checks import check_at_least, check_fraction
from nnmfaug.core.progress import report
from nnmfaug.core.seeding import Stream, generator
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

N_KINDS = 8
"""Number of different values of :func:`kinds`."""
MIN_COMMON = 50
"""Number of triples listed by both fits that it takes to compare their confidences."""
MAX_CONCLUSIONS = 100_000
"""Only so many triples of a refit are used, those of highest confidence."""


@dataclass(frozen=True, eq=False)
class Conclusions:
    """Triples that a fitted augmenter lists, with what its graph contains about their entities.

    Parameters
    ----------
    triples : ndarray of shape (n, 3)
        Ids of head, relation and tail.
    confidence : ndarray of shape (n,)
        Confidence of the augmenter.
    kind : ndarray of shape (n,)
        Which parts of the triple occur together in the graph, see :func:`kinds`.
    facts : ndarray of shape (n, 2)
        Number of known triples about the head, and about the tail.
    """

    triples: IntArray
    confidence: Array
    kind: Ids
    facts: Ids

    def __len__(self) -> int:
        return len(self.triples)

    @classmethod
    def of(cls, graph: KnowledgeGraph, triples: IntArray, confidence: Array) -> Conclusions:
        """Look up the kind and the facts of triples in a graph."""
        entities = graph.triples[:, [0, 2]].ravel()
        facts = np.bincount(entities, minlength=graph.n_entities)
        return cls(triples, confidence, kinds(graph, triples), facts[triples[:, [0, 2]]])

    def take(self, rows: Bools) -> Conclusions:
        """Return the conclusions of some rows."""
        return Conclusions(self.triples[rows], self.confidence[rows], self.kind[rows], self.facts[rows])


@dataclass(frozen=True, eq=False)
class Refits:
    """The conclusions of all refits, and which of them are recovered.

    Parameters
    ----------
    conclusions
        What the refits list, with confidences on the scale of the fit to the whole graph.
    recovered : ndarray of shape (n,)
        Whether each conclusion is a triple that had been left out.
    refit_id : ndarray of shape (n,)
        The refit that lists it, from 0.
    fraction
        s, the fraction of the graph that each refit leaves out.
    """

    conclusions: Conclusions
    recovered: Bools
    refit_id: Ids
    fraction: float

    def __len__(self) -> int:
        return len(self.conclusions)

    @property
    def n_refits(self) -> int:
        """Number of refits, up to the last one that lists anything."""
        return int(self.refit_id.max(initial=-1)) + 1

    @property
    def n_recovered(self) -> int:
        """Number of recovered triples."""
        return int(self.recovered.sum())

    @property
    def confidence(self) -> Array:
        """Confidence of each conclusion."""
        return self.conclusions.confidence

    def take(self, rows: Bools) -> Refits:
        """Return some rows."""
        return Refits(self.conclusions.take(rows), self.recovered[rows], self.refit_id[rows], self.fraction)


def check_refits(fraction: float, n_refits: int) -> None:
    """Raise unless refits leave out a part of the graph, and there are enough of them to compare."""
    check_fraction("fraction", fraction)
    check_at_least("n_refits", n_refits, 2)


def refit(
    fit: Callable[[KnowledgeGraph], Listed],
    full: Listed,
    *,
    fraction: float = 0.1,
    n_refits: int = 5,
    seed: int = 0,
    task: str = "refitting",
) -> Refits:
    """Fit several times, each time without a random fraction of the graph.

    Parameters
    ----------
    fit
        Fits the augmenter to a graph.
    full
        The result of ``fit`` for the whole graph.
    fraction, n_refits
        s, the fraction that each refit leaves out; and the number of refits.
    task
        Name under which progress is reported.

    Examples
    --------
    >>> import nnmfaug as na
    >>> graph = na.family(60, seed=0).given
    >>> refits = refit(na.Rules().fit, na.Rules().fit(graph))
    >>> refits.n_refits, len(refits) > refits.n_recovered > 100
    (5, True)
    """
    parts = []
    for i in range(n_refits):
        report(task, i, n_refits)
        left_out = generator(seed, Stream.HOLDOUT, i).random(len(full.graph)) < fraction
        parts.append(_refit_without(left_out, fit, full))
    report(task, n_refits, n_refits)
    refit_id = np.repeat(np.arange(n_refits), [len(conclusions) for conclusions, _ in parts])
    recovered = np.concatenate([recovered for _, recovered in parts])
    return Refits(_concatenate([conclusions for conclusions, _ in parts]), recovered, refit_id, fraction)


def kinds(graph: KnowledgeGraph, triples: IntArray) -> Ids:
    """Which parts of each triple (h, r, t) occur together in the graph: the sum of the numbers that apply.

    1 if it contains (h, r, ·), another tail; 2 if it contains (·, r, t), another head; 4 if it contains (h, ·, t),
    another relation of the pair.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("a", "r", "b"), ("c", "r", "d")])
    >>> kinds(graph, np.array([[0, 0, 3], [1, 0, 0]])).tolist()
    [3, 0]
    """
    sums = np.zeros(len(triples), dtype=np.int64)
    base = graph.n_entities + graph.n_relations
    for number, first, second in ((1, 0, 1), (2, 2, 1), (4, 0, 2)):
        pairs = triples[:, first].astype(np.int64) * base + triples[:, second]
        known_pairs = graph.triples[:, first].astype(np.int64) * base + graph.triples[:, second]
        sums += number * np.isin(pairs, known_pairs)
    return sums


def _refit_without(
    left_out: Bools, fit: Callable[[KnowledgeGraph], Listed], full: Listed
) -> tuple[Conclusions, Bools]:
    """Fit without some triples; return the conclusions, and which of them were left out."""
    graph = full.graph
    rest = KnowledgeGraph(graph.vocabulary, graph.triples[~left_out])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the fit to the whole graph has issued those that matter
        listed = fit(rest)
    triples = listed.triples[:MAX_CONCLUSIONS]
    conclusions = Conclusions.of(rest, triples, _on_scale_of(full, listed))
    hidden = KnowledgeGraph(graph.vocabulary, graph.triples[left_out])
    return conclusions, hidden.contains(triples)


def _concatenate(parts: Sequence[Conclusions]) -> Conclusions:
    return Conclusions(
        triples=np.concatenate([part.triples for part in parts]),
        confidence=np.concatenate([part.confidence for part in parts]),
        kind=np.concatenate([part.kind for part in parts]),
        facts=np.concatenate([part.facts for part in parts]),
    )


def _on_scale_of(full: Listed, listed: Listed) -> Array:
    """Multiply the confidences of a refit by one factor, so that they compare with those of the full fit.

    A refit has fewer triples, so its confidences are lower. The factor is the median of full / refit over the
    triples that both list.
    """
    confidence = listed.confidence[:MAX_CONCLUSIONS]
    in_full = full.confidence_of(listed.triples[:MAX_CONCLUSIONS])
    common = in_full > 0
    if common.sum() < MIN_COMMON:
        return confidence
    factor = np.median(in_full[common] / confidence[common])
    scaled: Array = np.minimum(confidence * factor, 1.0)
    return scaled
