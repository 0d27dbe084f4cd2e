"""Entities as points: eigenvectors of the normalised affinity C = A·Bᵀ (Eq. 5), never formed.

As in :class:`~nnmfaug.NMF`, equal rows are one row that weighs more, and what has no triple has no say.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, hstack

from nnmfaug.augmenters.nnmf.nndsvd import noise, phase, read_only, triangle, used
from nnmfaug.core.arrays import Array
from nnmfaug.core.checks import check_argument
from nnmfaug.core.parallel import one_thread
from nnmfaug.core.sparse import DistinctRows, cross
from nnmfaug.graph.counts import Counts


@dataclass(frozen=True, eq=False)
class Eigenvectors:
    """Leading eigenvectors, largest eigenvalue first; a column without a positive eigenvalue is zero."""

    features: Array
    eigenvalues: Array


@dataclass(frozen=True)
class Spectral:
    """Eigenvectors of D^-½(C + Cᵀ)D^-½ with the largest eigenvalues, D being the row sums of C + Cᵀ.

    The matrix is X·J·Xᵀ with X = D^-½[A B], of rank at most 2|R|, so its eigenvectors come from a decomposition of
    size 2|R|, at O(n·|R|²). At most |R| eigenvalues are positive.

    Parameters
    ----------
    n_components
        Number of eigenvectors.
    directed
        Take the Hermitian D^-½(ωC + ω̄Cᵀ)D^-½ with ω = exp(iπ/3), which tells heads from tails (Laenen and Sun,
        2020, which the paper cites). Real parts of the eigenvectors, then imaginary parts, are the features.

    Examples
    --------
    >>> from nnmfaug.graph.knowledge_graph import KnowledgeGraph
    >>> rows = [("a", "likes", "b"), ("b", "likes", "a"), ("x", "eats", "y")]
    >>> found = Spectral(n_components=2).fit(Counts.of(KnowledgeGraph.from_labels(rows)))
    >>> found.eigenvalues.round(2), found.features.shape
    (array([1., 1.]), (4, 2))
    """

    n_components: int = 8
    directed: bool = False

    def __post_init__(self) -> None:
        check_argument("n_components", self.n_components, self.n_components >= 1, "at least 1")

    def fit(self, counts: Counts, *, seed: int = 0) -> Eigenvectors:  # noqa: ARG002  (as every embedding)
        """Find the eigenvectors; nothing is drawn, so the seed does not matter."""
        p, seen = self.n_components, counts.seen
        values, vectors = np.zeros(p), np.zeros((counts.n_entities, p), dtype=np.complex128)
        if seen.any():
            both: Any = hstack([used(m, seen) for m in (counts.heads, counts.tails)])
            side = DistinctRows.of(csr_array(both))
            with one_thread():
                found, rows = self._eigenvectors(side)
            values[: len(found)] = found
            vectors[seen, : len(found)] = rows[side.inverse]
        features = np.hstack([vectors.real, vectors.imag]) if self.directed else vectors.real.copy()
        return Eigenvectors(read_only(features), read_only(values))

    def _eigenvectors(self, side: DistinctRows) -> tuple[Array, NDArray[Any]]:
        """With X = Q·R, an eigenpair (λ, y) of R·J·Rᵀ gives Q·y = X·J·Rᵀ·y / λ, and Q is not needed."""
        half = side.rows.shape[1] // 2
        triples = cross(side.rows, np.ones((len(side), 1)), side.counts)  # per relation, once for A and once for B
        x = replace(side, rows=csr_array(diags_array(1 / np.sqrt(side.rows @ triples[:, 0])) @ side.rows))
        omega = np.exp(1j * np.pi / 3) if self.directed else 1.0
        j = np.kron([[0, omega], [np.conj(omega), 0]], np.eye(half))
        r = triangle(x)
        values, y = np.linalg.eigh(r @ j @ r.T)
        n_positive = int(np.sum(values > noise(r, r)))
        best = np.arange(len(values))[::-1][: min(self.n_components, n_positive)]
        vectors = x.rows @ (j @ r.T @ y[:, best] / values[best])
        return values[best], np.stack([v / phase(v) for v in vectors.T], axis=1)
