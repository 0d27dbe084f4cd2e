"""Exponentials and logarithms from the basic operations, against numpy's and scipy's."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
import pytest
from scipy import special

from nnmfaug.core import elementary
from nnmfaug.core.arrays import Array

RNG = np.random.default_rng(0)
SMALL = RNG.uniform(-1e-9, 1e-9, 1000)
MIDDLE = RNG.uniform(-2, 2, 20_000)
WIDE = RNG.uniform(-700, 700, 20_000)
POSITIVE = np.concatenate([np.exp(WIDE), 1 + SMALL, [5e-324, 1e-310, 1.0, 1.7e308]])
ANY = np.concatenate([SMALL, MIDDLE, WIDE, [0.0, -np.inf]])

Function = Callable[[Array], Array]


@pytest.mark.parametrize(
    ("ours", "theirs", "x"),
    [
        (elementary.log, np.log, POSITIVE),
        (elementary.exp, np.exp, ANY),
        (elementary.log1p, np.log1p, np.concatenate([SMALL, MIDDLE[MIDDLE > -1], np.exp(WIDE)])),
        (elementary.expm1, np.expm1, ANY),
        (elementary.expit, special.expit, ANY),
    ],
)
def test_they_are_exact_to_a_few_units_in_the_last_place(ours: Function, theirs: Function, x: Array) -> None:
    expected = theirs(x)
    assert (np.abs(ours(x) - expected) <= 4 * np.spacing(np.abs(expected))).all()


def test_log_odds_are_those_of_scipy() -> None:
    chance = RNG.random(20_000)
    np.testing.assert_allclose(elementary.logit(chance), special.logit(chance), rtol=1e-14, atol=1e-15)


def test_nothing_overflows_and_nothing_warns() -> None:
    with np.errstate(all="raise"):
        assert elementary.exp([710.0, 1e300, np.inf]).tolist() == [np.inf] * 3
        assert elementary.exp([-746.0, -np.inf]).tolist() == [0.0] * 2
        assert elementary.log(0.0) == -np.inf
        assert elementary.expit([-1e300, 1e300]).tolist() == [0.0, 1.0]
        assert elementary.logit([0.0, 1.0]).tolist() == [-np.inf, np.inf]
        assert elementary.expm1(-np.inf) == -1.0


def test_the_last_digits_are_these_on_every_machine() -> None:
    x = np.ldexp(np.arange(1.0, 4001.0), -9)
    results = [elementary.log(x), elementary.exp(-x), elementary.log1p(x), elementary.expm1(-x)]
    digits = np.concatenate(results).astype("<f8").tobytes()
    assert hashlib.sha256(digits).hexdigest()[:16] == "0b86057ab9bf4757"


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (3, 10_000)])
def test_the_shape_stays(shape: tuple[int, ...]) -> None:
    x = np.full(shape, 0.5)
    assert elementary.log(x).shape == shape
    assert elementary.expm1(x).shape == shape
    assert (elementary.exp(x) == elementary.exp(0.5)).all()
