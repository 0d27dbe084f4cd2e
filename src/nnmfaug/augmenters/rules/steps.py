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
from scipy.sparse import csc_array, csr_array, hstack

from nnmfaug.core.arrays import Bools, Ids, IntArray, Places
from nnmfaug.graph.keys import SortedKeys, sorted_unique, stable_order
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio: spreads keys evenly over a hash table."""
SLOTS_PER_PAIR = 16
"""Size of the hash table of :class:`StepPairs`: at most one slot in so many is occupied, unless it would be
larger than the following."""
MAX_SIEVE_BITS = 28
"""Binary logarithm of the largest number of slots."""
SMALL = 16
"""One edge in so many entities: looking up edges costs about as much as a matrix."""
MAX_ROWS = 1 << 23
"""Number of steps times entities up to which a table says where their edges begin."""
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
    steps: IntArray

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def _sieve(self) -> tuple[Bools, np.uint64]:
        """A table of which hashes occur, and by how many bits to shift a product to get its hash."""
        n_bits = min(max((SLOTS_PER_PAIR * len(self)).bit_length(), 1), MAX_SIEVE_BITS)
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
        lengths = self.begins[pairs + 1] - self.begins[pairs]
        return self.steps[ranges(self.begins[pairs], lengths)].astype(np.int64), lengths


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
        """Start, step and stop of every edge in both directions, by step, start, stop; shape (n_edges,)."""
        h, r, t = self._triples().T
        n_edges = len(h)
        start, step, stop = np.empty((3, 2 * n_edges), dtype=np.int64)
        for part, begin, end, number in (
            (slice(None, n_edges), h, t, r),
            (slice(n_edges, None), t, h, r + self.graph.n_relations),
        ):
            order = stable_order(number.astype(np.int64) * self.n + begin)  # the ends stay ascending
            start[part] = begin[order]
            step[part] = number[order]
            stop[part] = end[order]
        return start, step, stop

    def _triples(self) -> IntArray:
        """The triples between different entities, ascending."""
        triples = self.graph.triples
        keys = self.graph.vocabulary.keys(triples)
        if not (keys[1:] > keys[:-1]).all():
            triples = triples[np.argsort(keys)]
        differ = triples[:, 0] != triples[:, 2]
        return triples if differ.all() else triples[differ]

    @cached_property
    def begins(self) -> Ids:
        """Where the edges of each step begin, shape (n_steps + 1,)."""
        _, step, _ = self.edges
        return np.searchsorted(step, np.arange(self.n_steps + 1))

    def edges_of(self, chosen: Ids) -> tuple[Ids, Ids, Ids]:
        """Return start, place of the step among the chosen ones, and stop of the edges of some steps."""
        start, _, stop = self.edges
        lengths = self.begins[chosen + 1] - self.begins[chosen]
        rows = ranges(self.begins[chosen], lengths)
        return start[rows], np.repeat(np.arange(len(chosen)), lengths), stop[rows]

    @cached_property
    def _row_keys(self) -> Ids:
        """The key step·n + start of each edge, ascending."""
        start, step, _ = self.edges
        return step * self.n + start

    @cached_property
    def _row_begins(self) -> Ids | None:
        """Where the edges of each row key begin, shape (n_steps·n + 1,); None if that is too long."""
        n_keys = self.n_steps * self.n
        if n_keys > MAX_ROWS:
            return None
        return np.append(0, np.cumsum(np.bincount(self._row_keys, minlength=n_keys)))

    def rows(self, steps: Ids, starts: Ids) -> tuple[Ids, Ids]:
        """Return where the edges of each step from each start begin, and how many there are."""
        keys = steps * self.n + starts
        if self._row_begins is not None:
            return self._row_begins[keys], self._row_begins[keys + 1] - self._row_begins[keys]
        begins = np.searchsorted(self._row_keys, keys)
        return begins, np.searchsorted(self._row_keys, keys, side="right") - begins

    def stops(self, step: int, start: int) -> Ids:
        """Return where a step leads from an entity, ascending."""
        begin, length = self.rows(np.array(step), np.array(start))
        return self.edges[2][begin : begin + length]

    def stops_of(self, step: int, starts: Ids) -> tuple[Ids, Ids]:
        """Return where a step leads from each start: the place of the start, and the stop; ascending by both."""
        begins, lengths = self.rows(np.full(len(starts), step), starts)
        return np.repeat(np.arange(len(starts)), lengths), self.edges[2][ranges(begins, lengths)]

    def is_small(self, step: int) -> bool:
        """Whether a step has so few edges that a matrix of all entities costs more than looking them up."""
        return bool(SMALL * (self.begins[step + 1] - self.begins[step]) <= self.n)

    def matrix(self, step: int) -> BoolMatrix:
        """Return M_s of a step s, shape (n, n); not stored, for those of many relations would fill the memory."""
        start, _, stop = self.edges
        rows = slice(self.begins[step], self.begins[step + 1])
        row_lengths = np.bincount(start[rows], minlength=self.n)
        row_begins = np.append(0, np.cumsum(row_lengths))
        ones = np.ones(row_begins[-1], dtype=np.bool_)
        return csr_array((ones, stop[rows], row_begins), shape=(self.n, self.n))

    def side_by_side(self, chosen: Ids) -> BoolMatrix:
        """Return [M_s for s in chosen], shape (n, len(chosen)·n)."""
        start, place, stop = self.edges_of(chosen)
        return _matrix(start, place * self.n + stop, (self.n, len(chosen) * self.n))

    @cached_property
    def degrees(self) -> csr_array:
        """Number of edges of each step that leave each entity, shape (n, n_steps)."""
        step, starts, lengths = self.leaving
        begins = np.searchsorted(step, np.arange(self.n_steps + 1))
        return csr_array(csc_array((lengths, starts, begins), shape=(self.n, self.n_steps)))

    @property
    def leaving(self) -> tuple[Ids, Ids, Ids]:
        """Each step and start of an edge, ascending, and the number of edges."""
        start, step, _ = self.edges
        is_first = np.ones(len(start), dtype=np.bool_)
        is_first[1:] = (step[1:] != step[:-1]) | (start[1:] != start[:-1])
        begins = np.flatnonzero(is_first)
        return step[begins], start[begins], np.diff(np.append(begins, len(start)))

    @cached_property
    def pairs(self) -> StepPairs:
        """The pairs that a step joins, each with its steps."""
        start, step, stop = self.edges
        keys = start * self.n + stop
        order = stable_order(keys)  # the steps of a pair stay ascending
        sorted_keys = keys[order]
        pair_keys = sorted_unique(sorted_keys)
        begins = np.append(np.searchsorted(sorted_keys, pair_keys), len(keys))
        return StepPairs(SortedKeys(pair_keys), begins, step.astype(np.int32)[order])

    @cached_property
    def has_step(self) -> csr_array:
        """H[i, s] = 1 if step s joins pair number i, shape (n_pairs, n_steps)."""
        pairs = self.pairs
        ones = np.ones(len(pairs.steps), dtype=np.int32)
        return csr_array((ones, pairs.steps, pairs.begins), shape=(len(pairs), self.n_steps))

    @cached_property
    def has_tail(self) -> csr_array:
        """1 if an entity has a tail of a relation, shape (n, n_relations)."""
        leaving = csr_array(self.degrees[:, : self.graph.n_relations])
        return csr_array((leaving > 0).astype(np.int64))

    def returns(self, step: int) -> csr_array:
        """Return R[y, c] = Σ_w M_s[y, w]·M_c[w, y] for a step s: the ways to return by c, shape (n, n_steps)."""
        start, _, stop = self.edges_of(np.array([step]))
        _, pairs = self.pairs.keys.find(start * self.n + stop)
        steps, lengths = self.pairs.steps_of(pairs)
        ones = np.ones(len(steps), dtype=np.int32)
        back = self.inverse(steps)
        return csr_array((ones, (np.repeat(start, lengths), back)), shape=(self.n, self.n_steps))

    def body(self, path: tuple[int, ...]) -> BoolMatrix:
        """Return which pairs of different entities a path of one, two or three steps joins, shape (n, n).

        All entities on a path differ. For three steps a, b, c with the path x, z, w, y, this leaves out w = x and
        z = y. The number of such paths is

            offdiag(M_a·M_b)·M_c − T,    T[x, y] = M_a[x, y]·(Σ_w M_b[y, w]·M_c[w, y] − M_b[y, x]·M_c[x, y]),

        where offdiag sets the diagonal to zero, and T counts paths with z = y among those with w ≠ x.
        """
        if len(path) == 1:
            return self.matrix(path[0])
        if len(path) == 2:
            return without_diagonal(csr_array(self.matrix(path[0]) @ self.matrix(path[1])))
        return without_diagonal(self.third_steps(path[0], path[1], np.array([path[2]])))

    def third_steps(self, first: int, second: int, thirds: Ids) -> BoolMatrix:
        """Return the bodies of two steps and each of some third ones, side by side, shape (n, len(thirds)·n).

        Unlike :meth:`body`, an entity may be joined with itself.
        """
        a = self.matrix(first).astype(np.int32)
        b = self.matrix(second).astype(np.int32)
        two_steps = without_diagonal(csr_array(a @ b))
        c = self.side_by_side(thirds).astype(np.int32)
        returns = csr_array(self.returns(second)[:, thirds]).tocoo()
        if not returns.nnz:
            return csr_array((two_steps @ c) > 0)
        columns = returns.col.astype(np.int64) * self.n + returns.row
        turns = a @ csr_array((returns.data, (returns.row, columns)), shape=c.shape)
        forth_and_back = csr_array(a.multiply(b.T))
        at_start = c.multiply(hstack([forth_and_back] * len(thirds), format="csr"))
        return csr_array((two_steps @ c - turns + at_start) > 0)


def ranges(begins: Ids, lengths: Ids) -> Ids:
    """Return begins[0], begins[0] + 1, … for as many as lengths[0], then the same for the next.

    Examples
    --------
    >>> ranges(np.array([5, 2]), np.array([3, 1]))
    array([5, 6, 7, 2])
    """
    offsets = begins - (np.cumsum(lengths) - lengths)
    places: Ids = np.arange(lengths.sum()) + np.repeat(offsets, lengths)
    return places


def without_diagonal(matrix: csr_array) -> csr_array:
    """Return the matrix without its entries for an entity with itself."""
    rows, columns = ends(matrix)
    differ = rows != columns
    begins = np.append(0, np.cumsum(differ))[matrix.indptr]
    return csr_array((matrix.data[differ], columns[differ], begins), shape=matrix.shape)


def ends(matrix: csr_array) -> tuple[Ids, Ids]:
    """Return rows and columns of the stored entries, row by row, without the copies that ``nonzero`` makes."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return rows, matrix.indices.astype(np.int64)


def _matrix(rows: NDArray[np.integer], columns: NDArray[np.integer], shape: tuple[int, int]) -> BoolMatrix:
    return csr_array((np.ones(len(rows), dtype=np.bool_), (rows, columns)), shape=shape)


def _hash(keys: Ids, shift: np.uint64) -> NDArray[np.uint64]:
    """Return the leading bits of key · MULTIPLIER mod 2^64 (multiplicative hashing)."""
    hashes: NDArray[np.uint64] = (keys.astype(np.uint64) * MULTIPLIER) >> shift
    return hashes
