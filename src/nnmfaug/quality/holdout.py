"""What comes back: fit to train without a random share of it, and see which of that share is listed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nnmfaug.augmenters.listed import Listed
from nnmfaug.core.arrays import Array, Bools, Ids, IntArray
from nnmfaug.core.progress import report
from nnmfaug.core.seeding import Stream, generator
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

N_KINDS = 8
ENOUGH = 50
"""So many triples that two fits have in common tell how their confidences compare."""
MAX_SEEN = 100_000
"""Listed triples of a refit that are looked at."""


@dataclass(frozen=True, eq=False)
class Conclusions:
    """Triples that a fit lists, how sure it is of them, and what its graph knows already.

    Parameters
    ----------
    kind
        What the graph has of relation, head and tail, see :func:`kinds`.
    facts : ndarray of shape (n, 2)
        How many triples the graph has about the head, and about the tail.
    """

    triples: IntArray
    confidence: Array
    kind: Ids
    facts: Ids

    def __len__(self) -> int:
        return len(self.triples)

    @classmethod
    def of(cls, graph: KnowledgeGraph, triples: IntArray, confidence: Array) -> Conclusions:
        """Look up what a graph knows of triples that it has not."""
        facts = np.bincount(graph.triples[:, [0, 2]].ravel(), minlength=graph.n_entities)
        return cls(triples, confidence, kinds(graph, triples), facts[triples[:, [0, 2]]])

    def take(self, rows: Bools) -> Conclusions:
        """Return some of them."""
        return Conclusions(self.triples[rows], self.confidence[rows], self.kind[rows], self.facts[rows])


@dataclass(frozen=True, eq=False)
class Refits:
    """What refits listed, and which of it had been left out.

    The confidences are on the scale of the fit to all of train; ``number`` is the refit, ``share`` what each was
    without.
    """

    listed: Conclusions
    hit: Bools
    number: Ids
    share: float

    @property
    def n_refits(self) -> int:
        """Number of refits."""
        return int(self.number.max(initial=-1)) + 1

    @property
    def confidence(self) -> Array:
        """Confidence of each listed triple."""
        return self.listed.confidence

    def take(self, rows: Bools) -> Refits:
        """Return some of the triples."""
        return Refits(self.listed.take(rows), self.hit[rows], self.number[rows], self.share)


def refit(
    fit: Callable[[KnowledgeGraph], Listed], full: Listed, *, share: float = 0.1, n_refits: int = 5, seed: int = 0
) -> Refits:
    """Fit again and again without a random share of the graph."""
    graph, parts = full.graph, []
    for i in range(n_refits):
        report("refitting", i, n_refits)
        out = generator(seed, Stream.HOLDOUT, i).random(len(graph)) < share
        rest, held = (KnowledgeGraph(graph.vocabulary, graph.triples[mask]) for mask in (~out, out))
        listed = fit(rest)
        seen = Conclusions.of(rest, listed.triples[:MAX_SEEN], _on_scale_of(full, listed))
        hit, number = held.contains(seen.triples), np.full(len(seen), i)
        parts.append((seen.triples, seen.confidence, seen.kind, seen.facts, hit, number))
    triples, confidence, kind, facts, hit, number = (
        np.concatenate(columns) for columns in zip(*parts, strict=True)
    )
    return Refits(Conclusions(triples, confidence, kind, facts), hit, number, share)


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


def _on_scale_of(full: Listed, listed: Listed) -> Array:
    """Confidences of a refit as the full fit, which knows more, would give them: all higher by the same factor."""
    own = listed.confidence[:MAX_SEEN]
    theirs = full.confidence_of(listed.triples[:MAX_SEEN])
    both = theirs > 0
    if both.sum() < ENOUGH:
        return own
    scaled: Array = np.minimum(own * np.median(theirs[both] / own[both]), 1.0)
    return scaled
