"""What is in a graph, and what may be wrong with its splits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nnmfaug.counts import Counts
from nnmfaug.graph import KnowledgeGraph, Splits


@dataclass(frozen=True)
class SplitStats:
    """One split. ``lines`` to ``literals`` are what its file held, see :class:`~nnmfaug.graph.ReadReport`.

    ``unseen_*`` compare with train; ``with_unseen`` counts triples that hold such a name.

    ``leaked`` says how many triples are also in an earlier split, by its name.
    """

    name: str
    lines: int
    triples: int
    rejected: int
    duplicates: int
    literals: int
    self_loops: int
    unseen_entities: int
    unseen_relations: int
    with_unseen: int
    leaked: dict[str, int]


@dataclass(frozen=True)
class RelationStats:
    """One relation in train.

    ``symmetric`` is the share of its triples whose mirror image is there too (a self-loop has none); ``inverse``
    is the other relation that best mirrors it, and ``inverse_share`` the share of the larger of the
    two that is mirrored.
    """

    name: str
    triples: int
    heads: int
    tails: int
    tails_per_head: float
    heads_per_tail: float
    symmetric: float
    inverse: str | None
    inverse_share: float


@dataclass(frozen=True)
class GraphStats:
    """All that ``nnmfaug stats`` prints."""

    name: str
    n_entities: int
    n_relations: int
    distinct_rows: int
    splits: tuple[SplitStats, ...]
    relations: tuple[RelationStats, ...]
    notes: tuple[str, ...]


def describe(graph: KnowledgeGraph | Splits, name: str = "graph") -> GraphStats:
    """Measure a graph or its splits; relations with the most triples first.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("a", "likes", "b"), ("b", "likes", "a"), ("b", "hates", "c")])
    >>> [(r.name, r.triples, r.symmetric) for r in describe(graph).relations]
    [('likes', 2, 1.0), ('hates', 1, 0.0)]
    """
    splits = graph if isinstance(graph, Splits) else Splits.merge(name, train=graph)
    parts = [(part, split) for part, split in splits.items() if len(split) or part == "train"]
    reports = [split.report for _, split in parts if split.report is not None]
    return GraphStats(
        name=splits.name,
        n_entities=splits.train.n_entities,
        n_relations=splits.train.n_relations,
        distinct_rows=Counts.of(splits.train).n_distinct_rows(),
        splits=tuple(_describe_split(part, split, dict(parts)) for part, split in parts),
        relations=_describe_relations(splits.train),
        notes=tuple(f"{report.path}: {note}" for report in reports for note in report.notes),
    )


def _describe_split(name: str, graph: KnowledgeGraph, parts: dict[str, KnowledgeGraph]) -> SplitStats:
    train = parts["train"]
    new_entity = ~_used(train.triples[:, [0, 2]], graph.n_entities)
    new_relation = ~_used(train.triples[:, 1], graph.n_relations)
    h, r, t = graph.triples.T
    leaked = {}
    for other in list(parts)[: list(parts).index(name)]:
        leaked[other] = int(parts[other].contains(graph.triples).sum())
    report = graph.report
    return SplitStats(
        name=name,
        lines=len(graph) if report is None else report.lines,
        triples=len(graph),
        rejected=0 if report is None else report.rejected,
        duplicates=0 if report is None else report.duplicates,
        literals=0 if report is None else report.literals,
        self_loops=int((h == t).sum()),
        unseen_entities=len(np.unique(np.concatenate([h, t])[new_entity[np.concatenate([h, t])]])),
        unseen_relations=len(np.unique(r[new_relation[r]])),
        with_unseen=int((new_entity[h] | new_entity[t] | new_relation[r]).sum()),
        leaked=leaked,
    )


def _used(ids: NDArray[np.int32], count: int) -> NDArray[np.bool_]:
    used = np.zeros(count, dtype=np.bool_)
    used[ids.ravel()] = True
    return used


def _describe_relations(graph: KnowledgeGraph) -> tuple[RelationStats, ...]:
    if not len(graph):
        return ()
    h, r, t = graph.triples.T
    n_triples = np.bincount(r, minlength=graph.n_relations)
    n_heads = _distinct_per_relation(h, r, graph)
    n_tails = _distinct_per_relation(t, r, graph)
    mirrored = _mirrored(graph)
    symmetric = mirrored.diagonal() / np.maximum(n_triples, 1)
    shares = mirrored / np.maximum(np.maximum.outer(n_triples, n_triples), 1)
    np.fill_diagonal(shares, 0)
    partner = shares.argmax(axis=1)
    names = graph.vocabulary.relations
    rows = [
        RelationStats(
            name=names[i],
            triples=int(n_triples[i]),
            heads=int(n_heads[i]),
            tails=int(n_tails[i]),
            tails_per_head=float(n_triples[i] / n_heads[i]),
            heads_per_tail=float(n_triples[i] / n_tails[i]),
            symmetric=float(symmetric[i]),
            inverse=names[partner[i]] if shares[i, partner[i]] > 0 else None,
            inverse_share=float(shares[i, partner[i]]),
        )
        for i in np.flatnonzero(n_triples)
    ]
    return tuple(sorted(rows, key=lambda row: (-row.triples, row.name)))


def _distinct_per_relation(
    entities: NDArray[np.int32], relations: NDArray[np.int32], graph: KnowledgeGraph
) -> NDArray[np.int64]:
    keys = np.unique(relations.astype(np.int64) * graph.n_entities + entities)
    return np.bincount(keys // max(graph.n_entities, 1), minlength=graph.n_relations)


def _mirrored(graph: KnowledgeGraph) -> NDArray[np.int64]:
    """How many triples r(x, y) have s(y, x) beside them, for all r and s; self-loops mirror nothing."""
    h, r, t = graph.triples[graph.triples[:, 0] != graph.triples[:, 2]].astype(np.int64).T
    pairs, place = np.unique(
        np.concatenate([h * graph.n_entities + t, t * graph.n_entities + h]), return_inverse=True
    )
    ones = np.ones(len(h), dtype=np.int64)
    shape = (len(pairs), graph.n_relations)
    forward = csr_array((ones, (place[: len(h)], r)), shape=shape)
    backward = csr_array((ones, (place[len(h) :], r)), shape=shape)
    return np.asarray((forward.T @ backward).toarray(), dtype=np.int64)
