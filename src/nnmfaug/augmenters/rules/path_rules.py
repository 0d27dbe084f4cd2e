"""Rules whose bodies are paths: how they read, what they conclude, and the train triples behind a conclusion."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nnmfaug.augmenters.rules.chains import Chains
from nnmfaug.augmenters.rules.combining import Combine, KindConclusions, combine_rules
from nnmfaug.augmenters.rules.joins import pairs_of
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.augmenters.rules.table import RuleTable, Threshold
from nnmfaug.core.arrays import Array, Bools, Ids, Places
from nnmfaug.core.progress import report
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

VARIABLES = "xzwv"
"""Names of the entities on a path but the last, which is always y."""


@dataclass(frozen=True, eq=False)
class PathRules:
    """Rules r(x, y) ← b(x, y) of a graph, whose bodies are paths.

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

    def conclude(self, combine: Combine, max_candidates: int) -> tuple[KindConclusions, KindConclusions]:
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

    def body_edges(self, rule: int, x: int, y: int) -> list[tuple[int, int, int]]:
        """Return start, step and stop of each step of a path from x to y along a rule's body; the first by ids."""
        path = self.path(rule)
        chain = self.chains.first(path, x, y)
        return [(chain[i], step, chain[i + 1]) for i, step in enumerate(path)]


def _atom(step: int, relations: tuple[str, ...], x: str, y: str) -> str:
    """Return r(x, y), or r(y, x) for an inverse."""
    variables = f"{x}, {y}" if step < len(relations) else f"{y}, {x}"
    return f"{relations[step % len(relations)]}({variables})"
