"""A graph as steps between entities, the ground of rules: a path is a chain of steps.

Step d < n_relations goes from head to tail of relation d, step n_relations + d the other way. Triples of an entity
with itself take no part.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nnmfaug.core.arrays import Bools, Ids
from nnmfaug.graph.keys import sorted_unique
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: spreads keys over a table."""
BoolMatrix: TypeAlias = "csr_array[np.bool_, tuple[int, int]]"


@dataclass(frozen=True, eq=False)
class Steps:
    """The triples of a graph between different entities, as steps between entities."""

    graph: KnowledgeGraph

    @property
    def n(self) -> int:
        """Number of entities."""
        return self.graph.n_entities

    @property
    def n_steps(self) -> int:
        """Number of relations and inverses."""
        return 2 * self.graph.n_relations

    def inverse(self, steps: Ids) -> Ids:
        """Return the steps that go back; −1 stays."""
        back: Ids = np.where(steps < 0, -1, (steps + self.graph.n_relations) % self.n_steps)
        return back

    @cached_property
    def edges(self) -> tuple[Ids, Ids, Ids]:
        """From, step and to of every edge, in both directions."""
        h, r, t = self.graph.triples[self.graph.triples[:, 0] != self.graph.triples[:, 2]].astype(np.int64).T
        back = r + self.graph.n_relations
        return np.concatenate([h, t]), np.concatenate([r, back]), np.concatenate([t, h])

    @cached_property
    def matrices(self) -> list[BoolMatrix]:
        """One matrix per step, from × to."""
        return [self.side_by_side(np.array([step])) for step in range(self.n_steps)]

    @cached_property
    def _by_step(self) -> tuple[Ids, Ids]:
        """Order of the edges by step, and where each step begins in it."""
        order = np.argsort(self.edges[1], kind="stable")
        return order, np.searchsorted(self.edges[1][order], np.arange(self.n_steps + 1))

    def side_by_side(self, chosen: Ids) -> BoolMatrix:
        """Matrices of some steps beside each other, shape (n, len(chosen) · n)."""
        start, _, stop = self.edges
        order, begins = self._by_step
        parts = [order[begins[step] : begins[step + 1]] for step in chosen.tolist()]
        places = np.repeat(np.arange(len(chosen)), [len(part) for part in parts])
        edges = np.concatenate(parts) if parts else order[:0]
        return _matrix(start[edges], places * self.n + stop[edges], (self.n, len(chosen) * self.n))

    @cached_property
    def degrees(self) -> csr_array:
        """How many edges of each step leave an entity, shape (n, n_steps)."""
        start, step, _ = self.edges
        return csr_array((np.ones(len(start), dtype=np.int64), (start, step)), shape=(self.n, self.n_steps))

    @cached_property
    def path_counts(self) -> Ids:
        """Number of paths of one step and then another, shape (n_steps, n_steps)."""
        meeting: Ids = np.asarray((self.degrees.T @ self.degrees).todense())  # steps that leave the same entity
        return np.roll(meeting, self.graph.n_relations, axis=0)

    @cached_property
    def pairs(self) -> tuple[Ids, Ids, Ids]:
        """Different pairs start · n + stop, ascending; where the steps of each begin; and the steps."""
        start, step, stop = self.edges
        keys = start * self.n + stop
        order = np.lexsort((step, keys))
        pairs = sorted_unique(keys[order])
        return pairs, np.append(np.searchsorted(keys[order], pairs), len(keys)), step[order]

    @cached_property
    def _sieve(self) -> tuple[Bools, np.uint64]:
        """A table of hashes of pairs, and by how much to shift a hash."""
        bits = max((16 * len(self.pairs[0])).bit_length(), 1)
        shift, table = np.uint64(64 - bits), np.zeros(1 << bits, dtype=np.bool_)
        table[(self.pairs[0].astype(np.uint64) * MULTIPLIER) >> shift] = True
        return table, shift

    def find_pairs(self, keys: Ids) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Which of some pairs are known, and where among the known they are; most others the sieve holds back."""
        table, shift = self._sieve
        rows = np.flatnonzero(table[(keys.astype(np.uint64) * MULTIPLIER) >> shift])
        pairs, some = self.pairs[0], keys[rows]
        places = np.minimum(np.searchsorted(pairs, some), len(pairs) - 1)
        same = pairs[places] == some
        return rows[same], places[same]

    @cached_property
    def starts(self) -> NDArray[np.bool_]:
        """Whether a step leaves an entity, shape (n_steps, n)."""
        found = np.zeros((self.n_steps, self.n), dtype=np.bool_)
        found[self.edges[1], self.edges[0]] = True
        return found

    @cached_property
    def shared(self) -> Bools:
        """Whether two steps have a pair in common, shape (n_steps, n_steps)."""
        pairs, begins, steps = self.pairs
        has = csr_array((np.ones(len(steps), dtype=np.int64), steps, begins), shape=(len(pairs), self.n_steps))
        return np.asarray((has.T @ has).todense() > 0)

    def body(self, path: tuple[int, ...]) -> BoolMatrix:
        """Which pairs of different entities a path of one, two or three steps joins."""
        found = self.matrices[path[0]]
        if len(path) > 1:
            found = without_diagonal(csr_array(found @ self.matrices[path[1]]))
        if len(path) > 2:
            found = self._third(path[0], path[1], path[2])
        return found

    def _third(self, first: int, second: int, third: int) -> BoolMatrix:
        """Pairs x, y with a path x, z, w, y where w ≠ x and z ≠ y: all with w ≠ x but for those with z = y."""
        a, b, c = (self.matrices[step].astype(np.int32) for step in (first, second, third))
        back_b, back_c = (self.matrices[int(self.inverse(np.array(step)))] for step in (second, third))
        both = csr_array(a @ b)
        both.setdiag(0)
        turns = csr_array(a * b.multiply(back_c).sum(axis=1)[None, :]) - a.multiply(back_b).multiply(c)
        return without_diagonal(csr_array((both @ c - turns) > 0))


def without_diagonal(matrix: BoolMatrix) -> BoolMatrix:
    """Leave out pairs of an entity with itself."""
    rows, columns = ends(matrix)
    differ = rows != columns
    begins = np.append(0, np.cumsum(differ))[matrix.indptr]
    return csr_array((np.ones(begins[-1], dtype=np.bool_), columns[differ], begins), shape=matrix.shape)


def ends(matrix: BoolMatrix) -> tuple[Ids, Ids]:
    """Rows and columns of what is stored, row by row; spares the copies that ``nonzero`` makes."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices.astype(np.int64)


def _matrix(rows: NDArray[np.integer], columns: NDArray[np.integer], shape: tuple[int, int]) -> BoolMatrix:
    return csr_array((np.ones(len(rows), dtype=np.bool_), (rows, columns)), shape=shape)
