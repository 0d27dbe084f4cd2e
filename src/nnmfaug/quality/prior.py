"""The prior of rules: the estimated probability of every answer to a query, from train alone.

``augment`` lists the conclusions worth adding. A prediction must rank all answers, so here little is cut: rules
of little support and confidence are applied, too, the best 100,000. The probability of an answer is a, that of a
triple like it to be in the graph (:mod:`nnmfaug.quality.membership`), which leaving out every train triple, one
at a time, measures. Unlike the estimated probability π of new triples it does not need the completeness of the
graph. A triple of train has the probability that it would have if it were missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from nnmfaug.augmenters.base import Answers, Evidence
from nnmfaug.augmenters.rules.combining import N_BEST
from nnmfaug.augmenters.rules.constant_queries import ConstantQueries
from nnmfaug.augmenters.rules.queries import Answering, QueryAnswers, answering, joined
from nnmfaug.augmenters.rules.rule_set import RuleSet
from nnmfaug.augmenters.rules.rules import Rules
from nnmfaug.augmenters.rules.walks import Walks, WalksFrom
from nnmfaug.core.arrays import Array, Ids
from nnmfaug.core.elementary import expit
from nnmfaug.graph.keys import sorted_unique
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.default_rules import default_rules
from nnmfaug.quality.leave_one_out import leave_one_out_of
from nnmfaug.quality.membership import MIN_RECOVERED, Membership, by_confidence, fit_membership
from nnmfaug.quality.recovery import Conclusions

MIN_SUPPORT = 2
MIN_CONFIDENCE = 0.001
MAX_RULES = 100_000
MAX_CONSTANT_RULES = 20_000_000
"""Thresholds and number of the rules that are applied to queries."""
SUBSTANTIAL = 0.05
"""Confidence from which on a kind of rules counts beside another: the least of the rules of a list."""
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
    def _paths(self) -> Answering:
        return answering(self.rules.paths)

    @cached_property
    def _constants(self) -> ConstantQueries:
        return ConstantQueries(self.rules.constants)

    @cached_property
    def _walks(self) -> Walks:
        return Walks(self.rules.steps)

    def answers(self, pairs: Ids, *, heads: bool) -> Answers:
        """Return the heads of (?, relation, entity), or tails of (entity, relation, ?), that rules conclude."""
        rows, entities, parts = merge_answers(self._answers_by_kind(pairs, heads=heads), self.graph.n_entities)
        parts = _substantial(parts)
        asked, relation = pairs[rows].T
        columns = (entities, relation, asked) if heads else (asked, relation, entities)
        triples = np.stack(columns, axis=1)
        confidence = parts.max(axis=1, initial=0.0)
        conclusions = Conclusions.of(self.graph, triples.astype(np.int32), confidence, parts)
        probability = expit(self.membership.log_odds(conclusions))
        return Answers(rows, entities, probability * (1 - TIE_BREAK * (1 - confidence)))

    def _answers_by_kind(self, pairs: Ids, *, heads: bool) -> tuple[QueryAnswers, ...]:
        """The answers of each kind of rules; those without a body answer queries that no other rule answers."""
        by_paths = self._paths.answer(pairs, heads=heads)
        about_head, about_tail = self._constants.answer(pairs, heads=heads)
        answered = np.concatenate([by_paths.rows, about_head.rows, about_tail.rows])
        open_queries = np.setdiff1d(np.arange(len(pairs)), answered)
        usual = self._constants.usual(pairs[open_queries], heads=heads)
        usual = usual._replace(rows=open_queries[usual.rows])
        if heads:
            return by_paths, about_head, joined([about_tail, usual])
        return by_paths, joined([about_head, usual]), about_tail

    def explain(self, triples: ArrayLike) -> list[Evidence]:
        """Return the best rules behind each row of ids, shape (n, 3); empty evidence if there are none."""
        ids = np.asarray(triples, dtype=np.int32).reshape(-1, 3)
        self.graph.vocabulary.check_ids(ids)
        walks = {head: self._walks.leaving(np.array([head])) for head in np.unique(ids[:, 0]).tolist()}
        return [self._explain_one(walks[head], relation, tail) for head, relation, tail in ids.tolist()]

    def _explain_one(self, walks: WalksFrom, relation: int, tail: int) -> Evidence:
        head = int(walks.starts[0])
        best = self._best_paths(walks, relation, tail)
        best += [rule + len(self.rules.paths) for rule in self._constants.best_rules(head, relation, tail)]
        best.sort(key=lambda rule: -self.rules.confidence[rule])
        return self.rules.evidence(best[:N_BEST], head, tail) if best else Evidence("", "")

    def _best_paths(self, walks: WalksFrom, relation: int, tail: int) -> list[int]:
        best: list[int] = []
        for rule in self.rules.paths.by_relation.get(relation, ()):
            if tail in walks.along(self.rules.paths.path(rule)).indices:
                best.append(rule)
            if len(best) == N_BEST:
                break
        return best


def merge_answers(by_kind: Sequence[QueryAnswers], n: int) -> tuple[Ids, Ids, Array]:
    """Return query and entity of all answers, ascending, and the confidence of each kind of rules, 0 for none.

    Examples
    --------
    >>> first = QueryAnswers(np.array([0, 1]), np.array([5, 6]), np.array([0.5, 0.25]))
    >>> second = QueryAnswers(np.array([0]), np.array([5]), np.array([0.75]))
    >>> rows, entities, confidence = merge_answers([first, second], 10)
    >>> entities.tolist(), confidence.tolist()
    ([5, 6], [[0.5, 0.75], [0.25, 0.0]])
    """
    cells = [each.rows * n + each.entities for each in by_kind]
    distinct = sorted_unique(np.concatenate(cells))
    confidence = np.zeros((len(distinct), len(by_kind)))
    for kind, (places, answers) in enumerate(zip(cells, by_kind, strict=True)):
        confidence[np.searchsorted(distinct, places), kind] = answers.confidence
    return distinct // n, distinct % n, confidence


def _substantial(confidence: Array) -> Array:
    """Leave out the kinds of rules of little confidence where another kind has more.

    Membership is fitted to rules of at least some confidence. With all rules nearly all kinds conclude nearly all
    answers, and which ones do says nothing any more.

    Examples
    --------
    >>> _substantial(np.array([[0.5, 0.01], [0.02, 0.01], [0.5, 0.25]])).tolist()
    [[0.5, 0.0], [0.02, 0.0], [0.5, 0.25]]
    """
    highest = confidence.max(axis=1, initial=0.0, keepdims=True)
    first = np.arange(confidence.shape[1]) == confidence.argmax(axis=1)[:, None]
    is_substantial = (confidence >= SUBSTANTIAL) & (highest >= SUBSTANTIAL)
    return np.where(is_substantial | first, confidence, 0.0)


def fit_prior(graph: KnowledgeGraph, rules: Rules | None = None) -> RulePrior:
    """Mine the rules of a train graph and calibrate them; nothing is random.

    Parameters
    ----------
    rules
        How rules are mined, or :class:`~nnmfaug.ImportedRules` of a file; thresholds and the number of rules are
        those of predictions. Default: the rules of ``auto``.

    Examples
    --------
    >>> import nnmfaug as na
    >>> len(na.fit_prior(na.read_splits("nations").train).rules)
    100000
    """
    method = replace(default_rules(graph) if rules is None else rules, min_support=MIN_SUPPORT, combine="fading")
    lenient = replace(
        method, min_confidence=MIN_CONFIDENCE, max_rules=MAX_RULES, max_constant_rules=MAX_CONSTANT_RULES
    )
    all_rules = lenient.mine(graph)
    recovery = leave_one_out_of(method, method.select(all_rules)).recovery
    if recovery.n_recovered < MIN_RECOVERED:  # too few to improve on the confidence of the rules
        return RulePrior(all_rules, by_confidence(graph.n_relations))
    return RulePrior(all_rules, fit_membership(recovery, graph.n_relations))
