"""Rules: triples that follow from triples of train by what usually holds there.

A rule r(x, y) ← body(x, y) has a path of one, two or three relations, each possibly inverted, as its body. Its
confidence says how often the head is in train where the body is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from nnmfaug.augmenters.base import Evidence
from nnmfaug.augmenters.listed import Listed
from nnmfaug.augmenters.rules.mining import RuleTable, Threshold, mine
from nnmfaug.augmenters.rules.steps import Steps, ends
from nnmfaug.core.arrays import Array, Ids, IntArray
from nnmfaug.core.progress import report
from nnmfaug.graph.knowledge_graph import KnowledgeGraph, check_graph
from nnmfaug.graph.vocabulary import LabelledTriple

Confidence = Literal["standard", "pca"]
Combine = Literal["max", "noisy-or"]

VARIABLES = "xzwy"


@dataclass(frozen=True)
class Rules:
    """Triples that follow by mined rules, the most certain first.

    Parameters
    ----------
    depth
        Longest body, 1 to 3. With 3 it takes n_relations² times as many products: for a few dozen relations.
    min_support, min_confidence
        Rules with fewer pairs, or a lower confidence, are dropped.
    prior
        Confidence is support / (size + prior), so that rules seen a few times are trusted less.
    confidence
        ``standard`` divides by all pairs of the body; ``pca`` by those whose x has a tail of the relation in
        train: where nothing is known of x, the rest is unknown, not false.
    combine
        A triple that follows by several rules has the ``max`` of their confidences, ties broken by the others, or
        1 − Π(1 − confidence), ``noisy-or``.
    sharpness
        A triple is drawn in proportion to its confidence to this power; ``top`` needs no such thing.
    max_paths, max_rules, max_candidates
        A body of more paths is left out, see ``RuleSet.skipped``; of more rules the most certain are kept; once
        these, the most certain first, have listed so many triples, the others are not asked.

    Examples
    --------
    >>> import nnmfaug as na
    >>> train = na.family(100, seed=0).given
    >>> rules = na.Rules(depth=1).mine(train)
    >>> print(rules.describe(rules.order()[0]))
    aunt_or_uncle_of(x, y) ← niece_or_nephew_of(y, x)
    >>> dist = na.Rules().fit(train)
    >>> best = dist.top(1)
    >>> len(best), bool(train.contains(best.triples)[0])
    (1, False)
    """

    depth: int = 2
    min_support: int = 3
    min_confidence: float = 0.05
    prior: float = 5.0
    confidence: Confidence = "standard"
    combine: Combine = "max"
    sharpness: float = 1.0
    max_paths: int = 5_000_000
    max_rules: int = 20_000
    max_candidates: int = 5_000_000

    def __post_init__(self) -> None:
        if self.depth not in (1, 2, 3):
            msg = f"depth={self.depth!r}: must be 1, 2 or 3"
            raise ValueError(msg)
        for name, kinds in (("confidence", Confidence), ("combine", Combine)):
            if getattr(self, name) not in get_args(kinds):
                msg = f"{name}={getattr(self, name)!r}: must be one of {', '.join(get_args(kinds))}"
                raise ValueError(msg)
        for name in ("min_support", "max_paths", "max_rules", "max_candidates"):
            if getattr(self, name) < 1:
                msg = f"{name}={getattr(self, name)}: must be at least 1"
                raise ValueError(msg)
        if not 0 < self.min_confidence <= 1:
            msg = f"min_confidence={self.min_confidence}: must be above 0 and at most 1"
            raise ValueError(msg)
        for name in ("prior", "sharpness"):
            if not 0 <= getattr(self, name) < math.inf:
                msg = f"{name}={getattr(self, name)}: must be a number from 0"
                raise ValueError(msg)

    def mine(self, graph: KnowledgeGraph) -> RuleSet:
        """Find the rules of a graph, which should be the train split alone."""
        check_graph(graph)
        threshold = Threshold(self.min_support, self.min_confidence, self.prior, pca=self.confidence == "pca")
        table = mine(graph, threshold, depth=self.depth, max_paths=self.max_paths)
        rules = RuleSet(graph, table, threshold.confidence(table))
        if len(rules) <= self.max_rules:
            return rules
        kept = np.sort(rules.order()[: self.max_rules])
        return RuleSet(graph, table.take(kept), rules.confidence[kept])

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> Listed:  # noqa: ARG002  (as every augmenter)
        """Fit to a graph, which should be the train split alone; nothing is random here, whatever the seed."""
        rules = self.mine(graph)
        keys, confidence, best = rules.conclude(self.combine, self.max_candidates)
        triples = graph.vocabulary.from_keys(keys)
        return Listed(graph, triples, confidence, self.sharpness, RuleWitness(rules, keys, best))


@dataclass(frozen=True, eq=False)
class RuleSet:
    """Mined rules and what follows from them."""

    graph: KnowledgeGraph
    table: RuleTable
    confidence: Array

    def __len__(self) -> int:
        return len(self.table)

    @property
    def skipped(self) -> int:
        """Number of bodies with too many paths to be counted."""
        return self.table.skipped

    @cached_property
    def steps(self) -> Steps:
        """The graph as steps."""
        return Steps(self.graph)

    def order(self) -> NDArray[np.intp]:
        """The rules, the most certain first; of equally certain ones, that of more support."""
        return np.lexsort((-self.table.support, -self.confidence))

    def path(self, rule: int | np.intp) -> tuple[int, ...]:
        """Return the steps of a rule's body."""
        return tuple(step for step in self.table.bodies[rule].tolist() if step >= 0)

    def describe(self, rule: int | np.intp) -> str:
        """Return a rule as text."""
        names, path = self.graph.vocabulary.relations, self.path(rule)
        places = [*VARIABLES[: len(path)], "y"]
        atoms = (_atom(step, names, *places[i : i + 2]) for i, step in enumerate(path))
        return f"{names[int(self.table.heads[rule])]}(x, y) ← {', '.join(atoms)}"

    def conclude(self, combine: Combine, max_candidates: int) -> tuple[Ids, Array, Ids]:
        """Return the keys of all triples that follow and are not in train, their confidence and best rule."""
        parts = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))]
        parts += list(self._conclusions(max_candidates))
        keys, rules = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        new = ~self.graph.contains_keys(keys)
        keys, rules = keys[new], rules[new]
        order = np.lexsort((rules, -self.confidence[rules], keys))
        keys, rules = keys[order], rules[order]
        first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))[: len(keys)]
        doubts = np.log1p(-np.minimum(self.confidence[rules], 1 - 1e-12))
        together = -np.expm1(np.add.reduceat(doubts, first)) if len(first) else np.zeros(0)
        keys, best = keys[first], rules[first]
        confidence = together if combine == "noisy-or" else self.confidence[best]
        order = np.lexsort((keys, -together, -confidence))
        return keys[order], confidence[order], best[order]

    def _conclusions(self, max_candidates: int) -> Iterator[tuple[Ids, Ids]]:
        """Yield for each body the keys of what its rules conclude, known or not, and the rules' numbers."""
        order, n, n_relations = self.order(), self.graph.n_entities, self.graph.n_relations
        listed = np.cumsum((self.table.sizes - self.table.support)[order])
        bodies: dict[tuple[int, ...], list[int]] = {}
        for rule in order[listed <= max_candidates].tolist():
            bodies.setdefault(self.path(rule), []).append(rule)
        for done, (path, rules) in enumerate(bodies.items(), 1):
            report("applying rules", done, len(bodies))
            x, y = ends(self.steps.body(path))
            heads = self.table.heads[rules]
            yield ((x * n_relations + heads[:, None]) * n + y).ravel(), np.repeat(rules, len(x))

    def find(self, rule: int, x: int, y: int) -> tuple[LabelledTriple, ...]:
        """Return triples of train that make up the body for a pair; of several paths the first by name."""
        path = self.path(rule)
        between: list[tuple[int, ...]] = [(x,)]
        for step in path[:-1]:
            matrix = self.steps.matrices[step]
            between = [(*chain, z) for chain in between for z in _row(matrix, chain[-1]) if z not in (*chain, y)]
        last = set(_row(self.steps.matrices[int(self.steps.inverse(np.array(path[-1])))], y))
        chain = next((*chain, y) for chain in between if chain[-1] in last)
        return tuple(self._named(step, *chain[i : i + 2]) for i, step in enumerate(path))

    def _named(self, step: int, x: int, y: int) -> LabelledTriple:
        entities, relations = self.graph.vocabulary.entities, self.graph.vocabulary.relations
        h, t = (x, y) if step < len(relations) else (y, x)
        return entities[h], relations[step % len(relations)], entities[t]


