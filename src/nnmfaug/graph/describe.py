"""Statistics of a graph, and of problems with its splits."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from nnmfaug.core.arrays import Array, Bools, Ids, IntArray
from nnmfaug.core.blocks import blocks
from nnmfaug.graph.counts import Counts
from nnmfaug.graph.keys import sorted_unique
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.read_report import ReadReport
from nnmfaug.graph.splits import Splits

MAX_CELLS = 1 << 22
"""Pairs of relations that are compared at a time."""


@dataclass(frozen=True)
class SplitStats:
    """Statistics of one split.

    Parameters
    ----------
    name
        The split.
    lines, rejected, duplicates, literals
        Numbers of lines of its file, see :class:`~nnmfaug.ReadReport`.
    triples, self_loops
        Numbers of triples.
    unseen_entities, unseen_relations
        Numbers of names that do not occur in train.
    with_unseen
        Number of triples that contain such a name.
    leaked
        For each earlier split, the number of triples that it contains too.
    new
        Number of triples that are not in train.
    reachable
        Number of new triples that the paper's method could generate if head and tail were in one cluster.
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
    new: int
    reachable: int


@dataclass(frozen=True)
class RelationStats:
    """Statistics of one relation in train.

    Parameters
    ----------
    name
        The relation.
    triples, heads, tails
        Numbers of triples, distinct heads and distinct tails.
    tails_per_head, heads_per_tail
        Mean numbers of triples.
    symmetric
        The fraction of its triples (h, r, t) for which train contains (t, r, h); a self-loop is not counted.
    inverse
        The other relation s with the most triples (t, s, h) for triples (h, r, t), relative to the larger of the
        two relations; None if there is no such triple.
    inverse_fraction
        The fraction of the larger of the two relations that has such a counterpart.
    """

    name: str
    triples: int
    heads: int
    tails: int
    tails_per_head: float
    heads_per_tail: float
    symmetric: float
    inverse: str | None
    inverse_fraction: float


@dataclass(frozen=True)
class GraphStats:
    """The statistics that ``nnmfaug stats`` prints.

    Parameters
    ----------
    name
        The data set.
    n_entities, n_relations
        Numbers of names in all splits.
    distinct_rows
        Number of distinct rows of [A B].
    support
        Number of triples, known ones included, that the paper's method could generate if all entities were in
        one cluster.
    splits, relations
        Statistics of each split, and of each relation in train.
    notes
        The notes of the readers, each with the path of its file.
    """

    name: str
    n_entities: int
    n_relations: int
    distinct_rows: int
    support: int
    splits: tuple[SplitStats, ...]
    relations: tuple[RelationStats, ...]
    notes: tuple[str, ...]


def describe(graph: KnowledgeGraph | Splits, name: str | None = None) -> GraphStats:
    """Return statistics of a graph or its splits; relations with the most triples first.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("a", "likes", "b"), ("b", "likes", "a"), ("b", "hates", "c")])
    >>> [(r.name, r.triples, r.symmetric) for r in describe(graph).relations]
    [('likes', 2, 1.0), ('hates', 1, 0.0)]
    """
    splits = graph if isinstance(graph, Splits) else Splits.merge("graph", train=graph)
    counts = Counts.of(splits.train)
    parts = [(part, split) for part, split in splits.items() if len(split) or part == "train"]
    reports = [split.report for _, split in parts if split.report is not None]
    return GraphStats(
        name=name or splits.name,
        n_entities=splits.train.n_entities,
        n_relations=splits.train.n_relations,
        distinct_rows=counts.n_distinct_rows(),
        support=counts.n_reachable(),
        splits=tuple(_describe_split(part, split, dict(parts), counts) for part, split in parts),
        relations=_describe_relations(splits.train),
        notes=tuple(f"{report.path}: {note}" for report in reports for note in report.notes),
    )


def _describe_split(
    name: str, graph: KnowledgeGraph, parts: dict[str, KnowledgeGraph], counts: Counts
) -> SplitStats:
    train = parts["train"]
    new = graph.triples[~train.contains(graph.triples)]
    is_unseen_entity = ~_occurring(train.triples[:, [0, 2]], graph.n_entities)
    is_unseen_relation = ~_occurring(train.triples[:, 1], graph.n_relations)
    h, r, t = graph.triples.T
    entities = np.unique(np.concatenate([h, t]))
    relations = np.unique(r)
    earlier = itertools.takewhile(lambda part: part[0] != name, parts.items())
    report = graph.report or ReadReport("", "", accepted=len(graph))
    return SplitStats(
        name=name,
        lines=report.lines,
        triples=len(graph),
        rejected=report.rejected,
        duplicates=report.duplicates,
        literals=report.literals,
        self_loops=int((h == t).sum()),
        unseen_entities=int(is_unseen_entity[entities].sum()),
        unseen_relations=int(is_unseen_relation[relations].sum()),
        with_unseen=int((is_unseen_entity[h] | is_unseen_entity[t] | is_unseen_relation[r]).sum()),
        leaked={split: int(other.contains(graph.triples).sum()) for split, other in earlier},
        new=len(new),
        reachable=int(counts.reachable(new).sum()),
    )


