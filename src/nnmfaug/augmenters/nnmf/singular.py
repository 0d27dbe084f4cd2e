"""The largest singular values of C = A·Bᵀ and their vectors, the same on every machine.

C has rank at most |R|, the number of relations. LAPACK's vectors differ from CPU to CPU by rounding, and by much
more where singular values are equal; scipy's ``svds`` and scikit-learn's randomised SVD use BLAS, too.
"""

from __future__ import annotations

import math

import numpy as np

from nnmfaug.core.arrays import Array
from nnmfaug.core.dense import combine, orthogonal, orthonormal, products
from nnmfaug.core.seeding import Stream, generator
from nnmfaug.core.sparse import DistinctRows

N_EXTRA = 16
"""Dimensions of the space that is searched, beyond the number of vectors."""
N_POWERS = 8
"""Times that C·Cᵀ turns the space towards its largest vectors."""


def singular_vectors(heads: DistinctRows, tails: DistinctRows, p: int) -> tuple[Array, Array, Array]:
    """Return up to p singular values of C, descending, with left and right vectors for the distinct rows.

    Exact if there are at most p + 16 relations. Else they are those of C within a space of p + 16 dimensions,
    which powers of C·Cᵀ turned from a random one towards the largest vectors.

    A row that occurs c times counts as one row multiplied by √c. With an orthonormal basis Q of the space and one
    P of the columns of CᵀQ, they come from the small matrix PᵀCᵀQ. The last steps are y = Cᵀx/s and x = C·y/s.

    Returns
    -------
    s, x, y : ndarrays of shapes (n,), (len(heads), n) and (len(tails), n)
        Fewer than p if C has a lower rank.
    """
    head_scale = np.sqrt(heads.weights)
    tail_scale = np.sqrt(tails.weights)
    space = heads.rows @ _directions(heads, tails, p + N_EXTRA)
    basis = orthonormal(head_scale * space.T)
    images = tail_scale * (tails.rows @ heads.cross((head_scale * basis).T)).T
    image_basis = orthonormal(images)
    small = orthogonal(products(image_basis, images))
    s = np.sqrt(np.add.reduce(small * small, axis=1))
    n = min(p, int(np.count_nonzero(s > _noise(heads, tails))))
    s = s[:n]
    left = [combine(row, basis) for row in small[:n]]
    y = tails.rows @ heads.cross((head_scale * np.reshape(left, (n, -1))).T) / (s * s)
    x = heads.rows @ tails.cross(tails.weights[:, None] * y) / s
    return s, np.asarray(x), np.asarray(y)


def _directions(heads: DistinctRows, tails: DistinctRows, n: int) -> Array:
    """Return directions M in the space of relations, shape (n_relations, n); A·M spans what is searched.

    All directions if there are no more. Else random ones after steps M ← BᵀB·AᵀA·M, which make A·M ← C·Cᵀ·A·M.
    """
    n_relations = heads.rows.shape[1]
    if n_relations <= n:
        return np.eye(n_relations)
    directions = generator(0, Stream.SINGULAR).random((n_relations, n)) - 0.5
    for _ in range(N_POWERS):
        directions = _gram(tails, _gram(heads, directions))
        directions = orthonormal(directions.T).T
    return directions


def _gram(side: DistinctRows, x: Array) -> Array:
    """Return MᵀM·X for all rows of the full matrix M."""
    return side.cross(side.weights[:, None] * (side.rows @ x))


def _noise(heads: DistinctRows, tails: DistinctRows) -> float:
    """Return the size up to which a singular value may be rounding error, eps·|R|·‖A‖·‖B‖."""
    n_relations = heads.rows.shape[1]
    return float(np.finfo(np.float64).eps * n_relations * math.sqrt(_squared_norm(heads) * _squared_norm(tails)))


def _squared_norm(side: DistinctRows) -> float:
    """Return ‖M‖² of the full matrix."""
    squares = np.asarray(side.rows.power(2).sum(axis=1)).ravel()
    return float(np.add.reduce(side.weights * squares))
