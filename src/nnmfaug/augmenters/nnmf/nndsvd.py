"""The NNDSVD start of the NMF, and the exact decompositions of C = A·Bᵀ that it and spectral clustering need.

scikit-learn's NNDSVD needs C as a matrix and uses a randomised SVD; scipy's ``svds`` is iterative, and neither has
weights for equal rows. C has rank at most |R|, so its SVD is exact and cheap from QR decompositions of A and B.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nnmfaug.augmenters.nnmf.many_relations import MAX_DENSE_RELATIONS, leading_components
from nnmfaug.core.arrays import Array, Bools, Ids, Places
from nnmfaug.core.parallel import blocks
from nnmfaug.core.sparse import DistinctRows


def nndsvd(heads: DistinctRows, tails: DistinctRows, p: int) -> tuple[Array, Array]:
    """Return the NNDSVD start (Boutsidis and Gallopoulos, 2008) from the exact SVD of C.

    With A = Qₐ·Rₐ and B = Q_b·R_b, the SVD u·s·vᵀ of the small Rₐ·R_bᵀ gives the SVD x·s·yᵀ of C:

        x = Qₐ·u = C·(Q_b·v)/s = A·(R_bᵀ·v)/s,    y = Q_b·v = B·(Rₐᵀ·u)/s.

    So only the triangles are needed. They come from QR and not from the Grams AᵀA and BᵀB, which square the
    condition number: a component would be lost at 1e-8 of the largest, not at 1e-16. With very many relations the
    triangles are too large, and the SVD is approximate.

    Returns
    -------
    w, h : ndarray of shapes (len(heads), p) and (len(tails), p)
        √s·x and √s·y for the first component, and the larger non-negative part of these for the others; zero
        columns beyond the rank of C.
    """
    is_small = heads.rows.shape[1] <= MAX_DENSE_RELATIONS
    components = _exact_components(heads, tails, p) if is_small else leading_components(heads, tails, p)
    w = np.zeros((len(heads), p))
    h = np.zeros((len(tails), p))
    for k, (s, x, y) in enumerate(components):
        if k == 0:
            parts = np.abs(x), np.abs(y)
        else:
            sign = phase(x)
            parts = _larger_part(x / sign, y / sign, heads.counts, tails.counts)
        w[:, k] = math.sqrt(s) * parts[0]
        h[:, k] = math.sqrt(s) * parts[1]
    return w, h


def _exact_components(heads: DistinctRows, tails: DistinctRows, p: int) -> Iterator[tuple[float, Array, Array]]:
    """Yield the p largest singular values s of C, or as many as it has, each with its singular vectors x and y."""
    r_a = triangle(heads)
    r_b = triangle(tails)
    u, s, vt = np.linalg.svd(r_a @ r_b.T)
    rank = int(np.sum(s > noise(r_a, r_b)))
    for k in range(min(p, rank)):
        x = heads.rows @ (r_b.T @ vt[k] / s[k])
        y = tails.rows @ (r_a.T @ u[:, k] / s[k])
        yield s[k], x, y


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
    return math.sqrt(x_counts @ x**2), math.sqrt(y_counts @ y**2), x, y


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


def noise(ra: Array, rb: Array) -> float:
    """Return the size up to which a singular value of Rₐ·R_bᵀ may be rounding error, eps·|R|·‖Rₐ‖·‖R_b‖."""
    return float(np.finfo(np.float64).eps * ra.shape[1] * np.linalg.norm(ra) * np.linalg.norm(rb))


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
