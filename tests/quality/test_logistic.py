"""Logistic regression against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, hstack
from sklearn.linear_model import LogisticRegression

from nnmfaug.core.arrays import Array, Bools, Ids
from nnmfaug.quality.logistic import Columns, fit_logistic


def rows(n: int, n_groups: int, rate: float) -> tuple[Array, Ids, Bools]:
    """Two columns, groups of very different sizes, and outcomes that depend on both."""
    rng = np.random.default_rng(n)
    x = rng.standard_normal((2, n)) * [[3.0], [0.5]]
    group = np.minimum(rng.geometric(0.3, n) - 1, n_groups - 1)
    group[:n_groups] = np.arange(n_groups)
    log_odds = np.log(rate) + x[0] - 0.5 * x[1] + 0.3 * group
    return x, group, rng.random(n) < 1 / (1 + np.exp(-log_odds))


@pytest.mark.parametrize(("n", "n_groups", "rate"), [(60, 1, 0.5), (500, 12, 1e-3), (4000, 30, 0.3)])
@pytest.mark.parametrize("variance", [1.0, 1 / 16, 100.0])
def test_coefficients_are_those_of_scikit_learn(n: int, n_groups: int, rate: float, variance: float) -> None:
    x, group, outcome = rows(n, n_groups, rate)
    within = np.stack([x[0], np.ones(n)])
    fitted = fit_logistic(Columns(x, within, group), outcome, variance)
    places = (np.arange(n), group)
    design = hstack([csr_array(x.T), csr_array((x[0], places)), csr_array((np.ones(n), places))])
    theirs = LogisticRegression(C=variance, tol=1e-10, max_iter=20_000, solver="newton-cg").fit(design, outcome)
    ours = np.concatenate([fitted.common, fitted.within.ravel()])
    np.testing.assert_allclose(ours, theirs.coef_[0], rtol=0, atol=1e-6)
    assert fitted.constant == pytest.approx(theirs.intercept_[0], abs=1e-6)


def test_outcomes_that_a_column_tells_apart_are_fitted_too() -> None:
    x = np.arange(-50.0, 50.0)[None]
    fitted = fit_logistic(Columns.without_groups(x), x[0] > 20, variance=1e6)
    theirs = LogisticRegression(C=1e6, tol=1e-12, max_iter=20_000, solver="newton-cg").fit(x.T, x[0] > 20)
    np.testing.assert_allclose(fitted.common, theirs.coef_[0], rtol=1e-4)


def test_an_equal_problem_has_an_equal_solution() -> None:
    x, group, outcome = rows(500, 5, 0.2)
    first, again = (fit_logistic(Columns(x, x[:1], group), outcome) for _ in range(2))
    assert first.constant == again.constant
    assert np.array_equal(first.within, again.within)
