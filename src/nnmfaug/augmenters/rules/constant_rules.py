"""Rules with constants: how they read, what they conclude, and the train triples behind a conclusion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nnmfaug.augmenters.rules.attributes import NONE, Attributes, describe_attribute
from nnmfaug.augmenters.rules.combining import BestRules, find_best_rules
from nnmfaug.augmenters.rules.constant_mining import chunks
from nnmfaug.augmenters.rules.constant_table import ConstantTable
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.augmenters.rules.table import Threshold
from nnmfaug.core.arrays import Array, Bools, Ids, IntArray, Places
from nnmfaug.core.progress import report

CHUNK_CONCLUSIONS = 1 << 22
"""Number of conclusions, one per rule, that are in memory at a time."""


@dataclass(frozen=True, eq=False)
class ConstantRules:
    """Rules with constants of a graph.

    Parameters
    ----------
    steps
        The graph.
    table
        The rules and their counts, by head.
    threshold
        Minimum support and confidence of the rules.
    """

    steps: Steps
    table: ConstantTable
    threshold: Threshold

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def attributes(self) -> Attributes:
        """The attributes of entities, those of all bodies included."""
        return Attributes(self.steps, max(self.threshold.min_support, 1))

    @cached_property
    def confidence(self) -> Array:
        """The confidence of each rule, shape (n_rules,)."""
        return self.table.confidence(self.threshold)

    @cached_property
    def left_out_confidence(self) -> Array:
        """The confidence of each rule after leaving out a train triple that it concludes, shape (n_rules,)."""
        return self.table.left_out_confidence(self.threshold)

    @cached_property
    def rank(self) -> Places:
        """The place of each rule by descending confidence."""
        return _places(np.argsort(-self.confidence, kind="stable"))

    @cached_property
    def left_out_rank(self) -> Places:
        """The place of each rule by descending confidence after leaving a triple out."""
        return _places(np.argsort(-self.left_out_confidence, kind="stable"))

    @cached_property
    def head_step(self) -> Ids:
        """The step of the attribute that each rule concludes."""
        return self.table.heads // (self.steps.n + 1)

    @cached_property
    def constant(self) -> Ids:
        """The constant of the attribute that each rule concludes."""
        return self.table.heads % (self.steps.n + 1)

    @cached_property
    def atoms(self) -> Places:
        """The attributes of each body by their places, shape (n_rules, 2); −1 for none."""
        bodies = self.table.bodies
        return np.where(bodies == NONE, NONE, np.searchsorted(self.attributes.codes, bodies))

    @cached_property
    def is_own(self) -> Bools:
        """Whether the body is the step of the head with any end, s(x, c) ← s(x, ·)."""
        return np.asarray(self.table.bodies[:, 0] == self.attributes.any_end(self.head_step))

    @cached_property
    def relation(self) -> Ids:
        """The relation that each rule concludes."""
        return self.head_step % self.steps.graph.n_relations

    def describe(self, rule: int) -> str:
        """Return a rule as text."""
        head = describe_attribute(int(self.table.heads[rule]), self.steps)
        bodies = [int(code) for code in self.table.bodies[rule] if code != NONE]
        atoms = [describe_attribute(code, self.steps, other="z") for code in bodies]
        return f"{head} ← {', '.join(atoms) or 'true'}"

    def subjects(self, rules: Places | Ids) -> tuple[Ids, Ids]:
        """Return the place of each of some rules, and an entity that its body holds for, row by row."""
        places, entities = self.attributes.entities_of(self.atoms[rules, 0])
        holds = self.hold(rules[places], entities)
        return places[holds], entities[holds]

    def hold(self, rules: Ids, entities: Ids) -> Bools:
        """Return whether each body holds for the entity beside it, which has its first attribute."""
        holds = entities != self.constant[rules]
        second = self.atoms[rules, 1]
        rows = np.flatnonzero(holds & (second != NONE))
        holds[rows] = self.attributes.have(entities[rows], second[rows])
        rows = np.flatnonzero(holds & self.is_own[rules])
        step = self.head_step[rules[rows]]
        is_only = self.attributes.is_single(entities[rows], step)
        only = rows[is_only]
        holds[only] = ~self._are_known(rules[only], entities[only])
        return np.asarray(holds)

    def _are_known(self, rules: Ids, entities: Ids) -> Bools:
        return self.steps.graph.contains_keys(self.keys(rules, entities))

    def keys(self, rules: Ids | IntArray, entities: Ids) -> Ids:
        """Return the key of the triple that each rule concludes about the entity beside it."""
        n = self.steps.n
        n_relations = self.steps.graph.n_relations
        is_forward = self.head_step[rules] < n_relations
        constant = self.constant[rules]
        head = np.where(is_forward, entities, constant)
        tail = np.where(is_forward, constant, entities)
        return (head * n_relations + self.relation[rules]) * n + tail

    def subject(self, rule: int, head: int, tail: int) -> int:
        """Return the entity that a rule concludes something about, of the head and the tail of a triple."""
        return head if self.head_step[rule] < self.steps.graph.n_relations else tail

    def body_edges(self, rule: int, entity: int) -> list[tuple[int, int, int]]:
        """Return start, step and stop of a train triple for each atom of a body that holds for an entity.

        Of several the first by the id of its other end, which is not the constant of the head.
        """
        edges = []
        for code in self.table.bodies[rule].tolist():
            if code == NONE:
                continue
            step, end = divmod(code, self.steps.n + 1)
            if end == self.steps.n:
                stops = self.steps.stops(step, entity)
                others = stops[stops != self.constant[rule]] if self.is_own[rule] else stops
                end = int(others[0])
            edges.append((entity, step, end))
        return edges

    def conclude(self, most: int) -> tuple[BestRules, BestRules]:
        """Return the best rules of the triples that are concluded: new ones, and those of train, each left out.

        If there are more than ``most`` new ones, those of the highest confidence.
        Rules without a body conclude nothing: they only answer queries, where it is given that there is an end.
        """
        rules = np.flatnonzero(self.table.has_body)
        new = [BestRules.empty()]
        known = [BestRules.empty()]
        for rows in self._blocks(rules):
            report("applying rules with constants", rows.stop, len(rules))
            new_part, known_part = self._conclude_some(rules[rows])
            new = [BestRules.join([*new, new_part]).best(2 * most, self.confidence)]
            known.append(known_part)
        return (
            new[0].best(most, self.confidence),
            BestRules.join(known),
        )

    def is_about_tail(self, rules: Ids | IntArray) -> Bools:
        """Return whether each rule concludes r(c, x), something about the tail of a triple."""
        return np.asarray(self.head_step[rules] >= self.steps.graph.n_relations)

    def mention(self, entities: Ids) -> Bools:
        """Return whether one of some entities occurs in each rule, in its head or its body."""
        ends = self.table.bodies % (self.steps.n + 1)  # n, which is no entity, for any entity and for no atom
        return np.asarray(np.isin(self.constant, entities) | np.isin(ends, entities).any(axis=1))

    def _blocks(self, rules: Places) -> Iterator[slice]:
        """Yield all rules of some heads at a time."""
        costs = self.attributes.sizes[self.atoms[rules, 0]]
        begins = _begins_of_runs(self.table.heads[rules])
        if not len(begins):
            return
        ends = np.append(begins[1:], len(rules))
        for block in chunks(np.add.reduceat(costs, begins), CHUNK_CONCLUSIONS):
            yield slice(int(begins[block.start]), int(ends[block.stop - 1]))

    def _conclude_some(self, rules: Places) -> tuple[BestRules, BestRules]:
        """Conclude by all rules of some heads."""
        heads = self.table.heads[rules]
        number_of_head = np.cumsum(np.append(False, heads[1:] != heads[:-1]))
        places, entities = self.subjects(rules)
        numbers = rules[places]
        cells = number_of_head[places] * self.steps.n + entities
        is_known = self.steps.graph.contains_keys(self.keys(numbers, entities))
        new = find_best_rules(cells[~is_known], numbers[~is_known], self.rank)
        applies = is_known & (self.left_out_confidence[numbers] > 0)
        known = find_best_rules(cells[applies], numbers[applies], self.left_out_rank)
        return self._with_keys(new), self._with_keys(known)

    def _with_keys(self, best: BestRules) -> BestRules:
        """Return the keys of triples in place of cells."""
        return BestRules(self.keys(best.rules[:, 0], best.keys % self.steps.n), best.rules)


def _places(order: Places) -> Places:
    """The place of each number in an order."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places


def _begins_of_runs(values: Ids) -> Places:
    """Where each run of equal values begins."""
    return np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])
