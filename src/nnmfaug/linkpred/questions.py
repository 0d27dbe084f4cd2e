"""The queries of valid with the scores of all candidates, a batch at a time.

Whatever is chosen on valid is chosen with these: a candidate is every entity but the other known answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch

from nnmfaug.augmenters.base import Answers, Prior
from nnmfaug.core.arrays import Array, Ids
from nnmfaug.core.progress import report
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.linkpred.mix import Mix
from nnmfaug.linkpred.ranking import Scores, Side, batches, check_scores


@dataclass(frozen=True, eq=False)
class Batch:
    """Some queries with the scores of all entities by the model.

    Parameters
    ----------
    pairs : ndarray of shape (n, 2)
        Entity and relation of each query.
    heads
        Whether heads are asked for.
    targets : ndarray of shape (n,)
        The true answers.
    scores : ndarray of shape (n, n_entities)
        −∞ for entities that are not candidates.
    prior
        Gives probabilities of answers.
    """

    pairs: Ids
    heads: bool
    targets: Ids
    scores: Array
    prior: Prior

    @cached_property
    def answers(self) -> Answers:
        """The answers of the prior."""
        return self.prior.answers(self.pairs, heads=self.heads)

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
        n_chosen = min(n, len(ordered))
        places = np.arange(n_chosen) * len(ordered) // max(n_chosen, 1)
        return replace(self, triples=ordered[places])

    def batches(self) -> Iterator[Batch]:
        """Yield all queries, those of heads and of tails in turn."""
        n = len(self.triples)
        sides = Side.both(self.known)
        for part in batches(n, self.known.n_entities):
            report("choosing on valid", part.start, n)
            for side in sides:
                yield self._batch(self.triples[part], side)
        report("choosing on valid", n, n)

    def _batch(self, triples: Ids, side: Side) -> Batch:
        pairs = side.pairs(triples)
        with torch.inference_mode():
            scores = self.model(pairs, heads=side.heads).double().cpu().numpy()
        scores[:, list(self.hidden)] = -np.inf
        scores[side.other_answers(triples)] = -np.inf
        batch = Batch(pairs, side.heads, triples[:, side.column], scores, self.prior)
        check_scores(batch.target_scores())
        return batch
