"""Rules with constants applied to queries (x, r, ?) and (?, r, y): the confidence of every answer, nothing cut.

A query asks where a step s leads from an entity x: s = r for tails, s = r⁻¹ for heads. Two kinds of rules answer
it: those about x, s(x, c) ← b(x), with the answer c; and those about the answer y, s⁻¹(y, x) ← b(y), whose
constant is x. For an answer that train contains, the confidences are those after leaving its triple out. Rules
without a body would give every query of a relation the same answers, so they are asked apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nnmfaug.augmenters.rules.attributes import NONE
from nnmfaug.augmenters.rules.combining import BestRules, Combine, combine_best, confidence_of, find_best_rules
from nnmfaug.augmenters.rules.constant_mining import chunks
from nnmfaug.augmenters.rules.constant_rules import ConstantRules
from nnmfaug.augmenters.rules.queries import QueryAnswers, joined
from nnmfaug.augmenters.rules.steps import ranges
from nnmfaug.core.arrays import Array, Ids, Places

CHUNK_ANSWERS = 1 << 22
"""Number of answers, one per rule, that are in memory at a time."""


@dataclass(frozen=True, eq=False)
class _Applied:
    """Rules applied to queries: the query, the rule, the entity that it is about, and the answer, row by row."""

    query: Ids
    rule: Ids
    subject: Ids
    answer: Ids


@dataclass(frozen=True, eq=False)
class ConstantQueries:
    """Answers queries by rules with constants.

    Parameters
    ----------
    rules
        The rules.
    combine
        How the confidences of the rules that give the same answer are combined.

    Examples
    --------
    >>> import nnmfaug as na
    >>> rows = [(x, "lives_in", "rome") for x in "abcd"] + [(x, "speaks", "italian") for x in "abc"]
    >>> rules = na.Rules(min_support=2, prior=0.0).mine(na.KnowledgeGraph.from_labels(rows)).constants
    >>> d, speaks = 3, 1
    >>> about_head, about_tail = ConstantQueries(rules).answer(np.array([[d, speaks]]), heads=False)
    >>> about_head.entities.tolist(), about_head.confidence.tolist()  # what does d speak?
    ([4], [0.75])
    """

    rules: ConstantRules
    combine: Combine = "fading"

    def answer(self, pairs: Ids, *, heads: bool) -> tuple[QueryAnswers, QueryAnswers]:
        """Return all answers to queries of an entity and a relation, shape (n, 2): its heads, or its tails.

        First those of rules about the heads of triples, then those of rules about their tails.
        """
        step = self._asked_step(pairs, heads=heads)
        about_entity = []
        about_answer = []
        for rows in self._blocks(pairs[:, 0], step):
            entity = pairs[rows, 0]
            about_entity.append(self._answers(rows, self._about_entity(entity, step[rows])))
            about_answer.append(self._answers(rows, self._about_answer(entity, step[rows])))
        sides = (joined(about_entity), joined(about_answer))
        return sides[::-1] if heads else sides

    def usual(self, pairs: Ids, *, heads: bool) -> QueryAnswers:
        """Return the answers of rules without a body, s(x, c) ← true, to queries of an entity and a relation."""
        entity = pairs[:, 0]
        begins, lengths = self._rules_by_body(self._asked_step(pairs, heads=heads), np.full(len(pairs), NONE))
        rule = self._by_body[1][ranges(begins, lengths)]
        query = np.repeat(np.arange(len(pairs)), lengths)
        is_other = self.rules.constant[rule] != entity[query]
        rule = rule[is_other]
        query = query[is_other]
        return self._answers(
            np.arange(len(pairs)), _Applied(query, rule, entity[query], self.rules.constant[rule])
        )

    def _asked_step(self, pairs: Ids, *, heads: bool) -> Ids:
        """The step from the entity of each query to its answers."""
        return pairs[:, 1] + (self.rules.steps.graph.n_relations if heads else 0)

    def best_rules(self, head: int, relation: int, tail: int) -> list[int]:
        """Return the best rules that conclude a triple; of a train triple, after leaving it out."""
        entity = np.array([head])
        step = np.array([relation])
        best: list[int] = []
        for applied in (self._about_entity(entity, step), self._about_answer(entity, step)):
            one_side = self._best(applied)
            best += one_side.rules[one_side.keys == tail].ravel().tolist()
        return [rule % len(self.rules) for rule in best if rule != NONE]

    @cached_property
    def _by_body(self) -> tuple[Ids, Places]:
        """The key of step and first atom of each rule, ascending, and the number of the rule."""
        keys = self._body_keys(self.rules.head_step, self.rules.atoms[:, 0])
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    def _body_keys(self, step: Ids, atom: Ids) -> Ids:
        """A number for each step and atom, where the atom may be none."""
        return step * (len(self.rules.attributes) + 1) + atom + 1

    def _rules_by_body(self, step: Ids, atom: Ids) -> tuple[Ids, Ids]:
        """Where the rules of each step and first atom begin among those by body, and their number."""
        keys = self._body_keys(step, atom)
        begins = np.searchsorted(self._by_body[0], keys)
        return begins, np.searchsorted(self._by_body[0], keys, side="right") - begins

    def _rules_by_head(self, entity: Ids, step: Ids) -> tuple[Ids, Ids]:
        """Where the rules that conclude s⁻¹(y, x) begin, for each step s and entity x, and their number."""
        codes = self.rules.steps.inverse(step) * (self.rules.steps.n + 1) + entity
        begins = np.searchsorted(self.rules.table.heads, codes)
        return begins, np.searchsorted(self.rules.table.heads, codes, side="right") - begins

    def _atoms_of(self, entity: Ids) -> tuple[Ids, Ids]:
        """The place of each entity, and an attribute of it, row by row."""
        by_entity = self.rules.attributes.by_entity
        lengths = (by_entity.indptr[entity + 1] - by_entity.indptr[entity]).astype(np.int64)
        atoms = by_entity.indices[ranges(by_entity.indptr[entity].astype(np.int64), lengths)].astype(np.int64)
        return np.repeat(np.arange(len(entity)), lengths), atoms

    def _blocks(self, entity: Ids, step: Ids) -> Iterator[Places]:
        """Yield the numbers of some queries at a time, few enough for memory."""
        places, atoms = self._atoms_of(entity)
        _, n_rules = self._rules_by_body(step[places], atoms)
        costs = np.bincount(places, n_rules, minlength=len(entity)).astype(np.int64)
        begins, lengths = self._rules_by_head(entity, step)
        sums = np.append(0, np.cumsum(self._n_subjects))
        costs += sums[begins + lengths] - sums[begins]
        for rows in chunks(costs, CHUNK_ANSWERS):
            yield np.arange(rows.start, rows.stop)

    @cached_property
    def _n_subjects(self) -> Ids:
        """Number of entities that have the first atom of each rule; 0 without a body."""
        atoms = self.rules.atoms[:, 0]
        return np.where(atoms == NONE, 0, self.rules.attributes.sizes[atoms])

    def _answers(self, rows: Places, applied: _Applied) -> QueryAnswers:
        """The answers of rules that are applied to some queries, whose numbers are given."""
        best = self._best(applied)
        n = self.rules.steps.n
        places = best.keys // n
        combined = combine_best(confidence_of(best.rules, self._confidence), self.combine)
        return QueryAnswers(rows[places], best.keys - places * n, combined)

    def _best(self, applied: _Applied) -> BestRules:
        """The best rules of each query and answer.

        Of an answer that train contains, the numbers of rules are those of the rules after leaving its triple out,
        which follow all others.
        """
        cells = applied.query * self.rules.steps.n + applied.answer
        keys = self.rules.keys(applied.rule, applied.subject)
        is_known = self.rules.steps.graph.contains_keys(keys)
        numbers = np.where(is_known, applied.rule + len(self.rules), applied.rule)
        applies = self._confidence[numbers] > 0
        return find_best_rules(cells[applies], numbers[applies], self._rank)

    @cached_property
    def _confidence(self) -> Array:
        return np.concatenate([self.rules.confidence, self.rules.left_out_confidence])

    @cached_property
    def _rank(self) -> Places:
        order = np.argsort(-self._confidence, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return rank

    def _about_entity(self, entity: Ids, step: Ids) -> _Applied:
        """The rules s(x, c) ← b(x) that hold for the entity x of each query."""
        places, atoms = self._atoms_of(entity)
        begins, lengths = self._rules_by_body(step[places], atoms)
        rule = self._by_body[1][ranges(begins, lengths)]
        query = np.repeat(places, lengths)
        holds = self.rules.hold(rule, entity[query])
        rule = rule[holds]
        query = query[holds]
        return _Applied(query, rule, entity[query], self.rules.constant[rule])

    def _about_answer(self, entity: Ids, step: Ids) -> _Applied:
        """The rules s⁻¹(y, x) ← b(y) whose constant is the entity x of each query."""
        begins, lengths = self._rules_by_head(entity, step)
        rules = ranges(begins, lengths)
        query = np.repeat(np.arange(len(entity)), lengths)
        has_body = self.rules.atoms[rules, 0] != NONE
        places, subjects = self.rules.subjects(rules[has_body])
        return _Applied(query[has_body][places], rules[has_body][places], subjects, subjects)
