"""What a model is trained on: train triples, and added triples with their weights and schedule."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from nnmfaug.core.arrays import Array
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary
from nnmfaug.linkpred.schedule import Polynomial, Schedule


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """What a model is trained on.

    Parameters
    ----------
    train
        Triples that every epoch uses. Its vocabulary may hold more names than the data set's.
    added
        Generated triples in their order; the schedule lets the first of them in, epoch by epoch.
    weights : float or ndarray of shape (len(added),)
        Weight of an added triple in the loss: one number, or one for each.
    schedule
        How many of the added triples an epoch uses.
    hidden
        Names of entities that are never an answer, because they are not of the data set.
    same_steps
        Whether an epoch makes as many optimiser steps as one of train alone, on a random part of the triples in
        use. Default: a larger training set makes more steps.

    Examples
    --------
    >>> import nnmfaug as na
    >>> train = na.read_splits("nations").train
    >>> extra = na.RandomTriples().fit(train).sample(100, seed=0)
    >>> data = na.TrainingSet(train, extra.graph, weights=0.5)
    >>> data.size, data.first(20).size
    (1692, 1612)
    """

    train: KnowledgeGraph
    added: KnowledgeGraph | None = None
    weights: float | Array = 1.0
    schedule: Schedule = field(default_factory=Polynomial)
    hidden: tuple[str, ...] = ()
    same_steps: bool = False

    def __post_init__(self) -> None:
        n_added = 0 if self.added is None else len(self.added)
        if not isinstance(self.weights, float | int) and len(self.weights) != n_added:
            msg = f"{len(self.weights)} weights for {n_added} added triples: one number, or one for each"
            raise ValueError(msg)

    @property
    def size(self) -> int:
        """Number of triples that the last epoch uses."""
        return len(self.train) + (0 if self.added is None else len(self.added))

    @property
    def weighted(self) -> bool:
        """Whether an added triple has a weight other than 1."""
        if isinstance(self.weights, float | int):
            return self.weights != 1
        return len(self.weights) > 0

    def with_vocabulary(self, vocabulary: Vocabulary) -> TrainingSet:
        """Return the same triples with the ids of a vocabulary that has all the names."""
        added = None if self.added is None else self.added.with_vocabulary(vocabulary)
        return replace(self, train=self.train.with_vocabulary(vocabulary), added=added)

    def first(self, n: int) -> TrainingSet:
        """Return the training set with the first n of the added triples; with none of them for 0."""
        if self.added is None:
            return self
        added = KnowledgeGraph(self.added.vocabulary, self.added.triples[:n])
        weights = self.weights if isinstance(self.weights, float | int) else self.weights[:n]
        return replace(self, added=added if n else None, weights=weights)
