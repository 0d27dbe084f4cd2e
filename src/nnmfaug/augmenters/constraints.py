"""What relations never do in train: have several tails or heads, or join an entity with itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nnmfaug.core.arrays import Bools, IntArray
from nnmfaug.graph.knowledge_graph import KnowledgeGraph


@dataclass(frozen=True)
class Constraints:
    """Names of relations that are bound, learnt from train or written by hand; ``dataclasses.replace`` edits them.

    Parameters
    ----------
    functional, inverse_functional
        Relations with at most one tail for a head, and at most one head for a tail.
    irreflexive
        Relations that never join an entity with itself.
    typed
        Relations whose head has been a head of the relation in train, and whose tail a tail.

    Examples
    --------
    >>> rows = [(f"child {i}", "has mother", f"mother {i // 2}") for i in range(20)]
    >>> graph = KnowledgeGraph.from_labels(rows)
    >>> found = Constraints.learn(graph)
    >>> found.functional, found.inverse_functional
    (frozenset({'has mother'}), frozenset())
    """

    functional: frozenset[str] = frozenset()
    inverse_functional: frozenset[str] = frozenset()
    irreflexive: frozenset[str] = frozenset()
    typed: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name in ("functional", "inverse_functional", "irreflexive", "typed"):
            if isinstance(getattr(self, name), str):
                msg = f"{name}={getattr(self, name)!r}: a set of names of relations is needed"
                raise ValueError(msg)
            object.__setattr__(self, name, frozenset(getattr(self, name)))

    @classmethod
    def learn(cls, graph: KnowledgeGraph, *, tolerance: float = 0.02, min_triples: int = 10) -> Constraints:
        """Take for bound what holds in train but for a small share, in relations with enough triples."""
        names = graph.vocabulary.relations
        h, r, t = graph.triples.astype(np.int64).T
        counts = np.bincount(r, minlength=len(names))
        enough = counts >= min_triples

        def bound(exceptions: NDArray[np.int64]) -> frozenset[str]:
            found = enough & (exceptions <= tolerance * counts)
            return frozenset(names[i] for i in np.flatnonzero(found))

        several = [counts - _distinct(ends * len(names) + r, r, len(names)) for ends in (h, t)]
        loops = np.bincount(r[h == t], minlength=len(names))
        return cls(bound(several[0]), bound(several[1]), bound(loops), frozenset())

    def allow(self, graph: KnowledgeGraph, triples: IntArray) -> Bools:
        """Say of each row of ids whether it could be added to the graph without breaking a constraint."""
        h, r, t = triples.astype(np.int64).T
        known_h, known_r, known_t = graph.triples.astype(np.int64).T
        n = graph.n_relations
        has_tail, has_head = np.isin(h * n + r, known_h * n + known_r), np.isin(t * n + r, known_t * n + known_r)
        allowed = ~(self._mask(self.functional, graph)[r] & has_tail)
        allowed &= ~(self._mask(self.inverse_functional, graph)[r] & has_head)
        allowed &= ~(self._mask(self.irreflexive, graph)[r] & (h == t))
        return np.asarray(allowed & ((has_tail & has_head) | ~self._mask(self.typed, graph)[r]))

    def without(self, *relations: str) -> Constraints:
        """Return the constraints without those of some relations."""
        gone = frozenset(relations)
        return replace(
            self,
            functional=self.functional - gone,
            inverse_functional=self.inverse_functional - gone,
            irreflexive=self.irreflexive - gone,
            typed=self.typed - gone,
        )

    def _mask(self, relations: frozenset[str], graph: KnowledgeGraph) -> Bools:
        return np.array([name in relations for name in graph.vocabulary.relations], dtype=np.bool_)


def _distinct(keys: NDArray[np.int64], relations: NDArray[np.int64], n_relations: int) -> NDArray[np.int64]:
    """Number of different keys of each relation."""
    _, first = np.unique(keys, return_index=True)
    return np.bincount(relations[first], minlength=n_relations)
