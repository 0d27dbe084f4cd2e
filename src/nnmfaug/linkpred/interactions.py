"""TransE and RotatE for a processor: the scores of PyKEEN's interactions, one to many without large arrays.

PyKEEN broadcasts every query against every candidate, which makes an array of shape (queries, candidates, d).
Three things avoid it here. A distance of norm 2 needs only norms and one matrix product. The norm of complex
vectors, slow in torch, is that of their real and imaginary parts. Sums of moduli are computed a few rows at a
time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import torch
from pykeen.nn.modules import RotatEInteraction, TransEInteraction
from pykeen.utils import ensure_complex
from torch import Tensor
from torch.autograd.function import once_differentiable

from nnmfaug.core.checks import require


class _NormInRepr:
    """Adds the norm to the model's ``repr``, by which PyKEEN distinguishes checkpoints."""

    p: int
    power_norm: bool

    def extra_repr(self) -> str:
        """Return the settings that the submodules do not show."""
        return f"p={self.p}, power_norm={self.power_norm}"


class FastTransE(_NormInRepr, TransEInteraction):
    """−‖h + r − t‖_p (Table 3 of the paper), or its p-th power with ``power_norm``.

    Examples
    --------
    >>> h, r, t = torch.tensor([[1.0, 2.0]]), torch.tensor([[0.5, 0.0]]), torch.tensor([[1.5, 0.0]])
    >>> FastTransE(p=1)(h, r, t)
    tensor([-2.])
    """

    def forward(self, h: Tensor, r: Tensor, t: Tensor) -> Tensor:
        """Score triples whose leading dimensions can be broadcast."""
        if _one_to_many(h, t):
            distance = _distances((h + r)[:, 0], t[0], self.p)
        elif _one_to_many(t, h):
            distance = _distances((t - r)[:, 0], h[0], self.p)
        else:
            distance = _norm(h + r - t, self.p)
        return -(distance**self.p) if self.power_norm else -distance


class FastRotatE(_NormInRepr, RotatEInteraction):
    """−‖h ∘ r − t‖_p over complex numbers; the paper's Table 3 squares it, which is ``power_norm=True``.

    PyKEEN 1.11.1 accepts ``p`` and ``power_norm`` and ignores both. With p = 1 the norm is the sum of the moduli,
    which is not a matrix product. Relations must be rotations, |r| = 1, as RotatE defines them: then
    ‖h ∘ r − t‖ = ‖h − t ∘ r̄‖, and a query can be rotated instead of all candidates.
    """

    def __init__(self, p: int = 2, power_norm: bool = False) -> None:
        require(p in (1, 2), f"p={p}: RotatE has the norms 1 and 2")
        super().__init__(p=p, power_norm=power_norm)

    def forward(self, h: Tensor, r: Tensor, t: Tensor) -> Tensor:
        """Score triples whose leading dimensions can be broadcast."""
        h, r, t = ensure_complex(h, r, t)
        if _one_to_many(h, t):
            distance = self._distances((h * r)[:, 0], t[0])
        elif _one_to_many(t, h):
            distance = self._distances((t * r.conj())[:, 0], h[0])
        else:  # PyKEEN rotates this side, too, so gradients of r agree
            distance = self._norm(h - t * r.conj())
        return -(distance**self.p) if self.power_norm else -distance

    def _norm(self, x: Tensor) -> Tensor:
        return x.abs().sum(-1) if self.p == 1 else _norm(_real(x), 2)

    def _distances(self, queries: Tensor, candidates: Tensor) -> Tensor:
        if self.p == 2:
            return _distances(_real(queries), _real(candidates), 2)
        qx, qy = torch.view_as_real(queries).unbind(-1)
        cx, cy = torch.view_as_real(candidates).unbind(-1)
        parts = (x.contiguous() for x in (qx, qy, cx, cy))
        return ModulusSums.apply(*parts)  # type: ignore[no-any-return,no-untyped-call]


class ModulusSums(torch.autograd.Function):
    """D[i, j] = Σ_k |q_ik − c_jk| for all pairs of complex rows q_i, c_j, passed as real and imaginary parts.

    An array of shape (queries, candidates, d) would be written and read a dozen times. Here a few rows at a time
    stay in the processor's cache, and the backward pass computes the differences again.
    """

    @staticmethod
    def forward(ctx: Any, qx: Tensor, qy: Tensor, cx: Tensor, cy: Tensor) -> Tensor:  # noqa: ANN401  # torch's
        """Return D, shape (queries, candidates)."""
        ctx.save_for_backward(qx, qy, cx, cy)
        sums = qx.new_empty(len(qx), len(cx))
        for i, j in _blocks(qx, cx):
            _, _, moduli = _differences(qx[i], qy[i], cx[j], cy[j])
            sums[i, j] = moduli.sum(-1)
        return sums

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, ...]:  # noqa: ANN401
        """Return the gradients of the four parts; where a difference is 0, so is its gradient."""
        parts: tuple[Tensor, ...] = ctx.saved_tensors
        qx, qy, cx, cy = parts
        grad_qx, grad_qy, grad_cx, grad_cy = (torch.zeros_like(part) for part in parts)
        for i, j in _blocks(qx, cx):
            x, y, moduli = _differences(qx[i], qy[i], cx[j], cy[j])
            scale = grads[0][i, j, None] / moduli.masked_fill_(moduli == 0, math.inf)
            x.mul_(scale)
            y.mul_(scale)
            grad_qx[i] += x.sum(1)
            grad_cx[j] -= x.sum(0)
            grad_qy[i] += y.sum(1)
            grad_cy[j] -= y.sum(0)
        return grad_qx, grad_qy, grad_cx, grad_cy


_IN_CACHE = 1 << 16
"""How many numbers a block has."""


def _blocks(queries: Tensor, candidates: Tensor) -> Iterator[tuple[slice, slice]]:
    """Pairs of ranges (of queries, of candidates) whose differences fit into the cache."""
    n, d = candidates.shape
    n_columns = max(1, min(n, _IN_CACHE // max(1, d)))
    n_rows = max(1, _IN_CACHE // (n_columns * max(1, d)))
    starts = product(range(0, len(queries), n_rows), range(0, n, n_columns))
    return ((slice(i, i + n_rows), slice(j, j + n_columns)) for i, j in starts)


def _differences(qx: Tensor, qy: Tensor, cx: Tensor, cy: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Real parts, imaginary parts and moduli of q − c for all pairs, each of shape (queries, candidates, d)."""
    x = qx[:, None] - cx
    y = qy[:, None] - cy
    moduli = (x * x).addcmul_(y, y).sqrt_()
    return x, y, moduli


def _one_to_many(query: Tensor, candidates: Tensor) -> bool:
    """Whether the shapes are (b, 1, d) and (1, n, d): PyKEEN's models request b × n scores in this way."""
    return query.ndim == candidates.ndim == 3 and query.shape[1] == 1 and candidates.shape[0] == 1


def _distances(queries: Tensor, candidates: Tensor, p: float) -> Tensor:
    return torch.cdist(queries, candidates, p=float(p))


def _norm(x: Tensor, p: float) -> Tensor:
    return x.abs().sum(-1) if p == 1 else x.norm(p=p, dim=-1)


def _real(x: Tensor) -> Tensor:
    """Complex vectors of length d as real ones of length 2d."""
    return torch.view_as_real(x).flatten(-2)
