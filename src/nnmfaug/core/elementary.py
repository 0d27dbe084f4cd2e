"""Exponentials and logarithms that are the same, bit for bit, on every machine.

IEEE 754 fixes the result of +, −, ×, ÷ and √, and nothing else: numpy's ``log`` and ``exp`` have other last digits
with AVX-512 than without it, and those of the C library other ones with FMA. So these are made of the basic
operations alone, one array operation at a time, by the formulas of fdlibm (Sun Microsystems, 1993), which are
exact to about one unit in the last place.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from nnmfaug.core.arrays import Array
from nnmfaug.core.blocks import blocks

_LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")
"""The first digits of log 2, so few that its product with an exponent is exact."""
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
_SQRT_HALF = 0.7071067811865476
_LOG_SERIES = (
    0.1479819860511658591,
    0.1531383769920937332,
    0.1818357216161805012,
    0.2222219843214978396,
    0.2857142874366239149,
    0.3999999999940941908,
    0.6666666666666735130,
)
_EXP_SERIES = (
    4.13813679705723846039e-08,
    -1.65339022054652515390e-06,
    6.61375632143793436117e-05,
    -2.77777777770155933842e-03,
    1.66666666666666019037e-01,
)
_LOWEST = -746.0
"""exp of it, and of all below, is 0."""
_HIGHEST = 710.0
"""exp of it, and of all above, is ∞."""


def log(x: ArrayLike) -> Array:
    """Return the natural logarithm of finite numbers from 0; −∞ for 0.

    Examples
    --------
    >>> log([0.0, 0.5, 1.0, 10.0])
    array([       -inf, -0.69314718,  0.        ,  2.30258509])
    """
    return _in_blocks(_log, x)


def _log(x: Array) -> Array:
    """Return k·log 2 + log(1 + f), where x = 2ᵏ·(1 + f) and 1 + f is from √½ to √2."""
    fraction, exponent = np.frexp(x)
    is_small = fraction < _SQRT_HALF
    power = (exponent - is_small).astype(np.float64)
    f = np.ldexp(fraction, is_small) - 1
    s = f / (2 + f)
    square = s * s
    half = 0.5 * f * f
    rest = s * (half + square * _polynomial(square, _LOG_SERIES)) + power * _LN2_LOW
    logs: Array = power * _LN2_HIGH - ((half - rest) - f)
    logs[x == 0] = -np.inf
    return logs


def exp(x: ArrayLike) -> Array:
    """Return eˣ.

    Examples
    --------
    >>> exp([-np.inf, -1.0, 0.0, 1.0])
    array([0.        , 0.36787944, 1.        , 2.71828183])
    """
    return _in_blocks(_exp, x)


def _exp(x: Array) -> Array:
    """Return 2ᵏ·eʳ, where x = k·log 2 + r and r is at most half of log 2."""
    x = np.clip(x, _LOWEST, _HIGHEST)
    power = np.rint(x / (_LN2_HIGH + _LN2_LOW))
    high = x - power * _LN2_HIGH
    low = power * _LN2_LOW
    r = high - low
    square = r * r
    c = r - square * _polynomial(square, _EXP_SERIES)
    fraction = 1 - ((low - r * c / (2 - c)) - high)
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.ldexp(fraction, power.astype(np.int32)))


def log1p(x: ArrayLike) -> Array:
    """Return log(1 + x) for x > −1, exact for small x, too.

    Examples
    --------
    >>> log1p([-0.5, 1e-20])
    array([-6.93147181e-01,  1.00000000e-20])
    """
    x = np.asarray(x, dtype=np.float64)
    whole = 1 + x
    lost = x - (whole - 1)  # what the addition rounded off
    logs: Array = log(whole) + lost / whole
    return logs


def expm1(x: ArrayLike) -> Array:
    """Return eˣ − 1, exact for small x, too.

    Examples
    --------
    >>> expm1([-np.inf, -1e-20, 1.0])
    array([-1.00000000e+00, -1.00000000e-20,  1.71828183e+00])
    """
    x = np.asarray(x, dtype=np.float64)
    whole = exp(x)
    difference = whole - 1
    is_plain = (whole == 1) | (difference == -1)
    log_whole = np.where(is_plain, 1.0, log(whole))  # the x that eˣ − 1 is exact for
    scaled = difference * np.where(is_plain, 1.0, x / log_whole)
    return np.where(whole == 1, x, scaled)


def expit(x: ArrayLike) -> Array:
    """Return 1 / (1 + e⁻ˣ), the probability with log-odds x.

    Examples
    --------
    >>> expit([-np.inf, 0.0, 1000.0])
    array([0. , 0.5, 1. ])
    """
    small = exp(-np.abs(x))  # of −|x|, which cannot overflow
    chance: Array = np.where(np.asarray(x) < 0, small, 1.0) / (1 + small)
    return chance


def logit(chance: ArrayLike) -> Array:
    """Return the log-odds of probabilities; ±∞ for 1 and 0.

    Examples
    --------
    >>> logit([0.0, 0.5, 0.75])
    array([      -inf, 0.        , 1.09861229])
    """
    chance = np.asarray(chance, dtype=np.float64)
    odds: Array = log(chance) - log(1 - chance)
    return odds


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    """Return a polynomial, the coefficient of the highest power first."""
    total = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        total *= x
        total += coefficient
    return total


def _in_blocks(function: Callable[[Array], Array], x: ArrayLike) -> Array:
    """Apply a function to a few thousand numbers at a time, which stay in the cache for all of its steps."""
    x = np.asarray(x, dtype=np.float64)
    result = np.empty(x.shape)
    places = result.reshape(-1)
    numbers = x.reshape(-1)
    for block in blocks(x.size, size=1 << 13):
        places[block] = function(numbers[block])
    return result
