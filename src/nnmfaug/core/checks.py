"""Numbers of clusters and components, which may be left to the data."""

from __future__ import annotations

from typing import Literal

Size = int | Literal["auto"]


def check_size(name: str, value: Size) -> None:
    """Raise unless the value is a number from 1 or "auto"."""
    good = value == "auto" if isinstance(value, str) else value >= 1
    if not good:
        msg = f"{name}={value!r}: must be at least 1, or 'auto'"
        raise ValueError(msg)


def decided(name: str, value: Size) -> int:
    """Return the number; raise where it is still to be chosen.

    Examples
    --------
    >>> decided("n_clusters", 5)
    5
    >>> decided("n_clusters", "auto")
    Traceback (most recent call last):
    ValueError: n_clusters='auto': chosen by NNMFAug when it is fitted, or by na.select; alone this needs a number
    """
    if value == "auto":
        msg = f"{name}='auto': chosen by NNMFAug when it is fitted, or by na.select; alone this needs a number"
        raise ValueError(msg)
    return value
