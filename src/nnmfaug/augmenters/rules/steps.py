"""A graph as steps between entities. A path is a chain of steps.

Each relation gives two steps: step r, for 0 ≤ r < |R|, leads from head to tail, and step |R| + r leads from tail
to head. The boolean matrix M_s, of shape (n, n), has M_s[x, y] = 1 if step s leads from x to y, so
M_{|R|+r} = M_rᵀ. Triples whose head is also their tail are left out. The pairs that a path (s₁, s₂) joins are the
non-zero entries of M_{s₁}·M_{s₂} off the diagonal; :meth:`Steps.body` gives the equation for three steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nnmfaug.core.arrays import Bools, Ids, Places
from nnmfaug.graph.keys import SortedKeys, sorted_unique
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio: spreads keys evenly over a hash table."""
SLOTS_PER_PAIR = 16
"""Size of the hash table of :class:`StepPairs`: at most one slot in so many is occupied."""
BoolMatrix: TypeAlias = "csr_array[np.bool_, tuple[int, int]]"


@dataclass(frozen=True, eq=False)
class StepPairs:
    """The ordered pairs of entities that at least one step joins, and the steps of each pair.

    Parameters
    ----------
    keys
        The key x·n + y of each pair (x, y), ascending.
    begins : ndarray of shape (n_pairs + 1,)
        Where the steps of each pair begin: pair i has ``steps[begins[i]:begins[i + 1]]``.
    steps : ndarray of shape (n_edges,)
        The steps of the first pair, ascending, then those of the second, …
    """

    keys: SortedKeys
    begins: Ids
    steps: Ids

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def _sieve(self) -> tuple[Bools, np.uint64]:
        """A table of which hashes occur, and by how many bits to shift a product to get its hash."""
        n_bits = max((SLOTS_PER_PAIR * len(self)).bit_length(), 1)
        shift = np.uint64(64 - n_bits)
        table = np.zeros(1 << n_bits, dtype=np.bool_)
        table[_hash(self.keys.keys, shift)] = True
        return table, shift

    def find(self, keys: Ids) -> tuple[Places, Places]:
        """Return the positions of the given keys that are pairs, and the number of the pair of each.

        Most keys are not pairs. The sieve rejects nearly all of these with one look-up in a table, so that few
        reach the binary search.
        """
        table, shift = self._sieve
        candidates = np.flatnonzero(table[_hash(keys, shift)])
        present, pairs = self.keys.find(keys[candidates])
        return candidates[present], pairs[present]

    def steps_of(self, pairs: Places) -> tuple[Ids, Ids]:
        """Return the steps of some pairs, one pair after the other, and the number of steps of each."""
        begins = self.begins[pairs]
        lengths = self.begins[pairs + 1] - begins
        first_offsets = np.cumsum(lengths) - lengths
        offsets = np.arange(lengths.sum()) - np.repeat(first_offsets, lengths)
        return self.steps[np.repeat(begins, lengths) + offsets], lengths


