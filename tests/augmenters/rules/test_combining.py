"""One confidence from those of several rules, against a loop over triples."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest

from nnmfaug.augmenters.rules.combining import Combine, combine_rules

RNG = np.random.default_rng(0)
CONFIDENCE = np.append(0.9 * RNG.random(30), [0.0, 0.95])
PAIRS = np.unique(RNG.integers(0, [40, 32], size=(400, 2)), axis=0)
"""Triple and rule."""


def expected(combine: Combine) -> dict[int, tuple[float, ...]]:
    """Key → combined confidence, then those of the best three rules."""
    result = {}
    for key in range(40):
        each = sorted((float(CONFIDENCE[rule]) for k, rule in PAIRS.tolist() if k == key), reverse=True)
        each = [c for c in each if c > 0]
        fading = combine == "fading"
        doubt = math.prod((1 - c) ** (0.5**rank if fading else 1) for rank, c in enumerate(each))
        if each:
            combined = each[0] if combine == "max" else 1 - doubt
            result[key] = (combined, *(each + [0.0] * 3)[:3])
    return result


@pytest.mark.parametrize("combine", get_args(Combine))
def test_confidences_and_order_equal_those_of_a_loop(combine: Combine) -> None:
    conclusions = combine_rules(PAIRS[:, 0], PAIRS[:, 1], CONFIDENCE, combine)
    wanted = expected(combine)
    assert dict(zip(conclusions.keys.tolist(), conclusions.confidence.tolist(), strict=True)) == pytest.approx(
        {key: values[0] for key, values in wanted.items()}
    )
    best = np.append(CONFIDENCE, 0.0)[conclusions.best_rules]
    for key, row in zip(conclusions.keys.tolist(), best.tolist(), strict=True):
        assert row == pytest.approx(list(wanted[key][1:]))
    ranking = np.column_stack([conclusions.confidence, best]).tolist()
    assert ranking == sorted(ranking, reverse=True)


def test_equal_best_rules_are_told_apart_by_the_second_and_third() -> None:
    keys = np.array([5, 5, 1, 1, 1, 9])
    rules = np.array([0, 2, 0, 2, 3, 0])
    conclusions = combine_rules(keys, rules, np.array([0.9, 0.8, 0.5, 0.4]), "max")
    assert conclusions.keys.tolist() == [1, 5, 9]
    assert conclusions.confidence.tolist() == [0.9] * 3


def test_no_rules_conclude_nothing() -> None:
    none = np.zeros(0, dtype=np.int64)
    for combine in get_args(Combine):
        assert not len(combine_rules(none, none, np.zeros(0), combine).keys)
