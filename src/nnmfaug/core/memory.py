"""How much memory large tables may hold before they go to disk, as the user says it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from nnmfaug.core.checks import require

SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kMGT])i?B?", re.ASCII | re.IGNORECASE)
FACTORS = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
LEAST = 100 * 10**6
"""Bytes below which a database of a few columns cannot work."""

_budget: ContextVar[int | None] = ContextVar("nnmfaug_memory", default=None)


def memory_budget() -> int | None:
    """Return the number of bytes that large tables may hold; None if nobody has said."""
    return _budget.get()


@contextmanager
def within_memory(size: str | int | None) -> Iterator[None]:
    """Let the large tables of everything inside the ``with`` block hold at most so many bytes.

    The rest of them is in temporary files. Names, ids and matrices come on top.

    Parameters
    ----------
    size
        A text such as "4GB", a number of bytes, or None, which changes nothing.

    Examples
    --------
    >>> import nnmfaug as na
    >>> with na.within_memory("500MB"):
    ...     train = na.read_splits("nations").train
    """
    if size is None:
        yield
        return
    token = _budget.set(parse_size(size) if isinstance(size, str) else _checked(size, str(size)))
    try:
        yield
    finally:
        _budget.reset(token)


def parse_size(text: str) -> int:
    """Return the number of bytes that a text such as 4GB or 500M stands for.

    Examples
    --------
    >>> parse_size("4GB"), parse_size("0.5 g")
    (4000000000, 500000000)
    """
    match = SIZE.fullmatch(text.strip())
    if match is None:
        msg = f"memory {text}: must be a size such as 4GB or 500MB"
        raise ValueError(msg)
    return _checked(round(float(match[1]) * FACTORS[match[2].lower()]), text)


def _checked(n_bytes: int, text: str) -> int:
    require(n_bytes >= LEAST, f"memory {text}: must be at least {LEAST // 10**6}MB")
    return n_bytes
