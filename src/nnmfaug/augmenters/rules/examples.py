"""Examples of a rule: conclusions that train contains, and counter-examples, conclusions that it does not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nnmfaug.augmenters.rules.constant_rules import ConstantRules
from nnmfaug.augmenters.rules.joins import pairs_of
from nnmfaug.augmenters.rules.path_rules import PathRules
from nnmfaug.augmenters.rules.rule_set import RuleSet
from nnmfaug.core.arrays import Ids
from nnmfaug.graph.vocabulary import LabelledTriple

N_EXAMPLES = 3


class Example(NamedTuple):
    """A triple that a rule concludes, and the train triples of the rule's body."""

    triple: LabelledTriple
    body: tuple[LabelledTriple, ...]


class Examples(NamedTuple):
    """Conclusions of a rule that train contains, and others."""

    examples: list[Example]
    counter_examples: list[Example]


def find_examples(rules: RuleSet, rule: int, n: int = N_EXAMPLES) -> Examples:
    """Return the first n examples and counter-examples of a rule, by the ids of their triples.

    A rule without a body concludes its constant for every entity that has the relation.

    Examples
    --------
    >>> import nnmfaug as na
    >>> rows = [("a", "likes", "b"), ("b", "likes", "a"), ("a", "likes", "c")]
    >>> method = na.Rules(depth=1, min_support=1, constants=False)
    >>> shown = find_examples(method.mine(na.KnowledgeGraph.from_labels(rows)), 0)
    >>> shown.examples[0]
    Example(triple=('a', 'likes', 'b'), body=(('b', 'likes', 'a'),))
    >>> shown.counter_examples
    [Example(triple=('c', 'likes', 'a'), body=(('a', 'likes', 'c'),))]
    """
    keys = np.sort(concluded_keys(rules, rule))
    is_known = rules.graph.contains_keys(keys)
    return Examples(_explained(rules, rule, keys[is_known][:n]), _explained(rules, rule, keys[~is_known][:n]))


def concluded_keys(rules: RuleSet, rule: int) -> Ids:
    """Return the keys of all triples that a rule concludes, in train or not."""
    n_paths = len(rules.paths)
    return _by_path(rules.paths, rule) if rule < n_paths else _by_constant(rules.constants, rule - n_paths)


def _by_path(rules: PathRules, rule: int) -> Ids:
    x, y = pairs_of(rules.steps, rules.path(rule))
    keys: Ids = (x * rules.graph.n_relations + rules.table.heads[rule]) * rules.graph.n_entities + y
    return keys


def _by_constant(rules: ConstantRules, rule: int) -> Ids:
    numbers = np.array([rule])
    if rules.table.has_body[rule]:
        _, entities = rules.subjects(numbers)
    else:
        starts, _, _ = rules.steps.edges_of(rules.head_step[numbers])
        entities = np.setdiff1d(starts, rules.constant[numbers])
    return rules.keys(np.full(len(entities), rule), entities)


def _explained(rules: RuleSet, rule: int, keys: Ids) -> list[Example]:
    names = rules.graph.vocabulary
    return [
        Example((names.entities[h], names.relations[r], names.entities[t]), rules.body_triples(rule, h, t))
        for h, r, t in names.from_keys(keys).tolist()
    ]
