"""Entities as points: non-negative factors of the affinity C = A·Bᵀ (Eq. 5), never formed.

Entities with equal counts are one row that weighs as much as there are of them. Entities without a triple, and
relations without one, have no say in any number; the rows of such entities are zeros.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, Protocol, get_args

import numpy as np

from nnmfaug.augmenters.nnmf.affinity import Affinity
from nnmfaug.augmenters.nnmf.nndsvd import nndsvd, read_only, spread, triangle, used, used_rows
from nnmfaug.core.arrays import Array
from nnmfaug.core.checks import Size, check_argument, check_size, decided
from nnmfaug.core.parallel import blocks, one_thread, tree_sum
from nnmfaug.core.seeding import Stream, generator
from nnmfaug.core.sparse import DistinctRows
from nnmfaug.graph.counts import Counts

Start = Literal["nndsvd", "nndsvda", "random"]

DEFAULT_COMPONENTS = 8

"""Where the random streams of this module begin."""
_SMALLEST = 1e-6
"""What scikit-learn takes for zero in an NNDSVD start."""
_CANCELLED = 1e-6
"""Below this share of ‖C‖², the difference of large numbers has too few digits left to be the misfit."""


class ConvergenceWarning(UserWarning):
    """The solver stopped at ``max_iter``, before the violation fell to ``tol``."""


class Embedding(Protocol):
    """What a clusterer needs."""

    @property
    def features(self) -> Array:
        """One row per entity."""
        ...


@dataclass(frozen=True, eq=False)
class Factors:
    """C ≈ W₁·W₂: ``head`` is W₁ and ``tail`` is W₂ᵀ, both non-negative, of shape (n_entities, p), read-only.

    ``objective`` has the value at the start and after each of the ``n_iter`` iterations; ``converged`` says
    whether the violation fell to ``tol``.
    """

    head: Array
    tail: Array
    objective: tuple[float, ...]
    n_iter: int
    converged: bool

    @cached_property
    def features(self) -> Array:
        """W' = [W₁, W₂ᵀ] of Algorithm 1, shape (n_entities, 2p)."""
        return read_only(np.hstack([self.head, self.tail]))


