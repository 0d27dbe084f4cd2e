"""Rows with a triple, their decomposition, and the start of a factorisation (NNDSVD) that it gives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nnmfaug.core.arrays import Array
from nnmfaug.core.parallel import blocks
from nnmfaug.core.sparse import DistinctRows


def nndsvd(heads: DistinctRows, tails: DistinctRows, p: int) -> tuple[Array, Array]:
    """NNDSVD (Boutsidis and Gallopoulos, 2008) from the exact SVD of C; zero columns beyond its rank.

    With A = Qₐ·Rₐ and B = Q_b·R_b, the SVD u·s·vᵀ of the small Rₐ·R_bᵀ gives that of C: Qₐ·u = C·(Q_b·v)/s =
    A·(R_bᵀ·v)/s. So only the triangles are needed. They are found by QR and not from the Grams AᵀA and BᵀB, which
    square the condition: a component would be lost at 1e-8 of the largest, not at 1e-16.
    """
    ra, rb = triangle(heads), triangle(tails)
    u, s, vt = np.linalg.svd(ra @ rb.T)
    n_found = min(p, int(np.sum(s > noise(ra, rb))))
    w, h = np.zeros((len(heads), p)), np.zeros((len(tails), p))
    for k in range(n_found):
        x, y = heads.rows @ (rb.T @ vt[k] / s[k]), tails.rows @ (ra.T @ u[:, k] / s[k])
        sign = phase(x)
        x, y = (np.abs(x), np.abs(y)) if k == 0 else _larger_half(x / sign, y / sign, heads.counts, tails.counts)
        w[:, k], h[:, k] = math.sqrt(s[k]) * x, math.sqrt(s[k]) * y
    return w, h


def _larger_half(x: Array, y: Array, of_x: NDArray[np.int64], of_y: NDArray[np.int64]) -> tuple[Array, Array]:
    """The positive or the negative parts of both, whichever have the larger product of norms; norms made equal."""
    positive, negative = (
        (math.sqrt(of_x @ a**2), math.sqrt(of_y @ b**2), a, b)
        for a, b in ((np.maximum(x, 0), np.maximum(y, 0)), (np.maximum(-x, 0), np.maximum(-y, 0)))
    )
    # Not both products are zero: C is not negative, so uᵀCv > 0 needs entries of one sign on both sides.
    m, n, a, b = positive if positive[0] * positive[1] > negative[0] * negative[1] else negative
    return math.sqrt(n / m) * a, math.sqrt(m / n) * b


def triangle(side: DistinctRows, more: Array | None = None) -> Array:
    """R of the QR decomposition of all rows, with ``more`` columns: of each block, then of those together."""
    more = np.empty((len(side), 0)) if more is None else more
    scale = np.sqrt(side.counts)[:, None]
    parts = [
        np.linalg.qr(scale[block] * np.hstack([side.rows[block].toarray(), more[block]]), mode="r")
        for block in blocks(len(side), size=1 << 13)  # smaller than the engine's: they are dense
    ]
    return np.asarray(np.linalg.qr(np.vstack(parts), mode="r"))


def noise(ra: Array, rb: Array) -> float:
    """What rounding alone may make of a zero singular value of Rₐ·R_bᵀ."""
    return float(np.finfo(np.float64).eps * ra.shape[1] * np.linalg.norm(ra) * np.linalg.norm(rb))


def phase(x: NDArray[Any]) -> NDArray[Any]:
    """Sign, or phase, of the largest entry; of the first, where several are as large but for rounding."""
    size = np.abs(x)
    pivot = x[np.argmax(size >= (1 - 1e-6) * size.max())]
    return np.asarray(pivot / abs(pivot))


def used(matrix: csr_array, seen: NDArray[np.bool_] | NDArray[np.intp]) -> csr_array:
    """These rows of the matrix, without relations that have no triple."""
    rows = matrix[seen].astype(np.float64)
    return csr_array(rows[:, rows.sum(axis=0) > 0])


def used_rows(distinct: DistinctRows, seen: NDArray[np.bool_]) -> DistinctRows:
    """What :meth:`DistinctRows.of` would find in the used part of a matrix."""
    numbers, first, inverse = np.unique(distinct.inverse[seen], return_index=True, return_inverse=True)
    order = np.argsort(first)
    rows = used(distinct.rows, numbers[order])
    return DistinctRows(rows, np.argsort(order)[inverse], np.bincount(inverse)[order].astype(np.int64))


def spread(x: Array, side: DistinctRows, seen: NDArray[np.bool_]) -> Array:
    """Give each entity its row."""
    full = np.zeros((len(seen), x.shape[1]))
    full[seen] = x[side.inverse]
    return read_only(full)


def read_only(x: Array) -> Array:
    """The array, which nobody can change any more."""
    x.setflags(write=False)
    return x
