"""Arms of a comparison: what is added to train, how much of it, and when."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from nnmfaug.augmenters.base import Augmenter, Supply
from nnmfaug.augmenters.listed import Listed
from nnmfaug.core.errors import DataError
from nnmfaug.core.seeding import Stream, generator
from nnmfaug.core.settings import describe_settings
from nnmfaug.experiments.transforms import Transform
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.linkpred.schedule import Polynomial, Schedule


@dataclass(frozen=True)
class Given:
    """Triples from anywhere, such as a file, in their order."""

    triples: KnowledgeGraph = field(repr=False)
    source: str = ""

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> Given:  # noqa: ARG002
        """Check that they are new."""
        known = graph.contains(self.triples.with_vocabulary(graph.vocabulary).triples)
        if known.any():
            first = ", ".join(self.triples.labels()[int(known.argmax())])
            msg = f"{known.sum()} of these triples are in train, the first is ({first}): leave them out"
            raise DataError(msg, path=self.source or None)
        return self

    def sample(self, n: int, *, seed: int = 0) -> Given:  # noqa: ARG002
        """Return the first n, or all if there are fewer."""
        return replace(self, triples=KnowledgeGraph(self.triples.vocabulary, self.triples.triples[:n]))

    @property
    def graph(self) -> KnowledgeGraph:
        """The triples."""
        return self.triples


@dataclass(frozen=True)
class Duplicate:
    """Some of the train triples once more: a control for training longer on the same."""

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> Given:
        """Shuffle the train triples."""
        order = generator(seed, Stream.DUPLICATE).permutation(len(graph))
        return Given(KnowledgeGraph(graph.vocabulary, graph.triples[order]))


@dataclass(frozen=True)
class Extra:
    """Generated triples in their order, and what each weighs in the loss."""

    graph: KnowledgeGraph
    weight: float | tuple[float, ...] = 1.0


@dataclass(frozen=True)
class Augmentation:
    """One way of making the training set larger.

    Parameters
    ----------
    method
        What makes triples. It sees train alone; each seed fits and draws anew.
    amount
        A share of train below or equal to 1 (a float), or a number of triples (an int).
    schedule
        How many of them an epoch uses.
    weight
        What a generated triple weighs in the loss; "probability" for its confidence, if the method lists triples
        with one, such as :class:`~nnmfaug.Auto`.
    """

    method: Augmenter[Supply]
    amount: float = 0.1
    schedule: Schedule = field(default_factory=Polynomial)
    weight: float | Literal["probability"] = 1.0

    def __post_init__(self) -> None:
        most = math.inf if type(self.amount) is int else 1
        if type(self.amount) not in (int, float) or not 0 < self.amount <= most:
            msg = f"amount={self.amount!r}: must be a share of train such as 0.1 or a number such as 500"
            raise ValueError(msg)
        if self.weight != "probability" and not (
            type(self.weight) in (int, float) and 0 <= self.weight < math.inf
        ):
            msg = f"weight={self.weight!r}: must be a number from 0, or 'probability'"
            raise ValueError(msg)

    def generate(self, train: KnowledgeGraph, seed: int) -> Extra:
        """Fit to train and draw; of a law that lists its triples, take the most probable, as many as there are."""
        n = self.amount if isinstance(self.amount, int) else int(self.amount * len(train))
        if n < 1:
            msg = f"amount={self.amount}: less than one triple of {len(train)}"
            raise ValueError(msg)
        dist = self.method.fit(train, seed=seed)
        if isinstance(dist, Listed):
            best = dist.top(min(n, dist.n_new)).graph
            sure = tuple(dist.confidence_of(best.triples).tolist())
            return Extra(best, sure if self.weight == "probability" else self.weight)
        if self.weight == "probability":
            msg = "weight='probability': this method has none; give a number"
            raise ValueError(msg)
        return Extra(dist.sample(n, seed=seed).graph, self.weight)


Arms = Mapping[str, Augmentation | Transform | None]
"""Name → what is done to train; None for nothing."""


def arm_settings(augmentation: Augmentation | Transform | None) -> object:
    """Return what an arm is, as plain data."""
    if augmentation is None:
        return None
    if not isinstance(augmentation, Augmentation):
        return {"transform": describe_settings(augmentation)}
    method = augmentation.method
    plain = {"name": "Given", "sha256": method.triples.digest()} if isinstance(method, Given) else None
    return {
        "method": plain or describe_settings(method),
        "amount": augmentation.amount,
        "schedule": describe_settings(augmentation.schedule),
        "weight": augmentation.weight,
    }
