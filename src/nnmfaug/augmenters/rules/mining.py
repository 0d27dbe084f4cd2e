"""Rules r(x, y) ← body(x, y) whose bodies are paths of one, two or three steps, counted with sparse products.

The ends of a path differ, and so do neighbours and next neighbours on it. Reading a path backwards turns
r(y, x) ← body into r(x, y) ← body reversed, so the product of two steps serves two bodies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nnmfaug.augmenters.rules.steps import BoolMatrix, Steps
from nnmfaug.core.arrays import Array, Bools, Ids
from nnmfaug.core.progress import report
from nnmfaug.graph.keys import stable_order
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

CHUNK_COLUMNS = 1 << 20
"""Columns of one product: the scratch row of a sparse product should stay in the cache."""
CHUNK_PATHS = 1 << 24
"""Paths that one product may enumerate."""


@dataclass(frozen=True, eq=False)
class RuleTable:
    """Mined rules, one per row.

    Parameters
    ----------
    heads : ndarray of shape (n_rules,)
        The relation that a rule concludes.
    bodies : ndarray of shape (n_rules, depth)
        The steps of the path from x to y; −1 where a path is shorter.
    support, sizes, pca_sizes
        Pairs of the body that have the relation in train; all pairs of the body; and those of them whose x has a
        tail of the relation in train.
    skipped
        Bodies that were too large to count.
    """

    heads: Ids
    bodies: Ids
    support: Ids
    sizes: Ids
    pca_sizes: Ids
    skipped: int = 0

    def __len__(self) -> int:
        return len(self.heads)

    def take(self, rows: NDArray[np.intp]) -> RuleTable:
        """Return some of the rules, in the order asked for."""
        support, sizes, pca_sizes = self.support[rows], self.sizes[rows], self.pca_sizes[rows]
        return RuleTable(self.heads[rows], self.bodies[rows], support, sizes, pca_sizes, self.skipped)


@dataclass(frozen=True)
class Threshold:
    """What the confidence of a rule is, and which rules are worth keeping."""

    min_support: int
    min_confidence: float
    prior: float
    pca: bool = False

    def passed(self, support: Ids, sizes: Ids) -> Bools:
        """Whether support and confidence are high enough."""
        return np.asarray((support >= self.min_support) & (support >= self.min_confidence * (sizes + self.prior)))

    def confidence(self, table: RuleTable) -> Array:
        """Support / (size + prior), with the size that counts."""
        found: Array = table.support / ((table.pca_sizes if self.pca else table.sizes) + self.prior)
        return found


def mine(graph: KnowledgeGraph, threshold: Threshold, *, depth: int, max_paths: int) -> RuleTable:
    """Count all rules with bodies of at most ``depth`` steps, without bodies of more than ``max_paths`` paths."""
    steps = Steps(graph)
    tally, every = _Tally(steps, threshold, depth), np.arange(steps.n_steps)
    for step in every.tolist():
        tally.add(steps.matrices[step], (), every[step : step + 1])
    for first in every.tolist() if depth > 1 else ():
        report("mining rules", first + 1, steps.n_steps)
        seconds = every[steps.inverse(every) >= first]  # the others are these, read backwards
        for chunk in tally.affordable(steps.path_counts[first], seconds, max_paths):
            body = csr_array(steps.matrices[first] @ steps.side_by_side(chunk))
            tally.add(body, (first,), chunk, backwards=steps.inverse(chunk) != first)
    if depth > 2:
        _count_three_steps(steps, tally, max_paths)
    return tally.table()


def _count_three_steps(steps: Steps, tally: _Tally, max_paths: int) -> None:
    every = np.arange(steps.n_steps)
    for first, second in np.ndindex(steps.n_steps, steps.n_steps):
        report("mining rules of three steps", first * steps.n_steps + second + 1, steps.n_steps**2)
        if not 0 < steps.path_counts[first, second] <= max_paths:
            tally.skipped += steps.n_steps * int(steps.path_counts[first, second] > max_paths)
            continue
        start = steps.body((first, second))
        paths = np.asarray(start.sum(axis=0) @ steps.degrees)
        turning = steps.shared[second][steps.inverse(every)]  # may lead back to where the second step began
        for chunk in tally.affordable(paths, every[~turning], max_paths):
            tally.add(csr_array(start @ steps.side_by_side(chunk)), (first, second), chunk)
        for chunk in tally.affordable(paths, every[turning], max_paths):
            for third in chunk:
                tally.add(steps.body((first, second, int(third))), (first, second), third[None])


class _Tally:
    """Collects rules from bodies; those that pass the threshold."""

    def __init__(self, steps: Steps, threshold: Threshold, depth: int) -> None:
        self.steps, self.threshold, self.depth, self.skipped = steps, threshold, depth, 0
        self.parts = [np.zeros((0, 4 + depth), dtype=np.int64)]

    def affordable(self, paths: Ids, chosen: Ids, max_paths: int) -> Iterator[Ids]:
        """Yield last steps in chunks whose product is of bearable size; count those that are too large."""
        self.skipped += int((paths[chosen] > max_paths).sum())
        chosen = chosen[(paths[chosen] >= self.threshold.min_support) & (paths[chosen] <= max_paths)]
        width, start = max(CHUNK_COLUMNS // max(self.steps.n, 1), 1), 0
        while start < len(chosen):
            total = np.cumsum(paths[chosen[start : start + width]])
            stop = start + max(int(np.searchsorted(total, CHUNK_PATHS, side="right")), 1)
            yield chosen[start:stop]
            start = stop

    def add(
        self, bodies: BoolMatrix, first: tuple[int, ...], last: Ids, *, backwards: Bools | bool = False
    ) -> None:
        """Count the rules of bodies beside each other, which begin with some steps and end with one of ``last``.

        A rule for the pair (y, x) is kept, too, as one of the reversed body, where ``backwards`` says so.
        """
        n, n_relations = self.steps.n, self.steps.graph.n_relations
        x = np.repeat(np.arange(n), np.diff(bodies.indptr))
        place = bodies.indices // n
        y = bodies.indices - place * n
        loops = np.flatnonzero(x == y)  # no pairs; never in train, so they matter for the sizes alone
        sizes = np.bincount(place, minlength=len(last)) - np.bincount(place[loops], minlength=len(last))
        support = self._support(x * n + y, place, len(last))
        passed = self.threshold.passed(support, np.zeros_like(sizes) if self.threshold.pca else sizes)
        passed[n_relations:] &= backwards
        if not first:
            passed[last, np.arange(len(last))] = False  # r(x, y) ← r(x, y)
        heads, places = np.nonzero(passed)
        if not len(heads):
            return
        pca = self._pca_sizes(x, y, place, heads, places)
        counts = np.stack([heads % n_relations, support[heads, places], sizes[places], pca], axis=1)
        rows = np.concatenate([counts, self._bodies(first, last[places], heads)], axis=1)
        self.parts.append(rows[self.threshold.passed(rows[:, 1], pca if self.threshold.pca else rows[:, 2])])

    def _support(self, keys: Ids, place: NDArray[np.int32] | Ids, n_places: int) -> Ids:
        """How many pairs of each body have each step in train, shape (n_steps, n_places)."""
        _, begins, steps = self.steps.pairs
        found, where = self.steps.find_pairs(keys)
        place = place[found]
        lengths = begins[where + 1] - begins[where]
        offsets = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        step = steps[np.repeat(begins[where], lengths) + offsets]
        counts = np.bincount(step * n_places + np.repeat(place, lengths), minlength=self.steps.n_steps * n_places)
        return counts.reshape(self.steps.n_steps, n_places)

    def _pca_sizes(
        self, x: Ids, y: NDArray[np.integer], place: NDArray[np.integer], heads: Ids, places: Ids
    ) -> Ids:
        """How many pairs of a body have a tail of the relation at their head."""
        n_relations, wanted = self.steps.graph.n_relations, np.zeros(place.max() + 1, dtype=np.bool_)
        wanted[places] = True
        pairs = np.flatnonzero((x != y) & wanted[place])
        order = pairs[stable_order(place[pairs].astype(np.int64))]
        begins = np.searchsorted(place[order], np.arange(place.max() + 2))
        sizes = []
        for head, where in zip(heads.tolist(), places.tolist(), strict=True):
            rows = order[begins[where] : begins[where + 1]]
            ends = x[rows] if head < n_relations else y[rows]
            sizes.append(np.count_nonzero(self.steps.starts[head % n_relations][ends]))
        return np.array(sizes)

    def _bodies(self, first: tuple[int, ...], last: Ids, heads: Ids) -> Ids:
        """The bodies of rules, reversed where the rule is for (y, x)."""
        forwards = np.column_stack([np.tile(np.array(first, dtype=np.int64), (len(last), 1)), last])
        reverse = self.steps.inverse(forwards[:, ::-1])
        bodies = np.where((heads >= self.steps.graph.n_relations)[:, None], reverse, forwards)
        return np.pad(bodies, ((0, 0), (0, self.depth - bodies.shape[1])), constant_values=-1)

    def table(self) -> RuleTable:
        """All rules so far; by relation, then body."""
        rows = np.concatenate(self.parts)
        rows = rows[np.lexsort((*rows[:, :3:-1].T, rows[:, 0]))]
        support, sizes, pca_sizes = rows[:, 1:4].T
        return RuleTable(rows[:, 0], rows[:, 4:], support, sizes, pca_sizes, self.skipped)
