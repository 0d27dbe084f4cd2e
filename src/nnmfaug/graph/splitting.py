"""Split one graph into train, valid and test."""

from __future__ import annotations

import numpy as np

from nnmfaug.core.arrays import IntArray
from nnmfaug.core.checks import check_argument
from nnmfaug.core.errors import DataError
from nnmfaug.graph.knowledge_graph import KnowledgeGraph, check_graph
from nnmfaug.graph.splits import Splits


def split(graph: KnowledgeGraph, *, valid: float, test: float, seed: int, name: str = "split") -> Splits:
    """Move random triples to valid and test, such that every entity and relation still occurs in train.

    Parameters
    ----------
    graph
        The graph to split.
    valid, test
        Numbers of triples such as 500, or fractions such as 0.05.
    seed
        Seed of the random order.
    name
        Name of the data set.

    Raises
    ------
    DataError
        If too few triples can leave train without the loss of an entity or relation.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("a", "likes", "b"), ("b", "likes", "a"), ("a", "knows", "b")])
    >>> [len(part) for _, part in split(graph, valid=0, test=1, seed=0).items()]
    [2, 0, 1]
    """
    check_graph(graph)
    n_valid = _n_triples("valid", valid, len(graph))
    n_test = _n_triples("test", test, len(graph))
    n_moved = n_valid + n_test
    order = np.random.default_rng(seed).permutation(len(graph))
    movable = _movable(graph, graph.triples[order], n_moved)
    if len(movable) < n_moved:
        msg = f"with seed {seed} only {len(movable)} of {len(graph)} triples can leave train"
        raise DataError(f"{msg} without the loss of an entity or relation; {n_moved} were requested")
    moved = order[movable]

    def graph_of(triples: IntArray) -> KnowledgeGraph:
        return KnowledgeGraph(graph.vocabulary, triples)

    return Splits(
        name,
        train=graph_of(np.delete(graph.triples, moved, axis=0)),
        valid=graph_of(graph.triples[np.sort(moved[:n_valid])]),
        test=graph_of(graph.triples[np.sort(moved[n_valid:])]),
    )


def _n_triples(name: str, amount: float, total: int) -> int:
    """Return a number of triples, which may be given as a fraction."""
    if isinstance(amount, int) and amount >= 0:
        return amount
    is_fraction = not isinstance(amount, int) and 0 <= amount < 1
    check_argument(name, amount, is_fraction, "a number of triples such as 500, or a fraction such as 0.05")
    return int(total * amount)


def _movable(graph: KnowledgeGraph, triples: IntArray, n_wanted: int) -> list[int]:
    """Return the first rows of ``triples`` that can leave the graph one after the other without losing a name."""
    h, r, t = graph.triples.T
    n_loops = np.bincount(h[h == t], minlength=graph.n_entities)
    n_occurrences = np.bincount(np.concatenate([h, t]), minlength=graph.n_entities)
    n_of_entity = (n_occurrences - n_loops).tolist()
    n_of_relation = np.bincount(r, minlength=graph.n_relations).tolist()
    rows: list[int] = []
    for row, (head, relation, tail) in enumerate(triples.tolist()):
        if len(rows) == n_wanted:
            break
        if n_of_entity[head] > 1 and n_of_entity[tail] > 1 and n_of_relation[relation] > 1:
            rows.append(row)
            n_of_relation[relation] -= 1
            for entity in {head, tail}:
                n_of_entity[entity] -= 1
    return rows
