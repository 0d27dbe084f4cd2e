"""Mined rules: how they read, what they conclude, and the train triples behind a conclusion."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nnmfaug.augmenters.base import Evidence
from nnmfaug.augmenters.rules.chains import Chains
from nnmfaug.augmenters.rules.combining import Combine, Conclusions, combine_rules
from nnmfaug.augmenters.rules.joins import pairs_of
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.augmenters.rules.table import RuleTable, Threshold
from nnmfaug.core.arrays import Array, Bools, Ids, IntArray, Places
from nnmfaug.core.checks import require
from nnmfaug.core.progress import report
from nnmfaug.graph.keys import SortedKeys, stable_order
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import LabelledTriple

VARIABLES = "xzwv"
"""Names of the entities on a path but the last, which is always y."""


@dataclass(frozen=True, eq=False)
class RuleSet:
    """Rules mined from a graph.

    Parameters
    ----------
    graph
        The train graph.
    table
        The rules and their counts.
    threshold
        Minimum support and confidence of the rules; it defines their confidence.
    """

    graph: KnowledgeGraph
    table: RuleTable
    threshold: Threshold

    @cached_property
    def confidence(self) -> Array:
        """The confidence of each rule, shape (n_rules,)."""
        return self.threshold.confidence(self.table)

    @cached_property
    def left_out_confidence(self) -> Array:
        """The confidence of each rule after leaving out a train triple that it concludes, shape (n_rules,)."""
        return self.threshold.left_out_confidence(self.table, self.graph.n_relations)

    def __len__(self) -> int:
        return len(self.table)

    @property
    def skipped(self) -> int:
        """Number of bodies that were not counted, because they have too many paths, or the budget was spent."""
        return self.table.skipped

    @cached_property
    def steps(self) -> Steps:
        """The graph as steps between entities."""
        return Steps(self.graph)

    @cached_property
    def chains(self) -> Chains:
        """The paths behind conclusions."""
        return Chains(self.steps)

    def order(self) -> Places:
        """Return the numbers of the rules by descending confidence, then by descending support."""
        return np.lexsort((-self.table.support, -self.confidence))

    @cached_property
    def by_relation(self) -> dict[int, list[int]]:
        """The rules for each relation, by descending confidence."""
        order = self.order()
        heads = self.table.heads[order]
        return {relation: order[heads == relation].tolist() for relation in np.unique(heads).tolist()}

    def path(self, rule: int | np.intp) -> tuple[int, ...]:
        """Return the steps of a rule's body."""
        return tuple(step for step in self.table.bodies[rule].tolist() if step >= 0)

    def describe(self, rule: int | np.intp) -> str:
        """Return a rule as text."""
        relations = self.graph.vocabulary.relations
        head = relations[int(self.table.heads[rule])]
        path = self.path(rule)
        variables = [*VARIABLES[: len(path)], "y"]
        atoms = [_atom(step, relations, *variables[i : i + 2]) for i, step in enumerate(path)]
        return f"{head}(x, y) ← {', '.join(atoms)}"

    def conclude(self, combine: Combine, max_candidates: int) -> Conclusions:
        """Return all triples that the rules conclude and train does not contain."""
        keys, rules, is_known = self._concluded(max_candidates)
        return combine_rules(keys[~is_known], rules[~is_known], self.confidence, combine)

    def conclude_all(self, combine: Combine, max_candidates: int) -> tuple[Conclusions, Conclusions]:
        """Return all triples that the rules conclude: new ones, and those of train, each after leaving it out."""
        keys, rules, is_known = self._concluded(max_candidates)
        new = combine_rules(keys[~is_known], rules[~is_known], self.confidence, combine)
        known = combine_rules(keys[is_known], rules[is_known], self.left_out_confidence, combine)
        return new, known

    def _concluded(self, max_candidates: int) -> tuple[Ids, Ids, Bools]:
        """Keys of concluded triples, a key per rule; the rule behind each; and whether train contains it."""
        bodies = self._rules_by_body(max_candidates)
        n_entities = self.graph.n_entities
        n_relations = self.graph.n_relations
        keys = [np.zeros(0, dtype=np.int64)]
        numbers = [np.zeros(0, dtype=np.int64)]
        for done, (path, rules) in enumerate(bodies.items(), 1):
            report("applying rules", done, len(bodies))
            x, y = pairs_of(self.steps, path)
            for rule in rules:
                keys.append((x * n_relations + self.table.heads[rule]) * n_entities + y)
                numbers.append(np.full(len(x), rule))
        all_keys = np.concatenate(keys)
        return all_keys, np.concatenate(numbers), self.graph.contains_keys(all_keys)

    def _rules_by_body(self, max_candidates: int) -> dict[tuple[int, ...], list[int]]:
        """The rules to be applied, by their bodies: in order of confidence, until they list enough triples."""
        order = self.order()
        n_listed = np.cumsum((self.table.sizes - self.table.support)[order])
        bodies: dict[tuple[int, ...], list[int]] = {}
        for rule in order[n_listed <= max_candidates].tolist():
            bodies.setdefault(self.path(rule), []).append(rule)
        return bodies

    def body_triples(self, rule: int, x: int, y: int) -> tuple[LabelledTriple, ...]:
        """Return the train triples of a path from x to y along a rule's body; of several paths the first by id."""
        path = self.path(rule)
        chain = self.chains.first(path, x, y)
        return tuple(self._triple(step, *chain[i : i + 2]) for i, step in enumerate(path))

    def evidence(self, best_rules: list[int], x: int, y: int, confidence: float | None = None) -> Evidence:
        """Return the evidence for a triple that rules conclude about x and y, given the best of them."""
        rules = tuple((self.describe(rule), float(self.confidence[rule])) for rule in best_rules)
        return Evidence("rules", rules[0][0], self.body_triples(best_rules[0], x, y), rules, confidence)

    def _triple(self, step: int, x: int, y: int) -> LabelledTriple:
        """The train triple of a step from x to y."""
        entities = self.graph.vocabulary.entities
        relations = self.graph.vocabulary.relations
        h, t = (x, y) if step < len(relations) else (y, x)
        return entities[h], relations[step % len(relations)], entities[t]


