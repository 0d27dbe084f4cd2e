"""Features of entities: non-negative factors of the affinity C = A·Bᵀ (Eq. 5), which is never formed.

Minimised is 0.5‖C − W₁W₂‖² plus a penalty. With X = W₁, Y = W₂ᵀ, G = YᵀY and T = A·(BᵀY) = C·Y, the gradient with
respect to column k of X is X·G[:, k] − T[:, k], and coordinate descent (HALS) sets, for one column after another,

    X[:, k] ← max(X[:, k] − (X·G[:, k] − T[:, k]) / G[k, k], 0).

The same is done for Y, with XᵀX and B·(AᵀX). scikit-learn's ``NMF`` does the same, but needs C as a matrix of n²
entries and has no weights for equal rows. Here entities with equal counts are one row, weighted by their number.
Entities and relations without a triple take no part; the rows of such entities are zero. Sums are taken in a fixed
order, without BLAS, so that factors are the same bits on every CPU: clusters depend on the last of them.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import numpy as np
from scipy.sparse import csr_array

from nnmfaug.augmenters.nnmf.affinity import Affinity
from nnmfaug.augmenters.nnmf.many_relations import MAX_DENSE_RELATIONS
from nnmfaug.augmenters.nnmf.nndsvd import nndsvd, read_only, spread, triangle, used, used_rows
from nnmfaug.core.arrays import Array
from nnmfaug.core.blas import one_thread
from nnmfaug.core.blocks import blocks, tree_sum
from nnmfaug.core.checks import Size, check_argument, check_size, decided
from nnmfaug.core.dense import products
from nnmfaug.core.seeding import Stream, generator
from nnmfaug.core.sparse import DistinctRows
from nnmfaug.graph.counts import Counts

Start = Literal["nndsvd", "nndsvda", "random"]

DEFAULT_COMPONENTS = 8

_SMALLEST = 1e-6
"""Smaller entries of an NNDSVD start are set to zero, as in scikit-learn."""
_CANCELLED = 1e-6
"""A misfit below this fraction of ‖C‖² has lost too many digits as a difference and is computed as a sum."""


class ConvergenceWarning(UserWarning):
    """The solver stopped at ``max_iter``, before the violation fell to ``tol``."""


@dataclass(frozen=True, eq=False)
class Factors:
    """Non-negative factors of C ≈ W₁·W₂.

    Parameters
    ----------
    head, tail : ndarray of shape (n_entities, p)
        W₁ and W₂ᵀ, read-only.
    objective
        Value of the objective at the start and after each iteration.
    n_iter
        Number of iterations.
    converged
        Whether the violation fell to ``tol``.
    """

    head: Array
    tail: Array
    objective: tuple[float, ...]
    n_iter: int
    converged: bool

    @property
    def features(self) -> Array:
        """W' = [W₁, W₂ᵀ] of Algorithm 1, shape (n_entities, 2p), a copy."""
        return read_only(np.hstack([self.head, self.tail]))


