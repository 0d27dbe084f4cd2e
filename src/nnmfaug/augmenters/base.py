"""What an augmenter is: it is fitted to a train graph, and new triples can be had from what that gives."""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nnmfaug.augmenters.samples import Sample
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

Fitted_co = TypeVar("Fitted_co", covariant=True)


class Augmenter(Protocol[Fitted_co]):
    """Settings that can be fitted to a train graph."""

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> Fitted_co:
        """Fit to a train graph."""
        ...


class Drawn(Protocol):
    """Triples in their order."""

    @property
    def graph(self) -> KnowledgeGraph:
        """The triples."""
        ...


class Supply(Protocol):
    """All that an arm of a comparison needs."""

    def sample(self, n: int, *, seed: int) -> Drawn:
        """Give n different triples."""
        ...


class Law(Protocol):
    """A distribution over triples."""

    @property
    def graph(self) -> KnowledgeGraph:
        """The train graph."""
        ...

    @property
    def n_new(self) -> int:
        """How many new triples are possible."""
        ...

    def sample(self, n: int, *, seed: int) -> Sample:
        """Draw n different new triples."""
        ...

    def log_prob(self, triples: ArrayLike) -> NDArray[np.float64]:
        """Logarithm of the probability of each row of ids."""
        ...
