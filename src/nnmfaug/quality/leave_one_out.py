"""Leaving out every triple of a graph, one at a time, without mining the rules again.

Without a train triple (h, r, t) every path between h and t is still there, and each rule that concludes (h, r, t)
has one example less: its confidence would have been

    (support − 1) / (size + prior),

or (support − 2) / (size − 1 + prior) for a symmetric rule r(x, y) ← r(y, x), where (h, r, t) is also a body. So
the confidence of every train triple, had it been missing, follows from the counts. Nothing is random.
(The triple may also be part of longer bodies between other entities. That is not looked for:
``benchmarks/rules.py --only left-out`` measures how little it matters.)

**The label is in the confidence.** Of the conclusions of one rule, those in train have the confidence
(support − 1) / (size + prior), and the others support / (size + prior), which is higher. So whatever is fitted to
these rows must not fall with confidence (:mod:`nnmfaug.quality.membership`), and a choice between models needs
another judge: triples that were really left out.
"""

from __future__ import annotations

import numpy as np

from nnmfaug.augmenters.rules.combining import Conclusions as RuleConclusions
from nnmfaug.augmenters.rules.rule_set import N_RULE_KINDS, RuleSet
from nnmfaug.augmenters.rules.rules import Rules
from nnmfaug.core.arrays import Array, Bools, Ids
from nnmfaug.core.elementary import logit
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.curves import BOUNDS
from nnmfaug.quality.recovery import N_KINDS, Conclusions, Measured, Recovery

N_FOLDS = 5
MAX_ROWS = 200_000
"""More conclusions than these are counted in cells, …"""
CELL_WIDTH = 0.1
"""… within which the log-odds of confidences differ by less than this."""
UNIT = 1 << 30
"""Confidences are added up in units of 1 / 2³⁰, so that the sum is exact, in whatever order they come."""


def leave_one_out(method: Rules, graph: KnowledgeGraph) -> Measured:
    """Return the new triples that rules list, and their recovery.

    The rows of the recovery depend on the names of entities in no way, not even in their order.

    Examples
    --------
    >>> import nnmfaug as na
    >>> measured = leave_one_out(na.Rules(), na.family(60, seed=0).given)
    >>> recovery = measured.recovery
    >>> recovery.n_listed == recovery.n_recovered + len(measured.full.triples), recovery.n_recovered > 500
    (True, True)
    """
    return leave_one_out_of(method, method.mine(graph))


def leave_one_out_of(method: Rules, rules: RuleSet) -> Measured:
    """Do the same with rules that are mined already."""
    new, known = rules.conclude_all(method.combine, method.max_candidates)
    listed = _describe(rules.graph, new)
    recovered = np.repeat([False, True], [len(new.keys), len(known.keys)])
    rows = Conclusions.join([listed, _describe(rules.graph, known)])
    recovery = _recovery(rows, recovered) if len(rows) <= MAX_ROWS else _count_cells(rows, recovered)
    return Measured(method.listed(rules, new), listed, recovery)


def _describe(graph: KnowledgeGraph, conclusions: RuleConclusions) -> Conclusions:
    """Look up conclusions of rules in the graph."""
    triples = graph.vocabulary.from_keys(conclusions.keys)
    return Conclusions.of(graph, triples, conclusions.confidence, conclusions.by_kind)


def _recovery(rows: Conclusions, recovered: Bools, counts: Ids | None = None) -> Recovery:
    """Order rows by what a model sees of them, and put every fifth into the same fold.

    A row that stands for several conclusions is divided among the folds.
    """
    parts = rows.parts_or_whole(N_RULE_KINDS)
    order = np.lexsort((*parts.T, recovered, rows.kind, rows.relation, -rows.confidence))
    if counts is None:
        return Recovery(rows.take(order), recovered[order], np.arange(len(order)) % N_FOLDS)
    ends = np.cumsum(counts[order])
    weights = _n_in_folds(ends) - _n_in_folds(ends - counts[order])
    fold, place = np.nonzero(weights)
    row = order[place]
    n_conclusions = weights[fold, place].astype(np.float64)
    return Recovery(rows.take(row), recovered[row], fold, weights=n_conclusions, cell=place)


def _n_in_folds(n: Ids) -> Ids:
    """How many of the first n conclusions are in each fold, shape (n_folds, len(n))."""
    return (n - np.arange(N_FOLDS)[:, None] + N_FOLDS - 1) // N_FOLDS


def _count_cells(rows: Conclusions, recovered: Bools) -> Recovery:
    """Count equal rows, where confidences of nearly the same log-odds are equal; one row stands for each cell.

    A sample would do without most of the small groups of relation and kind, and then believe their conclusions.
    """
    parts = rows.parts_or_whole(N_RULE_KINDS)
    cells = (rows.relation * N_KINDS + rows.kind) * 2 + recovered
    for column in parts.T:
        levels = np.floor(logit(np.clip(column, *BOUNDS)) / CELL_WIDTH).astype(np.int64)
        distinct, places = np.unique(np.where(column > 0, levels, levels.min(initial=0) - 1), return_inverse=True)
        cells = cells * len(distinct) + places.ravel()
    _, first, places = np.unique(cells, return_index=True, return_inverse=True)
    counts = np.bincount(places.ravel())

    def mean(values: Array) -> Array:
        return np.asarray(np.bincount(places.ravel(), np.rint(values * UNIT)) / UNIT / counts)

    means = np.stack([mean(column) for column in parts.T], axis=1)
    each = Conclusions(rows.relation[first], rows.kind[first], mean(rows.confidence), means)
    return _recovery(each, recovered[first], counts)
