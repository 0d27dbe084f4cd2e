"""Blocks of rows, whose size depends on the data only, and sums in a fixed order: the same bits everywhere."""

from __future__ import annotations

from collections.abc import Iterable

from nnmfaug.core.arrays import Array
from nnmfaug.core.checks import require

BLOCK_ROWS = 1 << 16
"""Number of rows of a matrix, or proposals of a sampler, in one block."""


def blocks(n_rows: int, size: int = BLOCK_ROWS) -> list[slice]:
    """Return slices of a fixed size that cover all rows; the last may be shorter.

    Examples
    --------
    >>> blocks(5, size=2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def tree_sum(parts: Iterable[Array]) -> Array:
    """Return the sum of arrays, added pairwise and neighbours first, so that the result has a fixed rounding.

    Examples
    --------
    >>> import numpy as np
    >>> tree_sum([np.array([1.0]), np.array([2.0]), np.array([3.0])])
    array([6.])
    """
    sums = list(parts)
    require(len(sums) > 0, "nothing to add")
    while len(sums) > 1:
        pairs = [sums[i] + sums[i + 1] for i in range(0, len(sums) - 1, 2)]
        unpaired = sums[2 * len(pairs) :]
        sums = pairs + unpaired
    return sums[0]