@dataclass(frozen=True)
class NMF:
    """Coordinate descent (HALS) on 0.5‖C − W₁W₂‖² + alpha·Ω, equal to scikit-learn's ``NMF(solver="cd")``.

    Ω = c·(‖W₁‖₁ + ‖W₂‖₁) + 0.5·(1 − c)·(‖W₁‖² + ‖W₂‖²), as in the paper's appendix. One iteration costs
    O((nnz + n·p)·p), where nnz and n are those of the distinct rows of A and of B.

    Parameters
    ----------
    n_components
        p, the number of columns of W₁; "auto" lets :class:`~nnmfaug.augmenters.nnmf.nnmfaug.NNMFAug` choose it.
    alpha
        The paper's α. scikit-learn ≥ 1.0 multiplies its own by the size of C: with n entities that have a triple,
        ``alpha`` here is ``alpha_W=alpha / n, alpha_H=alpha / n`` there.
    l1_ratio
        The paper's c, from 0 (squares only) to 1 (absolute values only).
    init
        ``"nndsvd"``: zeros may become positive, but columns beyond the rank of C stay zero. ``"nndsvda"``: NNDSVD
        with its zeros replaced by the mean of C. Both use an SVD that is exact to many digits; scikit-learn uses a
        randomised one, so its start differs slightly. ``"random"``: half-normal; equal entities get different
        rows, and the seed has an effect.
    tol
        Stop once the violation (the sum of the projected gradients of an iteration) is at most this fraction of
        that of the first iteration. 0: do ``max_iter`` iterations, without a warning. scikit-learn's default is
        1e-4.
    max_iter
        Maximum number of iterations; 0 returns the start.

    Examples
    --------
    >>> from nnmfaug.graph.knowledge_graph import KnowledgeGraph
    >>> rows = [("a", "likes", "b"), ("a", "likes", "c"), ("c", "likes", "b"), ("b", "knows", "a")]
    >>> factors = NMF(n_components=1).fit(KnowledgeGraph.from_labels(rows).counts)
    >>> factors.features.round(2)
    array([[2., 0.],
           [0., 2.],
           [1., 1.]])
    >>> factors.converged, round(factors.objective[-1], 2)
    (True, 0.5)
    """

    n_components: Size = DEFAULT_COMPONENTS
    alpha: float = 0.0
    l1_ratio: float = 0.0
    init: Start = "nndsvd"
    tol: float = 1e-3
    max_iter: int = 1000

    def __post_init__(self) -> None:
        check_size("n_components", self.n_components)
        check_argument("alpha", self.alpha, 0 <= self.alpha < math.inf, "finite and not negative")
        check_argument("l1_ratio", self.l1_ratio, 0 <= self.l1_ratio <= 1, "between 0 and 1")
        check_argument("init", self.init, self.init in get_args(Start), f"one of {', '.join(get_args(Start))}")
        check_argument("tol", self.tol, self.tol >= 0, "at least 0")
        check_argument("max_iter", self.max_iter, self.max_iter >= 0, "at least 0")

    def fit(self, counts: Counts, *, seed: int = 0) -> Factors:
        """Factorise the affinity C = A·Bᵀ of these counts."""
        p = decided("n_components", self.n_components)
        if not counts.seen.any():
            zeros = read_only(np.zeros((counts.n_entities, p)))
            return Factors(zeros, zeros, (0.0,), 0, converged=True)
        heads, tails = self._sides(counts)
        max_rank = heads.rows.shape[1]
        if p >= max_rank:
            msg = f"n_components={p}: C has rank at most {max_rank}, its number of relations"
            warnings.warn(f"{msg}; W₁ = A, W₂ = Bᵀ is already exact", UserWarning, stacklevel=2)
        with one_thread():
            w, h = self._start(heads, tails, seed)
            factors = self._descend(heads, tails, w, h)
        if self.tol > 0 and not factors.converged:
            msg = f"violation still above tol={self.tol} after max_iter={self.max_iter} iterations"
            warnings.warn(msg, ConvergenceWarning, stacklevel=2)
        head = spread(factors.head, heads, counts.seen)
        tail = spread(factors.tail, tails, counts.seen)
        return replace(factors, head=head, tail=tail)

    def _sides(self, counts: Counts) -> tuple[DistinctRows, DistinctRows]:
        """Rows of A and of B to work on: the distinct ones, or all if a random start makes equal rows differ."""
        seen = counts.seen
        if self.init == "random":
            return _all_rows(used(counts.heads, seen)), _all_rows(used(counts.tails, seen))
        return used_rows(counts.head_rows, seen), used_rows(counts.tail_rows, seen)

    def _start(self, heads: DistinctRows, tails: DistinctRows, seed: int) -> tuple[Array, Array]:
        """W₁ and W₂ᵀ at the start, for the rows of each side."""
        mean = _affinity(heads, tails).mean()
        p = decided("n_components", self.n_components)
        if self.init == "random":
            scale = math.sqrt(mean / p)
            w = generator(seed, Stream.NMF_START, 0).standard_normal((len(heads), p))
            h = generator(seed, Stream.NMF_START, 1).standard_normal((len(tails), p))
            return scale * np.abs(w), scale * np.abs(h)
        w, h = nndsvd(heads, tails, p)
        for x in (w, h):
            x[x < _SMALLEST] = mean if self.init == "nndsvda" else 0
        return w, h

    def _descend(self, heads: DistinctRows, tails: DistinctRows, w: Array, h: Array) -> Factors:
        """Improve W₁ and W₂ᵀ in turn until the violation is small."""
        w = np.asfortranarray(w)  # columns are contiguous: a step reads and writes one column
        h = np.asfortranarray(h)
        squared_norm = _affinity(heads, tails).squared_norm()
        left = _summary(heads, w)
        right = _summary(tails, h)
        objective = [self._objective(squared_norm, left, right)]
        first_violation = math.nan
        converged = False
        while len(objective) <= self.max_iter and not converged:
            violation = self._sweep(w, heads, right)
            left = _summary(heads, w)
            violation += self._sweep(h, tails, left)
            right = _summary(tails, h)
            objective.append(self._objective(squared_norm, left, right))
            if len(objective) == 2:
                first_violation = violation
            converged = first_violation == 0 or violation / first_violation <= self.tol
        return Factors(w, h, tuple(objective), len(objective) - 1, converged)

    def _sweep(self, x: Array, side: DistinctRows, other: _Summary) -> float:
        """Update each column of a factor in turn, in place; return the violation.

        The penalty adds alpha·(1 − c) to the diagonal of G and subtracts alpha·c from T.
        """
        gram = other.gram
        target = np.asarray(side.rows @ other.product)
        if self.alpha:
            gram = gram + self.alpha * (1 - self.l1_ratio) * np.eye(len(gram))
            target -= self.alpha * self.l1_ratio
        parts = (_sweep_block(x[block], target[block], gram, side.weights[block]) for block in blocks(len(x)))
        return float(tree_sum(parts).sum())

    def _objective(self, squared_norm: float, left: _Summary, right: _Summary) -> float:
        """0.5‖C − W₁W₂‖² + alpha·Ω, with ‖C − XYᵀ‖² = ‖C‖² − 2·⟨AᵀX, BᵀY⟩ + ⟨XᵀX, YᵀY⟩."""
        inner = np.sum(left.product * right.product)
        misfit = float(squared_norm - 2 * inner + np.sum(left.gram * right.gram))
        if misfit < _CANCELLED * squared_norm:
            misfit = _exact_misfit(left, right) if len(left.product) <= MAX_DENSE_RELATIONS else max(misfit, 0.0)
        if not self.alpha:
            return 0.5 * misfit
        absolute = left.total() + right.total()
        squared = float(np.trace(left.gram) + np.trace(right.gram))
        return 0.5 * misfit + self.alpha * (self.l1_ratio * absolute + 0.5 * (1 - self.l1_ratio) * squared)


