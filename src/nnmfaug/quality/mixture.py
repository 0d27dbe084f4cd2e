"""Several generators together, each weighed by how right it is."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nnmfaug.augmenters.base import Augmenter, Distribution, Evidence, Sample
from nnmfaug.augmenters.listed import Listed
from nnmfaug.augmenters.rules.rules import Rules
from nnmfaug.core.arrays import Array, IntArray
from nnmfaug.core.checks import check_count
from nnmfaug.graph.keys import first_places
from nnmfaug.graph.knowledge_graph import KnowledgeGraph, check_graph
from nnmfaug.quality.calibration import Completeness, calibrate
from nnmfaug.quality.holdout import Refits, refit
from nnmfaug.quality.precision import as_listed, check_completeness, completeness_of, estimate_completeness

MAX_DRAWN = 20_000
"""Triples drawn from a generator that cannot list what it has."""
LEAST = 1e-12
"""Least probability of truth, so that it has a logarithm."""
MAX_RELATIONS, MAX_TRIPLES, MAX_DEGREE = 30, 100_000, 10
"""What rules of three steps may take: relations, triples, and triples per entity."""


@dataclass(frozen=True)
class Mixture:
    """All that some generators list, each triple with its probability of truth, the highest first.

    The probability is measured for each generator on its own, from train alone, see
    :mod:`nnmfaug.quality.calibration`; of a triple that several list, the highest counts.

    Parameters
    ----------
    generators
        Augmenters; of one that has no list, some thousand triples are drawn.
    completeness
        Share of all facts that the graph holds, if known.
    sharpness
        A triple is drawn in proportion to its probability of truth to this power; ``top`` needs no such thing.
    """

    generators: tuple[Augmenter[Distribution], ...] = field(default_factory=lambda: (Rules(),))
    completeness: float | None = None
    sharpness: float = 1.0

    def __post_init__(self) -> None:
        check_completeness(self.completeness)
        if not 0 <= self.sharpness < math.inf:
            msg = f"sharpness={self.sharpness}: must be a number from 0"
            raise ValueError(msg)

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> Listed:
        """Fit each generator to a graph, which should be the train split alone, and measure it."""
        if not self.generators:
            msg = "a mixture needs a generator"
            raise ValueError(msg)
        parts = [_refitted(generator, graph, seed) for generator in self.generators]
        held = self._held([refits for _, refits in parts], graph, seed)
        measured = [
            (full, calibrate(refits, graph.n_relations, own)(graph, full.triples, full.confidence))
            for (full, refits), own in zip(parts, held, strict=True)
        ]
        names = [type(generator).__name__.lower() for generator in self.generators]
        return _merge(graph, measured, names, self.sharpness)

    def _held(self, refits: Sequence[Refits], graph: KnowledgeGraph, seed: int) -> list[Completeness]:
        """How complete the graph is for each generator, as rules tell it: those that are among them, or some."""
        own = [
            completeness_of(seen, graph, self.completeness) if isinstance(generator, Rules) else None
            for generator, seen in zip(self.generators, refits, strict=True)
        ]
        shares = [each.share for each in own if each is not None]
        share = shares[0] if shares else self.completeness or estimate_completeness(graph, seed=seed)
        return [Completeness(share) if each is None else replace(each, share=share) for each in own]


@dataclass(frozen=True)
class Auto:
    """As many triples as are more likely true than not, by whatever rules the graph has; none if none are.

    Parameters
    ----------
    generators
        Augmenters; None for rules, of three steps where the graph is small enough for it.
    threshold
        Least probability of truth.
    completeness
        Share of all facts that the graph holds, if known.

    Examples
    --------
    >>> import nnmfaug as na
    >>> world = na.family(100, seed=0)
    >>> extra = na.Auto().fit(world.given).everything()
    >>> len(extra) > 100, bool(world.is_true(extra.triples).mean() > 0.95)
    (True, True)
    """

    generators: tuple[Augmenter[Distribution], ...] | None = None
    threshold: float = 0.5
    completeness: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            msg = f"threshold={self.threshold}: must be above 0 and at most 1"
            raise ValueError(msg)
        check_completeness(self.completeness)

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> Listed:
        """Fit to a graph, which should be the train split alone; a ``UserWarning`` says why nothing is listed."""
        generators = default_generators(graph) if self.generators is None else self.generators
        listed = Mixture(generators, self.completeness).fit(graph, seed=seed)
        sure = listed.above(self.threshold)
        if not sure.support_size:
            best = (
                f"the best of {listed.support_size:,}: {listed.confidence[0]:.2f}"
                if listed.support_size
                else "none found"
            )
            msg = f"no triple is worth adding: none is true with a probability of {self.threshold:.2f} ({best})"
            warnings.warn(msg, UserWarning, stacklevel=2)
        return sure


def default_generators(graph: KnowledgeGraph) -> tuple[Augmenter[Distribution], ...]:
    """Rules of three steps for a sparse graph of a few relations, else of two."""
    check_graph(graph)
    n_relations, n_entities = (len(np.unique(graph.triples[:, columns])) for columns in ([1], [0, 2]))
    small = n_relations <= MAX_RELATIONS and len(graph) <= MAX_TRIPLES
    sparse = len(graph) <= MAX_DEGREE * max(n_entities, 1)
    return (Rules(depth=3 if small and sparse else 2),)


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Knows which generator each triple came from, and asks it why."""

    parts: Sequence[Listed]
    names: Sequence[str]
    keys: NDArray[np.int64]
    sources: NDArray[np.int64]

    @cached_property
    def _source_of(self) -> dict[int, int]:
        return dict(zip(self.keys.tolist(), self.sources.tolist(), strict=True))

    def explain(self, triples: IntArray) -> list[Evidence]:
        """Return the evidence of each row of ids."""
        keys = self.parts[0].graph.vocabulary.keys(triples).tolist()
        found = []
        for key, triple in zip(keys, triples, strict=True):
            source = self._source_of.get(key, -1)
            if source < 0:
                msg = f"{triple.tolist()} is not among the listed triples"
                raise ValueError(msg)
            (evidence,) = self.parts[source].explain(triple[None])
            found.append(evidence if evidence.source else Evidence(self.names[source], "drawn"))
        return found


