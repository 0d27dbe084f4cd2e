"""Mined rules of all kinds as one set, what they conclude together, and the evidence for a conclusion."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from nnmfaug.augmenters.base import Evidence
from nnmfaug.augmenters.rules.combining import BestRules, Combine, Conclusions, KindConclusions
from nnmfaug.augmenters.rules.constant_rules import ConstantRules
from nnmfaug.augmenters.rules.constant_table import ConstantTable
from nnmfaug.augmenters.rules.path_rules import PathRules
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.augmenters.rules.table import RuleTable, Threshold
from nnmfaug.core.arrays import Array, Bools, Ids, IntArray, Places
from nnmfaug.core.checks import require
from nnmfaug.graph.keys import SortedKeys, stable_order
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import LabelledTriple

RuleKind = Literal["path", "head", "tail"]
RULE_KINDS: tuple[RuleKind, ...] = get_args(RuleKind)
"""Paths, and rules with constants about the head, r(x, c) ← b(x), or about the tail, r(c, x) ← b(x)."""
N_RULE_KINDS = len(RULE_KINDS)


@dataclass(frozen=True, eq=False)
class RuleSet:
    """Rules mined from a graph: those whose bodies are paths, then those with constants.

    Parameters
    ----------
    paths
        Rules r(x, y) ← b(x, y).
    constants
        Rules r(x, c) ← b(x), and r(c, x) ← b(x).
    """

    paths: PathRules
    constants: ConstantRules

    @classmethod
    def of(
        cls,
        graph: KnowledgeGraph,
        table: RuleTable,
        threshold: Threshold,
        constants: ConstantTable | None = None,
    ) -> RuleSet:
        """Return the rules of tables."""
        paths = PathRules(graph, table, threshold)
        table_of_constants = ConstantTable.empty() if constants is None else constants
        return cls(paths, ConstantRules(paths.steps, table_of_constants, threshold))

    @property
    def graph(self) -> KnowledgeGraph:
        """The train graph."""
        return self.paths.graph

    @property
    def steps(self) -> Steps:
        """The graph as steps between entities."""
        return self.paths.steps

    @property
    def threshold(self) -> Threshold:
        """Minimum support and confidence of the rules."""
        return self.paths.threshold

    def __len__(self) -> int:
        return len(self.paths) + len(self.constants)

    @cached_property
    def confidence(self) -> Array:
        """The confidence of each rule, shape (n_rules,)."""
        return np.concatenate([self.paths.confidence, self.constants.confidence])

    @cached_property
    def left_out_confidence(self) -> Array:
        """The confidence of each rule after leaving out a train triple that it concludes, shape (n_rules,)."""
        return np.concatenate([self.paths.left_out_confidence, self.constants.left_out_confidence])

    @cached_property
    def support(self) -> Ids:
        """Number of train triples that each rule concludes."""
        return np.concatenate([self.paths.table.support, self.constants.table.support])

    @cached_property
    def sizes(self) -> Ids:
        """Number of triples that each rule concludes, in train or not."""
        return np.concatenate([self.paths.table.sizes, self.constants.table.sizes])

    @cached_property
    def relation(self) -> Ids:
        """The relation that each rule concludes."""
        return np.concatenate([self.paths.table.heads, self.constants.relation])

    @property
    def skipped(self) -> int:
        """Number of bodies and of heads that were not counted, because too many paths or pairs have them."""
        return self.paths.table.skipped + self.constants.table.skipped

    @property
    def dropped(self) -> int:
        """Number of rules that were left out because others say the same."""
        return self.paths.table.dropped + self.constants.table.dropped

    @property
    def cut(self) -> int:
        """Number of rules that were left out because they are beyond the best; some may say the same as others."""
        return self.paths.table.cut + self.constants.table.cut

    def kind(self, rule: int | np.intp) -> RuleKind:
        """Return the kind of a rule."""
        if rule < len(self.paths):
            return "path"
        return "tail" if self.constants.is_about_tail(np.array([rule]) - len(self.paths))[0] else "head"

    def of_kinds(self, kinds: Collection[RuleKind]) -> Bools:
        """Return whether each rule is of one of some kinds."""
        is_about_tail = self.constants.is_about_tail(np.arange(len(self.constants)))
        of_constants = np.where(is_about_tail, "tail" in kinds, "head" in kinds)
        return np.append(np.full(len(self.paths), "path" in kinds), of_constants).astype(np.bool_)

    def mention(self, entities: Ids) -> Bools:
        """Return whether one of some entities occurs in each rule."""
        return np.append(np.zeros(len(self.paths), dtype=np.bool_), self.constants.mention(entities))

    def order(self) -> Places:
        """Return the numbers of the rules by descending confidence, then by descending support."""
        return np.lexsort((-self.support, -self.confidence))

    def describe(self, rule: int | np.intp) -> str:
        """Return a rule as text."""
        n_paths = len(self.paths)
        return self.paths.describe(rule) if rule < n_paths else self.constants.describe(int(rule) - n_paths)

    def conclude(self, combine: Combine, max_candidates: int) -> Conclusions:
        """Return the triples that the rules conclude and train does not contain."""
        new, _ = self.conclude_all(combine, max_candidates)
        return new

    def conclude_all(self, combine: Combine, max_candidates: int) -> tuple[Conclusions, Conclusions]:
        """Return the triples that the rules conclude: new ones, and those of train, each after leaving it out.

        Each kind of rules concludes at most about ``max_candidates`` new ones.
        """
        new_by_paths, known_by_paths = self.paths.conclude(combine, max_candidates)
        new, known = self.constants.conclude(max_candidates)
        return (
            Conclusions.merge(
                [new_by_paths, *self._by_side(new, self.constants.confidence, combine)], self.confidence
            ),
            Conclusions.merge(
                [known_by_paths, *self._by_side(known, self.constants.left_out_confidence, combine)],
                self.left_out_confidence,
            ),
        )

    def _by_side(self, best: BestRules, confidence: Array, combine: Combine) -> Iterator[KindConclusions]:
        """Yield what rules conclude about the heads of triples, and about their tails."""
        is_about_tail = self.constants.is_about_tail(best.rules[:, 0])
        for rows in (~is_about_tail, is_about_tail):
            side = BestRules(best.keys[rows], best.rules[rows])
            yield self._numbered(side.conclusions(confidence, combine))

    def _numbered(self, conclusions: KindConclusions) -> KindConclusions:
        """Return conclusions of rules with constants with the numbers of these rules in this set."""
        rules = conclusions.best_rules
        numbers = np.where(rules < 0, rules, rules + len(self.paths))
        return conclusions._replace(best_rules=numbers)

    def body_triples(self, rule: int, x: int, y: int) -> tuple[LabelledTriple, ...]:
        """Return the train triples by which a rule concludes something about x and y; the first by their ids."""
        if rule < len(self.paths):
            edges = self.paths.body_edges(rule, x, y)
        else:
            number = rule - len(self.paths)
            edges = self.constants.body_edges(number, self.constants.subject(number, x, y))
        return tuple(self._triple(step, start, stop) for start, step, stop in edges)

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