class _Summary(NamedTuple):
    """A factor X of a side M (A or B), with the products that the other side needs.

    Parameters
    ----------
    side
        M, as its distinct rows.
    x : ndarray of shape (n_rows, p)
        X.
    product : ndarray of shape (n_relations, p)
        MᵀX, over all rows of the full matrix.
    gram : ndarray of shape (p, p)
        XᵀX, over all rows of the full matrix.
    """

    side: DistinctRows
    x: Array
    product: Array
    gram: Array

    def total(self) -> float:
        """‖X‖₁, over all rows of the full matrix."""
        weights = self.side.weights
        return float(np.add.reduce(weights * np.add.reduce(self.x, axis=1)))


def _summary(side: DistinctRows, x: Array) -> _Summary:
    scaled = x.T * side.weights
    gram = tree_sum(products(scaled[:, block], x.T[:, block]) for block in blocks(len(x)))
    return _Summary(side, x, side.cross(scaled.T), gram)


def _sweep_block(x: Array, target: Array, gram: Array, weights: Array) -> Array:
    """Update the columns of a block of rows in place; return the violation of each column, shape (p,).

    The violation is Σ |projected gradient|: at an entry that is zero, a positive gradient is projected to zero.
    """
    columns = x.T
    gradients = np.empty_like(columns)
    max_gradients = np.where(columns == 0, 0, np.inf)
    scratch = np.empty_like(columns)
    for k, row in enumerate(gram):
        column = columns[k]
        gradient = gradients[k]
        np.multiply(columns, row[:, None], out=scratch)
        np.add.reduce(scratch, axis=0, out=gradient)
        gradient -= target[:, k]
        np.minimum(gradient, max_gradients[k], out=gradient)
        if row[k] != 0:
            np.maximum(column - gradient / row[k], 0, out=column)
    np.abs(gradients, out=gradients)
    return products(gradients, weights[None])[:, 0]


def _exact_misfit(left: _Summary, right: _Summary) -> float:
    """‖C − W₁W₂‖² = ‖[A W₁]·[B −W₂ᵀ]ᵀ‖² = ‖R₁·R₂ᵀ‖² by QR of both: a sum of squares, which cannot cancel."""
    r_left = triangle(left.side, left.x)
    r_right = triangle(right.side, -right.x)
    return float(np.sum((r_left @ r_right.T) ** 2))


def _all_rows(matrix: csr_array) -> DistinctRows:
    """Each row on its own, with weight 1, equal or not."""
    n = matrix.shape[0]
    return DistinctRows(matrix, np.arange(n), np.ones(n, dtype=np.int64))


def _affinity(heads: DistinctRows, tails: DistinctRows) -> Affinity:
    return Affinity(heads.rows, tails.rows, heads.counts, tails.counts)
