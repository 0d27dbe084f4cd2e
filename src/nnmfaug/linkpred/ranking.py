"""Filtered and raw ranks of test triples, in one pass over the scores.

PyKEEN 1.11.1 overwrites scores when it filters, so it cannot compute both ranks, and without a filter it fails
(pykeen #1620). This module never overwrites a score: it counts the better and equal candidates among all entities,
then subtracts the known ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from pykeen.models import Model
from torch import Tensor

from nnmfaug.core.arrays import Array, Ids
from nnmfaug.core.checks import require
from nnmfaug.core.progress import report
from nnmfaug.evaluation.metrics import Ranks
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

BATCH_SCORES = 1 << 23
"""Largest number of scores in a batch: 32 MB stay near the processor's caches."""


class Completions:
    """The known completions of pairs: all x such that the triple of (entity, relation) and x is known."""

    def __init__(self, pairs: Ids, entities: Ids, n_relations: int) -> None:
        self.n_relations = n_relations
        keys = self._keys(pairs)
        order = np.argsort(keys, kind="stable")
        self.keys = keys[order]
        self.entities = entities[order]

    def _keys(self, pairs: Ids) -> Ids:
        return pairs[:, 0] * self.n_relations + pairs[:, 1]

    def __call__(self, pairs: Ids) -> tuple[Ids, Ids]:
        """Return (row, entity), two arrays of equal length: ``entity`` completes the pair in ``row``."""
        keys = self._keys(pairs)
        starts = np.searchsorted(self.keys, keys, "left")
        counts = np.searchsorted(self.keys, keys, "right") - starts
        rows = np.repeat(np.arange(len(pairs)), counts)
        offsets = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        return rows, self.entities[np.repeat(starts, counts) + offsets]


class _Side(NamedTuple):
    """The side of a triple that is predicted."""

    column: int
    """0 for the head, 2 for the tail."""
    completions: Completions
    """The known entities on this side."""

    @classmethod
    def of(cls, column: int, known: KnowledgeGraph) -> _Side:
        triples = known.triples.astype(np.int64)
        pairs = triples[:, [2 - column, 1]]
        return cls(column, Completions(pairs, triples[:, column], known.n_relations))


def rank(
    model: Model,
    triples: KnowledgeGraph,
    known: KnowledgeGraph,
    *,
    hidden: Sequence[int] = (),
    task: str = "ranking",
) -> Ranks:
    """Rank the true head and the true tail of each triple among all entities.

    Parameters
    ----------
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
    sides = [_Side.of(0, known), _Side.of(2, known)]
    model.eval()
    with torch.inference_mode():
        for batch in _batches(len(ids), triples.n_entities):
            report(task, batch.start, len(ids))
            for place, side in enumerate(sides):
                ranks[:, batch, place] = _rank_side(model, ids[batch], side, hidden)
    report(task, len(ids), len(ids))
    return Ranks(filtered=ranks[0], raw=ranks[1])


def _batches(n: int, n_entities: int) -> Iterator[slice]:
    size = int(np.clip(BATCH_SCORES // max(n_entities, 1), 1, 1024))
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def _rank_side(model: Model, batch: Ids, side: _Side, hidden: Sequence[int]) -> Array:
    """Filtered and raw ranks of the true entities on one side, shape (2, batch)."""
    scores = _scores(model, batch, side.column)
    scores[:, list(hidden)] = -torch.inf
    targets = batch[:, side.column]
    rows, entities = side.completions(batch[:, [2 - side.column, 1]])
    is_other = entities != targets[rows]  # the target is known itself, and keeps its rank
    return _ranks(scores, targets, rows[is_other], entities[is_other])


def _scores(model: Model, batch: Ids, column: int) -> Tensor:
    """Scores of all entities in place of the head (column 0) or the tail (2), shape (batch, n_entities)."""
    triples = torch.from_numpy(batch).to(model.device)
    return model.predict_h(triples[:, 1:]) if column == 0 else model.predict_t(triples[:, :2])


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
    diverged = bool(torch.isnan(target_scores).any())
    require(not diverged, "a true triple scores not-a-number: the model has diverged, use a smaller learning rate")
    better = _to_array((scores > target_scores[:, None]).sum(1))
    equal = _to_array((scores == target_scores[:, None]).sum(1))
    raw = better + (1 + equal) / 2

    known_scores = _pick(scores, known_rows, known_entities)
    known_targets = target_scores[torch.from_numpy(known_rows).to(scores.device)]
    better -= np.bincount(known_rows, _to_array(known_scores > known_targets), minlength=n)
    equal -= np.bincount(known_rows, _to_array(known_scores == known_targets), minlength=n)
    filtered = better + (1 + equal) / 2
    return np.stack([filtered, raw])


def _pick(scores: Tensor, rows: Ids, columns: Ids) -> Tensor:
    row_ids = torch.from_numpy(rows).to(scores.device)
    column_ids = torch.from_numpy(columns).to(scores.device)
    return scores[row_ids, column_ids]


def _to_array(numbers: Tensor) -> Array:
    return numbers.cpu().numpy().astype(np.float64)


def all_scores(model: Model, entity: int, relation: int, *, heads: bool) -> Array:
    """Scores of all entities as heads, or as tails, of one entity and one relation."""
    pair = torch.tensor([[relation, entity] if heads else [entity, relation]], device=model.device)
    model.eval()
    with torch.inference_mode():
        scores = model.predict_h(pair) if heads else model.predict_t(pair)
    return _to_array(scores[0])
