"""From weights to triples: a fitted law that gives draws, new triples and the most probable ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nnmfaug.augmenters.nnmf.law import Law
from nnmfaug.augmenters.nnmf.proposals import DRAW_BLOCK, Proposer
from nnmfaug.augmenters.nnmf.why_empty import why_empty
from nnmfaug.augmenters.samples import Sample, known_part, name_mask
from nnmfaug.core.arrays import Array, Ids, IntArray
from nnmfaug.core.checks import check_count
from nnmfaug.core.errors import SamplingError
from nnmfaug.core.parallel import BLOCK_ROWS, Engine, Serial
from nnmfaug.core.progress import report
from nnmfaug.core.seeding import Stream, generator
from nnmfaug.graph.keys import first_places, unique_triples
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

if TYPE_CHECKING:
    from nnmfaug.augmenters.nnmf.partition import Embedding, Partition


MAX_LISTED = 20_000_000
"""Triples that may be listed one by one, to rank them or to draw nearly all of them."""
ALWAYS_LISTED = 1 << 18
"""Supports up to this size are listed at once, which is faster than drawing."""
MAX_ROUND = 256
FIRST_RATE = 0.4
"""Share of proposals that the first round is expected to keep."""


@dataclass(frozen=True)
class TripleDistribution:
    """A fitted law over triples: i.i.d. draws, unique new triples, the most probable ones, log-probabilities.

    The support is every triple of two different entities of one cluster whose head and tail each occur with the
    relation in train (with smoothing: any relation). It holds triples of train too; ``n_new`` and ``sample`` leave
    those out.
    """

    graph: KnowledgeGraph
    law: Law
    partition: Partition
    factors: Embedding | None = None
    excluded: tuple[KnowledgeGraph, ...] = field(default=())

    @property
    def support_size(self) -> int:
        """Number of triples with a probability above zero, in closed form."""
        return self.law.support_size

    @cached_property
    def n_new(self) -> int:
        """Number of triples of the support that are neither in train nor excluded."""
        known = self.graph.triples
        if self.excluded:
            known = np.concatenate([known, *(graph.triples for graph in self.excluded)])
            known = unique_triples(known, self.graph.vocabulary, sort=True)
        return self.support_size - int(self.law.in_support(known.astype(np.int64)).sum())

    @cached_property
    def _normaliser(self) -> tuple[float, bool]:
        if self.law.chance is not None:
            return self.law.chance, True
        n_blocks, proposer = 128, self._proposer(0)
        kept = sum(len(proposer(block)) for block in range(n_blocks))
        return float(proposer.cumulative[-1] * kept / (n_blocks * DRAW_BLOCK)), False

    @property
    def exact(self) -> bool:
        """Whether log-probabilities are exact; on very large graphs their common constant is estimated."""
        return self._normaliser[1]

    @property
    def acceptance(self) -> float:
        """Chance that one draw of cluster, pair and relation, as the paper describes it, gives a triple."""
        return self._normaliser[0]

    def log_prob(self, triples: ArrayLike) -> Array:
        """Logarithm of the probability of each row of ids, shape (n, 3); −∞ outside the support."""
        ids = np.asarray(triples)
        self.graph.vocabulary.check_ids(ids)
        logs: Array = self.law.log_weights(ids.astype(np.int64)) - np.log(self._normaliser[0])
        return logs

    def draw(self, n: int, *, seed: int, engine: Engine | None = None) -> IntArray:
        """Draw n triples independently, shape (n, 3); they may repeat and may be known."""
        n = check_count(n)
        if n and not self.support_size:
            raise SamplingError(why_empty(self.law, self.graph.vocabulary), available=0)
        found, n_done = np.zeros((0, 3), dtype=np.int64), 0
        while len(found) < n:
            n_done, part = self._round(seed, engine or Serial(), n - len(found), n_done, len(found))
            found = np.concatenate([found, part])
        return found[:n].astype(np.int32)

    def sample(self, n: int, *, seed: int, engine: Engine | None = None) -> Sample:
        """Draw until there are n different triples that are neither in train nor excluded, in drawing order.

        Raises
        ------
        SamplingError
            If there are fewer than n.
        """
        n = check_count(n)
        if self._plenty(n):
            return self._drawn(n, seed, engine or Serial())
        if n > self.n_new:
            partial = self._listed(self.n_new, seed) if self.support_size <= MAX_LISTED else None
            raise SamplingError(self._why_fewer(n), available=self.n_new, partial=partial)
        if self.support_size <= ALWAYS_LISTED or n > self.n_new // 4:
            return self._listed(n, seed)
        return self._drawn(n, seed, engine or Serial())

    def sample_each(self, quotas: Mapping[str, int], *, seed: int, engine: Engine | None = None) -> Sample:
        """Draw a number of new triples of each named relation; together in random order."""
        parts = [np.zeros((0, 3), dtype=np.int32)]
        for name, n in sorted(quotas.items()):
            try:
                parts.append(self.restrict(relations=[name]).sample(n, seed=seed, engine=engine).triples)
            except SamplingError as error:
                msg = f"relation {name!r}: {error}"
                raise SamplingError(msg, available=error.available, partial=error.partial) from None
        triples = np.concatenate(parts)
        return self._sample(triples[generator(seed, Stream.ORDER).permutation(len(triples))])

    def top(self, n: int) -> Sample:
        """Return the n most probable new triples; equally probable ones by id."""
        n = check_count(n)
        triples, logs = self._list()
        if n > len(triples):
            raise SamplingError(self._why_fewer(n), available=len(triples), partial=self._sample(triples))
        order = np.lexsort((self.graph.vocabulary.keys(triples), -logs))
        return self._sample(triples[order[:n]])

    def restrict(
        self,
        *,
        relations: Iterable[str] | None = None,
        heads: Iterable[str] | None = None,
        tails: Iterable[str] | None = None,
        exclude: KnowledgeGraph | None = None,
    ) -> TripleDistribution:
        """Return this law given that relation, head and tail are among the named ones.

        What is in ``exclude`` is treated as known: ``sample``, ``top`` and ``n_new`` leave it out, ``draw`` and
        ``log_prob`` do not.
        """
        names = self.graph.vocabulary
        law = replace(
            self.law,
            relations_allowed=self.law.relations_allowed & name_mask("relations", relations, names.relation_ids),
            heads_allowed=self.law.heads_allowed & name_mask("heads", heads, names.entity_ids),
            tails_allowed=self.law.tails_allowed & name_mask("tails", tails, names.entity_ids),
        )
        excluded = self.excluded if exclude is None else (*self.excluded, known_part(exclude, names))
        if not law.support_size:
            raise SamplingError(why_empty(law, names), available=0)
        return replace(self, law=law, excluded=excluded)

    def _why_fewer(self, n: int) -> str:
        """Say why there are not n new triples."""
        if self.n_new:
            return f"{n:,} new triples were asked for, but only {self.n_new:,} are possible"
        if not self.support_size:
            return why_empty(self.law, self.graph.vocabulary)
        known = f"all triples that are possible, {self.support_size:,}, are known"
        return f"no new triple is possible: {known}; fewer clusters or smoothing above 0 may allow more"

    def _plenty(self, n: int) -> bool:
        """Whether n is so few that drawing is best; a bound says so sooner than counting all that is new."""
        least = self.law.least_support_size
        known = len(self.graph) + sum(map(len, self.excluded))
        return least > ALWAYS_LISTED and n <= (least - known) // 4

    def _proposer(self, seed: int) -> Proposer:
        return Proposer(self.law, seed)

    def _round(self, seed: int, engine: Engine, wanted: int, n_done: int, n_kept: int) -> tuple[int, Ids]:
        """Draw about as many more as are wanted, judging by what was kept so far; return the number of blocks too.

        Blocks follow each other in one order, so where a round ends changes nothing.
        """
        rate = max(n_kept / (n_done * DRAW_BLOCK), 1e-3) if n_done else FIRST_RATE
        count = int(np.clip(np.ceil(wanted / (rate * DRAW_BLOCK)), 1, MAX_ROUND))
        parts = engine.map(self._proposer(seed), range(n_done, n_done + count))
        return n_done + count, np.concatenate(list(parts))

    def _known(self, triples: Ids) -> NDArray[np.bool_]:
        known = self.graph.contains(triples)
        for graph in self.excluded:
            known |= graph.contains(triples)
        return known

    def _drawn(self, n: int, seed: int, engine: Engine) -> Sample:
        found, n_done = np.zeros((0, 3), dtype=np.int32), 0
        while len(found) < n:
            n_done, part = self._round(seed, engine, n - len(found), n_done, len(found))
            first = first_places(self.graph.vocabulary.keys(part))
            new = np.zeros(len(part), dtype=np.bool_)
            new[first] = ~self._known(part.take(first, axis=0))  # in the order of the keys they are found faster
            grown = np.concatenate([found, part.astype(np.int32).take(np.flatnonzero(new), axis=0)])
            if len(found):
                grown = unique_triples(grown, self.graph.vocabulary, sort=False)
            if len(grown) - len(found) < len(part) // 1000:  # what is left would take for ever to draw
                return self._listed(n, seed)
            found = grown
            report("sampling", min(len(found), n), n)
        return self._sample(found[:n])

    def _listed(self, n: int, seed: int) -> Sample:
        """Order all new triples as drawing them one by one would: by exponential times, each over its weight."""
        triples, logs = self._list()
        times = np.log(generator(seed, Stream.ORDER).standard_exponential(len(triples))) - logs
        return self._sample(triples[np.argsort(times, kind="stable")[:n]])

    def _list(self) -> tuple[IntArray, Array]:
        """All new triples and the logarithm of their weights."""
        if self.support_size > MAX_LISTED:
            msg = (
                f"{self.support_size:,} possible triples are too many to list: restrict relations, heads or tails"
            )
            raise SamplingError(msg, available=self.n_new)
        cells, parts, logs = self.law.rectangles, [np.zeros((0, 3), dtype=np.int64)], [np.zeros(0)]
        for chosen, heads, tails in cells.places(BLOCK_ROWS):
            h, t = cells.heads.entities[heads], cells.tails.entities[tails]
            for r in np.flatnonzero(self.law.relations_allowed) if self.law.smooth else (cells.relations[chosen],):
                part = np.stack([h, np.broadcast_to(r, h.shape), t], axis=1)
                part = part[~self._known(part)]
                parts.append(part)
                logs.append(self.law.log_weights(part))
        return np.concatenate(parts).astype(np.int32), np.concatenate(logs)

    def _sample(self, triples: IntArray) -> Sample:
        return Sample(KnowledgeGraph(self.graph.vocabulary, triples), self)
