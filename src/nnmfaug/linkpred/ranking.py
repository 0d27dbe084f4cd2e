"""Filtered and raw ranks of test triples, in one pass over the scores.

PyKEEN 1.11.1 overwrites scores when it filters, so it cannot give both, and without a filter it fails (pykeen
#1620). Here nothing is overwritten: better and equal candidates are counted over all, then the known ones among
them are taken away again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from pykeen.models import Model
from torch import Tensor

from nnmfaug.core.arrays import Ids
from nnmfaug.core.progress import report
from nnmfaug.evaluation.metrics import Ranks
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

BATCH_SCORES = 1 << 23
"""How many scores a batch may have; 32 MB stay near the processor's caches."""


class Known:
    """The entities that complete a pair to a known triple, for each of many pairs (entity, relation)."""

    def __init__(self, pairs: Ids, entities: Ids, n_relations: int) -> None:
        self.n_relations = n_relations
        keys = pairs[:, 0] * n_relations + pairs[:, 1]
        order = np.argsort(keys, kind="stable")
        self.keys, self.entities = keys[order], entities[order]

    def __call__(self, pairs: Ids) -> tuple[Ids, Ids]:
        """Return row numbers of ``pairs`` and the entities known for them, one by one."""
        keys = pairs[:, 0] * self.n_relations + pairs[:, 1]
        first = np.searchsorted(self.keys, keys, "left")
        counts = np.searchsorted(self.keys, keys, "right") - first
        rows = np.repeat(np.arange(len(pairs)), counts)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        return rows, self.entities[np.repeat(first, counts) + within]


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
        What is ranked, in its order.
    known
        What the filter takes out: real triples only (train, valid and test), never generated ones.
    hidden
        Entities that are no candidates.
    """
    ids, facts = triples.triples.astype(np.int64), known.triples.astype(np.int64)
    found = np.empty((2, len(ids), 2))
    sides = [(0, Known(facts[:, [2, 1]], facts[:, 0], known.n_relations))]
    sides += [(2, Known(facts[:, [0, 1]], facts[:, 2], known.n_relations))]
    model.eval()
    with torch.inference_mode():
        for start, stop in _batches(len(ids), triples.n_entities):
            report(task, start, len(ids))
            batch = ids[start:stop]
            for place, (column, facts_of) in enumerate(sides):
                scores = _scores(model, batch, column)
                scores[:, list(hidden)] = -torch.inf
                pairs = batch[:, [2 - column, 1]]
                found[:, start:stop, place] = _ranks(scores, batch[:, column], facts_of(pairs))
    report(task, len(ids), len(ids))
    return Ranks(filtered=found[0], raw=found[1])


def _batches(n: int, n_entities: int) -> Iterator[tuple[int, int]]:
    size = int(np.clip(BATCH_SCORES // max(n_entities, 1), 1, 1024))
    for start in range(0, n, size):
        yield start, min(start + size, n)


def _scores(model: Model, batch: Ids, column: int) -> Tensor:
    """Scores of all entities in place of the head (column 0) or the tail (2), shape (batch, n_entities)."""
    triples = torch.from_numpy(batch).to(model.device)
    return model.predict_h(triples[:, 1:]) if column == 0 else model.predict_t(triples[:, :2])


def _ranks(scores: Tensor, targets: Ids, known: tuple[Ids, Ids]) -> NDArray[np.float64]:
    """Filtered and raw realistic ranks, shape (2, batch): the mean of what ties make best and worst of it."""
    rows = torch.arange(len(targets), device=scores.device)
    true = scores[rows, torch.from_numpy(targets).to(scores.device)]
    if bool(torch.isnan(true).any()):
        msg = "the model scores a true triple as not-a-number: it has diverged, use a smaller learning rate"
        raise ValueError(msg)
    better = (scores > true[:, None]).sum(1).cpu().numpy().astype(np.float64)
    equal = (scores == true[:, None]).sum(1).cpu().numpy().astype(np.float64)  # with the true one
    raw = better + (1 + equal) / 2
    at, entities = known[0][others := known[1] != targets[known[0]]], known[1][others]
    place = torch.from_numpy(at).to(scores.device)
    among = scores[place, torch.from_numpy(entities).to(scores.device)]
    n = len(targets)
    better -= np.bincount(at, (among > true[place]).cpu().numpy(), minlength=n)
    equal -= np.bincount(at, (among == true[place]).cpu().numpy(), minlength=n)
    return np.stack([better + (1 + equal) / 2, raw])


def all_scores(model: Model, entity: int, relation: int, *, heads: bool) -> NDArray[np.float64]:
    """Scores of all entities as heads, or as tails, of one entity and one relation."""
    pair = torch.tensor([[relation, entity] if heads else [entity, relation]], device=model.device)
    model.eval()
    with torch.inference_mode():
        scores = model.predict_h(pair) if heads else model.predict_t(pair)
    return scores[0].cpu().numpy().astype(np.float64)
