"""How many of the generated triples are in use at an epoch.

Epochs count from 1 to ``n_epochs``. A schedule never removes a triple, and at the last epoch all are in use. So
the triples in use are always the first ones of S, and the sets of successive epochs are nested.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from nnmfaug.core.checks import check_argument, check_at_least, require

_ROUNDING = 1 + 1e-12
"""Factor before a floor: 0.29 · 100 is 28.999999999999996 in floating point, and its floor must be 29."""


class Schedule(Protocol):
    """Number of generated triples in use, of ``n``, at an epoch."""

    def __call__(self, epoch: int, n_epochs: int, n: int) -> int:
        """Return how many of ``n`` triples, the first ones, are in use at ``epoch``, 1 to ``n_epochs``."""
        ...


@dataclass(frozen=True)
class Polynomial:
    """⌊(epoch / n_epochs)^exponent · n⌋, the paper's routine (section 2.4).

    Examples
    --------
    >>> [Polynomial(2)(epoch, 5, 100) for epoch in range(1, 6)]
    [4, 16, 36, 64, 100]
    """

    exponent: float = 2.0

    def __post_init__(self) -> None:
        grows = math.isfinite(self.exponent) and self.exponent > 0
        check_argument(
            "exponent", self.exponent, grows, "above 0; Constant() uses all triples from the first epoch"
        )

    def __call__(self, epoch: int, n_epochs: int, n: int) -> int:
        """Return how many of ``n`` triples, the first ones, are in use at ``epoch``, 1 to ``n_epochs``."""
        _check(epoch, n_epochs, n)
        power = int(self.exponent)
        if self.exponent == power <= 64:  # exact, in integers
            count: int = epoch**power * n // n_epochs**power
            return count
        fraction: float = (epoch / n_epochs) ** self.exponent
        return min(n, math.floor(fraction * n * _ROUNDING))


@dataclass(frozen=True)
class Constant:
    """All triples from the first epoch on.

    Examples
    --------
    >>> Constant()(1, 5, 100)
    100
    """

    def __call__(self, epoch: int, n_epochs: int, n: int) -> int:
        """Return how many of ``n`` triples, the first ones, are in use at ``epoch``, 1 to ``n_epochs``."""
        _check(epoch, n_epochs, n)
        return n


@dataclass(frozen=True)
class Step:
    """No triples during the fraction ``at`` of the epochs, then all.

    The first epoch with all of them is ⌊at · n_epochs⌋ + 1: with ``at=0.5``, the 6th of 10 and the 3rd of 5.

    Examples
    --------
    >>> [Step(0.5)(epoch, 5, 100) for epoch in range(1, 6)]
    [0, 0, 100, 100, 100]
    """

    at: float = 0.5

    def __post_init__(self) -> None:
        check_argument("at", self.at, 0 <= self.at < 1, "a fraction of the epochs, from 0 to below 1")

    def __call__(self, epoch: int, n_epochs: int, n: int) -> int:
        """Return how many of ``n`` triples, the first ones, are in use at ``epoch``, 1 to ``n_epochs``."""
        _check(epoch, n_epochs, n)
        n_without = min(n_epochs - 1, math.floor(self.at * n_epochs * _ROUNDING))
        return n if epoch > n_without else 0


def _check(epoch: int, n_epochs: int, n: int) -> None:
    check_at_least("n_epochs", n_epochs, 1)
    check_argument("epoch", epoch, 1 <= epoch <= n_epochs, f"from 1 to n_epochs={n_epochs}")
    require(n >= 0, f"n={n}: must not be negative")
