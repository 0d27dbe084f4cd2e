"""How many of the generated triples are in use at an epoch.

Epochs count from 1 to ``n_epochs``. A schedule never takes a triple back, and at the last epoch all are in use; so
the triples in use are the beginning of S, and the beginnings are nested.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

_JUST_BELOW = 1 + 1e-12
"""0.29 · 100 is 28.999999999999996 to a computer, and its floor must be 29."""


class Schedule(Protocol):
    """Number of generated triples in use, of ``n``, at an epoch."""

    def __call__(self, epoch: int, n_epochs: int, n: int) -> int:
        """Return how many of the first of ``n`` triples are in use at ``epoch``, 1 to ``n_epochs``."""
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
        if not (math.isfinite(self.exponent) and self.exponent > 0):
            msg = f"exponent={self.exponent}: must be above 0; Constant() uses all triples from the first epoch"
            raise ValueError(msg)

    def __call__(self, epoch: int, n_epochs: int, n: int) -> int:
        """Return how many of the first of ``n`` triples are in use at ``epoch``, 1 to ``n_epochs``."""
        _check(epoch, n_epochs, n)
        power = int(self.exponent)
        if self.exponent == power <= 64:  # without rounding, at the price of long integers
            count: int = epoch**power * n // n_epochs**power
            return count
        share: float = (epoch / n_epochs) ** self.exponent
        return min(n, math.floor(share * n * _JUST_BELOW))


@dataclass(frozen=True)
class Constant:
    """All triples from the first epoch on.

    Examples
    --------
    >>> Constant()(1, 5, 100)
    100
    """

    def __call__(self, epoch: int, n_epochs: int, n: int) -> int:
        """Return how many of the first of ``n`` triples are in use at ``epoch``, 1 to ``n_epochs``."""
        _check(epoch, n_epochs, n)
        return n


@dataclass(frozen=True)
class Step:
    """None while the share ``at`` of the epochs lasts, then all.

    The first epoch with all of them is ⌊at · n_epochs⌋ + 1: with ``at=0.5``, the 6th of 10 and the 3rd of 5.

    Examples
    --------
    >>> [Step(0.5)(epoch, 5, 100) for epoch in range(1, 6)]
    [0, 0, 100, 100, 100]
    """

    at: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.at < 1:
            msg = f"at={self.at}: must be a share of the epochs, from 0 to below 1"
            raise ValueError(msg)

    def __call__(self, epoch: int, n_epochs: int, n: int) -> int:
        """Return how many of the first of ``n`` triples are in use at ``epoch``, 1 to ``n_epochs``."""
        _check(epoch, n_epochs, n)
        without = min(n_epochs - 1, math.floor(self.at * n_epochs * _JUST_BELOW))
        return n if epoch > without else 0


def _check(epoch: int, n_epochs: int, n: int) -> None:
    if n_epochs < 1:
        msg = f"n_epochs={n_epochs}: must be at least 1"
        raise ValueError(msg)
    if not 1 <= epoch <= n_epochs:
        msg = f"epoch={epoch}: must be from 1 to n_epochs={n_epochs}"
        raise ValueError(msg)
    if n < 0:
        msg = f"n={n}: must not be negative"
        raise ValueError(msg)