@dataclass(frozen=True, eq=False)
class Steps:
    """The triples of a graph between different entities, as steps in both directions.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("a", "likes", "b"), ("b", "likes", "c")])
    >>> steps = Steps(graph)
    >>> steps.n_steps, steps.body((0, 0)).toarray().astype(int).tolist()
    (2, [[0, 0, 1], [0, 0, 0], [0, 0, 0]])
    """

    graph: KnowledgeGraph

    @property
    def n(self) -> int:
        """Number of entities."""
        return self.graph.n_entities

    @property
    def n_steps(self) -> int:
        """Number of relations and their inverses, 2·|R|."""
        return 2 * self.graph.n_relations

    def inverse(self, steps: Ids) -> Ids:
        """Return the step in the opposite direction of each step; −1 (no step) stays −1."""
        opposite: Ids = np.where(steps < 0, -1, (steps + self.graph.n_relations) % self.n_steps)
        return opposite

    @cached_property
    def edges(self) -> tuple[Ids, Ids, Ids]:
        """Start, step and stop of every edge, in both directions; each of shape (n_edges,)."""
        triples = self.graph.triples
        differ = triples[:, 0] != triples[:, 2]
        h, r, t = triples[differ].astype(np.int64).T
        inverse_r = r + self.graph.n_relations
        return np.concatenate([h, t]), np.concatenate([r, inverse_r]), np.concatenate([t, h])

    @cached_property
    def matrices(self) -> list[BoolMatrix]:
        """M_s of every step s, shape (n, n) each."""
        return [self.side_by_side(np.array([step])) for step in range(self.n_steps)]

    @cached_property
    def _by_step(self) -> tuple[Ids, Ids]:
        """Order of the edges by step, and where each step begins in that order."""
        _, step, _ = self.edges
        order = np.argsort(step, kind="stable")
        return order, np.searchsorted(step[order], np.arange(self.n_steps + 1))

    def side_by_side(self, chosen: Ids) -> BoolMatrix:
        """Return [M_s for s in chosen], shape (n, len(chosen)·n)."""
        start, _, stop = self.edges
        order, begins = self._by_step
        parts = [order[begins[step] : begins[step + 1]] for step in chosen.tolist()]
        lengths = [len(part) for part in parts]
        places = np.repeat(np.arange(len(chosen)), lengths)
        edges = np.concatenate(parts) if parts else order[:0]
        columns = places * self.n + stop[edges]
        return _matrix(start[edges], columns, (self.n, len(chosen) * self.n))

    @cached_property
    def degrees(self) -> csr_array:
        """Number of edges of each step that leave each entity, shape (n, n_steps)."""
        start, step, _ = self.edges
        ones = np.ones(len(start), dtype=np.int64)
        return csr_array((ones, (start, step)), shape=(self.n, self.n_steps))

    @cached_property
    def path_counts(self) -> Ids:
        """Number of paths of one step and then another, shape (n_steps, n_steps).

        With the degrees D, (DᵀD)[s₁, s₂] counts pairs of edges, of s₁ and of s₂, that leave the same entity.
        Reversing the first edge makes each pair a path, so row s₁ of DᵀD is the row of the inverse of s₁ here.
        """
        same_start: Ids = np.asarray((self.degrees.T @ self.degrees).todense())
        return np.roll(same_start, self.graph.n_relations, axis=0)

    @cached_property
    def pairs(self) -> StepPairs:
        """The pairs that a step joins, each with its steps."""
        start, step, stop = self.edges
        keys = start * self.n + stop
        order = np.lexsort((step, keys))
        sorted_keys = keys[order]
        pair_keys = sorted_unique(sorted_keys)
        begins = np.append(np.searchsorted(sorted_keys, pair_keys), len(keys))
        return StepPairs(SortedKeys(pair_keys), begins, step[order])

    @cached_property
    def starts(self) -> Bools:
        """Whether a step leaves an entity, shape (n_steps, n)."""
        start, step, _ = self.edges
        leaves = np.zeros((self.n_steps, self.n), dtype=np.bool_)
        leaves[step, start] = True
        return leaves

    @cached_property
    def shared(self) -> Bools:
        """Whether two steps have a pair in common, shape (n_steps, n_steps)."""
        pairs = self.pairs
        ones = np.ones(len(pairs.steps), dtype=np.int64)
        has_step = csr_array((ones, pairs.steps, pairs.begins), shape=(len(pairs), self.n_steps))
        return np.asarray((has_step.T @ has_step).todense() > 0)

    def body(self, path: tuple[int, ...]) -> BoolMatrix:
        """Return which pairs of different entities a path of one, two or three steps joins, shape (n, n).

        All entities on a path differ. For three steps a, b, c with the path x, z, w, y, this leaves out w = x and
        z = y. The number of such paths is

            offdiag(M_a·M_b)·M_c − T,    T[x, y] = M_a[x, y]·(Σ_w M_b[y, w]·M_c[w, y] − M_b[y, x]·M_c[x, y]),

        where offdiag sets the diagonal to zero, and T counts paths with z = y among those with w ≠ x.
        """
        if len(path) == 1:
            return self.matrices[path[0]]
        if len(path) == 2:
            return without_diagonal(csr_array(self.matrices[path[0]] @ self.matrices[path[1]]))
        return self._three_steps(path[0], path[1], path[2])

    def _three_steps(self, first: int, second: int, third: int) -> BoolMatrix:
        a, b, c = (self.matrices[step].astype(np.int32) for step in (first, second, third))
        inverse_b = self._inverse_matrix(second)
        inverse_c = self._inverse_matrix(third)
        two_steps = csr_array(a @ b)
        two_steps.setdiag(0)
        returns: NDArray[np.int32] = b.multiply(inverse_c).sum(axis=1)  # Σ_w M_b[y, w]·M_c[w, y]
        turns = csr_array(a * returns[None, :]) - a.multiply(inverse_b).multiply(c)
        return without_diagonal(csr_array((two_steps @ c - turns) > 0))

    def _inverse_matrix(self, step: int) -> BoolMatrix:
        return self.matrices[int(self.inverse(np.array(step)))]


def without_diagonal(matrix: BoolMatrix) -> BoolMatrix:
    """Return the matrix without pairs of an entity with itself."""
    rows, columns = ends(matrix)
    differ = rows != columns
    begins = np.append(0, np.cumsum(differ))[matrix.indptr]
    ones = np.ones(begins[-1], dtype=np.bool_)
    return csr_array((ones, columns[differ], begins), shape=matrix.shape)


def ends(matrix: BoolMatrix) -> tuple[Ids, Ids]:
    """Return rows and columns of the stored entries, row by row, without the copies that ``nonzero`` makes."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return rows, matrix.indices.astype(np.int64)


def _matrix(rows: NDArray[np.integer], columns: NDArray[np.integer], shape: tuple[int, int]) -> BoolMatrix:
    return csr_array((np.ones(len(rows), dtype=np.bool_), (rows, columns)), shape=shape)


def _hash(keys: Ids, shift: np.uint64) -> NDArray[np.uint64]:
    """Return the leading bits of key · MULTIPLIER mod 2^64 (multiplicative hashing)."""
    hashes: NDArray[np.uint64] = (keys.astype(np.uint64) * MULTIPLIER) >> shift
    return hashes
