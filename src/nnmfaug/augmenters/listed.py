"""A distribution over triples that are listed one by one, each with its confidence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from nnmfaug.augmenters.base import Distribution, Evidence, Sample
from nnmfaug.augmenters.conditions import Masks, exclude_also, in_any, race_order, take_each, too_few
from nnmfaug.core.arrays import Array, Bools, IntArray, Places
from nnmfaug.core.checks import check_argument, check_count
from nnmfaug.core.elementary import exp, log
from nnmfaug.core.errors import SamplingError
from nnmfaug.core.seeding import Stream, generator
from nnmfaug.graph.keys import SortedKeys
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

DRAW, SAMPLE = 0, 1
"""Places in the stream of random numbers."""
LEAST_LOG_PROB = -600.0
"""Log-probabilities below the highest by more than this count as this."""


class Explainer(Protocol):
    """Gives the evidence for listed triples."""

    def explain(self, triples: IntArray) -> list[Evidence]:
        """Return the evidence for each row of ids, shape (n, 3)."""
        ...


@dataclass(frozen=True, eq=False)
class Listed:
    """A distribution over listed triples, none of them in train: p ∝ confidence ** sharpness.

    Parameters
    ----------
    graph
        The train graph.
    triples : ndarray of shape (n, 3)
        Different triples of ids, the most confident first.
    confidence : ndarray of shape (n,)
        Above 0 and at most 1, descending.
    sharpness
        0 draws all triples with equal probability; larger values prefer confident ones. ``top`` ignores it.
    explainer
        Gives the evidence for a triple.
    excluded
        Graphs whose triples ``sample``, ``top`` and ``n_new`` leave out.
    calibrated
        Whether confidences are estimated probabilities that a triple is true.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("a", "likes", "b"), ("b", "likes", "c")])
    >>> dist = Listed(graph, np.array([[0, 0, 2], [1, 0, 0]], dtype=np.int32), np.array([0.75, 0.25]))
    >>> dist.top(1).labels, np.exp(dist.log_prob(dist.triples)).round(3).tolist()
    ([('a', 'likes', 'c')], [0.75, 0.25])
    """

    graph: KnowledgeGraph
    triples: IntArray = field(repr=False)
    confidence: Array = field(repr=False)
    sharpness: float = 1.0
    explainer: Explainer | None = field(default=None, repr=False)
    excluded: tuple[KnowledgeGraph, ...] = field(default=(), repr=False)
    calibrated: bool = False

    def __post_init__(self) -> None:
        check_argument("sharpness", self.sharpness, 0 <= self.sharpness < math.inf, "a number from 0")
        for name in ("triples", "confidence"):
            array = getattr(self, name).view()  # the caller may still write to the original
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    def of(cls, dist: Distribution, n: int, *, seed: int) -> Listed:
        """Return a distribution as a list: itself, or n triples drawn from it, the most probable first."""
        if isinstance(dist, Listed):
            return dist
        sample = dist.sample(min(n, dist.n_new), seed=seed)
        order = np.argsort(-sample.log_prob, kind="stable")
        relative = sample.log_prob - sample.log_prob.max(initial=-np.inf)
        confidence = exp(np.maximum(relative, LEAST_LOG_PROB))
        return cls(dist.graph, sample.triples[order], confidence[order])

    @property
    def support_size(self) -> int:
        """Number of listed triples."""
        return len(self.triples)

    @cached_property
    def n_new(self) -> int:
        """Number of listed triples that are not excluded."""
        return int(self._allowed.sum())

    @cached_property
    def _allowed(self) -> Bools:
        return ~in_any(self.excluded, self.triples)

    @cached_property
    def _log_probs(self) -> Array:
        logs: Array = self.sharpness * log(self.confidence)
        if not len(logs):
            return logs
        largest = logs.max(initial=-np.inf)
        log_sum = largest + log(exp(logs - largest).sum())
        normalised: Array = logs - log_sum
        return normalised

    @cached_property
    def _index(self) -> tuple[SortedKeys, Places]:
        """The keys of the triples in ascending order, and the row of each."""
        keys = self.graph.vocabulary.keys(self.triples)
        order = np.argsort(keys, kind="stable")
        return SortedKeys(keys[order]), order

    def _look_up(self, triples: ArrayLike, values: Array, missing: float) -> Array:
        ids = np.asarray(triples)
        names = self.graph.vocabulary
        names.check_ids(ids)
        sorted_keys, rows = self._index
        present, places = sorted_keys.find(names.keys(ids))
        result = np.full(len(ids), missing)
        result[present] = values[rows[places[present]]]
        return result

    def log_prob(self, triples: ArrayLike) -> Array:
        """Return log p of each row of ids, shape (n, 3); −∞ for triples that are not listed."""
        return self._look_up(triples, self._log_probs, -np.inf)

    def confidence_of(self, triples: ArrayLike) -> Array:
        """Return the confidence in each row of ids, shape (n, 3); 0 for triples that are not listed."""
        return self._look_up(triples, self.confidence, 0.0)

    def explain(self, triples: ArrayLike) -> list[Evidence]:
        """Return the evidence for each row of ids, shape (n, 3)."""
        ids = np.asarray(triples)
        self.graph.vocabulary.check_ids(ids)
        if self.explainer is None:
            return [Evidence("", "")] * len(ids)
        return self.explainer.explain(ids)

    def draw(self, n: int, *, seed: int) -> IntArray:
        """Draw n triples independently, shape (n, 3); they may repeat and may be excluded ones."""
        if not check_count(n):
            return self.triples[:0]
        if not self.support_size:
            raise SamplingError(self._why_fewer(n), available=0)
        rng = generator(seed, Stream.LISTED, DRAW)
        rows = rng.choice(self.support_size, size=n, p=exp(self._log_probs))
        return self.triples[rows]

    def sample(self, n: int, *, seed: int) -> Sample:
        """Draw n different triples that are not excluded, one by one, in drawing order.

        Raises
        ------
        SamplingError
            If there are fewer than n.
        """
        rng = generator(seed, Stream.LISTED, SAMPLE)
        return self._first(n, race_order(self._log_probs, rng))

    def top(self, n: int) -> Sample:
        """Return the n most confident triples that are not excluded."""
        return self._first(n, np.arange(len(self.triples)))

    def top_each(self, quotas: Mapping[str, int]) -> Sample:
        """Return the most confident triples of each named relation, as many as its quota; most confident first."""
        triples = take_each(self, quotas, Listed.top)
        confidence = self.confidence_of(triples)
        order = np.argsort(-confidence, kind="stable")
        return self._sample_of(triples[order], confidence[order])

    def everything(self) -> Sample:
        """Return all triples that are not excluded, the most confident first."""
        return self.top(self.n_new)

    def above(self, confidence: float) -> Listed:
        """Return the distribution of the triples with at least this confidence."""
        n = int(np.searchsorted(-self.confidence, -confidence, side="right"))
        return self._rows(slice(n))

    def restrict(
        self,
        *,
        relations: Iterable[str] | None = None,
        heads: Iterable[str] | None = None,
        tails: Iterable[str] | None = None,
        exclude: KnowledgeGraph | None = None,
    ) -> Listed:
        """Return the conditional distribution; see ``Distribution.restrict``."""
        names = self.graph.vocabulary
        masks = Masks.of(names, relations, heads, tails)
        part = self._rows(masks.allow(self.triples))
        if not self.support_size:
            raise SamplingError(self._why_fewer(0), available=0, partial=self.everything())
        if not part.support_size:
            raise SamplingError("no triple is possible: none of those listed meets the conditions", available=0)
        return replace(part, excluded=exclude_also(self.excluded, exclude, names))

    def _rows(self, rows: Bools | slice) -> Listed:
        return replace(self, triples=self.triples[rows], confidence=self.confidence[rows])

    def _first(self, n: int, order: Places) -> Sample:
        allowed = order[self._allowed[order]]
        if check_count(n) > len(allowed):
            raise SamplingError(self._why_fewer(n), available=len(allowed), partial=self._sample(allowed))
        return self._sample(allowed[:n])

    def _why_fewer(self, n: int) -> str:
        if not self.support_size:
            return "no new triple is possible: nothing in train supports one"
        return too_few(n, self.n_new)

    def _sample(self, rows: Places) -> Sample:
        return self._sample_of(self.triples[rows], self.confidence[rows])

    def _sample_of(self, triples: IntArray, confidence: Array) -> Sample:
        graph = KnowledgeGraph(self.graph.vocabulary, triples)
        return Sample(graph, self, confidence if self.calibrated else None)
