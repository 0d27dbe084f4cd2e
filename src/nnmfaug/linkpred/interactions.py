"""TransE and RotatE for a processor: the scores of PyKEEN's interactions, one to many without large arrays.

PyKEEN broadcasts every query against every candidate, which makes an array of shape (queries, candidates, d).
A distance of norm 2 needs only norms and one matrix product; and the norm of complex numbers, slow in torch, is
that of their real and imaginary parts. Sums of moduli are made a few rows at a time.
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


class _Told:
    """Tells its norm in the model's text, by which PyKEEN tells checkpoints apart."""

    p: int
    power_norm: bool

    def extra_repr(self) -> str:
        """What is not to be seen from the parts."""
        return f"p={self.p}, power_norm={self.power_norm}"


class FastTransE(_Told, TransEInteraction):
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
            return self._negative(_distances((h + r)[:, 0], t[0], self.p))
        if _one_to_many(t, h):
            return self._negative(_distances((t - r)[:, 0], h[0], self.p))
        return self._negative(_norm(h + r - t, self.p))

    def _negative(self, distance: Tensor) -> Tensor:
        return -(distance**self.p) if self.power_norm else -distance


class FastRotatE(_Told, RotatEInteraction):
    """−‖h ∘ r − t‖ over complex numbers; the paper's Table 3 squares it, which is ``power_norm=True``.

    PyKEEN 1.11.1 takes that argument and does not look at it. With p = 1 it is the sum of the moduli, which is no
    matrix product. Relations are taken to be rotations, |r| = 1, as RotatE has them: then ‖h ∘ r − t‖ is also
    ‖h − t ∘ r̄‖, and a query can be turned instead of all candidates.
    """

    def __init__(self, p: int = 2, power_norm: bool = False) -> None:
        if p not in (1, 2):
            msg = f"p={p}: RotatE has the norms 1 and 2"
            raise ValueError(msg)
        super().__init__(p=p, power_norm=power_norm)

    def forward(self, h: Tensor, r: Tensor, t: Tensor) -> Tensor:
        """Score triples whose leading dimensions can be broadcast."""
        h, r, t = ensure_complex(h, r, t)
        if _one_to_many(h, t):
            distance = self._distances((h * r)[:, 0], t[0])
        elif _one_to_many(t, h):
            distance = self._distances((t * r.conj())[:, 0], h[0])
        else:  # the same side as PyKEEN turns, so that gradients of r agree too
            x = h - t * r.conj()
            distance = x.abs().sum(-1) if self.p == 1 else _norm(_real(x), 2)
        return -(distance**self.p) if self.power_norm else -distance

    def _distances(self, queries: Tensor, candidates: Tensor) -> Tensor:
        if self.p == 1:
            parts = [x for z in (queries, candidates) for x in torch.view_as_real(z).unbind(-1)]
            return ModulusSums.apply(*(x.contiguous() for x in parts))  # type: ignore[no-any-return,no-untyped-call]
        return _distances(_real(queries), _real(candidates), 2)


class ModulusSums(torch.autograd.Function):
    """Σ_k |q_k − c_k| of all pairs of complex rows, given as real and imaginary parts.

    An array of shape (queries, candidates, d) would be written and read a dozen times. Here a few rows at a time
    stay in the processor's cache, and what the gradient needs is computed again.
    """

    @staticmethod
    def forward(ctx: Any, qx: Tensor, qy: Tensor, cx: Tensor, cy: Tensor) -> Tensor:  # noqa: ANN401  # torch's
        """Return the distances, shape (queries, candidates)."""
        ctx.save_for_backward(qx, qy, cx, cy)
        found = qx.new_empty(len(qx), len(cx))
        for i, j in _few(qx, cx):
            found[i, j] = _moduli(qx[i], qy[i], cx[j], cy[j])[2].sum(-1)
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, ...]:  # noqa: ANN401
        """Return the gradients of the four parts; of a difference of 0 it is 0."""
        qx, qy, cx, cy = ctx.saved_tensors
        of_q, of_c = [torch.zeros_like(qx), torch.zeros_like(qy)], [torch.zeros_like(cx), torch.zeros_like(cy)]
        for i, j in _few(qx, cx):
            x, y, modulus = _moduli(qx[i], qy[i], cx[j], cy[j])
            share = grads[0][i, j, None] / modulus.masked_fill_(modulus == 0, math.inf)
            for part, own, other in zip((x.mul_(share), y.mul_(share)), of_q, of_c, strict=True):
                own[i] += part.sum(1)
                other[j] -= part.sum(0)
        return *of_q, *of_c


_IN_CACHE = 1 << 16
"""Numbers that are worked on at a time."""


def _few(queries: Tensor, candidates: Tensor) -> Iterator[tuple[slice, slice]]:
    n, d = candidates.shape
    columns = max(1, min(n, _IN_CACHE // max(1, d)))
    rows = max(1, _IN_CACHE // (columns * max(1, d)))
    starts = product(range(0, len(queries), rows), range(0, n, columns))
    return ((slice(i, i + rows), slice(j, j + columns)) for i, j in starts)


def _moduli(qx: Tensor, qy: Tensor, cx: Tensor, cy: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    x, y = qx[:, None] - cx, qy[:, None] - cy
    return x, y, (x * x).addcmul_(y, y).sqrt_()


def _one_to_many(query: Tensor, candidates: Tensor) -> bool:
    """Whether the shapes are (b, 1, d) and (1, n, d), which is how PyKEEN's models ask for b × n scores."""
    return query.ndim == candidates.ndim == 3 and query.shape[1] == 1 and candidates.shape[0] == 1


def _distances(queries: Tensor, candidates: Tensor, p: float) -> Tensor:
    return torch.cdist(queries, candidates, p=float(p))


def _norm(x: Tensor, p: float) -> Tensor:
    return x.abs().sum(-1) if p == 1 else x.norm(p=p, dim=-1)


def _real(x: Tensor) -> Tensor:
    return torch.view_as_real(x).flatten(-2)
