"""Rules: an augmenter that lists the triples which mined rules conclude from train.

A rule r(x, y) ← b(x, y) has as its body b a path of one to four relations, each possibly inverted. Its
confidence is the fraction of the pairs of the body that have the relation r in train.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from nnmfaug.augmenters.listed import Listed
from nnmfaug.augmenters.rules.attributes import Attributes
from nnmfaug.augmenters.rules.combining import Combine, Conclusions
from nnmfaug.augmenters.rules.conjunctions import mine_conjunctions
from nnmfaug.augmenters.rules.constant_mining import mine_constants
from nnmfaug.augmenters.rules.constant_table import ConstantTable
from nnmfaug.augmenters.rules.mining import Limits, mine
from nnmfaug.augmenters.rules.rule_set import RuleEvidence, RuleSet
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.augmenters.rules.table import Threshold
from nnmfaug.core.checks import check_argument, check_at_least
from nnmfaug.graph.knowledge_graph import KnowledgeGraph, check_graph

Confidence = Literal["standard", "pca"]


@dataclass(frozen=True)
class Rules:
    """Triples that mined rules conclude, the highest confidence first.

    Parameters
    ----------
    depth
        Maximum length of a body, 1 to 4. Bodies of three steps are mined as far as the budget allows; four steps
        are for graphs of a few thousand triples.
    min_support, min_confidence
        Minimum support and confidence of a rule.
    prior
        Confidence is support / (size + prior), which lowers the confidence of rules with few examples.
    confidence
        ``standard`` divides by all pairs (x, y) of the body; ``pca`` by those whose x has a tail of the relation
        in train. The latter counts a missing triple as unknown, not as false, if x has no tail at all.
    combine
        Confidence of a triple that several rules conclude: the ``max`` of theirs, ties broken by the second and
        third rule; ``fading``, where the second counts half and the third a quarter; or ``noisy-or``, where all
        count as if they were independent. See :mod:`nnmfaug.augmenters.rules.combining`.
    sharpness
        A triple is drawn with a probability proportional to its confidence to this power. Not used by ``top``.
    max_paths
        Bodies of more paths are skipped, see ``RuleSet.skipped``.
    budget
        Amount of work, in paths. It is spent on bodies of one step first, then on those of two, and so on; of one
        length on the cheapest first. The others are skipped, too. Rules with constants have a budget of the same
        size, in pairs of attributes of an entity.
    max_rules
        Maximum number of rules without constants; those of the highest confidence are kept.
    constants
        Whether rules with constants are mined as well: r(x, c) ← s(x, d), r(x, c) ← s(x, z), and r(x, c) ← true.
    max_constant_rules
        Maximum number of rules with constants; those of the highest confidence are kept.
    atoms
        Maximum number of attributes in the body of a rule with constants, 1 or 2. With 2, rules
        r(x, c) ← s(x, d), u(x, e) are mined whose confidence is clearly above those of both parts. They have a
        budget of the same size as the others.
    max_candidates
        Rules are applied in descending order of confidence until they have listed so many triples.

    Examples
    --------
    >>> import nnmfaug as na
    >>> train = na.family(100, seed=0).given
    >>> rules = na.Rules(depth=1, constants=False).mine(train)
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
    budget: int = 500_000_000
    max_rules: int = 20_000
    max_candidates: int = 5_000_000
    constants: bool = True
    max_constant_rules: int = 5_000_000
    atoms: int = 1

    def __post_init__(self) -> None:
        check_argument("depth", self.depth, self.depth in (1, 2, 3, 4), "1, 2, 3 or 4")
        check_argument("atoms", self.atoms, self.atoms in (1, 2), "1 or 2")
        for name, kinds in (("confidence", Confidence), ("combine", Combine)):
            names = get_args(kinds)
            check_argument(name, getattr(self, name), getattr(self, name) in names, f"one of {', '.join(names)}")
        limits = ("max_paths", "budget", "max_rules", "max_candidates", "max_constant_rules")
        for name in ("min_support", *limits):
            check_at_least(name, getattr(self, name), 1)
        good = 0 < self.min_confidence <= 1
        check_argument("min_confidence", self.min_confidence, good, "above 0 and at most 1")
        for name in ("prior", "sharpness"):
            good = 0 <= getattr(self, name) < math.inf
            check_argument(name, getattr(self, name), good, "finite and not negative")

    @property
    def threshold(self) -> Threshold:
        """Minimum support and confidence of a rule."""
        return Threshold(self.min_support, self.min_confidence, self.prior, pca=self.confidence == "pca")

    def mine(self, graph: KnowledgeGraph) -> RuleSet:
        """Return the rules of a graph, which should be the train split alone."""
        check_graph(graph)
        limits = Limits(self.max_paths, self.budget, self.max_rules)
        table = mine(graph, self.threshold, limits, depth=self.depth)
        return RuleSet.of(graph, table, self.threshold, self._mine_constants(graph))

    def _mine_constants(self, graph: KnowledgeGraph) -> ConstantTable:
        """Count the rules with constants."""
        if not self.constants:
            return ConstantTable.empty()
        attributes = Attributes(Steps(graph), self.min_support)
        table = mine_constants(
            attributes, self.threshold, max_pairs=self.budget, max_rules=self.max_constant_rules
        )
        if self.atoms == 1:
            return table
        longer = mine_conjunctions(attributes, self.threshold, table, max_pairs=self.budget)
        return ConstantTable.join([table, longer]).sorted().best(self.max_constant_rules, self.threshold)

    def select(self, rules: RuleSet) -> RuleSet:
        """Return the rules that ``mine`` would return, from a larger set of rules of the same graph.

        With ``atoms=2`` nearly: which rules are joined in pairs depends on all rules of a head.
        """
        table = rules.paths.table
        passed = self.threshold.passed(table.support, self.threshold.sizes_of(table))
        best = self.threshold.best(table.take(passed), self.max_rules)
        constants = rules.constants.table
        constants = constants.take(self.threshold.passed(constants.support, constants.sizes))
        constants = constants.best(self.max_constant_rules, self.threshold)
        return RuleSet.of(rules.graph, best, self.threshold, constants)

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> Listed:  # noqa: ARG002  (as every augmenter)
        """Fit to a graph, which should be the train split alone. Nothing is drawn, so the seed has no effect."""
        rules = self.mine(graph)
        return self.listed(rules, rules.conclude(self.combine, self.max_candidates))

    def listed(self, rules: RuleSet, conclusions: Conclusions) -> Listed:
        """Return conclusions of rules as a distribution."""
        triples = rules.graph.vocabulary.from_keys(conclusions.keys)
        evidence = RuleEvidence(rules, conclusions)
        return Listed(rules.graph, triples, conclusions.confidence, self.sharpness, evidence)
