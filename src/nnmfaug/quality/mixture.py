"""A mixture of augmenters: all triples that they list, ranked by their estimated probability.

Confidences of different augmenters cannot be compared; calibrated probabilities can. So each augmenter is
calibrated by itself from the train graph (:mod:`nnmfaug.quality.calibration`), rules by leaving out every triple,
one at a time, and all others by hold-out refits. Then their lists are merged. A triple that several of them list
has the highest of its probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from nnmfaug.augmenters.base import Augmenter, Distribution, Evidence
from nnmfaug.augmenters.listed import Listed
from nnmfaug.augmenters.rules.rules import Rules
from nnmfaug.core.arrays import Array, Ids, IntArray
from nnmfaug.core.checks import check_argument
from nnmfaug.graph.keys import first_places
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.calibration import estimated_probability
from nnmfaug.quality.completeness import check_completeness, completeness_of, estimate_completeness
from nnmfaug.quality.holdout import refit
from nnmfaug.quality.leave_one_out import leave_one_out
from nnmfaug.quality.membership import fit_membership
from nnmfaug.quality.recovery import Measured

MAX_DRAWN = 20_000
"""Number of triples drawn from an augmenter that has no list."""
MIN_PROBABILITY = 1e-12
"""Lower probabilities count as this, so that they have a logarithm."""


@dataclass(frozen=True)
class Mixture:
    """All triples that some augmenters list, each with its estimated probability, the highest first.

    Parameters
    ----------
    generators
        The augmenters. From one without a list, 20,000 triples are drawn.
    completeness
        Fraction of all true facts that the graph contains. Default: estimated.
    sharpness
        ``sample`` draws a triple in proportion to its probability to this power; ``top`` ignores it.

    Examples
    --------
    >>> import nnmfaug as na
    >>> world = na.family(60, seed=0)
    >>> dist = na.Mixture((na.Rules(), na.TypedTriples())).fit(world.given)
    >>> bool(world.is_true(dist.top(20).triples).all())
    True
    """

    generators: tuple[Augmenter[Distribution], ...] = field(default_factory=lambda: (Rules(),))
    completeness: float | None = None
    sharpness: float = 1.0

    def __post_init__(self) -> None:
        check_completeness(self.completeness)
        check_argument("sharpness", self.sharpness, 0 <= self.sharpness < math.inf, "a number from 0")

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> Listed:
        """Fit each augmenter to a graph, which should be the train split alone; calibrate it; merge the lists."""
        check_argument("generators", self.generators, bool(self.generators), "at least one augmenter")
        measured = [list_and_recover(augmenter, graph, MAX_DRAWN, seed=seed) for augmenter in self.generators]
        completeness = self._completeness(measured, graph)
        parts = []
        for augmenter, each in zip(self.generators, measured, strict=True):
            membership = fit_membership(each.recovery, graph.n_relations)
            parts.append(_Part(type(augmenter).__name__.lower(), each.full, membership.log_odds(each.conclusions)))
        return _merge(graph, parts, completeness, self.sharpness)

    def _completeness(self, measured: Sequence[Measured], graph: KnowledgeGraph) -> float:
        """The completeness that is given, or that of the first rules among the augmenters, or of default rules."""
        if self.completeness is not None:
            return self.completeness
        for augmenter, each in zip(self.generators, measured, strict=True):
            if isinstance(augmenter, Rules):
                return completeness_of(each.recovery, graph.n_relations)
        return estimate_completeness(graph)


def list_and_recover(
    method: Augmenter[Distribution],
    graph: KnowledgeGraph,
    n: int,
    *,
    seed: int,
    fraction: float = 0.1,
    n_refits: int = 5,
    task: str = "refitting",
) -> Measured:
    """Return the list of an augmenter, and its recovery: by leaving one out for rules, by refits otherwise.

    Parameters
    ----------
    n
        Number of triples that are drawn from an augmenter without a list.
    fraction, n_refits, task
        As in :func:`~nnmfaug.quality.holdout.refit`.
    """
    if isinstance(method, Rules):
        return leave_one_out(method, graph)

    def fit(part: KnowledgeGraph) -> Listed:
        return Listed.of(method.fit(part, seed=seed), n, seed=seed)

    full = fit(graph)
    recovery = refit(fit, full, fraction=fraction, n_refits=n_refits, seed=seed, task=task)
    return Measured.of(full, recovery)


@dataclass(frozen=True, eq=False)
class MixtureEvidence:
    """Evidence for the triples of a mixture: that of the augmenter which gave the triple its probability.

    Parameters
    ----------
    parts, names
        The lists of the augmenters, and their names.
    keys, sources : ndarrays of shape (n,)
        The key of each triple, and the number of its list.
    """

    parts: Sequence[Listed]
    names: Sequence[str]
    keys: Ids
    sources: Ids

    @cached_property
    def _source_of(self) -> dict[int, int]:
        return dict(zip(self.keys.tolist(), self.sources.tolist(), strict=True))

    def explain(self, triples: IntArray) -> list[Evidence]:
        """Return the evidence for each row of ids."""
        keys = self.parts[0].graph.vocabulary.keys(triples).tolist()
        return [self._explain_one(key, triple) for key, triple in zip(keys, triples, strict=True)]

    def _explain_one(self, key: int, triple: IntArray) -> Evidence:
        source = self._source_of.get(key)
        if source is None:
            msg = f"{triple.tolist()} is not among the listed triples"
            raise ValueError(msg)
        (evidence,) = self.parts[source].explain(triple[None])
        if evidence.source:
            return evidence
        confidence = float(self.parts[source].confidence_of(triple[None])[0])
        return Evidence(self.names[source], "drawn", confidence=confidence)


@dataclass(frozen=True, eq=False)
class _Part:
    """The list of one augmenter, and the log-odds of each triple to be in the graph."""

    name: str
    full: Listed
    log_odds: Array


def _merge(graph: KnowledgeGraph, parts: Sequence[_Part], completeness: float, sharpness: float) -> Listed:
    """Merge lists by log-odds, then confidence, then their own order; of equal triples the first remains.

    The estimated probability rises with the log-odds until it is 1.
    """
    triples = np.concatenate([part.full.triples for part in parts])
    confidence = np.concatenate([part.full.confidence for part in parts])
    log_odds = np.concatenate([part.log_odds for part in parts])
    sources = np.repeat(np.arange(len(parts)), [len(part.log_odds) for part in parts])
    keys = graph.vocabulary.keys(triples)
    ranking = np.lexsort((-confidence, -log_odds))  # stable, so ties remain in the order of the lists
    order = ranking[np.sort(first_places(keys[ranking]))]
    lists = [part.full for part in parts]
    names = [part.name for part in parts]
    evidence = MixtureEvidence(lists, names, keys[order], sources[order])
    probability = np.maximum(estimated_probability(log_odds[order], completeness), MIN_PROBABILITY)
    return Listed(graph, triples[order], probability, sharpness, evidence, calibrated=True)
