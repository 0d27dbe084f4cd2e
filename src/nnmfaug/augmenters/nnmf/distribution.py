"""NNMFAug's fitted distribution: log-probabilities, independent draws, new triples, the most probable ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nnmfaug.augmenters.base import Sample
from nnmfaug.augmenters.conditions import (
    MAX_LISTED,
    Masks,
    exclude_also,
    in_any,
    race_order,
    take_each,
    too_few,
    too_many_to_list,
)
from nnmfaug.augmenters.nnmf.law import ClusterLaw
from nnmfaug.augmenters.nnmf.normaliser import normaliser
from nnmfaug.augmenters.nnmf.proposals import DRAW_BLOCK, Proposer
from nnmfaug.augmenters.nnmf.why_empty import why_empty
from nnmfaug.core.arrays import Array, Ids, IntArray
from nnmfaug.core.blocks import BLOCK_ROWS
from nnmfaug.core.checks import check_count
from nnmfaug.core.elementary import log
from nnmfaug.core.errors import SamplingError
from nnmfaug.core.progress import report
from nnmfaug.core.seeding import Stream, generator
from nnmfaug.graph.keys import first_places, unique_triples
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

if TYPE_CHECKING:
    from nnmfaug.augmenters.nnmf.partition import Embedding, Partition


ALWAYS_LISTED = 1 << 18
"""Supports up to this size are listed at once, which is faster than drawing."""
MAX_ROUND = 256
"""Most blocks of proposals that one round makes."""
FIRST_RATE = 0.4
"""Fraction of proposals that the first round is expected to keep."""


@dataclass(frozen=True)
class TripleDistribution:
    """The distribution over triples that NNMFAug fits.

    The support is every triple of two different entities of one cluster whose head and tail each occur with the
    relation in train (with smoothing: any relation). It contains train triples; ``n_new``, ``sample`` and ``top``
    leave them out.

    Parameters
    ----------
    graph
        The train graph.
    law
        The weights of clusters, pairs and relations.
    partition, factors
        The clusters of entities, and the features they were found from.
    excluded
        Graphs whose triples are treated as known.
    """

    graph: KnowledgeGraph
    law: ClusterLaw
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
            both = np.concatenate([known, *(graph.triples for graph in self.excluded)])
            known = unique_triples(both, self.graph.vocabulary, sort=True)
        n_known = int(self.law.in_support(known.astype(np.int64)).sum())
        return self.support_size - n_known

    @cached_property
    def _normaliser(self) -> tuple[float, bool]:
        """Z, and whether it is exact."""
        exact = normaliser(self.law)
        if exact is not None:
            return exact, True
        n_blocks = 128
        proposer = Proposer(self.law, seed=0)
        n_accepted = sum(len(proposer(block)) for block in range(n_blocks))
        return float(proposer.cumulative[-1] * n_accepted / (n_blocks * DRAW_BLOCK)), False

    @property
    def exact(self) -> bool:
        """Whether log-probabilities are exact; on very large graphs their common constant, log Z, is estimated."""
        return self._normaliser[1]

    @property
    def acceptance(self) -> float:
        """Z, the probability that one draw of cluster, pair and relation, as in the paper, gives a triple."""
        return self._normaliser[0]

    def log_prob(self, triples: ArrayLike) -> Array:
        """Return log p of each row of ids, shape (n, 3); −∞ outside the support."""
        ids = np.asarray(triples)
        self.graph.vocabulary.check_ids(ids)
        logs: Array = self.law.log_weights(ids.astype(np.int64)) - log(self._normaliser[0])
        return logs

    def clusters_of(self, triples: ArrayLike) -> IntArray:
        """Return the cluster of the head of each row of ids, shape (n, 3)."""
        heads = np.asarray(triples)[:, 0]
        labels: IntArray = self.partition.labels[heads]
        return labels

    def draw(self, n: int, *, seed: int) -> IntArray:
        """Draw n triples independently, shape (n, 3); they may repeat and may be in train."""
        n = check_count(n)
        if n and not self.support_size:
            raise SamplingError(why_empty(self.law, self.graph.vocabulary), available=0)
        triples = np.zeros((0, 3), dtype=np.int64)
        n_blocks = 0
        while len(triples) < n:
            n_blocks, accepted = self._round(seed, n - len(triples), n_blocks, len(triples))
            triples = np.concatenate([triples, accepted])
        return triples[:n].astype(np.int32)

    def sample(self, n: int, *, seed: int) -> Sample:
        """Draw n different triples that are neither in train nor excluded, in drawing order.

        Raises
        ------
        SamplingError
            If there are fewer than n.
        """
        n = check_count(n)
        if self._plenty(n):
            return self._drawn(n, seed)
        if n > self.n_new:
            partial = self._listed(self.n_new, seed) if self.support_size <= MAX_LISTED else None
            raise SamplingError(self._why_fewer(n), available=self.n_new, partial=partial)
        if self.support_size <= ALWAYS_LISTED or n > self.n_new // 4:
            return self._listed(n, seed)
        return self._drawn(n, seed)

    def sample_each(self, quotas: Mapping[str, int], *, seed: int) -> Sample:
        """Draw new triples of each named relation, as many as its quota; together in random order."""
        triples = take_each(self, quotas, lambda part, n: part.sample(n, seed=seed))
        order = generator(seed, Stream.ORDER).permutation(len(triples))
        return self._sample(triples[order])

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
        """Return the conditional distribution; see ``Distribution.restrict``."""
        names = self.graph.vocabulary
        law = self.law.restrict(Masks.of(names, relations, heads, tails))
        if not law.support_size:
            raise SamplingError(why_empty(law, names), available=0)
        return replace(self, law=law, excluded=exclude_also(self.excluded, exclude, names))

    def _why_fewer(self, n: int) -> str:
        if self.n_new:
            return too_few(n, self.n_new)
        if not self.support_size:
            return why_empty(self.law, self.graph.vocabulary)
        return (
            f"no new triple is possible: all {self.support_size:,} possible triples are known; "
            "fewer clusters or smoothing above 0 may allow more"
        )

    def _plenty(self, n: int) -> bool:
        """Whether n is small enough to draw; a lower bound shows it sooner than counting all new triples."""
        least = self.law.least_support_size
        n_known = len(self.graph) + sum(map(len, self.excluded))
        return least > ALWAYS_LISTED and n <= (least - n_known) // 4

    def _round(self, seed: int, wanted: int, n_blocks: int, n_kept: int) -> tuple[int, Ids]:
        """Draw about as many triples as are wanted, by the rate so far; return the number of blocks so far, too.

        Blocks follow each other in one order, so the end of a round changes nothing.
        """
        rate = max(n_kept / (n_blocks * DRAW_BLOCK), 1e-3) if n_blocks else FIRST_RATE
        count = int(np.clip(np.ceil(wanted / (rate * DRAW_BLOCK)), 1, MAX_ROUND))
        last = n_blocks + count
        parts = map(Proposer(self.law, seed), range(n_blocks, last))  # sending them would take longer
        return last, np.concatenate(list(parts))

    def _known(self, triples: Ids) -> NDArray[np.bool_]:
        return in_any((self.graph, *self.excluded), triples)

    def _drawn(self, n: int, seed: int) -> Sample:
        triples = np.zeros((0, 3), dtype=np.int32)
        n_blocks = 0
        while len(triples) < n:
            n_blocks, accepted = self._round(seed, n - len(triples), n_blocks, len(triples))
            grown = self._grow(triples, accepted)
            if len(grown) - len(triples) < len(accepted) // 1000:  # the rest would take for ever to draw
                return self._listed(n, seed)
            triples = grown
            report("sampling", min(len(triples), n), n)
        return self._sample(triples[:n])

    def _grow(self, triples: IntArray, accepted: Ids) -> IntArray:
        """Append the accepted triples that are new and not there yet, in their order."""
        names = self.graph.vocabulary
        first = first_places(names.keys(accepted))
        new = np.zeros(len(accepted), dtype=np.bool_)
        new[first] = ~self._known(accepted.take(first, axis=0))  # looked up in key order, which is faster
        grown = np.concatenate([triples, accepted.astype(np.int32).take(np.flatnonzero(new), axis=0)])
        return unique_triples(grown, names, sort=False) if len(triples) else grown

    def _listed(self, n: int, seed: int) -> Sample:
        """List all new triples, in the order of drawing them one by one."""
        triples, log_weights = self._list()
        order = race_order(log_weights, generator(seed, Stream.ORDER))
        return self._sample(triples[order[:n]])

    def _list(self) -> tuple[IntArray, Array]:
        """Return all new triples and their log-weights."""
        if self.support_size > MAX_LISTED:
            raise too_many_to_list(self.support_size, self.n_new)
        parts = [np.zeros((0, 3), dtype=np.int64)]
        log_weights = [np.zeros(0)]
        for candidates in self._candidates():
            new = candidates[~self._known(candidates)]
            parts.append(new)
            log_weights.append(self.law.log_weights(new))
        return np.concatenate(parts).astype(np.int32), np.concatenate(log_weights)

    def _candidates(self) -> Iterator[Ids]:
        """Yield all triples of the support, some at a time."""
        cells = self.law.rectangles
        for chosen, head_places, tail_places in cells.places(BLOCK_ROWS):
            h = cells.heads.entities[head_places]
            t = cells.tails.entities[tail_places]
            relations = (
                np.flatnonzero(self.law.relations_allowed) if self.law.smooth else (cells.relations[chosen],)
            )
            for r in relations:
                yield np.stack([h, np.broadcast_to(r, h.shape), t], axis=1)

    def _sample(self, triples: IntArray) -> Sample:
        return Sample(KnowledgeGraph(self.graph.vocabulary, triples), self)
