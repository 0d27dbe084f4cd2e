"""Independent random streams from one seed: a stream belongs to a purpose, not to the code that draws."""

from __future__ import annotations

from enum import IntEnum, unique

import numpy as np

from nnmfaug.core.checks import require


@unique
class Stream(IntEnum):
    """The purpose of random numbers. No two purposes have the same stream, and a number never changes."""

    PROPOSALS = 1
    """Blocks of triples proposed by NNMFAug's distribution."""
    ORDER = 2
    """The order of triples listed by NNMFAug's distribution."""
    NMF_START = 3
    """The random start of the NMF."""
    BOOTSTRAP_TRIPLES = 4
    """Test triples of a bootstrap sample."""
    BOOTSTRAP_SEEDS = 5
    """Seeds of a bootstrap sample."""
    SINGULAR = 6
    """Directions in which singular vectors are searched."""
    UNIFORM = 0xC0
    """Triples that are uniform within a relation."""
    KMEANS = 0xC1
    """The start of k-means."""
    LISTED = 0x115
    """Triples drawn from a list."""
    TRIPLE_DISTANCE = 0x47D
    """Subsets of the kernel triple distance, a benchmark."""
    MODEL_SELECTION = 0x5E1
    """Triples hidden to choose the number of clusters."""
    SEARCH = 0x5EA
    """Settings that a search tries."""
    HOLDOUT = 0xCA1
    """Triples held out to estimate precision."""
    SYNTHETIC = 0x5717
    """True triples of a synthetic graph."""
    SYNTHETIC_MISSING = 0x5718
    """True triples that a synthetic graph lacks."""
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
    require(seed >= 0, f"seed={seed}: must not be negative")
    sequence = np.random.SeedSequence(seed, spawn_key=(int(stream), *key))
    return np.random.default_rng(sequence)
