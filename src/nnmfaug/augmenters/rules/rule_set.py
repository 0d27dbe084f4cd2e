"""Mined rules: how they read, what they conclude, and the train triples behind a conclusion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from nnmfaug.augmenters.base import Evidence
from nnmfaug.augmenters.rules.chains import Chains
from nnmfaug.augmenters.rules.joins import pairs_of
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.augmenters.rules.table import RuleTable
from nnmfaug.core.arrays import Array, Ids, IntArray, Places
from nnmfaug.core.checks import require
from nnmfaug.core.elementary import expm1, log1p
from nnmfaug.core.progress import report
from nnmfaug.graph.keys import SortedKeys, stable_order
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import LabelledTriple

Combine = Literal["max", "noisy-or"]

VARIABLES = "xzwy"
"""Names of the entities on a path; the last is always y."""
MAX_CERTAINTY = 1 - 1e-12
"""A confidence of 1 would make noisy-or blind for all other rules."""


class Conclusions(NamedTuple):
    """Triples that rules conclude, the highest confidence first.

    Parameters
    ----------
    keys, confidence, best_rules : ndarray of shape (n_triples,)
        Key and confidence of each triple, and the number of the rule of highest confidence that concludes it.
    """

    keys: Ids
    confidence: Array
    best_rules: Ids


@dataclass(frozen=True, eq=False)
class RuleSet:
    """Rules mined from a graph.

    Parameters
    ----------
    graph
        The train graph.
    table
        The rules and their counts.
    confidence : ndarray of shape (n_rules,)
        The confidence of each rule.
    """

    graph: KnowledgeGraph
    table: RuleTable
    confidence: Array

    def __len__(self) -> int:
        return len(self.table)

    @property
    def skipped(self) -> int:
        """Number of bodies that were not counted, because they have too many paths, or all together have."""
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
        """Return all triples that the rules conclude and train does not contain.

        With the confidences c₁ ≥ c₂ ≥ … of the rules that conclude a triple, its confidence is c₁ (``max``) or
        1 − Π(1 − cᵢ) = −expm1(Σ log1p(−cᵢ)) (``noisy-or``). The latter breaks ties of the former.
        """
        keys, rules = self._new_conclusions(max_candidates)
        order = np.lexsort((rules, -self.confidence[rules], keys))
        keys = keys[order]
        rules = rules[order]
        is_first = np.append(True, keys[1:] != keys[:-1])
        first = np.flatnonzero(is_first)[: len(keys)]  # none if there are no keys
        log_doubts = log1p(-np.minimum(self.confidence[rules], MAX_CERTAINTY))
        noisy_or = -expm1(np.add.reduceat(log_doubts, first)) if len(first) else np.zeros(0)
        best_rules = rules[first]
        confidence = noisy_or if combine == "noisy-or" else self.confidence[best_rules]
        order = np.lexsort((keys[first], -noisy_or, -confidence))
        return Conclusions(keys[first][order], confidence[order], best_rules[order])

    def _new_conclusions(self, max_candidates: int) -> tuple[Ids, Ids]:
        """Keys of concluded triples that train does not contain, and the rule behind each; a key per rule."""
        nothing = np.zeros(0, dtype=np.int64)
        parts = [(nothing, nothing), *self._conclusions(max_candidates)]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def _conclusions(self, max_candidates: int) -> Iterator[tuple[Ids, Ids]]:
        """Yield for each rule the keys of all new triples that it concludes, and the rule as often."""
        bodies = self._rules_by_body(max_candidates)
        n_entities = self.graph.n_entities
        n_relations = self.graph.n_relations
        for done, (path, rules) in enumerate(bodies.items(), 1):
            report("applying rules", done, len(bodies))
            x, y = pairs_of(self.steps, path)
            for rule in rules:
                keys = (x * n_relations + self.table.heads[rule]) * n_entities + y
                new_keys = keys[~self.graph.contains_keys(keys)]
                yield new_keys, np.full(len(new_keys), rule)

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

    def _triple(self, step: int, x: int, y: int) -> LabelledTriple:
        """The train triple of a step from x to y."""
        entities = self.graph.vocabulary.entities
        relations = self.graph.vocabulary.relations
        h, t = (x, y) if step < len(relations) else (y, x)
        return entities[h], relations[step % len(relations)], entities[t]


@dataclass(frozen=True, eq=False)
class RuleEvidence:
    """The best rule of each listed triple.

    Parameters
    ----------
    rules
        The rules.
    keys, best_rules : ndarray of shape (n_triples,)
        The key of each listed triple and the number of its best rule.
    """

    rules: RuleSet
    keys: Ids
    best_rules: Ids

    @cached_property
    def _index(self) -> tuple[SortedKeys, Places]:
        """The keys in ascending order, and the row of each."""
        order = stable_order(self.keys)
        return SortedKeys(self.keys[order]), order

    def explain(self, triples: IntArray) -> list[Evidence]:
        """Return the best rule and the train triples of its body for each row of ids."""
        sorted_keys, rows = self._index
        present, places = sorted_keys.find(self.rules.graph.vocabulary.keys(triples))
        unknown = triples[~present]
        require(not len(unknown), f"{unknown[:1].ravel().tolist()} is not among the listed triples")
        best_rules = self.best_rules[rows[places]].tolist()
        return [self._evidence(rule, h, t) for rule, (h, _, t) in zip(best_rules, triples.tolist(), strict=True)]

    def _evidence(self, rule: int, h: int, t: int) -> Evidence:
        return Evidence("rules", self.rules.describe(rule), self.rules.body_triples(rule, h, t))


def _atom(step: int, relations: tuple[str, ...], x: str, y: str) -> str:
    """Return r(x, y), or r(y, x) for an inverse."""
    variables = f"{x}, {y}" if step < len(relations) else f"{y}, {x}"
    return f"{relations[step % len(relations)]}({variables})"