def augment(graph: KnowledgeGraph, n: int | None = None, *, seed: int = 0) -> Sample:
    """Return at most n triples that are worth adding to a train graph, by :class:`Auto`; maybe none.

    Examples
    --------
    >>> import nnmfaug as na
    >>> world = na.family(100, seed=0)
    >>> extra = na.augment(world.given, 50)
    >>> len(extra), bool(world.is_true(extra.triples).all())
    (50, True)
    """
    dist = Auto().fit(graph, seed=seed)
    return dist.top(dist.n_new if n is None else min(check_count(n), dist.n_new))


def _refitted(generator: Augmenter[Distribution], graph: KnowledgeGraph, seed: int) -> tuple[Listed, Refits]:
    """What a generator lists, and what comes back of it."""

    def fit(part: KnowledgeGraph) -> Listed:
        return as_listed(generator.fit(part, seed=seed), MAX_DRAWN, seed=seed)

    full = fit(graph)
    return full, refit(fit, full, seed=seed)


def _merge(
    graph: KnowledgeGraph, measured: Sequence[tuple[Listed, Array]], names: Sequence[str], sharpness: float
) -> Listed:
    parts, probabilities = zip(*measured, strict=True)
    triples, probability = np.concatenate([part.triples for part in parts]), np.concatenate(probabilities)
    sources = np.repeat(np.arange(len(parts)), [len(part.triples) for part in parts])
    confidence = np.concatenate([part.confidence for part in parts])
    keys = graph.vocabulary.keys(triples)
    order = np.lexsort((keys, -confidence, -probability))
    order = order[np.sort(first_places(keys[order]))]
    witness = Witnesses(parts, names, keys[order], sources[order])
    return Listed(graph, triples[order], np.maximum(probability[order], LEAST), sharpness, witness)
