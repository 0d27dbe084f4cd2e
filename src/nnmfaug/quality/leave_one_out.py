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

from nnmfaug.augmenters.listed import Listed
from nnmfaug.augmenters.rules.rule_set import RuleSet
from nnmfaug.augmenters.rules.rules import Rules
from nnmfaug.core.arrays import Array
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.recovery import MAX_CONCLUSIONS, Conclusions, Recovery

N_FOLDS = 5


def leave_one_out(method: Rules, graph: KnowledgeGraph) -> tuple[Listed, Recovery]:
    """Return the new triples that rules list, and their recovery.

    The rows of the recovery depend on the names of entities in no way, not even in their order.

    Examples
    --------
    >>> import nnmfaug as na
    >>> listed, recovery = leave_one_out(na.Rules(), na.family(60, seed=0).given)
    >>> len(recovery) == recovery.n_recovered + len(listed.triples), recovery.n_recovered > 500
    (True, True)
    """
    return leave_one_out_of(method, method.mine(graph))


def leave_one_out_of(method: Rules, rules: RuleSet) -> tuple[Listed, Recovery]:
    """Do the same with rules that are mined already."""
    graph = rules.graph
    new, known = rules.conclude_all(method.combine, method.max_candidates)
    least = least_confidence(new.confidence)
    keys = np.concatenate([new.keys[new.confidence >= least], known.keys[known.confidence >= least]])
    confidence = np.concatenate([part.confidence[part.confidence >= least] for part in (new, known)])
    triples = graph.vocabulary.from_keys(keys)
    conclusions = Conclusions.of(graph, triples, confidence)
    recovered = graph.contains_keys(keys)
    order = np.lexsort((recovered, conclusions.kind, conclusions.relation, -confidence))
    ordered = conclusions.take(order)
    fold = np.arange(len(order)) % N_FOLDS
    return method.listed(rules, new), Recovery(ordered, recovered[order], fold)


def least_confidence(confidence: Array) -> float:
    """Return the least confidence of the triples that are used: about 100,000, of equal ones all or none."""
    if len(confidence) <= MAX_CONCLUSIONS:
        return 0.0
    higher = confidence[confidence > confidence[MAX_CONCLUSIONS]]
    return float(higher[-1] if len(higher) else confidence[0])
