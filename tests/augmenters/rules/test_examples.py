"""Examples of rules are conclusions in train, counter-examples are others, and bodies are train triples."""

from __future__ import annotations

import pytest

import nnmfaug as na
from nnmfaug.augmenters.rules.examples import concluded_keys, find_examples


@pytest.mark.parametrize("name", ["umls", "nations"])
def test_examples_are_in_train_and_counter_examples_are_not(name: str) -> None:
    train = na.read_splits(name).train
    known = set(train.labels())
    rules = na.Rules(atoms=2).mine(train)
    kinds = set()
    for rule in rules.order()[:: max(len(rules) // 300, 1)].tolist():
        support, size = int(rules.support[rule]), int(rules.sizes[rule])
        found = find_examples(rules, rule)
        kinds.add(rules.kind(rule))
        assert len(found.examples) == min(support, 3)
        assert len(found.counter_examples) == min(size - support, 3)
        assert {example.triple for example in found.examples} <= known
        assert not {example.triple for example in found.counter_examples} & known
        for example in (*found.examples, *found.counter_examples):
            assert set(example.body) <= known - {example.triple}
    assert kinds == {"path", "head", "tail"}


def test_a_rule_concludes_as_many_triples_as_were_counted() -> None:
    rules = na.Rules(depth=1, min_support=1, min_confidence=1e-9).mine(na.family(40, seed=0).given)
    for rule in range(len(rules)):
        keys = concluded_keys(rules, rule)
        assert len(set(keys.tolist())) == len(keys) == rules.sizes[rule]
        assert rules.graph.contains_keys(keys).sum() == rules.support[rule]


def test_the_examples_are_the_first_by_their_ids() -> None:
    rows = [(x, "lives in", "rome") for x in "abcdef"] + [(x, "speaks", "italian") for x in "bcde"]
    rows += [("g", "lives in", "oslo"), ("g", "speaks", "norwegian")]
    rules = na.Rules(min_support=2).mine(na.KnowledgeGraph.from_labels(rows))
    texts = [rules.describe(rule) for rule in range(len(rules))]
    rule = texts.index("speaks(x, italian) ← lives in(x, rome)")
    found = find_examples(rules, rule)
    assert [example.triple[0] for example in found.examples] == ["b", "c", "d"]
    assert [example.triple[0] for example in found.counter_examples] == ["a", "f"]
    assert found.counter_examples[0].body == (("a", "lives in", "rome"),)
