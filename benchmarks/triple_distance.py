"""Kernel triple distance: how far generated triples are from held-out ones, in the eyes of a reference model.

Loconte et al., How to turn your knowledge graph embeddings into generative models (2023): the squared maximum mean
discrepancy of features of triples under a cubic kernel, as the kernel inception distance has it for pictures.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nnmfaug.core.seeding import Stream, generator

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Distance:
    """Mean over random subsets, and their standard deviation; it may be a little below 0 for the same law."""

    mean: float
    deviation: float


def triple_distance(
    real: Array, generated: Array, *, subset: int = 1000, n_subsets: int = 100, seed: int = 0
) -> Distance:
    """Return the kernel triple distance of two sets of features, one row per triple.

    Rows are scaled to length 1; k(x, y) = (x·y + 1)³; each subset gives an unbiased estimate.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> same, other = rng.normal(size=(2, 500, 8))
    >>> near, far = (triple_distance(same, y, subset=100, n_subsets=20).mean for y in (other, other + 1))
    >>> bool(abs(near) < 0.05 < far)
    True
    """
    m = min(subset, len(real), len(generated))
    if m < 2:
        msg = f"{len(real)} and {len(generated)} triples: at least two of each are needed"
        raise ValueError(msg)
    x, y = (_unit(features) for features in (real, generated))
    rng = generator(seed, Stream.TRIPLE_DISTANCE)
    pairs = ([part[rng.choice(len(part), m, replace=False)] for part in (x, y)] for _ in range(n_subsets))
    found = [_mmd(*pair) for pair in pairs]
    return Distance(float(np.mean(found)), float(np.std(found)))


def _unit(features: Array) -> Array:
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    return np.asarray(features / np.where(lengths > 0, lengths, 1.0))


def _mmd(x: Array, y: Array) -> float:
    """Unbiased squared maximum mean discrepancy."""
    m = len(x)
    within = sum(kernel.sum() - np.trace(kernel) for kernel in (_kernel(x, x), _kernel(y, y)))
    return float(within / (m * (m - 1)) - 2 * _kernel(x, y).sum() / m**2)


def _kernel(x: Array, y: Array) -> Array:
    found: Array = (x @ y.T + 1) ** 3
    return found
