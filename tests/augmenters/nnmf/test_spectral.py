"""Eigenvectors against those that NumPy finds of the matrix that nnmfaug never forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import nnmfaug as na
from nnmfaug.augmenters.nnmf.spectral import Spectral
from nnmfaug.core.arrays import Array
from nnmfaug.graph.counts import Counts

SMALL = ["nations", "kinships", "umls"]
RANK_TWO = [(h, r, t) for r in ("r", "same as r") for h, t in ("ab", "ac", "db")] + [
    ("x", "s", "y"),
    ("x", "s", "z"),
]
"""Three relations, C of rank 2, in two blocks."""


def load(name: str) -> Counts:
    return Counts.of(na.read_splits(name).train)


def toy(rows: list[tuple[str, str, str]]) -> Counts:
    return Counts.of(na.KnowledgeGraph.from_labels(rows))


def explicit(counts: Counts) -> Array:
    seen = counts.seen
    return np.asarray(counts.heads[seen].toarray() @ counts.tails[seen].toarray().T, dtype=np.float64)


def normalised(c: Array, omega: complex) -> NDArray[Any]:
    degree = (c + c.T).sum(axis=1)
    return np.asarray((omega * c + np.conj(omega) * c.T) / np.sqrt(np.outer(degree, degree)))


def check_eigenvectors(matrix: NDArray[Any], values: Array, vectors: NDArray[Any]) -> None:
    """Those of the largest eigenvalues, orthonormal, turned so that a largest entry is real and positive."""
    expected = np.linalg.eigvalsh(matrix)[::-1][: len(values)]
    np.testing.assert_allclose(values, expected, atol=1e-10)
    np.testing.assert_allclose(matrix @ vectors, values * vectors, atol=1e-9)
    np.testing.assert_allclose(vectors.conj().T @ vectors, np.eye(len(values)), atol=1e-9)
    for vector in vectors.T:
        pivot = vector[np.abs(vector) >= (1 - 1e-5) * np.abs(vector).max()]
        assert np.isclose(pivot, np.abs(pivot)).any()


@pytest.mark.parametrize("name", SMALL)
def test_symmetric_eigenvectors_are_those_of_the_explicit_matrix(name: str) -> None:
    found = Spectral(5).fit(load(name))
    matrix = normalised(explicit(load(name)), 1)
    check_eigenvectors(matrix, found.eigenvalues, found.features[load(name).seen])
    _, vectors = np.linalg.eigh(matrix)
    top = vectors[:, ::-1][:, :5]
    np.testing.assert_allclose(np.abs(np.sum(top * found.features[load(name).seen], axis=0)), 1, atol=1e-9)


@pytest.mark.parametrize("name", SMALL)
def test_directed_eigenvectors_are_those_of_the_explicit_hermitian_matrix(name: str) -> None:
    found = Spectral(5, directed=True).fit(load(name))
    real, imaginary = np.hsplit(found.features[load(name).seen], 2)
    assert np.abs(imaginary).max() > 1e-3, "a direction shows in the phases"
    check_eigenvectors(
        normalised(explicit(load(name)), np.exp(1j * np.pi / 3)), found.eigenvalues, real + 1j * imaginary
    )


@pytest.mark.parametrize("directed", [False, True])
def test_eigenvectors_without_a_positive_eigenvalue_are_zero(directed: bool) -> None:
    counts = toy(RANK_TWO)
    matrix = normalised(explicit(counts), np.exp(1j * np.pi / 3) if directed else 1)
    n_positive = int(np.sum(np.linalg.eigvalsh(matrix) > 1e-9))
    found = Spectral(6, directed=directed).fit(counts)
    assert (found.eigenvalues > 0).sum() == n_positive < 6
    columns = found.features.reshape(len(found.features), -1, 6)
    assert not columns[..., n_positive:].any()
    assert (np.abs(columns[..., :n_positive]).max(axis=(0, 1)) > 0).all()


def test_components_that_do_not_touch_have_eigenvalue_one_each_and_nothing_in_common() -> None:
    found = Spectral(2).fit(toy(RANK_TWO))
    np.testing.assert_allclose(found.eigenvalues, 1)
    left, right = found.features[:4], found.features[4:]
    np.testing.assert_allclose(left @ right.T, 0, atol=1e-12)


def test_spectral_needs_a_component() -> None:
    with pytest.raises(ValueError, match="n_components=0: must be at least 1"):
        Spectral(0)
