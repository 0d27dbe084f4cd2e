"""What the NMF needs of C = A·Bᵀ if there are so many relations that dense matrices of their square do not fit.

Up to ``MAX_DENSE_RELATIONS`` the exact ways of :mod:`~nnmfaug.augmenters.nnmf.nndsvd` and
:mod:`~nnmfaug.augmenters.nnmf.affinity` are used. scipy's ``svds`` raises an error where it does not converge; a
fixed number of power iterations always gives an answer, even if many singular values are equal, as those of
relations of one triple are.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array

from nnmfaug.core.arrays import Array, Ids
from nnmfaug.core.parallel import blocks
from nnmfaug.core.seeding import Stream, generator
from nnmfaug.core.sparse import DistinctRows

MAX_DENSE_RELATIONS = 2000
"""Relations up to which matrices of relations × relations are dense and decompositions exact."""
MAX_CELLS = 1 << 22
"""Entries of a matrix of relations × relations that are computed at a time."""
N_ITERATIONS = 30
"""Power iterations; scikit-learn's randomised SVD does 4 to 7."""
N_EXTRA = 10
"""Vectors beyond those that are wanted, which make the wanted ones more exact."""
NOISE = 1e-10
"""Singular values below this fraction of the largest count as zero."""


def leading_components(heads: DistinctRows, tails: DistinctRows, p: int) -> list[tuple[float, Array, Array]]:
    """Return the p largest singular values of C, each with its singular vectors, by randomised power iteration.

    A row that occurs c times is one row multiplied by √c, which leaves singular values unchanged.
    """
    head_scale = np.sqrt(heads.counts)[:, None]
    tail_scale = np.sqrt(tails.counts)[:, None]
    a = csr_array(diags_array(head_scale.ravel()) @ heads.rows)
    b = csr_array(diags_array(tail_scale.ravel()) @ tails.rows)
    y = generator(0, Stream.NMF_START, 2).standard_normal((len(tails), p + N_EXTRA))
    for _ in range(N_ITERATIONS):
        x, _ = np.linalg.qr(a @ (b.T @ y))
        y, triangle = np.linalg.qr(b @ (a.T @ x))
    u, s, vt = np.linalg.svd(triangle.T, full_matrices=False)  # C ≈ x·triangleᵀ·yᵀ
    left = (x @ u) / head_scale
    right = (y @ vt.T) / tail_scale
    n_components = int(np.sum(s[:p] > NOISE * s[0]))
    return [(float(s[k]), left[:, k], right[:, k]) for k in range(n_components)]


def squared_norm(a: csr_array, b: csr_array, row_weights: Ids, column_weights: Ids) -> float:
    """Return ‖A·Bᵀ‖² = Σ AᵀA∘BᵀB with rows that occur several times, some relations at a time."""
    n_relations = int(a.shape[1])
    weighted_a = csr_array(diags_array(row_weights.astype(np.float64)) @ a)  # scipy warns of whole numbers
    weighted_b = csr_array(diags_array(column_weights.astype(np.float64)) @ b)
    columns_a = csr_array(a.T)
    columns_b = csr_array(b.T)
    total = 0.0
    for block in blocks(n_relations, size=max(MAX_CELLS // n_relations, 1)):
        gram_a = columns_a[block] @ weighted_a
        gram_b = columns_b[block] @ weighted_b
        total += float(gram_a.multiply(gram_b).sum())
    return total
