"""One seed, many independent streams: which stream depends on what is drawn, never on who draws it."""

from __future__ import annotations

import numpy as np


def generator(seed: int, *key: int) -> np.random.Generator:
    """Return the random generator of a seed and a place in the work, such as (stage, block).

    Examples
    --------
    >>> int(generator(0, 1).integers(100)) == int(generator(0, 1).integers(100))
    True
    >>> int(generator(0, 1).integers(10**9)) == int(generator(0, 2).integers(10**9))
    False
    """
    if seed < 0:
        msg = f"seed={seed}: must not be negative"
        raise ValueError(msg)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
