"""Constraints on relations, learnt from train: at most one tail or head, no triple of an entity with itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nnmfaug.core.arrays import Bools, Ids, IntArray
from nnmfaug.core.checks import require
from nnmfaug.graph.knowledge_graph import KnowledgeGraph


@dataclass(frozen=True)
class Constraints:
    """Names of relations with a constraint, learnt from train or written by hand.

    Edit them with ``dataclasses.replace``.

    Parameters
    ----------
    functional
        Relations with at most one tail per head.
    inverse_functional
        Relations with at most one head per tail.
    irreflexive
        Relations without a triple of an entity with itself.
    typed
        Relations whose new triples need a head and a tail that have a triple of the relation in train, in that
        place.

    Examples
    --------
    >>> rows = [(f"child {i}", "has mother", f"mother {i // 2}") for i in range(20)]
    >>> graph = KnowledgeGraph.from_labels(rows)
    >>> constraints = Constraints.learn(graph)
    >>> constraints.functional, constraints.inverse_functional
    (frozenset({'has mother'}), frozenset())
    """

    functional: frozenset[str] = frozenset()
    inverse_functional: frozenset[str] = frozenset()
    irreflexive: frozenset[str] = frozenset()
    typed: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name in ("functional", "inverse_functional", "irreflexive", "typed"):
            relations = getattr(self, name)
            require(not isinstance(relations, str), f"{name}={relations!r}: must be a set of names of relations")
            object.__setattr__(self, name, frozenset(relations))

    @classmethod
    def learn(cls, graph: KnowledgeGraph, *, tolerance: float = 0.02, min_triples: int = 10) -> Constraints:
        """Learn constraints from a graph. ``typed`` is not learnt.

        Parameters
        ----------
        graph
            The train graph.
        tolerance
            Maximum fraction of a relation's triples that may be exceptions to a constraint.
        min_triples
            Minimum number of triples of a relation with a constraint.
        """
        names = graph.vocabulary.relations
        n = len(names)
        h, r, t = graph.triples.astype(np.int64).T
        counts = np.bincount(r, minlength=n)
        is_frequent = counts >= min_triples

        def constrained(n_exceptions: Ids) -> frozenset[str]:
            relations = np.flatnonzero(is_frequent & (n_exceptions <= tolerance * counts))
            return frozenset(names[i] for i in relations)

        further_tails = counts - _count_distinct(h * n + r, r, n)
        further_heads = counts - _count_distinct(t * n + r, r, n)
        loops = np.bincount(r[h == t], minlength=n)
        return cls(constrained(further_tails), constrained(further_heads), constrained(loops), frozenset())

    def allow(self, graph: KnowledgeGraph, triples: IntArray) -> Bools:
        """Return whether each row of ids could be added to the graph without violating a constraint."""
        h, r, t = triples.astype(np.int64).T
        known_h, known_r, known_t = graph.triples.astype(np.int64).T
        n = graph.n_relations
        has_tail = np.isin(h * n + r, known_h * n + known_r)
        has_head = np.isin(t * n + r, known_t * n + known_r)
        allowed = ~(_mask(self.functional, graph)[r] & has_tail)
        allowed &= ~(_mask(self.inverse_functional, graph)[r] & has_head)
        allowed &= ~(_mask(self.irreflexive, graph)[r] & (h == t))
        allowed &= (has_tail & has_head) | ~_mask(self.typed, graph)[r]
        return np.asarray(allowed)

    def without(self, *relations: str) -> Constraints:
        """Return the constraints without those of the given relations."""
        removed = frozenset(relations)
        return replace(
            self,
            functional=self.functional - removed,
            inverse_functional=self.inverse_functional - removed,
            irreflexive=self.irreflexive - removed,
            typed=self.typed - removed,
        )


def _mask(relations: frozenset[str], graph: KnowledgeGraph) -> Bools:
    """Whether each relation of the graph is among the given names."""
    return np.array([name in relations for name in graph.vocabulary.relations], dtype=np.bool_)


def _count_distinct(keys: Ids, relations: Ids, n_relations: int) -> Ids:
    """Number of distinct keys of each relation."""
    _, first = np.unique(keys, return_index=True)
    return np.bincount(relations[first], minlength=n_relations)