@dataclass(frozen=True, eq=False)
class RuleEvidence:
    """The best rules of each listed triple.

    Parameters
    ----------
    rules
        The rules.
    conclusions
        The listed triples, with their confidences and best rules.
    """

    rules: RuleSet
    conclusions: Conclusions

    @cached_property
    def _index(self) -> tuple[SortedKeys, Places]:
        """The keys in ascending order, and the row of each."""
        order = stable_order(self.conclusions.keys)
        return SortedKeys(self.conclusions.keys[order]), order

    def explain(self, triples: IntArray) -> list[Evidence]:
        """Return the best rules, and the train triples of the first one's body, for each row of ids."""
        sorted_keys, rows = self._index
        present, places = sorted_keys.find(self.rules.graph.vocabulary.keys(triples))
        unknown = triples[~present]
        require(not len(unknown), f"{unknown[:1].ravel().tolist()} is not among the listed triples")
        chosen = rows[places]
        confidences = self.conclusions.confidence[chosen].tolist()
        best_rules = self.conclusions.best_rules[chosen].tolist()
        return [
            self.rules.evidence([rule for rule in best if rule >= 0], h, t, confidence)
            for best, (h, _, t), confidence in zip(best_rules, triples.tolist(), confidences, strict=True)
        ]


def _atom(step: int, relations: tuple[str, ...], x: str, y: str) -> str:
    """Return r(x, y), or r(y, x) for an inverse."""
    variables = f"{x}, {y}" if step < len(relations) else f"{y}, {x}"
    return f"{relations[step % len(relations)]}({variables})"
