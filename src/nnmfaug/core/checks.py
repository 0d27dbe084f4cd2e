"""Checks of arguments, and the messages for a bad value or an unknown name."""

from __future__ import annotations

import operator
from collections.abc import Collection
from difflib import get_close_matches
from typing import Literal

Size = int | Literal["auto"]
"""A number of clusters or components; ``"auto"`` chooses it from the data."""


def require(good: bool, message: str) -> None:
    """Raise a ``ValueError`` with this message unless the condition ``good`` is true."""
    if not good:
        raise ValueError(message)


def check_argument(name: str, value: object, good: bool, must_be: str) -> None:
    """Raise unless the condition ``good`` on an argument is true.

    Examples
    --------
    >>> check_argument("n_clusters", 0, False, "at least 1")
    Traceback (most recent call last):
    ValueError: n_clusters=0: must be at least 1
    """
    require(good, f"{name}={value!r}: must be {must_be}")


def check_at_least(name: str, value: int, least: int) -> None:
    """Raise unless a number is at least ``least``."""
    check_argument(name, value, value >= least, f"at least {least}")


def check_fraction(name: str, value: float) -> None:
    """Raise unless a number is above 0 and below 1."""
    check_argument(name, value, 0 < value < 1, "above 0 and below 1")


def check_count(n: int) -> int:
    """Return a number of triples as an int; raise unless it is a whole number from 0."""
    try:
        number = operator.index(n)
    except TypeError:
        msg = f"n={n!r}: must be a whole number"
        raise ValueError(msg) from None
    require(number >= 0, f"n={n}: must not be negative")
    return number


def check_size(name: str, value: Size) -> None:
    """Raise unless the value is a number from 1 or "auto"."""
    good = value == "auto" if isinstance(value, str) else value >= 1
    check_argument(name, value, good, "at least 1, or 'auto'")


def decided(name: str, value: Size) -> int:
    """Return the number; raise if it is still ``"auto"``.

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


_FEW_NAMES = 20
"""Up to this many names are listed in a message."""
_MANY_NAMES = 100_000
"""Close matches among more names than this take too long to find."""


def unknown_name(kind: str, name: str, known: Collection[str]) -> str:
    """Return the message for a name that does not exist: close matches, or all names if there are few.

    Examples
    --------
    >>> unknown_name("preset", "rotat", ("transe", "rotate"))
    "unknown preset 'rotat'; did you mean 'rotate'?"
    >>> unknown_name("preset", "conve", ("transe", "rotate"))
    "unknown preset 'conve'; choose one of: transe, rotate"
    """
    message = f"unknown {kind} {name!r}"
    matches = get_close_matches(name, known, n=3) if len(known) <= _MANY_NAMES else []
    if matches:
        quoted = ", ".join(repr(match) for match in matches)
        return f"{message}; did you mean {quoted}?"
    if 0 < len(known) <= _FEW_NAMES:
        return f"{message}; choose one of: {', '.join(known)}"
    return message
