"""Which test triples follow from train by rules."""

from __future__ import annotations

import numpy as np

from nnmfaug.augmenters.rules.constant_queries import ConstantQueries
from nnmfaug.augmenters.rules.constant_rules import ConstantRules
from nnmfaug.augmenters.rules.joins import pairs_of
from nnmfaug.augmenters.rules.path_rules import PathRules
from nnmfaug.augmenters.rules.rule_set import RuleSet
from nnmfaug.core.arrays import Bools, Ids
from nnmfaug.core.progress import report
from nnmfaug.graph.keys import SortedKeys
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.default_rules import default_rules


def find_derivable(train: KnowledgeGraph, triples: KnowledgeGraph) -> Bools:
    """Return whether some rule that is mined from train concludes each triple, shape (n_triples,).

    The rules are those of :class:`~nnmfaug.Auto`, paths and rules with constants, of a confidence of at least .05.
    All of them are applied, whatever their number of conclusions.

    Examples
    --------
    >>> import nnmfaug as na
    >>> splits = na.split(na.family(60, seed=0).given, valid=0.05, test=0.1, seed=0)
    >>> bool(na.find_derivable(splits.train, splits.test).mean() > 0.8)
    True
    """
    return _concluded(default_rules(train).mine(train), triples.with_vocabulary(train.vocabulary))


def _concluded(rules: RuleSet, triples: KnowledgeGraph) -> Bools:
    """Whether a rule concludes each triple: whether its body joins the head with the tail."""
    heads, relations, tails = triples.triples.astype(np.int64).T
    pair_keys = heads * triples.n_entities + tails
    concluded = np.zeros(len(triples), dtype=np.bool_)
    concluded |= _concluded_with_constants(rules.constants, triples)
    bodies = _relations_by_body(rules.paths, relations)
    for done, (path, path_relations) in enumerate(bodies.items(), 1):
        report("test triples that rules conclude", done, len(bodies))
        rows = np.flatnonzero(np.isin(relations, path_relations) & ~concluded)
        if len(rows):
            x, y = pairs_of(rules.steps, path)
            concluded[rows] = _are_among(pair_keys[rows], x * triples.n_entities + y)
    return concluded


def _concluded_with_constants(rules: ConstantRules, triples: KnowledgeGraph) -> Bools:
    """Whether a rule with constants concludes each triple."""
    concluded = np.zeros(len(triples), dtype=np.bool_)
    queries = ConstantQueries(rules)
    ids = triples.triples.astype(np.int64)
    pairs, places = np.unique(ids[:, :2], axis=0, return_inverse=True)
    cells = places.ravel() * triples.n_entities + ids[:, 2]
    for answers in queries.answer(pairs, heads=False):
        concluded |= _are_among(cells, answers.rows * triples.n_entities + answers.entities)
    return concluded


def _are_among(keys: Ids, others: Ids) -> Bools:
    """Whether each key is among many others, which are in any order."""
    unique_keys, places = np.unique(keys, return_inverse=True)
    is_present, present_places = SortedKeys(unique_keys).find(others)
    is_among = np.zeros(len(unique_keys), dtype=np.bool_)
    is_among[present_places[is_present]] = True
    return is_among[places]


def _relations_by_body(rules: PathRules, relations: Ids) -> dict[tuple[int, ...], list[int]]:
    """Return for each body the relations that it concludes, of those given; the most reliable rules first."""
    bodies: dict[tuple[int, ...], list[int]] = {}
    wanted = set(relations.tolist())
    for rule in rules.order().tolist():
        relation = int(rules.table.heads[rule])
        if relation in wanted:
            bodies.setdefault(rules.path(rule), []).append(relation)
    return bodies
