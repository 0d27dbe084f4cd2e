"""Confidences without a train triple: the comparison against rules counted by hand and another search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import nnmfaug as na
from left_out import LeftOut, concluding_rules, confidences_of, leave_out


def test_confidences_without_a_triple_are_those_of_counts_by_hand() -> None:
    rows = [(f"a{i}", "likes", f"b{i}") for i in range(4)]
    rows += [(f"b{i}", "liked by", f"a{i}") for i in range(4)]
    graph = na.KnowledgeGraph.from_labels(rows)
    pairs = leave_out(na.Rules(depth=1), graph, len(graph))
    assert pairs.one_step.all()
    assert pairs.counted == pytest.approx(np.full(8, 3 / (4 + 5)))
    assert pairs.one_step_is_exact()


def test_rules_of_one_step_are_exact_and_longer_ones_are_not_all() -> None:
    graph = na.family(40, seed=0).given
    pairs = leave_out(na.Rules(), graph, 8)
    assert pairs.one_step.sum() > 5
    assert pairs.one_step_is_exact()
    assert 0 < pairs.relative_differences().max() < 0.5


def test_rules_conclude_what_an_augmenter_lists_when_the_triple_is_not_there() -> None:
    graph = na.family(40, seed=0).given
    method = na.Rules(constants=False)
    rules = method.mine(graph).paths
    listed = method.fit(graph)
    triples = np.concatenate([listed.triples[:30], [[0, 0, 0]]])
    which, numbers = concluding_rules(rules, triples)
    assert set(which.tolist()) == set(range(30))
    best = [rules.confidence[numbers[which == i]].max() for i in range(30)]
    assert best == pytest.approx(listed.confidence[:30])


def test_a_rule_that_was_not_mined_again_has_confidence_0() -> None:
    rules = na.Rules().mine(na.family(40, seed=0).given).paths
    fewer = replace(rules, table=rules.table.take(np.arange(1, len(rules))))
    confidences = confidences_of(fewer, rules, np.array([0, 1, 2]))
    assert confidences.tolist() == [0, *rules.confidence[1:3]]


def test_differences_are_relative_to_mining_and_leave_out_short_and_vanished_rules() -> None:
    pairs = LeftOut(
        counted=np.array([0.5, 0.6, 0.3, 0.2]),
        mined=np.array([0.4, 0.5, 0.0, 0.2]),
        one_step=np.array([True, False, False, False]),
    )
    assert pairs.relative_differences() == pytest.approx([0.2, 0])
    assert pairs.n_vanished() == 1
    assert not pairs.one_step_is_exact()
