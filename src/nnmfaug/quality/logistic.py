"""Logistic regression with common columns and columns within groups, the same on every machine.

scikit-learn's stops where its tolerance is met, which is another place with other BLAS kernels. Here Newton's
method goes on to the maximum, with sums in a fixed order. The coefficients of one group meet those of another
only through the common ones, so a step solves a small system for each group, and one for the common coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nnmfaug.core.arrays import Array, Bools, Ids
from nnmfaug.core.dense import combine, products, solve
from nnmfaug.core.elementary import exp, log1p, logit

MAX_STEPS = 100
"""Newton's steps; about ten are enough."""
CONVERGED = 1e-12
"""The last step promises less than this fraction of the loss."""


@dataclass(frozen=True, eq=False)
class Columns:
    """What log-odds are a linear function of, beside a constant.

    Parameters
    ----------
    common : ndarray of shape (n_common, n_rows)
        Columns with one coefficient each.
    within : ndarray of shape (n_within, n_rows)
        Columns with a coefficient for each group.
    group : ndarray of shape (n_rows,)
        The group of each row, from 0.
    """

    common: Array
    within: Array
    group: Ids

    @classmethod
    def without_groups(cls, common: Array) -> Columns:
        """Return common columns alone."""
        n_rows = common.shape[1]
        return cls(common, np.zeros((0, n_rows)), np.zeros(n_rows, dtype=np.int64))

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.group.max(initial=-1)) + 1

    def log_odds(self, coefficients: Coefficients) -> Array:
        """Return the log-odds of each row."""
        total = coefficients.constant + combine(coefficients.common, self.common)
        for column, values in zip(self.within, coefficients.within, strict=True):
            total += column * values[self.group]
        return total

    def sums_within(self, values: Array) -> Array:
        """Return the sum of values over each group, shape (n_groups,)."""
        return np.bincount(self.group, weights=values, minlength=self.n_groups).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Fitted coefficients: the constant, one per common column, and one per column within a group and group."""

    constant: float
    common: Array
    within: Array

    def squared_norm(self) -> float:
        """Sum of squares of all but the constant."""
        common = np.add.reduce(self.common * self.common)
        within = np.add.reduce((self.within * self.within).ravel())
        return float(common + within)

    def minus(self, step: Coefficients, length: float) -> Coefficients:
        """Subtract a multiple of a step."""
        return Coefficients(
            self.constant - length * step.constant,
            self.common - length * step.common,
            self.within - length * step.within,
        )


def fit_logistic(
    columns: Columns, outcome: Bools, variance: float = 1.0, weight: Array | None = None
) -> Coefficients:
    """Maximise the likelihood of outcomes, where all coefficients but the constant have a normal prior.

    Parameters
    ----------
    columns
        What the log-odds depend on.
    outcome : ndarray of shape (n_rows,)
        What happened; both outcomes must occur.
    variance
        Variance of the prior.
    weight : ndarray of shape (n_rows,), optional
        Number of times that each row counts. Default: once.

    Examples
    --------
    >>> x = np.array([[0.0, 1.0, 2.0, 3.0]])
    >>> fitted = fit_logistic(Columns.without_groups(x), np.array([False, True, False, True]))
    >>> round(fitted.constant, 4), fitted.common.round(4)
    (-0.6793, array([0.4529]))
    """
    problem = _Problem(columns, outcome, 1 / variance, np.ones(len(outcome)) if weight is None else weight)
    state = problem.start()
    for _ in range(MAX_STEPS):
        step, gain = problem.newton_step(state)
        if gain <= CONVERGED * state.loss:  # the loss would only show rounding
            return state.coefficients.minus(step, 1.0)
        following = problem.descend(state, step)
        if following is None:
            break
        state = following
    return state.coefficients


@dataclass(frozen=True, eq=False)
class _State:
    """Coefficients, the probabilities that they give, and the loss: −log of likelihood and prior."""

    coefficients: Coefficients
    chance: Array
    loss: float


@dataclass(frozen=True, eq=False)
class _Problem:
    """What is to be fitted; ``precision`` is the inverse of the prior's variance."""

    columns: Columns
    outcome: Bools
    precision: float
    weight: Array

    @cached_property
    def common(self) -> Array:
        """The column of the constant, and the common ones."""
        return np.vstack([np.ones(len(self.outcome)), self.columns.common])

    @cached_property
    def penalty(self) -> Array:
        """Precision of the constant, which is 0, and of the common coefficients."""
        return np.append(0.0, np.full(len(self.columns.common), self.precision))

    def start(self) -> _State:
        """Return the state with the right mean and no effect of any column."""
        mean = np.add.reduce(self.weight * self.outcome) / np.add.reduce(self.weight)
        constant = float(logit(mean))
        within = np.zeros((len(self.columns.within), self.columns.n_groups))
        return self.state(Coefficients(constant, np.zeros(len(self.columns.common)), within))

    def state(self, coefficients: Coefficients) -> _State:
        """Compute probabilities and loss."""
        log_odds = self.columns.log_odds(coefficients)
        small = exp(-np.abs(log_odds))
        chance = np.where(log_odds < 0, small, 1.0) / (1 + small)
        is_wrong = (log_odds < 0) == self.outcome
        losses = log1p(small) + np.where(is_wrong, np.abs(log_odds), 0.0)
        loss = float(np.add.reduce(self.weight * losses)) + 0.5 * self.precision * coefficients.squared_norm()
        return _State(coefficients, chance, loss)

    def descend(self, state: _State, step: Coefficients) -> _State | None:
        """Go a step, or a half, a quarter … of it, to a lower loss; None if there is none but for rounding."""
        length = 1.0
        while length > 1e-6:
            following = self.state(state.coefficients.minus(step, length))
            if following.loss < state.loss:
                return following
            length /= 2
        return None

    def newton_step(self, state: _State) -> tuple[Coefficients, float]:
        """Return H⁻¹·g for the gradient g and the Hessian H of the loss, and twice what it is expected to gain.

        With the blocks of H for the common coefficients (c), for groups (g) and for both, the common part solves
        (H_cc − H_cg·H_gg⁻¹·H_gc)·x = g_c − H_cg·H_gg⁻¹·g_g.
        """
        gradient, group_gradient = self._gradient(state)
        curvature, mixed, group_curvature = self._hessian(state)
        solved = solve(group_curvature, np.concatenate([mixed, group_gradient[:, None]], axis=1))
        removed = np.add.reduce(mixed[:, :, None] * solved[:, None], axis=(0, 3))
        matrix = curvature - removed[:, :-1]
        right = gradient - removed[:, -1]
        x = solve(matrix[:, :, None], right[:, None, None]).ravel()
        within = solved[:, -1] - np.add.reduce(solved[:, :-1] * x[:, None], axis=1)
        gain = np.add.reduce(gradient * x) + np.add.reduce((group_gradient * within).ravel())
        return Coefficients(float(x[0]), x[1:], within), float(gain)

    def _gradient(self, state: _State) -> tuple[Array, Array]:
        """The gradient for the common coefficients, and for those of groups, shape (n_within, n_groups)."""
        residual = (self.weight * (state.chance - self.outcome))[None]
        old = state.coefficients
        gradient = products(self.common, residual)[:, 0] + self.penalty * np.append(0.0, old.common)
        group_gradient = self._sums(residual)[:, 0] + self.precision * old.within
        return gradient, group_gradient

    def _hessian(self, state: _State) -> tuple[Array, Array, Array]:
        """The blocks H_cc, H_gc and H_gg; the last axis of the latter two is the group."""
        weight = self.weight * state.chance * (1 - state.chance)
        common = self.common * weight
        curvature = products(common, self.common) + np.diag(self.penalty)
        prior = self.precision * np.eye(len(self.columns.within))
        return curvature, self._sums(common), self._sums(self.columns.within * weight) + prior[:, :, None]

    def _sums(self, values: Array) -> Array:
        """Σ over the rows of a group of column·value, shape (n_within, len(values), n_groups)."""
        columns = self.columns
        sums = [[columns.sums_within(column * row) for row in values] for column in columns.within]
        return np.reshape(sums, (len(columns.within), len(values), columns.n_groups))
