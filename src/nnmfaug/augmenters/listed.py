"""A law over triples that are listed one by one, each with its confidence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nnmfaug.augmenters.samples import Sample, known_part, name_mask
from nnmfaug.core.arrays import Array, Ids, IntArray
from nnmfaug.core.checks import check_count
from nnmfaug.core.errors import SamplingError
from nnmfaug.core.seeding import Stream, generator
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import LabelledTriple

_DRAW, _SAMPLE = 0, 1


@dataclass(frozen=True)
class Evidence:
    """Why a triple is thought to be true: who says so, by what, and from which triples of train."""

    source: str
    reason: str
    triples: tuple[LabelledTriple, ...] = ()


class Witness(Protocol):
    """Knows why triples were listed."""

    def explain(self, triples: IntArray) -> list[Evidence]:
        """Return the evidence for each row of ids."""
        ...


@dataclass(frozen=True, eq=False)
class Listed:
    """A law over listed triples, none of them in train: p ∝ confidence to the power of ``sharpness``.

    Parameters
    ----------
    graph
        The train graph.
    triples : ndarray of shape (n, 3)
        Different triples of ids, the most confident first.
    confidence : ndarray of shape (n,)
        Above 0 and at most 1, descending.
    sharpness
        0 draws all alike; the larger, the more the confident ones are preferred.
    witness
        Who can say why a triple is here.

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
    witness: Witness | None = field(default=None, repr=False)
    excluded: tuple[KnowledgeGraph, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.sharpness < math.inf:
            msg = f"sharpness={self.sharpness}: must be a number from 0"
            raise ValueError(msg)
        for name in ("triples", "confidence"):
            array = getattr(self, name).view()  # the caller's own may still be written to
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def support_size(self) -> int:
        """Number of listed triples."""
        return len(self.triples)

    @cached_property
    def n_new(self) -> int:
        """Number of listed triples that are not excluded."""
        return int(self._free.sum())

    @cached_property
    def _free(self) -> NDArray[np.bool_]:
        free = np.ones(len(self.triples), dtype=np.bool_)
        for graph in self.excluded:
            free &= ~graph.contains(self.triples)
        return free

    @cached_property
    def _logs(self) -> Array:
        logs = self.sharpness * np.log(self.confidence)
        top = logs.max(initial=-np.inf)
        found: Array = logs - (top + np.log(np.exp(logs - top).sum())) if len(logs) else logs
        return found

    @cached_property
    def _index(self) -> tuple[Ids, NDArray[np.intp]]:
        keys = self.graph.vocabulary.keys(self.triples)
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    def _look_up(self, triples: ArrayLike, values: Array, missing: float) -> Array:
        ids = np.asarray(triples)
        self.graph.vocabulary.check_ids(ids)
        keys, (ordered, order) = self.graph.vocabulary.keys(ids), self._index
        found = np.full(len(keys), missing)
        if len(ordered):
            places = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
            same = ordered[places] == keys
            found[same] = values[order[places[same]]]
        return found

    def log_prob(self, triples: ArrayLike) -> Array:
        """Logarithm of the probability of each row of ids, shape (n, 3); −∞ for what is not listed."""
        return self._look_up(triples, self._logs, -np.inf)

    def confidence_of(self, triples: ArrayLike) -> Array:
        """Confidence of each row of ids, shape (n, 3); 0 for what is not listed."""
        return self._look_up(triples, self.confidence, 0.0)

    def explain(self, triples: ArrayLike) -> list[Evidence]:
        """Return the evidence for each row of ids, shape (n, 3)."""
        ids = np.asarray(triples)
        self.graph.vocabulary.check_ids(ids)
        if self.witness is None:
            return [Evidence("", "")] * len(ids)
        return self.witness.explain(ids)

    def draw(self, n: int, *, seed: int) -> IntArray:
        """Draw n triples independently, shape (n, 3); they may repeat, and excluded ones may come."""
        if check_count(n) and not self.support_size:
            raise SamplingError(self._why_fewer(n), available=0)
        rng = generator(seed, Stream.LISTED, _DRAW)
        return (
            self.triples[rng.choice(max(self.support_size, 1), size=n, p=np.exp(self._logs))]
            if n
            else self.triples[:0]
        )

    def sample(self, n: int, *, seed: int) -> Sample:
        """Draw one by one until there are n different triples that are not excluded, in drawing order.

        Raises
        ------
        SamplingError
            If there are fewer than n.
        """
        times = (
            np.log(generator(seed, Stream.LISTED, _SAMPLE).standard_exponential(len(self.triples))) - self._logs
        )
        order = np.argsort(times, kind="stable")
        return self._first(n, order)

    def top(self, n: int) -> Sample:
        """Return the n most confident triples that are not excluded."""
        return self._first(n, np.arange(len(self.triples)))

    def top_each(self, quotas: Mapping[str, int]) -> Sample:
        """Return the most confident triples of each named relation, so many of each; the most confident first."""
        parts = [np.zeros((0, 3), dtype=np.int32)]
        for name, n in sorted(quotas.items()):
            try:
                parts.append(self.restrict(relations=[name]).top(n).triples)
            except SamplingError as error:
                msg = f"relation {name!r}: {error}"
                raise SamplingError(msg, available=error.available, partial=error.partial) from None
        triples = np.concatenate(parts)
        order = np.argsort(-self.confidence_of(triples), kind="stable")
        return Sample(KnowledgeGraph(self.graph.vocabulary, triples[order]), self)

    def everything(self) -> Sample:
        """Return all triples that are not excluded, the most confident first."""
        return self.top(self.n_new)

    def above(self, confidence: float) -> Listed:
        """Return the law of those of at least this confidence."""
        n = int(np.searchsorted(-self.confidence, -confidence, side="right"))
        return replace(self, triples=self.triples[:n], confidence=self.confidence[:n])

    def restrict(
        self,
        *,
        relations: Iterable[str] | None = None,
        heads: Iterable[str] | None = None,
        tails: Iterable[str] | None = None,
        exclude: KnowledgeGraph | None = None,
    ) -> Listed:
        """Return this law given that relation, head and tail are among the named ones.

        What is in ``exclude`` is treated as known: ``sample``, ``top`` and ``n_new`` leave it out, ``draw`` and
        ``log_prob`` do not.
        """
        names = self.graph.vocabulary
        h, r, t = self.triples.T
        allowed = name_mask("relations", relations, names.relation_ids)[r]
        allowed &= name_mask("heads", heads, names.entity_ids)[h]
        allowed &= name_mask("tails", tails, names.entity_ids)[t]
        excluded = self.excluded if exclude is None else (*self.excluded, known_part(exclude, names))
        kept = replace(self, triples=self.triples[allowed], confidence=self.confidence[allowed], excluded=excluded)
        if not kept.support_size:
            raise SamplingError("no triple is possible: none of those listed meets the conditions", available=0)
        return kept

    def _first(self, n: int, order: NDArray[np.intp]) -> Sample:
        chosen = order[self._free[order]]
        if check_count(n) > len(chosen):
            raise SamplingError(self._why_fewer(n), available=len(chosen), partial=self._sample(chosen))
        return self._sample(chosen[:n])

    def _why_fewer(self, n: int) -> str:
        if not self.support_size:
            return "no new triple is possible: nothing is known that speaks for one"
        return f"{n:,} new triples were asked for, but only {self.n_new:,} are possible"

    def _sample(self, rows: NDArray[np.intp]) -> Sample:
        return Sample(KnowledgeGraph(self.graph.vocabulary, self.triples[rows]), self)
