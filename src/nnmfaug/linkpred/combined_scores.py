"""Scores of a model and a prior, a batch of queries at a time."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nnmfaug.augmenters.base import Prior
from nnmfaug.core.arrays import Ids
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.linkpred.mix import Mix
from nnmfaug.linkpred.ranking import ModelScores, Scores
from nnmfaug.linkpred.trained import Trained


@dataclass(frozen=True)
class EqualScores:
    """A score of 0 for every entity."""

    n_entities: int

    def __call__(self, pairs: Ids, *, heads: bool) -> Tensor:  # noqa: ARG002  # both sides are equal
        """Return zeros; see :class:`~nnmfaug.linkpred.ranking.Scores`."""
        return torch.zeros((len(pairs), self.n_entities), dtype=torch.float64)


@dataclass(frozen=True)
class CombinedScores:
    """model score / T + w · log(1 + p / ε), in double precision, so that different scores stay different.

    Parameters
    ----------
    model
        Scores of the model.
    prior
        Gives p, with the same ids as the model.
    mix
        T, w and ε.
    """

    model: Scores
    prior: Prior
    mix: Mix

    def __call__(self, pairs: Ids, *, heads: bool) -> Tensor:
        """Return the scores of all entities; see :class:`~nnmfaug.linkpred.ranking.Scores`."""
        scores = self.model(pairs, heads=heads).double() / self.mix.temperature
        rows, entities, probability = self.prior.answers(pairs, heads=heads)
        addends = torch.from_numpy(self.mix.from_rules(probability)).to(scores.device)
        scores[torch.tensor(rows), torch.tensor(entities)] += addends
        return scores


def model_scores(trained: Trained | None, known: KnowledgeGraph) -> Scores:
    """Return the scores of a model; equal scores if there is none."""
    return EqualScores(known.n_entities) if trained is None else ModelScores(trained.model)
