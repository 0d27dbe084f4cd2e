"""Confidence intervals of a mean over seeds and test triples: a two-way bootstrap that is valid for few seeds.

A table of paired differences has a row per seed and a column per test triple. Both are samples from a larger
population, so rows and columns are resampled with replacement. The mean of a resampled table then varies as the
mean of the table itself would vary in a new experiment.

With few seeds a resampled mean varies too little. Hesterberg (2015), "What teachers should know about the
bootstrap", The American Statistician 69(4), expands its deviation by √(n/(n−1)) · t/z. Here the deviations of rows
and of columns are expanded separately. The deviation that belongs to neither (one seed on one triple) is counted
more than once, which makes intervals wider, not narrower. docs/decisions/0007 has the measured coverage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from nnmfaug.core.arrays import Array
from nnmfaug.core.blocks import blocks
from nnmfaug.core.seeding import Stream, generator

CELLS = 1 << 22
"""Cells of one block of column weights: 32 MB, and half as much again while they are drawn."""
_BISECTIONS = 30
"""Steps of the search for a p-value; its bounds start at a ratio of at most n_resamples and end at about 1."""


@dataclass(frozen=True, eq=False)
class Resampled:
    """Mean of a table, and the deviation of each resample from it in three parts.

    The mean of resample b is ``mean + rows[b] + columns[b] + rest[b]``.

    Parameters
    ----------
    shape
        Number of rows (seeds) and of columns (triples) of the table.
    mean
        Mean of the table.
    rows : ndarray of shape (n_resamples,)
        Deviation due to the choice of rows.
    columns : ndarray of shape (n_resamples,)
        Deviation due to the choice of columns.
    rest : ndarray of shape (n_resamples,)
        Deviation due to the combination of both.
    """

    shape: tuple[int, int]
    mean: float
    rows: Array
    columns: Array
    rest: Array

    def means(self, level: float | None = None) -> Array:
        """Return the mean of each resample, shape (n_resamples,).

        With a level, the deviations of rows and columns are expanded for an interval of that level.
        """
        n_rows, n_columns = self.shape
        by_rows = 1.0 if level is None else expansion(n_rows, level)
        by_columns = 1.0 if level is None else expansion(n_columns, level)
        return self.mean + by_rows * self.rows + by_columns * self.columns + self.rest

    def interval(self, level: float) -> tuple[float, float]:
        """Return the bounds of the percentile interval of this level."""
        bounds = [(1 - level) / 2, (1 + level) / 2]
        low, high = np.quantile(self.means(level), bounds)
        return float(low), float(high)

    def p_value(self) -> float:
        """Return the smallest p for which the interval of level 1 − p excludes 0.

        It is at least 2 / (n_resamples + 1). The expansion for few seeds is included at every level.
        """
        low = 2 / (len(self.rows) + 1)
        if self._tails(low) <= low:
            return low
        high = 1.0
        for _ in range(_BISECTIONS):
            middle = float(np.sqrt(low * high))
            if self._tails(middle) <= middle:
                high = middle
            else:
                low = middle
        return high

    def _tails(self, p: float) -> float:
        """Two-sided fraction of the resamples beyond 0, expanded for level 1 − p."""
        means = self.means(1 - p)
        n_beyond = min(np.count_nonzero(means <= 0), np.count_nonzero(means >= 0))
        return min(1.0, 2 * (n_beyond + 1) / (len(means) + 1))


def resample(tables: Sequence[Array], n_resamples: int, seed: int) -> list[Resampled]:
    """Resample tables of shape (n_rows, n_columns) that have the same columns.

    All tables use the same resampled columns, and tables of equal height use the same resampled rows.

    Let x be a table and m its row means. Let u and v be the weights of the rows and columns in a resample, with
    Σ u = Σ v = 1, and let d = (x − m)·v. The deviations of that resample are

    - rows: u·(m − mean(m))
    - columns: mean(d)
    - rest: u·d − mean(d)

    Examples
    --------
    >>> (resampled,) = resample([np.array([[0.1, 0.3, 0.2], [0.2, 0.3, 0.1]])], 1000, seed=0)
    >>> round(resampled.mean, 3), len(resampled.means())
    (0.2, 1000)
    """
    n_columns = tables[0].shape[1]
    heights = [len(table) for table in tables]
    weights_of = {n_rows: row_weights(n_rows, n_resamples, seed) for n_rows in set(heights)}
    row_means = [table.mean(axis=1) for table in tables]
    deviations = [table - means[:, None] for table, means in zip(tables, row_means, strict=True)]
    sums = _column_sums(np.concatenate(deviations), n_resamples, seed)
    per_table = np.split(sums, np.cumsum(heights)[:-1], axis=1)
    return [
        _decompose(means, table_sums / n_columns, weights_of[len(means)], n_columns)
        for means, table_sums in zip(row_means, per_table, strict=True)
    ]


def _column_sums(deviations: Array, n_resamples: int, seed: int) -> Array:
    """Sum each row over the columns of each resample, shape (n_resamples, n_rows).

    The deviations of a row are rounded to whole multiples of a small number. Sums of whole numbers below 2⁵³ are
    exact, so BLAS, which adds in another order on another CPU, gives the same bits.
    """
    n_columns = deviations.shape[1]
    units = _units(deviations)
    multiples = np.ascontiguousarray(np.rint(deviations.T / units))
    with threadpool_limits(1, "blas"):  # more threads do not make it faster
        sums = [weights @ multiples for weights in column_weights(n_columns, n_resamples, seed)]
    return np.asarray(np.concatenate(sums) * units)


def _units(deviations: Array) -> Array:
    """Return a power of 2 for each row, of which a sum over all columns is less than 2⁵³ multiples."""
    largest = np.abs(deviations).max(axis=1, initial=0.0)
    _, exponents = np.frexp(largest * deviations.shape[1])
    return np.asarray(np.ldexp(1.0, exponents - 52))


def _decompose(row_means: Array, deviations: Array, weights: Array, n_columns: int) -> Resampled:
    """Split the deviations of each resample, shape (n_resamples, n_rows), into rows, columns and rest."""
    mean = row_means.mean()
    by_rows = (weights * (row_means - mean)).sum(axis=1)
    by_columns = deviations.mean(axis=1)
    rest = (weights * deviations).sum(axis=1) - by_columns
    return Resampled((len(row_means), n_columns), float(mean), by_rows, by_columns, rest)


def row_weights(n: int, n_resamples: int, seed: int) -> Array:
    """Fraction of each of n rows in each resample, shape (n_resamples, n); those of a resample sum to 1."""
    rng = generator(seed, Stream.BOOTSTRAP_SEEDS, n)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=n_resamples)
    return np.asarray(counts / n)


def column_weights(n: int, n_resamples: int, seed: int) -> Iterator[Array]:
    """Yield how often each of n columns is in a resample, in blocks of shape (n_resamples of the block, n)."""
    rng = generator(seed, Stream.BOOTSTRAP_TRIPLES)
    for block in blocks(n_resamples, max(1, CELLS // n)):
        size = block.stop - block.start
        columns: NDArray[np.int32] = rng.integers(n, size=(size, n), dtype=np.int32)
        weights = np.empty((size, n))
        for i in range(size):  # one resample at a time stays in the cache
            weights[i] = np.bincount(columns[i], minlength=n)
        yield weights


def expansion(n: int, level: float) -> float:
    """Return the factor √(n/(n−1)) · t/z that widens the deviations of a resampled mean of n values.

    t and z are the quantiles (1 + level)/2 of Student's distribution with n − 1 degrees of freedom and of the
    normal distribution. A single value does not vary, so the factor is 1 for n = 1.

    Examples
    --------
    >>> [round(expansion(n, 0.95), 2) for n in (2, 3, 5, 10, 1000)]
    [9.17, 2.69, 1.58, 1.22, 1.0]
    """
    if n == 1:
        return 1.0
    upper = (1 + level) / 2
    return float(np.sqrt(n / (n - 1)) * stdtrit(n - 1, upper) / ndtri(upper))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number by the method of Holm (1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(order), 0, -1)
    increasing = np.maximum.accumulate(np.asarray(p_values)[order] * factors)
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(1, increasing)
    return [float(p) for p in corrected]