@dataclass(frozen=True, eq=False)
class RuleWitness:
    """Knows the best rule of each listed triple."""

    rules: RuleSet
    keys: Ids
    best: Ids

    @cached_property
    def _rule_of(self) -> dict[int, int]:
        return dict(zip(self.keys.tolist(), self.best.tolist(), strict=True))

    def explain(self, triples: IntArray) -> list[Evidence]:
        """Return the best rule and the triples of its body for each row of ids."""
        keys = self.rules.graph.vocabulary.keys(triples).tolist()
        found = []
        for key, (h, r, t) in zip(keys, triples.tolist(), strict=True):
            rule = self._rule_of.get(key, -1)
            if rule < 0:
                msg = f"{[h, r, t]} is not among the listed triples"
                raise ValueError(msg)
            found.append(Evidence("rules", self.rules.describe(rule), self.rules.find(rule, h, t)))
        return found


def _atom(step: int, names: tuple[str, ...], x: str, y: str) -> str:
    """Return r(x, y), or r(y, x) for an inverse."""
    ends = f"{x}, {y}" if step < len(names) else f"{y}, {x}"
    return f"{names[step % len(names)]}({ends})"


def _row(matrix: object, row: int) -> list[int]:
    indptr, indices = matrix.indptr, matrix.indices  # type: ignore[attr-defined]
    columns: list[int] = sorted(indices[indptr[row] : indptr[row + 1]].tolist())
    return columns
