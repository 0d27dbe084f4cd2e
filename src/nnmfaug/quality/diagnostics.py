"""What a set of generated triples is like, beside how many of them are true."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nnmfaug.augmenters.controls import RandomTriples, TypedTriples
from nnmfaug.augmenters.uniform import RelationUniform
from nnmfaug.core.arrays import IntArray
from nnmfaug.graph.knowledge_graph import KnowledgeGraph, check_graph
from nnmfaug.graph.splits import Splits

SPARSE = 2
"""Entities with so many triples or fewer are sparse."""


@dataclass(frozen=True)
class Diagnostics:
    """Numbers about a set of generated triples; hits are told, and were never used.

    Parameters
    ----------
    n
        Number of triples.
    novelty, validity
        Share that is not in train; and share that is a possible triple at all: of train's entities and relations,
        with two different ends.
    in_valid, in_test
        How many are there.
    confirmed
        Share that is in valid or test. A true fact that is in neither counts as false.
    lift_over_random, lift_over_typed
        How many times more often that is than for triples drawn by chance, and by chance of the right types.
    relations, sparse_entities
        Share of train's relations, and of its entities with few triples, that are covered.
    f_tsp
        Harmonic mean of ``confirmed`` and √(share of valid and test that is found), as in triple set prediction.
    """

    n: int
    novelty: float
    validity: float
    in_valid: int
    in_test: int
    confirmed: float
    lift_over_random: float | None
    lift_over_typed: float | None
    relations: float
    sparse_entities: float
    f_tsp: float


def diagnose(generated: KnowledgeGraph, splits: Splits) -> Diagnostics:
    """Describe generated triples by the splits of a data set.

    Examples
    --------
    >>> import nnmfaug as na
    >>> splits = na.read_splits("umls")
    >>> found = diagnose(na.Rules().fit(splits.train).top(500).graph, splits)
    >>> found.novelty, found.validity, found.confirmed > 0.9
    (1.0, 1.0, True)
    """
    check_graph(generated)
    triples, n = generated.with_vocabulary(splits.vocabulary).triples, len(generated)
    held = _held_out(splits)
    hits = int(held.contains(triples).sum())
    confirmed, recall = hits / n if n else 0.0, math.sqrt(hits / len(held)) if len(held) else 0.0
    lifts = [_lift(confirmed, control.fit(splits.train), held) for control in (RandomTriples(), TypedTriples())]
    return Diagnostics(
        n=n,
        novelty=_share(~splits.train.contains(triples)),
        validity=_share(_possible(triples, splits.train)),
        in_valid=int(splits.valid.contains(triples).sum()),
        in_test=int(splits.test.contains(triples).sum()),
        confirmed=confirmed,
        lift_over_random=lifts[0],
        lift_over_typed=lifts[1],
        relations=_covered(triples[:, 1], np.unique(splits.train.triples[:, 1])),
        sparse_entities=_covered(triples[:, [0, 2]].ravel(), _sparse(splits.train)),
        f_tsp=2 * confirmed * recall / (confirmed + recall) if hits else 0.0,
    )


def _held_out(splits: Splits) -> KnowledgeGraph:
    """What is in valid or test and not in train."""
    together = splits.together()
    return KnowledgeGraph(splits.vocabulary, together.triples[~splits.train.contains(together.triples)])


def _lift(confirmed: float, law: RelationUniform, held: KnowledgeGraph) -> float | None:
    """How many times more often than by a law, whose new triples are confirmed with a chance in closed form."""
    known = float(np.exp(law.log_prob(law.graph.triples)).sum())
    chance = float(np.exp(law.log_prob(held.triples)).sum()) / (1 - known) if known < 1 else 0.0
    return confirmed / chance if chance > 0 else None


def _possible(triples: IntArray, train: KnowledgeGraph) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    h, r, t = triples.T
    entities, relations = np.unique(train.triples[:, [0, 2]]), np.unique(train.triples[:, 1])
    return np.asarray(np.isin(h, entities) & np.isin(t, entities) & np.isin(r, relations) & (h != t))


def _sparse(train: KnowledgeGraph) -> IntArray:
    entities, counts = np.unique(train.triples[:, [0, 2]], return_counts=True)
    few: IntArray = entities[counts <= SPARSE]
    return few


def _covered(found: IntArray, wanted: IntArray) -> float:
    return _share(np.isin(wanted, found))


def _share(mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    return float(mask.mean()) if len(mask) else 1.0
