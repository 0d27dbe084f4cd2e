"""Diagnostics of generated triples: how new, how possible, how often in valid or test, what they cover.

Valid and test contain some of the facts that train lacks, so the fraction of generated triples that they contain
is a lower bound of the precision, and it is reported only: no estimate uses it. It depends on how many facts
were moved to valid and test. So it is compared with the same fraction for random triples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nnmfaug.augmenters.controls import RandomTriples, TypedTriples
from nnmfaug.augmenters.uniform import RelationUniform
from nnmfaug.core.arrays import Bools, IntArray
from nnmfaug.core.elementary import exp
from nnmfaug.graph.knowledge_graph import KnowledgeGraph, check_graph
from nnmfaug.graph.splits import Splits

MAX_SPARSE = 2
"""Entities with at most so many triples are sparse."""


@dataclass(frozen=True)
class Diagnostics:
    """Numbers about a set of generated triples.

    Parameters
    ----------
    n
        Number of triples.
    novelty, validity
        Fraction that is not in train; and fraction that is possible: two different entities of train and a
        relation of train.
    in_valid, in_test
        Number of triples in valid, and in test.
    confirmed
        Fraction in valid or test. A true triple that is in neither counts as false.
    lift_over_random, lift_over_typed
        ``confirmed`` divided by the same fraction for uniform random triples, and for typed random triples. None
        if that is 0.
    relations, sparse_entities
        Fraction of train's relations, and of its entities with at most two triples, that occur.
    f_tsp
        Harmonic mean of ``confirmed`` and √(fraction of valid and test that was generated), as in triple set
        prediction.
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
    >>> diagnostics = diagnose(na.Rules().fit(splits.train).top(500).graph, splits)
    >>> diagnostics.novelty, diagnostics.validity, diagnostics.confirmed > 0.9
    (1.0, 1.0, True)
    """
    check_graph(generated)
    train = splits.train
    triples = generated.with_vocabulary(splits.vocabulary).triples
    missing = _missing_from_train(splits)
    n_confirmed = int(missing.contains(triples).sum())
    confirmed = n_confirmed / len(triples) if len(triples) else 0.0
    recall = n_confirmed / len(missing) if len(missing) else 0.0
    return Diagnostics(
        n=len(triples),
        novelty=_fraction(~train.contains(triples)),
        validity=_fraction(_possible(triples, train)),
        in_valid=int(splits.valid.contains(triples).sum()),
        in_test=int(splits.test.contains(triples).sum()),
        confirmed=confirmed,
        lift_over_random=_lift(confirmed, RandomTriples().fit(train), missing),
        lift_over_typed=_lift(confirmed, TypedTriples().fit(train), missing),
        relations=_covered(np.unique(train.triples[:, 1]), triples[:, 1]),
        sparse_entities=_covered(_sparse_entities(train), triples[:, [0, 2]].ravel()),
        f_tsp=_harmonic_mean(confirmed, math.sqrt(recall)),
    )


def _missing_from_train(splits: Splits) -> KnowledgeGraph:
    """The triples of valid and test that are not in train."""
    together = splits.together()
    return KnowledgeGraph(splits.vocabulary, together.triples[~splits.train.contains(together.triples)])


def _lift(confirmed: float, control: RelationUniform, missing: KnowledgeGraph) -> float | None:
    """Divide by the fraction of a control that is confirmed: its probability of the missing triples, if new."""
    known = float(exp(control.log_prob(control.graph.triples)).sum())
    if known >= 1:
        return None
    chance = float(exp(control.log_prob(missing.triples)).sum()) / (1 - known)
    return confirmed / chance if chance > 0 else None


def _harmonic_mean(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision and recall else 0.0


def _possible(triples: IntArray, train: KnowledgeGraph) -> Bools:
    h, r, t = triples.T
    entities = np.unique(train.triples[:, [0, 2]])
    relations = np.unique(train.triples[:, 1])
    known = np.isin(h, entities) & np.isin(t, entities) & np.isin(r, relations)
    return np.asarray(known & (h != t))


def _sparse_entities(train: KnowledgeGraph) -> IntArray:
    entities, counts = np.unique(train.triples[:, [0, 2]], return_counts=True)
    sparse: IntArray = entities[counts <= MAX_SPARSE]
    return sparse


def _covered(ids: IntArray, generated: IntArray) -> float:
    """Fraction of ids that occur among generated ones."""
    return _fraction(np.isin(ids, generated))


def _fraction(mask: Bools) -> float:
    return float(mask.mean()) if len(mask) else 1.0
