"""What every augmenter has in common: protocols, and the sample that a distribution gives.

An augmenter is a frozen recipe. Fitted to a train graph it gives a distribution over triples, from which new ones
are drawn (``sample``) or ranked (``top``). To write one of your own, see ``docs/augmenters.md``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, TypeGuard, TypeVar, runtime_checkable

from numpy.typing import ArrayLike

from nnmfaug.core.arrays import Array, Ids, IntArray
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import LabelledTriple

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Evidence:
    """Why a triple may be true: the augmenter that proposes it, its rule, and the train triples behind it."""

    source: str
    reason: str
    triples: tuple[LabelledTriple, ...] = ()


class Distribution(Protocol):
    """A probability distribution over triples (h, r, t), fitted to a train graph.

    The support may contain train triples; ``sample``, ``top`` and ``n_new`` leave them out.
    """

    @property
    def graph(self) -> KnowledgeGraph:
        """The train graph."""
        ...

    @property
    def support_size(self) -> int:
        """Number of triples with a probability above zero."""
        ...

    @property
    def n_new(self) -> int:
        """Number of triples of the support that are neither in train nor excluded."""
        ...

    def log_prob(self, triples: ArrayLike) -> Array:
        """Return log p of each row of ids, shape (n, 3); −∞ outside the support."""
        ...

    def draw(self, n: int, *, seed: int) -> IntArray:
        """Draw n triples independently, shape (n, 3); they may repeat and may be in train."""
        ...

    def sample(self, n: int, *, seed: int) -> Sample:
        """Draw n different new triples, in drawing order; raise ``SamplingError`` if there are fewer."""
        ...

    def top(self, n: int) -> Sample:
        """Return the n most probable new triples; raise ``SamplingError`` if there are fewer."""
        ...

    def restrict(
        self,
        *,
        relations: Iterable[str] | None = None,
        heads: Iterable[str] | None = None,
        tails: Iterable[str] | None = None,
        exclude: KnowledgeGraph | None = None,
    ) -> Self:
        """Return the distribution given that relation, head and tail are among the named ones.

        Triples in ``exclude`` are treated as known: ``sample``, ``top`` and ``n_new`` leave them out, ``draw`` and
        ``log_prob`` do not.
        """
        ...


@runtime_checkable
class Ranked(Distribution, Protocol):
    """A distribution that also rates its triples and gives the evidence for each."""

    def confidence_of(self, triples: ArrayLike) -> Array:
        """Return the confidence in each row of ids, shape (n, 3); 0 outside the support."""
        ...

    def explain(self, triples: ArrayLike) -> list[Evidence]:
        """Return the evidence for each row of ids, shape (n, 3)."""
        ...


def is_ranked(dist: Distribution) -> TypeGuard[Ranked]:
    """Whether a distribution rates its triples; unlike ``isinstance``, it computes no property."""
    return hasattr(type(dist), "confidence_of") and hasattr(type(dist), "explain")


class Answers(NamedTuple):
    """Entities that may complete queries, in no particular order; each entity at most once per query."""

    rows: Ids
    """Number of the query."""
    entities: Ids
    """Id of the entity."""
    probability: Array
    """Estimated probability that the completed triple is true, above 0."""


class Prior(Protocol):
    """Estimated probabilities of all answers to a query, from train alone."""

    @property
    def graph(self) -> KnowledgeGraph:
        """The train graph."""
        ...

    def answers(self, pairs: Ids, *, heads: bool) -> Answers:
        """Return the entities that may complete queries, with their probabilities.

        Triples of train get the probability that they would have if they were missing.

        Parameters
        ----------
        pairs : ndarray of shape (n, 2)
            Entity and relation of each query.
        heads
            Whether heads of (?, relation, entity) are asked for, or tails of (entity, relation, ?).
        """
        ...

    def explain(self, triples: ArrayLike) -> list[Evidence]:
        """Return the evidence for each row of ids, shape (n, 3)."""
        ...


Fitted_co = TypeVar("Fitted_co", bound=Distribution, covariant=True)


class Augmenter(Protocol[Fitted_co]):
    """Settings that can be fitted to a train graph."""

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> Fitted_co:
        """Fit to a train graph; the same graph and seed give the same distribution."""
        ...


@dataclass(frozen=True)
class Sample:
    """Generated triples in the order they were drawn or ranked, S in the paper.

    Parameters
    ----------
    graph
        The triples, over the vocabulary of the train graph.
    source
        The distribution they come from.
    probability : ndarray of shape (n,), optional
        Estimated probability that each triple is true, if the distribution is calibrated.
    """

    graph: KnowledgeGraph
    source: Distribution = field(repr=False)
    probability: Array | None = field(default=None, repr=False)

    @cached_property
    def log_prob(self) -> Array:
        """Log-probability of each triple under the distribution it comes from."""
        return self.source.log_prob(self.triples)

    @property
    def triples(self) -> IntArray:
        """Ids of head, relation and tail, shape (n, 3)."""
        return self.graph.triples

    @property
    def labels(self) -> list[LabelledTriple]:
        """The triples as names."""
        return self.graph.labels()

    def __len__(self) -> int:
        return len(self.graph)

    def first(self, n: int) -> Sample:
        """Return the first n triples, or all if there are fewer."""
        graph = KnowledgeGraph(self.graph.vocabulary, self.triples[:n])
        return Sample(graph, self.source, None if self.probability is None else self.probability[:n])

    def to_dataframe(self) -> pandas.DataFrame:
        """Return a pandas data frame with columns head, relation, tail, log_prob and, if known, probability."""
        from nnmfaug.io.dataframe import to_dataframe

        frame = to_dataframe(self.graph).assign(log_prob=self.log_prob)
        return frame if self.probability is None else frame.assign(probability=self.probability)
