"""The queries of valid with the scores of all candidates, a batch at a time.

Whatever is chosen on valid is chosen with these: a candidate is every entity but the other known answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch

from nnmfaug.augmenters.base import Answers, Prior
from nnmfaug.core.arrays import Array, Ids
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.linkpred.mix import Mix
from nnmfaug.linkpred.ranking import Scores, Side, batches


@dataclass(frozen=True, eq=False)
class Batch:
    """Some queries: the scores of all entities by the model, the true answers, and those of the prior.

    Parameters
    ----------
    scores : ndarray of shape (n, n_entities)
        −∞ for entities that are not candidates.
    targets : ndarray of shape (n,)
        The true answers.
    answers
        Answers of the prior.
    """

    scores: Array
    targets: Ids
    answers: Answers

    def target_scores(self) -> Array:
        """Return the scores of the true answers, shape (n,)."""
        return self.scores[np.arange(len(self.targets)), self.targets]

    def combined(self, mix: Mix) -> Array:
        """Return the combined scores, shape (n, n_entities)."""
        scores = self.scores / mix.temperature
        rows, entities, probability = self.answers
        scores[rows, entities] += mix.from_rules(probability)
        return scores


@dataclass(frozen=True, eq=False)
class Questions:
    """Both sides of triples, whose other known answers are not candidates.

    Parameters
    ----------
    model
        Scores of the model.
    prior
        Gives probabilities, with the same ids as the model.
    triples : ndarray of shape (n, 3)
        The triples whose heads and tails are asked for.
    known
        The triples that are no candidates.
    hidden
        Ids of entities that are not candidates.
    """

    model: Scores
    prior: Prior
    triples: Ids
    known: KnowledgeGraph
    hidden: tuple[int, ...] = ()

    def evenly(self, n: int) -> Questions:
        """Return at most n of the triples, evenly spaced in the order of their ids."""
        ordered = self.triples[np.argsort(self.known.vocabulary.keys(self.triples))]
        places = np.arange(min(n, len(ordered))) * len(ordered) // max(min(n, len(ordered)), 1)
        return replace(self, triples=ordered[places])

    def batches(self) -> Iterator[Batch]:
        """Yield all queries, those of heads and of tails in turn."""
        sides = Side.both(self.known)
        for part in batches(len(self.triples), self.known.n_entities):
            for side in sides:
                yield self._batch(self.triples[part], side)

    def _batch(self, triples: Ids, side: Side) -> Batch:
        pairs = side.pairs(triples)
        with torch.inference_mode():
            scores = self.model(pairs, heads=side.heads).double().cpu().numpy()
        scores[:, list(self.hidden)] = -np.inf
        scores[side.other_answers(triples)] = -np.inf
        answers = self.prior.answers(pairs, heads=side.heads)
        return Batch(scores, triples[:, side.column], answers)