@dataclass(frozen=True)
class NMF:
    """Coordinate descent (HALS) on 0.5‖C − W₁W₂‖² + alpha·Ω, as scikit-learn's ``NMF(solver="cd")`` does it.

    Ω = c(‖W₁‖₁ + ‖W₂‖₁) + 0.5(1 − c)(‖W₁‖² + ‖W₂‖²), as in the paper's appendix. One iteration costs
    O((nnz + n·p)·p) over the distinct rows of A and of B.

    Parameters
    ----------
    n_components
        p, the number of columns of W₁; "auto" lets :class:`~nnmfaug.augmenters.nnmf.nnmfaug.NNMFAug` choose it.
    alpha
        The paper's α. scikit-learn ≥ 1.0 multiplies its own by the size of C: for a C of n × n, that is n entities
        with a triple, ``alpha`` here is ``alpha_W=alpha / n, alpha_H=alpha / n`` there.
    l1_ratio
        The paper's c, from 0 (squares only) to 1 (absolute values only).
    init
        ``"nndsvd"``: zeros may become positive, but columns beyond the rank of C are zero for ever.
        ``"nndsvda"``: NNDSVD with its zeros replaced by the mean of C. Both from an exact SVD; scikit-learn's is a
        randomised one, so its start differs a little. ``"random"``: half-normal; equal entities get different
        rows, and only here the seed matters.
    tol
        Stop once the violation (the projected gradients met on the way, added up) is this share of that of the
        first iteration. 0: do ``max_iter`` iterations, without a warning. scikit-learn's default is 1e-4.
    max_iter
        Stop after so many iterations; 0 gives the start.

    Examples
    --------
    >>> from nnmfaug.graph.knowledge_graph import KnowledgeGraph
    >>> rows = [("a", "likes", "b"), ("a", "likes", "c"), ("c", "likes", "b"), ("b", "knows", "a")]
    >>> factors = NMF(n_components=1).fit(Counts.of(KnowledgeGraph.from_labels(rows)))
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
        """Factorise the C of these counts."""
        n, p = counts.n_entities, decided("n_components", self.n_components)
        if not counts.seen.any():
            return Factors(read_only(np.zeros((n, p))), read_only(np.zeros((n, p))), (0.0,), 0, converged=True)
        heads, tails = self._sides(counts)
        if p >= heads.rows.shape[1]:
            msg = f"n_components={p}: C has rank at most {heads.rows.shape[1]}, its number of relations"
            warnings.warn(f"{msg}; W₁ = A, W₂ = Bᵀ is already exact", UserWarning, stacklevel=2)
        with one_thread():
            found = self._descend(heads, tails, *self._start(heads, tails, seed))
        if self.tol > 0 and not found.converged:
            msg = f"violation still above tol={self.tol} after max_iter={self.max_iter} iterations"
            warnings.warn(msg, ConvergenceWarning, stacklevel=2)
        return replace(
            found, head=spread(found.head, heads, counts.seen), tail=spread(found.tail, tails, counts.seen)
        )

    def _sides(self, counts: Counts) -> tuple[DistinctRows, DistinctRows]:
        """Rows to work on: the distinct ones, unless the start is to tell equal ones apart."""
        if self.init != "random":
            return used_rows(counts.head_rows, counts.seen), used_rows(counts.tail_rows, counts.seen)
        n = int(counts.seen.sum())
        each, ones = np.arange(n), np.ones(n, dtype=np.int64)
        heads, tails = (DistinctRows(used(m, counts.seen), each, ones) for m in (counts.heads, counts.tails))
        return heads, tails

    def _start(self, heads: DistinctRows, tails: DistinctRows, seed: int) -> tuple[Array, Array]:
        mean, p = _affinity(heads, tails).mean(), decided("n_components", self.n_components)
        if self.init == "random":
            scale = math.sqrt(mean / p)
            shapes = (len(heads), p), (len(tails), p)
            normal = [
                generator(seed, Stream.NMF_START, i).standard_normal(shape) for i, shape in enumerate(shapes)
            ]
            return scale * np.abs(normal[0]), scale * np.abs(normal[1])
        w, h = nndsvd(heads, tails, p)
        for x in (w, h):
            x[x < _SMALLEST] = mean if self.init == "nndsvda" else 0
        return w, h

    def _descend(self, heads: DistinctRows, tails: DistinctRows, w: Array, h: Array) -> Factors:
        w, h = np.asfortranarray(w), np.asfortranarray(h)  # a column is what a step reads and writes
        norm = _affinity(heads, tails).squared_norm()
        left, right = _summary(heads, w), _summary(tails, h)
        objective = [self._objective(norm, left, right)]
        first, converged = math.nan, False
        while len(objective) <= self.max_iter and not converged:
            violation = self._sweep(w, heads, right)
            left = _summary(heads, w)
            violation += self._sweep(h, tails, left)
            right = _summary(tails, h)
            objective.append(self._objective(norm, left, right))
            first = violation if len(objective) == 2 else first
            converged = first == 0 or violation / first <= self.tol
        return Factors(w, h, tuple(objective), len(objective) - 1, converged)

    def _sweep(self, x: Array, side: DistinctRows, other: _Summary) -> float:
        """Improve each column of a factor in turn, in place; return the violation."""
        gram = other.gram + self.alpha * (1 - self.l1_ratio) * np.eye(len(other.gram))
        target = np.asarray(side.rows @ other.product) - self.alpha * self.l1_ratio
        parts = (_sweep_block(x[block], target[block], gram, side.weights[block]) for block in blocks(len(x)))
        return float(tree_sum(parts).sum())

    def _objective(self, norm: float, left: _Summary, right: _Summary) -> float:
        misfit = float(norm - 2 * np.sum(left.product * right.product) + np.sum(left.gram * right.gram))
        if misfit < _CANCELLED * norm:
            misfit = _exact_misfit(left, right)
        if not self.alpha:
            return 0.5 * misfit
        absolute = left.total() + right.total()
        squared = float(np.trace(left.gram) + np.trace(right.gram))
        return 0.5 * misfit + self.alpha * (self.l1_ratio * absolute + 0.5 * (1 - self.l1_ratio) * squared)


class _Summary(NamedTuple):
    """A factor X of a side M, with all that the other side needs of it: MᵀX and XᵀX, over all rows."""

    side: DistinctRows
    x: Array
    product: Array
    gram: Array

    def total(self) -> float:
        """Sum of X over all rows."""
        return float(tree_sum(self.side.weights[b] @ self.x[b] for b in blocks(len(self.x))).sum())


def _summary(side: DistinctRows, x: Array) -> _Summary:
    scaled = x.T * side.weights
    gram = tree_sum(scaled[:, b] @ x[b] for b in blocks(len(x)))
    return _Summary(side, x, side.cross(scaled.T), gram)


def _sweep_block(x: Array, target: Array, gram: Array, weights: Array) -> Array:
    """Improve the columns; return what each adds to the violation."""
    gradients, highest = np.empty_like(x), np.where(x == 0, 0, np.inf)  # what is zero stays, or grows
    for k, row in enumerate(gram):
        column, gradient = x[:, k], gradients[:, k]
        np.matmul(x, row, out=gradient)
        gradient -= target[:, k]
        np.minimum(gradient, highest[:, k], out=gradient)
        if row[k] != 0:
            np.maximum(column - gradient / row[k], 0, out=column)
    return np.asarray(weights @ np.abs(gradients, out=gradients))


def _exact_misfit(left: _Summary, right: _Summary) -> float:
    """‖C − W₁W₂‖² = ‖[A W₁]·[B −W₂ᵀ]ᵀ‖², a sum of squares that cannot cancel."""
    r = [triangle(s.side, sign * s.x) for s, sign in ((left, 1), (right, -1))]
    return float(np.sum((r[0] @ r[1].T) ** 2))


def _affinity(heads: DistinctRows, tails: DistinctRows) -> Affinity:
    return Affinity(heads.rows, tails.rows, heads.counts, tails.counts)
