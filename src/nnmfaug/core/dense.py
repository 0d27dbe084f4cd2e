"""Dense products and decompositions that are the same, bit for bit, on every machine.

BLAS and LAPACK choose their kernels by the CPU, and each kernel adds in another order, with or without fused
operations. Here every number is a sum of products that numpy rounds one by one, in an order that depends on the
shape alone (numpy's sums are pairwise, whatever the CPU). The matrices of this package are narrow, so this is
about as fast.
"""

from __future__ import annotations

import numpy as np

from nnmfaug.core.arrays import Array, Places
from nnmfaug.core.blocks import BLOCK_ROWS, blocks

_DEPENDENT = 1e-13
"""A row of which not more than this fraction remains is a combination of earlier rows and rounding."""
_NEARLY_ORTHOGONAL = 1e-8
"""Largest cosine before a sweep that needs no other; a sweep about squares it at last."""
_CACHED = 1 << 14
"""Numbers that are multiplied at a time."""
_SMALLEST = float(np.finfo(np.float64).tiny)
"""Keeps 0 / 0 away."""
_MAX_SWEEPS = 40
"""Several times as many as matrices need."""


def products(x: Array, y: Array) -> Array:
    """Return X·Yᵀ.

    Examples
    --------
    >>> products(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 1.0]]))
    array([[3.],
           [7.]])
    """
    result = np.empty((len(x), len(y)))
    if x.shape[1] > BLOCK_ROWS:  # the same, with less memory
        for i, j in np.ndindex(result.shape):
            result[i, j] = np.add.reduce(x[i] * y[j])
        return result
    for block in blocks(len(y), size=max(_CACHED // max(x.size, 1), 1)):
        np.add.reduce(x[:, None] * y[block], axis=2, out=result[:, block])
    return result


def combine(coefficients: Array, rows: Array) -> Array:
    """Return Σᵢ cᵢ·rowᵢ.

    Examples
    --------
    >>> combine(np.array([2.0, 1.0]), np.array([[1.0, 0.0], [0.0, 3.0]]))
    array([2., 3.])
    """
    total: Array = np.zeros(rows.shape[1])
    for block in blocks(len(rows)):
        part = coefficients[block, None] * rows[block]
        if block.start:
            part[0] += total  # so the order of the sum does not depend on blocks
        total = np.add.reduce(part, axis=0)
    return total


def solve(matrices: Array, right: Array) -> Array:
    """Solve M·x = b for many small, symmetric and positive definite M, by elimination.

    Parameters
    ----------
    matrices : ndarray of shape (k, k, n)
    right : ndarray of shape (k, m, n)
        m right sides for each matrix.

    Examples
    --------
    >>> solve(np.array([[[2.0], [0.0]], [[0.0], [4.0]]]), np.array([[[2.0]], [[2.0]]])).ravel()
    array([1. , 0.5])
    """
    k = len(matrices)
    rows = np.concatenate([matrices, right], axis=1)
    for pivot in range(k):
        rows[pivot] /= rows[pivot, pivot].copy()
        for other in range(k):
            if other != pivot:
                rows[other] -= rows[other, pivot].copy() * rows[pivot]
    return rows[:, k:]


def orthonormal(rows: Array) -> Array:
    """Make each row orthogonal to those before it, of length 1; zero if it depends on them (Gram–Schmidt).

    Examples
    --------
    >>> orthonormal(np.array([[3.0, 0.0], [1.0, 0.0], [5.0, 2.0]]))
    array([[1., 0.],
           [0., 0.],
           [0., 1.]])
    """
    basis = np.zeros_like(rows)
    for k, row in enumerate(rows):
        before = basis[:k]
        rest = row
        for _ in range(2):  # once would leave errors of the size of what is subtracted
            rest = rest - combine(np.add.reduce(before * rest, axis=1), before)
        size = _length(rest)
        if size > _DEPENDENT * _length(row):
            basis[k] = rest / size
    return basis


def orthogonal(rows: Array) -> Array:
    """Rotate rows until they are orthogonal, the longest first (one-sided Jacobi method).

    With the singular value decomposition U·S·Vᵀ of the rows, the result is S·Vᵀ, up to signs.

    Examples
    --------
    >>> np.abs(orthogonal(np.array([[1.0, 1.0], [2.0, -2.0], [0.0, 0.0]]))).round(6)
    array([[2., 2.],
           [1., 1.],
           [0., 0.]])
    """
    n = len(rows)
    rotated = np.vstack([rows, np.zeros((n % 2, rows.shape[1]))])  # an even number
    order = _next_round(len(rotated))
    tiny = (np.finfo(np.float64).eps * _length(rows.ravel())) ** 2 + _SMALLEST
    for _ in range(_MAX_SWEEPS):
        largest = 0.0
        for _ in range(len(rotated) - 1):
            rotated, cosine = _rotate_pairs(rotated, tiny)
            rotated = rotated[order]
            largest = max(largest, cosine)
        if largest <= _NEARLY_ORTHOGONAL:
            break
    squares = np.add.reduce(rotated * rotated, axis=1)
    return np.asarray(rotated[np.argsort(-squares, kind="stable")][:n])


def _rotate_pairs(rows: Array, tiny: float) -> tuple[Array, float]:
    """Make row i of the first half orthogonal to row i of the second; return the largest |cosine| before.

    With a = ‖x‖², b = ‖y‖² and g = x·y, the tangent t of the smaller angle that does so solves
    t² + t·(b − a)/g = 1. Lengths whose product is below ``tiny`` are rounding errors.
    """
    pairs = rows.reshape(2, -1, rows.shape[1])
    x, y = pairs
    a, b = np.add.reduce(pairs * pairs, axis=2)
    twice = 2 * np.add.reduce(x * y, axis=1)
    difference = b - a
    root = np.sqrt(difference * difference + twice * twice) + _SMALLEST
    tangent = twice / (difference + np.copysign(root, difference))
    cosine = 1 / np.sqrt(1 + tangent * tangent)
    sine = (cosine * tangent)[:, None]
    turned = pairs * cosine[:, None]
    turned[0] -= sine * y
    turned[1] += sine * x
    largest = np.max(np.abs(twice) / (np.sqrt(a * b) + tiny), initial=0.0)
    return turned.reshape(rows.shape), 0.5 * float(largest)


def _next_round(n: int) -> Places:
    """Return the order in which n players stand after a round, so that after n − 1 rounds each met each other.

    All but the first move on by one place, around the table.
    """
    middle = n // 2
    around = [*range(1, middle), *range(n - 1, middle - 1, -1)]
    order = np.arange(n)
    order[around] = np.roll(around, 1)
    return order


def _length(x: Array) -> float:
    return float(np.sqrt(np.add.reduce(x * x)))