def _occurring(ids: IntArray, count: int) -> Bools:
    """Return a mask of shape (count,) of the ids that occur."""
    mask = np.zeros(count, dtype=np.bool_)
    mask[ids.ravel()] = True
    return mask


def _describe_relations(graph: KnowledgeGraph) -> tuple[RelationStats, ...]:
    if not len(graph):
        return ()
    h, r, t = graph.triples.T
    n_triples = np.bincount(r, minlength=graph.n_relations)
    n_heads = _distinct_per_relation(h, r, graph)
    n_tails = _distinct_per_relation(t, r, graph)
    mirrors = _mirrors(graph, n_triples)
    names = graph.vocabulary.relations
    rows = [
        RelationStats(
            name=names[i],
            triples=int(n_triples[i]),
            heads=int(n_heads[i]),
            tails=int(n_tails[i]),
            tails_per_head=float(n_triples[i] / n_heads[i]),
            heads_per_tail=float(n_triples[i] / n_tails[i]),
            symmetric=float(mirrors.symmetric[i]),
            inverse=names[mirrors.inverse[i]] if mirrors.fraction[i] > 0 else None,
            inverse_fraction=float(mirrors.fraction[i]),
        )
        for i in np.flatnonzero(n_triples)
    ]
    return tuple(sorted(rows, key=lambda row: (-row.triples, row.name)))


def _distinct_per_relation(entities: IntArray, relations: IntArray, graph: KnowledgeGraph) -> Ids:
    """Return the number of distinct entities of each relation, shape (n_relations,)."""
    keys = sorted_unique(relations.astype(np.int64) * graph.n_entities + entities)
    return np.bincount(keys // max(graph.n_entities, 1), minlength=graph.n_relations)


class _Mirrors(NamedTuple):
    """For each relation the fraction that is symmetric, its best inverse, and the fraction that has it."""

    symmetric: Array
    inverse: Ids
    fraction: Array


def _mirrors(graph: KnowledgeGraph, n_triples: Ids) -> _Mirrors:
    """Compare each relation with all others, some relations at a time: all at once may not fit into memory."""
    forward, backward = _pairs_by_relation(graph)
    n = graph.n_relations
    parts = []
    for block in blocks(n, size=max(MAX_CELLS // n, 1)):
        relations = np.arange(block.start, block.stop)
        parts.append(_mirrors_of(relations, csr_array(forward[block] @ backward), n_triples))
    return _Mirrors(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _mirrors_of(relations: Ids, n_mirrored: csr_array, n_triples: Ids) -> _Mirrors:
    """Compare some relations with all others, given how many triples of one mirror the other."""
    rows = np.repeat(np.arange(len(relations)), np.diff(n_mirrored.indptr))
    r = relations[rows]
    s = n_mirrored.indices
    fractions = n_mirrored.data / np.maximum(n_triples[r], n_triples[s])
    is_same = r == s
    symmetric = np.zeros(len(relations))
    symmetric[rows[is_same]] = fractions[is_same]
    fractions[is_same] = 0
    best = np.zeros(len(relations))
    np.maximum.at(best, rows, fractions)
    inverse = np.full(len(relations), len(n_triples))
    is_best = fractions == best[rows]
    np.minimum.at(inverse, rows[is_best], s[is_best])  # of equal ones the first by id
    return _Mirrors(symmetric, inverse, best)


def _pairs_by_relation(graph: KnowledgeGraph) -> tuple[csr_array, csr_array]:
    """Return F[r, (x, y)] = 1 if (x, r, y) ∈ G, and B[(x, y), s] = 1 if (y, s, x) ∈ G, for x ≠ y.

    F·B counts, for relations r and s, the pairs with (x, r, y) ∈ G and (y, s, x) ∈ G.
    """
    is_loop = graph.triples[:, 0] == graph.triples[:, 2]
    h, r, t = graph.triples[~is_loop].astype(np.int64).T
    pair_keys = np.concatenate([h * graph.n_entities + t, t * graph.n_entities + h])
    pairs, places = np.unique(pair_keys, return_inverse=True)
    n = len(h)
    ones = np.ones(n, dtype=np.int64)
    forward = csr_array((ones, (r, places[:n])), shape=(graph.n_relations, len(pairs)))
    backward = csr_array((ones, (places[n:], r)), shape=(len(pairs), graph.n_relations))
    return forward, backward
