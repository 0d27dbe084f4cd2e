"""Confidences of rules after leaving out a train triple: from counts of the whole graph, and by mining again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

import nnmfaug as na
from nnmfaug.augmenters.rules.joins import pairs_of
from nnmfaug.augmenters.rules.path_rules import PathRules
from nnmfaug.core.arrays import Array, Bools, Ids, IntArray

NO_LIMIT = 10**9
MIN_CONFIDENCE = 1e-9
"""Rules mined again have no thresholds, so that one which loses an example does not vanish."""


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Pairs of a train triple and a rule that concludes it.

    Parameters
    ----------
    counted : ndarray of shape (n,)
        Confidence of the rule without the triple, by ``PathRules.left_out_confidence``.
    mined : ndarray of shape (n,)
        The same by mining the graph without the triple; 0 if there is no such rule.
    one_step : ndarray of shape (n,)
        Whether the body of the rule has one step.
    """

    counted: Array
    mined: Array
    one_step: Bools

    def relative_differences(self) -> Array:
        """Return |counted − mined| / mined of rules with longer bodies, where mining again finds the rule."""
        compared = ~self.one_step & (self.mined > 0)
        differences: Array = np.abs(self.counted - self.mined)[compared] / self.mined[compared]
        return differences

    def n_vanished(self) -> int:
        """Return how many rules with longer bodies have a counted confidence, and are not found by mining."""
        return int((~self.one_step & (self.mined == 0) & (self.counted > 0)).sum())

    def one_step_is_exact(self) -> bool:
        """Return whether all confidences of rules of one step are equal."""
        return bool(np.array_equal(self.counted[self.one_step], self.mined[self.one_step]))


def leave_out(method: na.Rules, graph: na.KnowledgeGraph, n: int, *, seed: int = 0) -> LeftOut:
    """Leave out n random triples, one at a time, and mine again each time.

    The rules are those that the method mines from the whole graph.
    """
    lenient = replace(method, min_support=1, min_confidence=MIN_CONFIDENCE, max_rules=NO_LIMIT, constants=False)
    rules = replace(method.mine(graph).paths, threshold=lenient.threshold)
    places = np.random.default_rng(seed).choice(len(graph), min(n, len(graph)), replace=False)
    which, numbers = concluding_rules(rules, graph.triples[places])
    mined = np.zeros(len(numbers))
    for i, place in enumerate(places.tolist()):
        rest = na.KnowledgeGraph(graph.vocabulary, np.delete(graph.triples, place, axis=0))
        rows = which == i
        mined[rows] = confidences_of(lenient.mine(rest).paths, rules, numbers[rows])
    lengths = (rules.table.bodies >= 0).sum(axis=1)
    return LeftOut(rules.left_out_confidence[numbers], mined, lengths[numbers] == 1)


def concluding_rules(rules: PathRules, triples: IntArray) -> tuple[Ids, Ids]:
    """Return all pairs of a triple and a rule that concludes it, as numbers of both."""
    pairs = [np.zeros((0, 2), dtype=np.int64), *_concluding(rules, triples)]
    which, numbers = np.concatenate(pairs).T
    return which, numbers


def _concluding(rules: PathRules, triples: IntArray) -> Iterator[Ids]:
    heads, relations, tails = triples.astype(np.int64).T
    n_entities = rules.graph.n_entities
    for rule in range(len(rules)):
        rows = np.flatnonzero(relations == rules.table.heads[rule])
        x, y = pairs_of(rules.steps, rules.path(rule)) if len(rows) else (rows, rows)
        joined = np.isin(heads[rows] * n_entities + tails[rows], x * n_entities + y)
        yield np.stack([rows[joined], np.full(joined.sum(), rule)], axis=1)


def confidences_of(mined: PathRules, rules: PathRules, numbers: Ids) -> Array:
    """Return the confidences that some of the rules have among mined ones; 0 for those that are not there."""
    keys = _keys(mined)
    order = np.argsort(keys)
    wanted = _keys(rules)[numbers]
    places = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    candidates = order[places]
    confidences: Array = np.where(keys[candidates] == wanted, mined.confidence[candidates], 0.0)
    return confidences


def _keys(rules: PathRules) -> Ids:
    """A number for the relation and the body of each rule."""
    base = 2 * rules.graph.n_relations + 1
    keys = rules.table.heads.astype(np.int64)
    for steps in rules.table.bodies.T:
        keys = keys * base + steps + 1
    return keys
