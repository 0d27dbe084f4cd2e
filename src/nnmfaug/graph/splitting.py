"""One graph into train, valid and test."""

from __future__ import annotations

import numpy as np

from nnmfaug.core.arrays import IntArray
from nnmfaug.core.errors import DataError
from nnmfaug.graph.knowledge_graph import KnowledgeGraph, check_graph
from nnmfaug.graph.splits import Splits


def split(graph: KnowledgeGraph, *, valid: float, test: float, seed: int, name: str = "split") -> Splits:
    """Move triples at random from train to valid and test; every entity and relation stays in train.

    ``valid`` and ``test`` are numbers of triples, or shares of them: 500, or 0.05.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("a", "likes", "b"), ("b", "likes", "a"), ("a", "knows", "b")])
    >>> [len(part) for _, part in split(graph, valid=0, test=1, seed=0).items()]
    [2, 0, 1]
    """
    check_graph(graph)
    valid, test = _number(valid, len(graph), "valid"), _number(test, len(graph), "test")
    order = np.random.default_rng(seed).permutation(len(graph))
    movable = _movable(graph, graph.triples[order], valid + test)
    if len(movable) < valid + test:
        msg = f"with seed {seed} only {len(movable)} of {len(graph)} triples can leave train"
        raise DataError(f"{msg}, or an entity or relation would be lost; {valid + test} were asked for")
    chosen = order[movable]
    parts = {"valid": np.sort(chosen[:valid]), "test": np.sort(chosen[valid:])}
    graphs = {part: KnowledgeGraph(graph.vocabulary, graph.triples[rows]) for part, rows in parts.items()}
    train = KnowledgeGraph(graph.vocabulary, np.delete(graph.triples, chosen, axis=0))
    return Splits(name, train, **graphs)


def _number(amount: float, total: int, name: str) -> int:
    if isinstance(amount, int) and amount >= 0:
        return amount
    if not isinstance(amount, int) and 0 <= amount < 1:
        return int(total * amount)
    msg = f"{name}={amount!r}: must be a number of triples such as 500, or a share such as 0.05"
    raise ValueError(msg)


def _movable(graph: KnowledgeGraph, triples: IntArray, wanted: int) -> list[int]:
    """Return the first rows that can go, one after the other, while each of their names stays elsewhere."""
    h, r, t = graph.triples.T
    loops = np.bincount(h[h == t], minlength=graph.n_entities)
    entities = (np.bincount(np.concatenate([h, t]), minlength=graph.n_entities) - loops).tolist()
    relations = np.bincount(r, minlength=graph.n_relations).tolist()
    rows: list[int] = []
    for row, (head, relation, tail) in enumerate(triples.tolist()):
        if len(rows) == wanted:
            break
        if entities[head] > 1 and entities[tail] > 1 and relations[relation] > 1:
            rows.append(row)
            relations[relation] -= 1
            for entity in {head, tail}:
                entities[entity] -= 1
    return rows
