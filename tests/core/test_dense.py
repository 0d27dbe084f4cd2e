"""Products and decompositions in a fixed order, against BLAS and LAPACK."""

from __future__ import annotations

import numpy as np
import pytest

from nnmfaug.core.arrays import Array
from nnmfaug.core.dense import combine, orthogonal, orthonormal, products


def matrices() -> list[Array]:
    """Square, flat, tall, of low rank, graded, with equal singular values, zero, and empty ones."""
    rng = np.random.default_rng(0)
    square = rng.standard_normal((21, 21))
    low_rank = rng.random((12, 2)) @ rng.random((2, 30))
    return [
        square,
        rng.random((5, 400)),
        rng.random((40, 6)),
        low_rank,
        square * np.logspace(0, -8, 21)[:, None],
        np.kron(np.eye(3), rng.random((4, 4))).astype(np.float64),
        np.eye(7),
        np.zeros((4, 3)),
        rng.random((1, 3)),
        np.zeros((0, 3)),
    ]


@pytest.mark.parametrize("rows", matrices())
def test_products_are_those_of_blas(rows: Array) -> None:
    np.testing.assert_allclose(products(rows, rows[:3]), rows @ rows[:3].T, atol=1e-12)
    np.testing.assert_allclose(combine(rows[:, 0], rows), rows[:, 0] @ rows, atol=1e-12)


def test_a_product_is_the_same_alone_and_among_others() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.random((8, 3000)), rng.random((30, 3000))
    alone = np.hstack([products(x, row[None]) for row in y])
    assert np.array_equal(products(x, y), alone)


@pytest.mark.parametrize("rows", matrices())
def test_orthonormal_rows_span_the_same(rows: Array) -> None:
    basis = orthonormal(rows)
    used = basis[basis.any(axis=1)]
    assert len(used) == (np.linalg.matrix_rank(rows, tol=1e-10) if rows.size else 0)
    np.testing.assert_allclose(used @ used.T, np.eye(len(used)), atol=1e-14)
    np.testing.assert_allclose(rows @ basis.T @ basis, rows, atol=1e-13)


@pytest.mark.parametrize("rows", matrices())
def test_orthogonal_rows_have_the_singular_values_and_the_gram_matrix_of_the_columns(rows: Array) -> None:
    rotated = orthogonal(rows)
    values = np.zeros(len(rows))
    values[: min(rows.shape)] = np.linalg.svd(rows, compute_uv=False)
    size = values.max(initial=0.0)
    np.testing.assert_allclose(np.linalg.norm(rotated, axis=1), values, atol=1e-14 * size)
    np.testing.assert_allclose(rotated.T @ rotated, rows.T @ rows, atol=1e-13 * size**2)
    np.testing.assert_allclose(rotated @ rotated.T, np.diag(values**2), atol=1e-13 * size**2)


def test_small_singular_values_keep_their_digits() -> None:
    rng = np.random.default_rng(2)
    turned, _ = np.linalg.qr(rng.standard_normal((6, 6)))
    values = np.logspace(0, -12, 6)
    lengths = np.linalg.norm(orthogonal(values[:, None] * turned), axis=1)
    np.testing.assert_allclose(lengths, values, rtol=1e-12)
