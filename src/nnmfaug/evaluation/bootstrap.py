"""How sure a mean over seeds and test triples is: a two-way bootstrap that is right for few seeds.

A table of paired differences has a row per seed and a column per test triple. Both are samples, of all the seeds
and all the triples there could have been; so rows and columns are drawn with replacement, and the mean over what
was drawn varies as the mean itself does. Drawn from 5 seeds it varies too little: Hesterberg (2015), "What
teachers should know about the bootstrap", The American Statistician 69(4), expands it by √(n/(n−1)) · t/z; here
each way is expanded by itself. How one seed did on one triple, the part that belongs to neither, is counted more
than once: that errs on the safe side. Measured in docs/decisions/0007.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from nnmfaug.core.arrays import Array
from nnmfaug.core.parallel import blocks
from nnmfaug.core.seeding import Stream, generator

CELLS = 1 << 22
"""Cells of a block of weights, 16 MB; making them takes as much again."""


@dataclass(frozen=True, eq=False)
class Resampled:
    """The mean of a table, and by how much each resample of it differs: by its rows, by its columns, and the rest.

    Parameters
    ----------
    shape
        Number of rows (seeds) and of columns (triples).
    mean
    rows, columns, rest : ndarray of shape (n_resamples,)
    """

    shape: tuple[int, int]
    mean: float
    rows: Array
    columns: Array
    rest: Array

    def means(self, level: float | None = None) -> Array:
        """Return the mean of each resample, expanded so that the interval of this level is wide enough."""
        rows, columns = (1.0 if level is None else expansion(n, level) for n in self.shape)
        return self.mean + rows * self.rows + columns * self.columns + self.rest

    def interval(self, level: float) -> tuple[float, float]:
        """Return the percentile interval of this level."""
        low, high = np.quantile(self.means(level), [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)

    def p_value(self) -> float:
        """Return the smallest p such that the interval of level 1 − p leaves out 0.

        It is never below 2 / (n_resamples + 1), and of few seeds it is the p of few seeds, whatever its size.
        """
        low, high = 2 / (len(self.rows) + 1), 1.0
        if self._tails(low) <= low:
            return low
        for _ in range(30):  # the ratio of the bounds is at most n_resamples, its root 30 times is 1
            middle = float(np.sqrt(low * high))
            low, high = (low, middle) if self._tails(middle) <= middle else (middle, high)
        return high

    def _tails(self, p: float) -> float:
        """Share of the resamples beyond 0, on both sides, when expanded for level 1 − p."""
        means = self.means(1 - p)
        beyond = min(np.count_nonzero(means <= 0), np.count_nonzero(means >= 0))
        return min(1.0, 2 * (beyond + 1) / (len(means) + 1))


def resample(tables: Sequence[Array], n_resamples: int, seed: int) -> list[Resampled]:
    """Resample tables of shape (n_rows, n_columns), the same columns and (of as many rows) the same rows for all.

    Examples
    --------
    >>> (found,) = resample([np.array([[0.1, 0.3, 0.2], [0.2, 0.3, 0.1]])], 1000, seed=0)
    >>> round(found.mean, 3), len(found.means())
    (0.2, 1000)
    """
    n_columns = tables[0].shape[1]
    rows = {n: row_weights(n, n_resamples, seed) for n in {len(table) for table in tables}}
    means = [table.mean(axis=1) for table in tables]
    # Around the means of their rows, so that single precision is plenty for what is summed.
    centred = np.concatenate([table - m[:, None] for table, m in zip(tables, means, strict=True)])
    centred = np.ascontiguousarray(centred.T, dtype=np.float32)
    with threadpool_limits(1, "blas"):  # the same bits on every machine of a kind, and no waiting for a busy core
        sums = np.concatenate([part @ centred for part in column_weights(n_columns, n_resamples, seed)])
    ends = np.cumsum([len(table) for table in tables])
    found = []
    for m, own in zip(means, np.split(sums, ends[:-1], axis=1), strict=True):
        deviations = own.astype(np.float64) / n_columns
        columns, weights = deviations.mean(axis=1), rows[len(m)]
        rest = (weights * deviations).sum(axis=1) - columns
        found.append(Resampled((len(m), n_columns), float(m.mean()), weights @ (m - m.mean()), columns, rest))
    return found


def row_weights(n: int, n_resamples: int, seed: int) -> Array:
    """Shares of n rows in each resample, shape (n_resamples, n): each row sums to 1."""
    return np.asarray(
        generator(seed, Stream.BOOTSTRAP_SEEDS, n).multinomial(n, np.full(n, 1 / n), size=n_resamples) / n
    )


def column_weights(n: int, n_resamples: int, seed: int) -> Iterator[NDArray[np.float32]]:
    """Yield how often each of n columns is in a resample, for some resamples at a time, shape (some, n)."""
    rng = generator(seed, Stream.BOOTSTRAP_TRIPLES)
    for block in blocks(n_resamples, max(1, CELLS // n)):
        weights = np.empty((block.stop - block.start, n), dtype=np.float32)
        drawn: NDArray[np.int32] = rng.integers(n, size=(len(weights), n), dtype=np.int32)
        for row, picked in zip(weights, drawn, strict=True):  # one at a time stays in the cache
            row[:] = np.bincount(picked, minlength=n)
        yield weights


def expansion(n: int, level: float) -> float:
    """By how much the spread of means of n resampled values must grow for an interval of this level; 1 for n = 1.

    Examples
    --------
    >>> [round(expansion(n, 0.95), 2) for n in (2, 3, 5, 10, 1000)]
    [9.17, 2.69, 1.58, 1.22, 1.0]
    """
    if n == 1:  # one value does not vary, whatever its spread is multiplied by
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
    steps = np.asarray(p_values)[order] * np.arange(len(order), 0, -1)
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(1, np.maximum.accumulate(steps))
    return [float(p) for p in corrected]
