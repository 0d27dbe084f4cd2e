"""Sums over pairs of relations, of which there may be so many that dense matrices of them do not fit."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array

from nnmfaug.core.arrays import Ids
from nnmfaug.core.blocks import blocks

MAX_DENSE_RELATIONS = 2000
"""Relations up to which matrices of relations × relations are dense and decompositions exact."""
MAX_CELLS = 1 << 22
"""Entries of a matrix of relations × relations that are computed at a time."""


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
        total += float(np.add.reduce(csr_array(gram_a.multiply(gram_b)).data))
    return total
