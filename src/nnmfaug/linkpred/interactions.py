"""TransE and RotatE for a processor: the scores of PyKEEN's interactions, one to many by a matrix product.

PyKEEN broadcasts every query against every candidate, which makes an array of shape (queries, candidates, d).
A distance needs only norms and one matrix product; and the norm of complex numbers, slow in torch, is the norm of
their real and imaginary parts.
"""

from __future__ import annotations

import torch
from pykeen.nn.modules import RotatEInteraction, TransEInteraction
from pykeen.utils import ensure_complex
from torch import Tensor


class FastTransE(TransEInteraction):
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


class FastRotatE(RotatEInteraction):
    """−‖h ∘ r − t‖ over complex numbers; the paper's Table 3 squares it, which is ``power_norm=True``.

    PyKEEN 1.11.1 takes that argument and does not look at it. Only p = 2. Relations are taken to be rotations,
    |r| = 1, as RotatE has them: then ‖h ∘ r − t‖ is also ‖h − t ∘ r̄‖, and a query can be turned instead of all
    candidates.
    """

    def __init__(self, p: int = 2, power_norm: bool = False) -> None:
        if p != 2:
            msg = f"p={p}: RotatE by a matrix product knows p=2 only"
            raise ValueError(msg)
        super().__init__(p=p, power_norm=power_norm)

    def forward(self, h: Tensor, r: Tensor, t: Tensor) -> Tensor:
        """Score triples whose leading dimensions can be broadcast."""
        h, r, t = ensure_complex(h, r, t)
        if _one_to_many(h, t):
            distance = _distances(_real(h * r)[:, 0], _real(t)[0], 2)
        elif _one_to_many(t, h):
            distance = _distances(_real(t * r.conj())[:, 0], _real(h)[0], 2)
        else:  # the same side as PyKEEN turns, so that gradients of r agree too
            distance = _norm(_real(h - t * r.conj()), 2)
        return -(distance**2) if self.power_norm else -distance


def _one_to_many(query: Tensor, candidates: Tensor) -> bool:
    """Whether the shapes are (b, 1, d) and (1, n, d), which is how PyKEEN's models ask for b × n scores."""
    return query.ndim == candidates.ndim == 3 and query.shape[1] == 1 and candidates.shape[0] == 1


def _distances(queries: Tensor, candidates: Tensor, p: float) -> Tensor:
    return torch.cdist(queries, candidates, p=float(p))


def _norm(x: Tensor, p: float) -> Tensor:
    return x.abs().sum(-1) if p == 1 else x.norm(p=p, dim=-1)


def _real(x: Tensor) -> Tensor:
    return torch.view_as_real(x).flatten(-2)
