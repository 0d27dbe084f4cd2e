"""Training that ends early: when looks at valid find no better mean rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from pykeen.training.callbacks import TrainingCallback

from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.linkpred.ranking import ModelScores, rank

if TYPE_CHECKING:
    from nnmfaug.linkpred.predictor import LinkPredictor


def is_in_vain(mean_ranks: Sequence[float], patience: int) -> bool:
    """Whether the last ``patience`` mean ranks, or more, are not better than the best before them.

    Examples
    --------
    >>> is_in_vain([9.0, 5.0, 7.0, 6.0], patience=3)
    False
    >>> is_in_vain([9.0, 5.0, 7.0, 6.0, 5.0], patience=3)
    True
    """
    place_of_best = int(np.argmin(mean_ranks))  # the first of equal ones
    return len(mean_ranks) - 1 - place_of_best >= patience


class StopOnValid(TrainingCallback):
    """Ranks some valid triples every few epochs, and ends training after ``patience`` looks in vain.

    Parameters
    ----------
    settings
        Has ``patience``, ``look_every`` and ``look_at``.
    valid
        The valid triples.
    known
        The filter of the ranks: train and valid. Training must not depend on test.
    hidden
        Ids of entities that are not candidates.
    """

    def __init__(
        self, settings: LinkPredictor, valid: KnowledgeGraph, known: KnowledgeGraph, hidden: Sequence[int]
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.settings = settings
        self.sample = spread(valid, settings.look_at)
        self.known = known
        self.hidden = hidden
        self.mean_ranks: list[float] = []

    def post_epoch(self, epoch: int, epoch_loss: float, **_: object) -> None:  # noqa: ARG002  # PyKEEN's
        """After an epoch."""
        looks = self.settings.patience > 0 and len(self.sample) > 0
        if not looks or epoch % self.settings.look_every:
            return
        ranks = rank(ModelScores(self.model), self.sample, self.known, hidden=self.hidden)
        self.mean_ranks.append(float(ranks.filtered.mean()))
        if is_in_vain(self.mean_ranks, self.settings.patience):
            self.training_loop._should_stop = True  # noqa: SLF001  # as PyKEEN's own stopper does


def spread(graph: KnowledgeGraph, n: int) -> KnowledgeGraph:
    """Return n triples at even distances, or all; the first n would be those of the first names.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([(name, "is", "x") for name in "abcdef"])
    >>> [head for head, _, _ in spread(graph, 3).labels()]
    ['a', 'c', 'e']
    """
    if n >= len(graph):
        return graph
    rows = np.arange(n) * len(graph) // n
    return KnowledgeGraph(graph.vocabulary, graph.triples[rows])
