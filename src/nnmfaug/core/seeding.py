"""One seed, many independent streams: which stream depends on what is drawn, never on who draws it."""

from __future__ import annotations

from enum import IntEnum, unique

import numpy as np


@unique
class Stream(IntEnum):
    """What random numbers are for. No two uses share a stream; a number, once given, stays."""

    PROPOSALS = 1
    """Blocks of triples proposed by NNMFAug's distribution."""
    ORDER = 2
    """The order of triples that NNMFAug's distribution lists."""
    NMF_START = 3
    """The random start of the NMF."""
    BOOTSTRAP_TRIPLES = 4
    BOOTSTRAP_SEEDS = 5
    UNIFORM = 0xC0
    """Triples that are uniform within a relation."""
    KMEANS = 0xC1
    LISTED = 0x115
    """Triples of a list."""
    TRIPLE_DISTANCE = 0x47D
    """Subsets of the kernel triple distance, a benchmark."""
    MODEL_SELECTION = 0x5E1
    """Triples hidden to choose the number of clusters."""
    HOLDOUT = 0xCA1
    """Triples held out to estimate precision."""
    DUPLICATE = 0xD0B1E
    """Train triples that the control Duplicate repeats."""


def generator(seed: int, stream: Stream, *key: int) -> np.random.Generator:
    """Return the random generator of a seed, a stream, and a place within it, such as the number of a block.

    Examples
    --------
    >>> def first(*key: int) -> int:
    ...     return int(generator(0, *key).integers(10**9))
    >>> first(Stream.LISTED, 0) == first(Stream.LISTED, 0)
    True
    >>> first(Stream.LISTED, 0) == first(Stream.LISTED, 1)
    False
    """
    if seed < 0:
        msg = f"seed={seed}: must not be negative"
        raise ValueError(msg)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(stream), *key)))
