"""Estimated probabilities against the truth: bands, calibration error, and synthetic graphs with missing facts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

import nnmfaug as na
from nnmfaug.core.arrays import Array, Bools

N_BANDS = 10
MISSING = 0.2
"""Fraction of the true facts that a synthetic graph lacks."""


@dataclass(frozen=True)
class Band:
    """Triples whose estimated probabilities lie between two tenths.

    Parameters
    ----------
    low
        The lower tenth.
    n
        Number of triples.
    estimated
        Mean of their estimated probabilities.
    n_true
        Number of true ones.
    """

    low: float
    n: int
    estimated: float
    n_true: int

    @property
    def true(self) -> float:
        """Fraction of the triples that are true."""
        return self.n_true / self.n


def bands(probability: Array, true: Bools) -> tuple[Band, ...]:
    """Return the bands that contain a triple; a probability of 1 is in the highest."""
    places = np.minimum((probability * N_BANDS).astype(np.int64), N_BANDS - 1)
    members = ((place / N_BANDS, places == place) for place in np.unique(places).tolist())
    return tuple(
        Band(low, int(rows.sum()), float(probability[rows].mean()), int(true[rows].sum())) for low, rows in members
    )


def calibration_error(probability: Array, true: Bools) -> float:
    """Return the mean of |estimated − true| over bands, each weighted by its number of triples; NaN for none."""
    if not len(probability):
        return math.nan
    errors = [band.n * abs(band.estimated - band.true) for band in bands(probability, true)]
    return sum(errors) / len(probability)


@dataclass(frozen=True)
class Incomplete:
    """A graph that lacks some of the true facts.

    Parameters
    ----------
    name
        Which facts are missing.
    given, truth
        The graph, and all true triples, with one vocabulary.
    """

    name: str
    given: na.KnowledgeGraph
    truth: na.KnowledgeGraph

    @property
    def completeness(self) -> float:
        """Fraction of the true facts that are given."""
        return len(self.given) / len(self.truth)

    def is_true(self, triples: ArrayLike) -> Bools:
        """Return for each row of ids, shape (n, 3), whether it is a true triple."""
        return self.truth.contains(triples)


def incomplete_families(n: int, *, seed: int) -> Iterator[Incomplete]:
    """Yield a graph of n people without a fifth of its facts: at random, of some people, and a mixture of both."""
    world = na.family(n, seed=seed, missing=MISSING)
    splits = na.split(world.truth, valid=MISSING / 2, test=MISSING / 2, seed=seed)
    yield Incomplete("facts at random", splits.train, world.truth)
    yield Incomplete("facts of some people", without_people(world.truth, MISSING, seed=seed), world.truth)
    yield Incomplete("a mixture of both", world.given, world.truth)


def without_people(truth: na.KnowledgeGraph, fraction: float, *, seed: int) -> na.KnowledgeGraph:
    """Leave out a fraction of the triples: all about one entity, then all about another, and so on.

    One triple of each entity as head, and one of each relation, stay.
    """
    rng = np.random.default_rng(seed)
    triples = truth.triples[rng.permutation(len(truth))]
    stays = np.zeros(len(triples), dtype=np.bool_)
    for column in (0, 1):
        _, first = np.unique(triples[:, column], return_index=True)
        stays[first] = True
    ranks = rng.permutation(truth.n_entities)
    rank = ranks[triples[:, [0, 2]]].min(axis=1)
    order = np.lexsort((rank, stays))
    kept = triples[order[round(fraction * len(triples)) :]]
    return na.KnowledgeGraph(truth.vocabulary, truth.vocabulary.from_keys(np.sort(truth.vocabulary.keys(kept))))
