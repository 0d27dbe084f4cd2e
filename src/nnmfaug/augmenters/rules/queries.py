"""Rules applied to queries (x, r, ?) and (?, r, y): the confidence of every answer, nothing cut.

A list of conclusions ends somewhere, but a query needs all its answers. If the rules have few conclusions, all
are listed once (:class:`ListedAnswers`). Otherwise the rules of a relation are applied to the entities of the
queries alone, in descending order of confidence (:class:`RuleQueries`). Either way the confidences of the rules
that conclude an answer are combined as ``fading`` of :mod:`~nnmfaug.augmenters.rules.combining`. For an answer
that train already contains, they are the confidences after leaving its triple out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from scipy.sparse import csr_array

from nnmfaug.augmenters.rules.combining import combine_rules, fading_weight, log_doubt
from nnmfaug.augmenters.rules.path_rules import PathRules
from nnmfaug.augmenters.rules.steps import ranges
from nnmfaug.augmenters.rules.walks import Walks
from nnmfaug.core.arrays import Array, Ids, IntArray, Places
from nnmfaug.core.elementary import expm1
from nnmfaug.graph.completions import Completions

MAX_LISTED = 20_000_000
"""Rules with more conclusions, counted for each rule, are applied to queries."""
BLOCK_CELLS = 1 << 23
"""Number of possible answers, queries times entities, that are in memory at a time."""


class QueryAnswers(NamedTuple):
    """Entities that rules conclude as answers, one per row.

    Parameters
    ----------
    rows, entities : ndarray of shape (n,)
        The number of the query, and the entity; ascending.
    confidence : ndarray of shape (n,)
        The confidence of the rules.
    """

    rows: Ids
    entities: Ids
    confidence: Array


def joined(parts: Iterable[QueryAnswers]) -> QueryAnswers:
    """Return the answers of several parts, one part after the other."""
    none = QueryAnswers(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
    return QueryAnswers(*(np.concatenate(columns) for columns in zip(none, *parts, strict=True)))


class Answering(Protocol):
    """Answers queries."""

    def answer(self, pairs: Ids, *, heads: bool) -> QueryAnswers:
        """Return all answers to queries of an entity and a relation, shape (n, 2): its heads, or its tails."""
        ...


def answering(rules: PathRules) -> Answering:
    """Return what answers queries by rules, whichever costs less."""
    return ListedAnswers(rules) if rules.table.sizes.sum() <= MAX_LISTED else RuleQueries(rules)


@dataclass(frozen=True, eq=False)
class ListedAnswers:
    """Answers queries by a list of all conclusions, which is made at the first query."""

    rules: PathRules

    @cached_property
    def _conclusions(self) -> tuple[IntArray, Array]:
        new, known = self.rules.conclude("fading", sys.maxsize)
        keys = np.concatenate([new.keys, known.keys])
        return self.rules.graph.vocabulary.from_keys(keys), np.concatenate([new.confidence, known.confidence])

    @cached_property
    def _heads(self) -> Completions:
        return self._completions(0)

    @cached_property
    def _tails(self) -> Completions:
        return self._completions(2)

    def _completions(self, column: int) -> Completions:
        triples = self._conclusions[0].astype(np.int64)
        return Completions(triples[:, [2 - column, 1]], triples[:, column], self.rules.graph.n_relations)

    def answer(self, pairs: Ids, *, heads: bool) -> QueryAnswers:
        """Return all answers to queries of an entity and a relation, shape (n, 2): its heads, or its tails."""
        triples, confidence = self._conclusions
        rows, places = (self._heads if heads else self._tails).triples_of(pairs)
        entities = triples[places, 0 if heads else 2].astype(np.int64)
        order = np.lexsort((entities, rows))
        return QueryAnswers(rows[order], entities[order], confidence[places[order]])


@dataclass(frozen=True, eq=False)
class RuleQueries:
    """Answers queries by applying rules to them.

    Examples
    --------
    >>> import nnmfaug as na
    >>> pairs = ("ab", "cd", "ef")
    >>> graph = na.KnowledgeGraph.from_labels([(x, r, y) for x, y in pairs for r in ("knows", "likes")])
    >>> rules = na.Rules(depth=1, min_support=1, prior=0.0).mine(graph)
    >>> answers = RuleQueries(rules.paths).answer(np.array([[0, 0], [2, 0]]), heads=False)  # whom do a and c know?
    >>> answers.rows.tolist(), answers.entities.tolist(), answers.confidence.round(3).tolist()
    ([0, 1], [1, 3], [0.667, 0.667])
    """

    rules: PathRules

    @cached_property
    def _walks(self) -> Walks:
        return Walks(self.rules.steps)

    def answer(self, pairs: Ids, *, heads: bool) -> QueryAnswers:
        """Return all answers to queries of an entity and a relation, shape (n, 2): its heads, or its tails."""
        rows, entities, confidence = joined(
            part
            for relation in np.unique(pairs[:, 1]).tolist()
            for part in self._answer_relation(pairs, relation, heads=heads)
        )
        order = np.lexsort((entities, rows))
        return QueryAnswers(rows[order], entities[order], confidence[order])

    def _answer_relation(self, pairs: Ids, relation: int, *, heads: bool) -> Iterator[QueryAnswers]:
        """Answer the queries of one relation, some at a time."""
        width = max(BLOCK_CELLS // max(self.rules.graph.n_entities, 1), 1)
        rows = np.flatnonzero(pairs[:, 1] == relation)
        for begin in range(0, len(rows), width):
            block = rows[begin : begin + width]
            starts, places = np.unique(pairs[block, 0], return_inverse=True)
            answers = self._answer_starts(relation, starts, heads=heads)
            yield _spread(answers, places.ravel(), block)

    def _answer_starts(self, relation: int, starts: Ids, *, heads: bool) -> QueryAnswers:
        """Answer the queries of one relation and different entities."""
        steps = self.rules.steps
        step = relation + self.rules.graph.n_relations if heads else relation
        known_rows, known_stops = steps.stops_of(step, starts)
        table = _AnswerTable(len(starts), steps.n, known_rows * steps.n + known_stops)
        walks = self._walks.leaving(starts)
        for rule in self.rules.by_relation.get(relation, ()):
            path = self.rules.path(rule)
            walked = walks.along(self._reverse(path) if heads else path)
            table.add(walked, rule, float(self.rules.confidence[rule]))
        return table.read(self.rules.left_out_confidence)

    def _reverse(self, path: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.rules.steps.inverse(np.array(path[::-1])).tolist())


class _AnswerTable:
    """Collects the confidences of answers, rule after rule, in a table of starts and entities.

    Parameters
    ----------
    n_starts, n
        Shape of the table.
    known
        Cells of the table, row·n + column, that are triples of train.
    """

    def __init__(self, n_starts: int, n: int, known: Ids) -> None:
        self.n = n
        self.doubt = np.zeros(n_starts * n)
        self.n_rules = np.zeros(n_starts * n, dtype=np.uint8)
        self.is_known = np.zeros(n_starts * n, dtype=np.bool_)
        self.is_known[known] = True
        self.known_cells = [np.zeros(0, dtype=np.int64)]
        self.known_rules = [np.zeros(0, dtype=np.int64)]

    def add(self, walked: csr_array, rule: int, confidence: float) -> None:
        """Add what a rule concludes; rules must come in descending order of confidence."""
        rows = np.repeat(np.arange(walked.shape[0]), np.diff(walked.indptr))
        cells = rows * self.n + walked.indices
        is_known = self.is_known[cells]
        self.known_cells.append(cells[is_known])
        self.known_rules.append(np.full(len(self.known_cells[-1]), rule))
        cells = cells[~is_known]
        rank = self.n_rules[cells]
        self.doubt[cells] += log_doubt(np.array(confidence)) * fading_weight(rank)
        self.n_rules[cells] = np.minimum(rank, np.iinfo(np.uint8).max - 1) + 1

    def read(self, left_out_confidence: Array) -> QueryAnswers:
        """Return the answers, by row and entity."""
        cells = np.flatnonzero(self.n_rules)
        known_cells = np.concatenate(self.known_cells)
        known = combine_rules(known_cells, np.concatenate(self.known_rules), left_out_confidence, "fading")
        confidence = np.concatenate([-expm1(self.doubt[cells]), known.confidence])
        cells = np.concatenate([cells, known.keys])
        order = np.argsort(cells)
        cells = cells[order]
        return QueryAnswers(cells // self.n, cells % self.n, confidence[order])


def _spread(answers: QueryAnswers, places: Places, rows: Ids) -> QueryAnswers:
    """Give the answers of different entities to all queries about them."""
    begins = np.searchsorted(answers.rows, places)
    lengths = np.searchsorted(answers.rows, places, side="right") - begins
    chosen = ranges(begins, lengths)
    return QueryAnswers(np.repeat(rows, lengths), answers.entities[chosen], answers.confidence[chosen])
