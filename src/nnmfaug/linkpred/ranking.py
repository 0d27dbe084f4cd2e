"""Filtered and raw ranks of test triples, in one pass over the scores.

PyKEEN 1.11.1 overwrites scores when it filters, so it cannot compute both ranks, and without a filter it fails
(pykeen #1620). This module never overwrites a score: it counts the better and equal candidates among all entities,
then subtracts the known ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import torch
from pykeen.models import Model
from torch import Tensor

from nnmfaug.core.arrays import Array, Ids
from nnmfaug.core.checks import require
from nnmfaug.core.progress import report
from nnmfaug.evaluation.metrics import Ranks
from nnmfaug.graph.completions import Completions
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

BATCH_SCORES = 1 << 23
"""Largest number of scores in a batch: 32 MB stay near the processor's caches."""


class Scores(Protocol):
    """Scores all entities as answers to queries; a higher score is better."""

    def __call__(self, pairs: Ids, *, heads: bool) -> Tensor:
        """Return new scores of shape (n, n_entities) for pairs (entity, relation), shape (n, 2).

        With ``heads`` they are those of heads of (?, relation, entity), else of tails of (entity, relation, ?).
        """
        ...


@dataclass(frozen=True)
class ModelScores:
    """The scores of a PyKEEN model."""

    model: Model

    def __call__(self, pairs: Ids, *, heads: bool) -> Tensor:
        """Return the scores of all entities; see :class:`Scores`."""
        self.model.eval()
        with torch.inference_mode():
            if heads:
                return self.model.predict_h(_on_device(pairs[:, ::-1], self.model))
            return self.model.predict_t(_on_device(pairs, self.model))


def _on_device(pairs: Ids, model: Model) -> Tensor:
    return torch.from_numpy(pairs.copy()).to(model.device)


class Side(NamedTuple):
    """The side of a triple that is predicted."""

    column: int
    """0 for the head, 2 for the tail."""
    completions: Completions
    """The known entities on this side."""

    @classmethod
    def both(cls, known: KnowledgeGraph) -> tuple[Side, Side]:
        """Return the sides of the head and of the tail."""
        triples = known.triples.astype(np.int64)
        n_relations = known.n_relations
        heads = Completions(triples[:, [2, 1]], triples[:, 0], n_relations)
        tails = Completions(triples[:, [0, 1]], triples[:, 2], n_relations)
        return cls(0, heads), cls(2, tails)

    @property
    def heads(self) -> bool:
        """Whether heads are predicted."""
        return self.column == 0

    def pairs(self, triples: Ids) -> Ids:
        """Return the given entity and the relation of each triple, shape (n, 2)."""
        return triples[:, [2 - self.column, 1]]

    def other_answers(self, triples: Ids) -> tuple[Ids, Ids]:
        """Return (row, entity) of the known answers, except the answer that is in the triple itself."""
        rows, entities = self.completions(self.pairs(triples))
        is_other = entities != triples[rows, self.column]
        return rows[is_other], entities[is_other]


def rank(
    scores: Scores,
    triples: KnowledgeGraph,
    known: KnowledgeGraph,
    *,
    hidden: Sequence[int] = (),
    task: str = "ranking",
) -> Ranks:
    """Rank the true head and the true tail of each triple among all entities.

    Parameters
    ----------
    scores
        What scores the entities, such as ``ModelScores(model)``.
    triples
        The triples to rank; the ranks have the same order.
    known
        The triples that filtered ranks ignore: real ones only (train, valid and test), never generated ones.
    hidden
        Ids of entities that are not candidates.
    task
        Name of the task in progress reports.
    """
    ids = triples.triples.astype(np.int64)
    ranks = np.empty((2, len(ids), 2))  # filtered and raw, triple, head and tail
    sides = Side.both(known)
    with torch.inference_mode():
        for batch in batches(len(ids), triples.n_entities):
            report(task, batch.start, len(ids))
            for place, side in enumerate(sides):
                ranks[:, batch, place] = _rank_side(scores, ids[batch], side, hidden)
    report(task, len(ids), len(ids))
    return Ranks(filtered=ranks[0], raw=ranks[1])


def batches(n: int, n_entities: int) -> Iterator[slice]:
    """Yield the parts of n queries whose scores fit into memory."""
    size = int(np.clip(BATCH_SCORES // max(n_entities, 1), 1, 1024))
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def _rank_side(scores: Scores, batch: Ids, side: Side, hidden: Sequence[int]) -> Array:
    """Filtered and raw ranks of the true entities on one side, shape (2, batch)."""
    batch_scores = scores(side.pairs(batch), heads=side.heads)
    batch_scores[:, list(hidden)] = -torch.inf
    rows, entities = side.other_answers(batch)
    return _ranks(batch_scores, batch[:, side.column], rows, entities)


def _ranks(scores: Tensor, targets: Ids, known_rows: Ids, known_entities: Ids) -> Array:
    """Filtered and raw realistic ranks, shape (2, batch).

    rank = better + (1 + equal) / 2, the mean of the best and the worst rank that ties allow, where ``better`` and
    ``equal`` count candidates by score and ``equal`` includes the target.

    Parameters
    ----------
    scores
        Of shape (batch, n_entities).
    targets
        The true entity of each row.
    known_rows, known_entities
        Other known completions, which filtered ranks do not count: a row of ``scores`` and a column of it.
    """
    n = len(targets)
    target_scores = _pick(scores, np.arange(n), targets)
    check_scores(_to_array(target_scores))
    better = _to_array((scores > target_scores[:, None]).sum(1))
    equal = _to_array((scores == target_scores[:, None]).sum(1))
    raw = better + (1 + equal) / 2

    known_scores = _pick(scores, known_rows, known_entities)
    known_targets = target_scores[torch.from_numpy(known_rows).to(scores.device)]
    better -= np.bincount(known_rows, _to_array(known_scores > known_targets), minlength=n)
    equal -= np.bincount(known_rows, _to_array(known_scores == known_targets), minlength=n)
    filtered = better + (1 + equal) / 2
    return np.stack([filtered, raw])


def check_scores(target_scores: Array) -> None:
    """Raise if the score of a true triple is not a number."""
    diverged = bool(np.isnan(target_scores).any())
    require(not diverged, "a true triple scores not-a-number: the model has diverged, use a smaller learning rate")


def _pick(scores: Tensor, rows: Ids, columns: Ids) -> Tensor:
    row_ids = torch.from_numpy(rows).to(scores.device)
    column_ids = torch.from_numpy(columns).to(scores.device)
    return scores[row_ids, column_ids]


def _to_array(numbers: Tensor) -> Array:
    return numbers.cpu().numpy().astype(np.float64)


def all_scores(model: Model, entity: int, relation: int, *, heads: bool) -> Array:
    """Scores of all entities as heads, or as tails, of one entity and one relation."""
    scores = ModelScores(model)(np.array([[entity, relation]]), heads=heads)
    return _to_array(scores[0])
