"""Features of entities: eigenvectors of the normalised affinity C = A·Bᵀ (Eq. 5), which is never formed.

scipy's ``eigsh`` is iterative and scikit-learn's ``SpectralClustering`` needs the n × n matrix and takes no
directed one. The matrix has rank at most 2|R|, so a dense decomposition of that size is exact and cheaper. As in
:class:`~nnmfaug.NMF`, equal rows are one row with a larger weight, and entities without a triple take no part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, hstack

from nnmfaug.augmenters.nnmf.many_relations import MAX_DENSE_RELATIONS
from nnmfaug.augmenters.nnmf.nndsvd import phase, read_only, triangle, used
from nnmfaug.core.arrays import Array
from nnmfaug.core.blas import one_thread
from nnmfaug.core.checks import check_argument, require
from nnmfaug.core.sparse import DistinctRows, cross
from nnmfaug.graph.counts import Counts


@dataclass(frozen=True, eq=False)
class Eigenvectors:
    """The eigenvectors with the largest eigenvalues.

    Parameters
    ----------
    features : ndarray of shape (n_entities, n_features)
        Eigenvectors as columns, the largest eigenvalue first; zero where there is no positive eigenvalue.
    eigenvalues : ndarray of shape (n_components,)
        Their eigenvalues; 0 where there is no positive one.
    """

    features: Array
    eigenvalues: Array


@dataclass(frozen=True)
class Spectral:
    """Eigenvectors of D^-½·(C + Cᵀ)·D^-½ with the largest eigenvalues, where D has the row sums of C + Cᵀ.

    The matrix is X·J·Xᵀ with X = D^-½·[A B] and J = [[0, I], [I, 0]]. Its rank is at most 2|R|, so its
    eigenvectors come from a decomposition of size 2|R|, in O(n·|R|²). At most |R| eigenvalues are positive.

    Parameters
    ----------
    n_components
        Number of eigenvectors.
    directed
        Use the Hermitian D^-½·(ωC + ω̄Cᵀ)·D^-½ with ω = exp(iπ/3), which distinguishes heads from tails (Laenen and
        Sun, 2020, cited by the paper). The features are the real parts of the eigenvectors, then the imaginary
        parts.

    Examples
    --------
    >>> from nnmfaug.graph.knowledge_graph import KnowledgeGraph
    >>> rows = [("a", "likes", "b"), ("b", "likes", "a"), ("x", "eats", "y")]
    >>> embedding = Spectral(n_components=2).fit(KnowledgeGraph.from_labels(rows).counts)
    >>> embedding.eigenvalues.round(2), embedding.features.shape
    (array([1., 1.]), (4, 2))
    """

    n_components: int = 8
    directed: bool = False

    def __post_init__(self) -> None:
        check_argument("n_components", self.n_components, self.n_components >= 1, "at least 1")

    def fit(self, counts: Counts, *, seed: int = 0) -> Eigenvectors:  # noqa: ARG002  (as every embedding)
        """Compute the eigenvectors. Nothing is drawn, so the seed has no effect."""
        require(
            counts.n_relations <= MAX_DENSE_RELATIONS,
            f"{counts.n_relations:,} relations: Spectral needs dense matrices of twice as many rows and columns, "
            f"so it takes at most {MAX_DENSE_RELATIONS:,}; use NMF",
        )
        seen = counts.seen
        values = np.zeros(self.n_components)
        vectors = np.zeros((counts.n_entities, self.n_components), dtype=np.complex128)
        if seen.any():
            both: Any = hstack([used(counts.heads, seen), used(counts.tails, seen)])
            side = DistinctRows.of(csr_array(both))
            with one_thread():
                positive, rows = self._eigenvectors(side)
            values[: len(positive)] = positive
            vectors[seen, : len(positive)] = rows[side.inverse]
        features = np.hstack([vectors.real, vectors.imag]) if self.directed else vectors.real.copy()
        return Eigenvectors(read_only(features), read_only(values))

    def _eigenvectors(self, side: DistinctRows) -> tuple[Array, NDArray[Any]]:
        """Positive eigenvalues, descending, and their eigenvectors for the distinct rows of [A B].

        With X = Q·R, an eigenpair (λ, y) of R·J·Rᵀ gives the eigenvector Q·y = X·J·Rᵀ·y / λ, so Q is not needed.
        """
        x = _normalised(side)
        omega = np.exp(1j * np.pi / 3) if self.directed else 1.0
        n_relations = side.rows.shape[1] // 2
        j = np.kron([[0, omega], [np.conj(omega), 0]], np.eye(n_relations))
        r = triangle(x)
        values, y = np.linalg.eigh(r @ j @ r.T)
        n_positive = int(np.sum(values > _noise(r)))
        best = np.arange(len(values))[::-1][: min(self.n_components, n_positive)]
        vectors = x.rows @ (j @ r.T @ y[:, best] / values[best])
        return values[best], np.stack([v / phase(v) for v in vectors.T], axis=1)


def _normalised(side: DistinctRows) -> DistinctRows:
    """X = D^-½·[A B]. The row sums of C + Cᵀ are [A B]·n, where n = [Aᵀ1; Bᵀ1] counts triples per relation."""
    n_triples = cross(side.rows, np.ones((len(side), 1)), side.counts)[:, 0]
    scale = diags_array(1 / np.sqrt(side.rows @ n_triples))
    return replace(side, rows=csr_array(scale @ side.rows))


def _noise(r: Array) -> float:
    """Return the size up to which an eigenvalue of R·J·Rᵀ may be rounding error, eps·2|R|·‖R‖²."""
    return float(np.finfo(np.float64).eps * r.shape[1] * np.linalg.norm(r) ** 2)
