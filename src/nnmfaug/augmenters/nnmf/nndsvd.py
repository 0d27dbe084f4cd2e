"""The NNDSVD start of the NMF, QR decompositions of A and B, and the rows of entities that have a triple.

scikit-learn's NNDSVD needs C as a matrix, uses a randomised SVD, and has no weights for equal rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nnmfaug.augmenters.nnmf.singular import singular_vectors
from nnmfaug.core.arrays import Array, Bools, Ids, Places
from nnmfaug.core.blocks import blocks
from nnmfaug.core.sparse import DistinctRows


def nndsvd(heads: DistinctRows, tails: DistinctRows, p: int) -> tuple[Array, Array]:
    """Return the NNDSVD start (Boutsidis and Gallopoulos, 2008) from the singular vectors of C.

    Returns
    -------
    w, h : ndarray of shapes (len(heads), p) and (len(tails), p)
        √s·x and √s·y for the first component, and the larger non-negative part of these for the others; zero
        columns beyond the rank of C.
    """
    s, left, right = singular_vectors(heads, tails, p)
    w = np.zeros((len(heads), p))
    h = np.zeros((len(tails), p))
    for k in range(len(s)):
        x = left[:, k]
        y = right[:, k]
        if k == 0:
            x, y = np.abs(x), np.abs(y)
        else:
            sign = phase(x)
            x, y = _larger_part(x / sign, y / sign, heads.counts, tails.counts)
        w[:, k] = math.sqrt(s[k]) * x
        h[:, k] = math.sqrt(s[k]) * y
    return w, h


def _larger_part(x: Array, y: Array, x_counts: Ids, y_counts: Ids) -> tuple[Array, Array]:
    """Return the positive or the negative parts of x and y, scaled to equal norms.

    With x = x⁺ − x⁻ and y = y⁺ − y⁻, these are the parts with the larger ‖x±‖·‖y±‖. Not both products are zero:
    C is non-negative, so xᵀCy > 0 requires entries of the same sign in x and y.
    """
    positive = _with_norms(np.maximum(x, 0), np.maximum(y, 0), x_counts, y_counts)
    negative = _with_norms(np.maximum(-x, 0), np.maximum(-y, 0), x_counts, y_counts)
    is_positive = positive[0] * positive[1] > negative[0] * negative[1]
    x_norm, y_norm, x_part, y_part = positive if is_positive else negative
    return math.sqrt(y_norm / x_norm) * x_part, math.sqrt(x_norm / y_norm) * y_part


def _with_norms(x: Array, y: Array, x_counts: Ids, y_counts: Ids) -> tuple[float, float, Array, Array]:
    """Return the norms of x and y over all rows of the full matrices, and x and y."""
    return math.sqrt(np.add.reduce(x_counts * x**2)), math.sqrt(np.add.reduce(y_counts * y**2)), x, y


def triangle(side: DistinctRows, more: Array | None = None) -> Array:
    """Return R of the QR decomposition of all rows of the full matrix, with ``more`` columns at the right.

    The blocks Mᵢ of M = [M₁; M₂; …] are decomposed one by one, Mᵢ = Qᵢ·Rᵢ, and R is that of [R₁; R₂; …]. A row
    that occurs c times is one row multiplied by √c, which leaves MᵀM = RᵀR unchanged.
    """
    more = np.empty((len(side), 0)) if more is None else more
    scale = np.sqrt(side.counts)[:, None]
    parts = []
    for block in blocks(len(side), size=1 << 13):  # smaller than the blocks of an engine: these are dense
        rows = np.hstack([side.rows[block].toarray(), more[block]])
        parts.append(np.linalg.qr(scale[block] * rows, mode="r"))
    return np.asarray(np.linalg.qr(np.vstack(parts), mode="r"))


def phase(x: NDArray[Any]) -> NDArray[Any]:
    """Return the sign, or complex phase, of the largest entry; in a tie up to rounding, of the first."""
    size = np.abs(x)
    pivot = x[np.argmax(size >= (1 - 1e-6) * size.max())]
    return np.asarray(pivot / abs(pivot))


def used(matrix: csr_array, seen: Bools | Places) -> csr_array:
    """Return these rows of a matrix, without the columns of relations that have no triple."""
    rows = matrix[seen].astype(np.float64)
    return csr_array(rows[:, rows.sum(axis=0) > 0])


def used_rows(distinct: DistinctRows, seen: Bools) -> DistinctRows:
    """Return the same as ``DistinctRows.of(used(matrix, seen))``, from the distinct rows of the matrix."""
    numbers, first, inverse = np.unique(distinct.inverse[seen], return_index=True, return_inverse=True)
    order = np.argsort(first)
    rows = used(distinct.rows, numbers[order])
    places = np.argsort(order)[inverse]
    counts = np.bincount(inverse)[order].astype(np.int64)
    return DistinctRows(rows, places, counts)


def spread(x: Array, side: DistinctRows, seen: Bools) -> Array:
    """Return a row of x for each entity; zeros for entities that are not seen."""
    full = np.zeros((len(seen), x.shape[1]))
    full[seen] = x[side.inverse]
    return read_only(full)


def read_only(x: Array) -> Array:
    """Make an array read-only and return it."""
    x.setflags(write=False)
    return x
