"""The plain miner of rules with constants: counts by hand, and the same rules as ours."""

from __future__ import annotations

import pytest

import nnmfaug as na
from plain_constants import Counts, PlainMiner, counts_of

BORN = [(f"p{i}", "born_in", "boston") for i in range(6)]
LIVES = [(f"p{i}", "lives_in", "boston") for i in range(6)]
SPEAKS = [(f"p{i}", "speaks", "english") for i in range(5)] + [(f"p{i}", "speaks", "french") for i in range(2, 5)]
TOY = na.KnowledgeGraph.from_labels(BORN + LIVES + SPEAKS)
METHOD = na.Rules(depth=1, min_support=3, min_confidence=0.05, prior=1.0)


def described(graph: na.KnowledgeGraph, counts: Counts) -> dict[str, tuple[int, int]]:
    """The rules as text, with their counts."""
    rules = METHOD.mine(graph).constants
    texts = {rule: rules.describe(i) for i, rule in enumerate(counts_of(rules.table))}
    return {texts[rule]: row for rule, row in counts.items() if rule in texts}


def test_counts_of_a_planted_graph_are_those_by_hand() -> None:
    counts = described(TOY, PlainMiner(TOY, METHOD).mine())
    assert counts["speaks(x, english) ← true"] == (5, 5)
    assert counts["speaks(x, english) ← speaks(x, z)"] == (3, 3)
    assert counts["speaks(x, french) ← speaks(x, z)"] == (3, 5)
    assert counts["born_in(x, boston) ← speaks(x, z)"] == (5, 5)


@pytest.mark.parametrize("graph", [TOY, na.family(40, seed=0).given], ids=["toy", "family"])
def test_our_rules_are_those_of_the_plain_miner_without_redundant_ones(graph: na.KnowledgeGraph) -> None:
    miner = PlainMiner(graph, METHOD)
    plain = miner.mine()
    ours = counts_of(METHOD.mine(graph).constants.table)
    assert 10 < len(ours) < len(plain)
    assert miner.are_the_same(ours, plain)


def test_another_count_a_missing_rule_and_a_redundant_one_are_noticed() -> None:
    miner = PlainMiner(TOY, METHOD)
    plain = miner.mine()
    ours = counts_of(METHOD.mine(TOY).constants.table)
    rule = next(iter(ours))
    redundant = next(iter(plain.keys() - ours.keys()))
    assert not miner.are_the_same(ours | {rule: (1, 1)}, plain)
    assert not miner.are_the_same(ours | {redundant: plain[redundant]}, plain)
    del ours[rule]
    assert not miner.are_the_same(ours, plain)
