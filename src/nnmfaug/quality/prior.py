"""The prior of rules: the estimated probability of every answer to a query, from train alone.

``augment`` lists the conclusions worth adding. A prediction must rank all answers, so here little is cut: rules
of little support and confidence are applied, too, the best 100,000. The probability of an answer is a, that of a
triple like it to be in the graph (:mod:`nnmfaug.quality.membership`), which leaving out every train triple, one
at a time, measures. Unlike the estimated probability π of new triples it does not need the completeness of the
graph. A triple of train has the probability that it would have if it were missing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from nnmfaug.augmenters.base import Answers, Evidence
from nnmfaug.augmenters.rules.combining import N_BEST
from nnmfaug.augmenters.rules.queries import Answering, answering
from nnmfaug.augmenters.rules.rule_set import RuleSet
from nnmfaug.augmenters.rules.walks import Walks, WalksFrom
from nnmfaug.core.arrays import Ids
from nnmfaug.core.elementary import expit
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.default_rules import default_rules
from nnmfaug.quality.leave_one_out import leave_one_out_of
from nnmfaug.quality.membership import MIN_RECOVERED, Membership, by_confidence, fit_membership
from nnmfaug.quality.recovery import Conclusions

MIN_SUPPORT = 2
MIN_CONFIDENCE = 0.001
MAX_RULES = 100_000
"""Thresholds and number of the rules that are applied to queries."""
TIE_BREAK = 1e-3
"""Largest relative difference between probabilities that confidence alone makes, where the model makes none."""


@dataclass(frozen=True, eq=False)
class RulePrior:
    """Estimated probabilities of all answers that rules conclude.

    Parameters
    ----------
    rules
        The rules, those of little confidence included.
    membership
        The probability of a triple to be in the graph, by its confidence.

    Examples
    --------
    >>> import nnmfaug as na
    >>> prior = na.fit_prior(na.family(60, seed=0).given)
    >>> tails = prior.answers(np.array([[0, 0]]), heads=False)
    >>> len(tails.entities) > 0, bool((tails.probability <= 1).all())
    (True, True)
    """

    rules: RuleSet
    membership: Membership

    @property
    def graph(self) -> KnowledgeGraph:
        """The train graph."""
        return self.rules.graph

    @cached_property
    def _answering(self) -> Answering:
        return answering(self.rules)

    @cached_property
    def _walks(self) -> Walks:
        return Walks(self.rules.steps)

    def answers(self, pairs: Ids, *, heads: bool) -> Answers:
        """Return the heads of (?, relation, entity), or tails of (entity, relation, ?), that rules conclude."""
        rows, entities, confidence = self._answering.answer(pairs, heads=heads)
        asked, relation = pairs[rows].T
        columns = (entities, relation, asked) if heads else (asked, relation, entities)
        triples = np.stack(columns, axis=1)
        conclusions = Conclusions.of(self.graph, triples.astype(np.int32), confidence)
        probability = expit(self.membership.log_odds(conclusions))
        return Answers(rows, entities, probability * (1 - TIE_BREAK * (1 - confidence)))

    def explain(self, triples: ArrayLike) -> list[Evidence]:
        """Return the best rules behind each row of ids, shape (n, 3); empty evidence if there are none."""
        ids = np.asarray(triples, dtype=np.int32).reshape(-1, 3)
        self.graph.vocabulary.check_ids(ids)
        walks = {head: self._walks.leaving(np.array([head])) for head in np.unique(ids[:, 0]).tolist()}
        return [self._explain_one(walks[head], relation, tail) for head, relation, tail in ids.tolist()]

    def _explain_one(self, walks: WalksFrom, relation: int, tail: int) -> Evidence:
        head = int(walks.starts[0])
        best: list[int] = []
        for rule in self.rules.by_relation.get(relation, ()):
            if tail in walks.along(self.rules.path(rule)).indices:
                best.append(rule)
            if len(best) == N_BEST:
                break
        return self.rules.evidence(best, head, tail) if best else Evidence("", "")


def fit_prior(graph: KnowledgeGraph) -> RulePrior:
    """Mine the rules of a train graph and calibrate them; nothing is random.

    Examples
    --------
    >>> import nnmfaug as na
    >>> len(na.fit_prior(na.read_splits("nations").train).rules)
    100000
    """
    method = default_rules(graph)
    lenient = replace(method, min_support=MIN_SUPPORT, min_confidence=MIN_CONFIDENCE, max_rules=MAX_RULES)
    all_rules = lenient.mine(graph)
    _, recovery = leave_one_out_of(method, method.select(all_rules))
    if recovery.n_recovered < MIN_RECOVERED:  # too few to improve on the confidence of the rules
        return RulePrior(all_rules, by_confidence(graph.n_relations))
    return RulePrior(all_rules, fit_membership(recovery, graph.n_relations))
