"""Adam for tables of which a step looks up some rows: the steps of torch's Adam, without a pass over every table.

Adam moves every weight at every step, also where the gradient is 0. torch makes such steps with dense gradients
only: each look-up of an embedding fills a table, and each step reads and writes four of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product
from typing import Any

import torch
from torch import Tensor, optim

from nnmfaug.core.checks import require

_MANY_ROWS = 8
"""Rows wait if the table has so many times the rows of a step, or more; otherwise one pass over all is faster."""
_ATTRIBUTE = "waiting_rows"
"""Where a table keeps what its rows wait for."""
_NOTHING = 1e-18
"""A gradient that has faded to this fraction moves nothing any more."""
_ABSENT = ("weight_decay", "amsgrad", "maximize")
"""Options of torch's Adam that are not here."""


class TableAdam(optim.Adam):
    """Adam for sparse gradients of tables, equal to torch's Adam for dense ones up to rounding.

    The rows of a small table are moved at every step. In a large table a row waits until it is looked up:
    :func:`catch_up` then makes the steps that it missed at once, up to rounding and to first order in ε. Before
    weights are used in any other way, :func:`finish` makes all of them.

    Examples
    --------
    >>> table = torch.nn.Embedding(3, 1, sparse=True, _weight=torch.ones(3, 1))
    >>> optimizer = TableAdam(table.parameters(), lr=0.5)
    >>> table(torch.tensor([0, 0])).sum().backward()
    >>> optimizer.step()
    >>> [round(each, 4) for each in table.weight.flatten().tolist()]
    [0.5, 1.0, 1.0]
    """

    def __init__(self, params: Iterable[Tensor], **kwargs: Any) -> None:  # noqa: ANN401  # Adam's own
        super().__init__(params, **kwargs)
        for group, name in product(self.param_groups, _ABSENT):
            require(not group[name], f"{name}={group[name]}: TableAdam does not have it")
        for beta1, beta2 in (group["betas"] for group in self.param_groups):
            require(beta1 < beta2, f"betas=({beta1}, {beta2}): the first must be below the second")
        self._tables: dict[Tensor, _Summed | _Waiting] = {}

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:  # noqa: ANN401  # torch's
        """Make a step; a closure is refused."""
        require(closure is None, "TableAdam takes no closure")
        groups = [(each, group) for group in self.param_groups for each in group["params"]]
        sparse = [(each, group) for each, group in groups if each.grad is not None and each.grad.is_sparse]
        gradients: dict[Tensor, Any] = {each: each.grad for each, _ in sparse}
        for weights, group in sparse:
            if weights not in self._tables:
                self._tables[weights] = _make_table(weights, gradients[weights], group)
            weights.grad = self._tables[weights].prepare(gradients[weights], group)
        super().step()
        for weights, gradient in gradients.items():
            self._tables[weights].clear(gradient)
            weights.grad = None

    def state_dict(self) -> dict[str, Any]:
        """Return the state of torch's Adam; that of tables cannot be saved."""
        require(not self._tables, "TableAdam: the state of tables cannot be saved")
        return super().state_dict()


def catch_up(weights: Tensor, rows: Tensor | None = None) -> None:
    """Make the steps that some rows of a table missed, or all: before they are looked up.

    A table knows whether its rows wait: PyKEEN's loops replace the optimiser, so an embedding cannot know it.
    """
    table: _Waiting | None = getattr(weights, _ATTRIBUTE, None)
    if table is not None:
        table.catch_up(rows)


def finish(weights: Tensor) -> None:
    """Make the steps that all rows of a table missed; nothing waits any more."""
    catch_up(weights)
    if hasattr(weights, _ATTRIBUTE):
        delattr(weights, _ATTRIBUTE)


def _make_table(weights: Tensor, gradient: Tensor, group: dict[str, Any]) -> _Summed | _Waiting:
    n_rows = gradient._indices().shape[1]  # noqa: SLF001  # not coalesced
    finish(weights)  # an earlier optimiser may have left steps to make
    if weights.ndim != 2 or len(weights) < _MANY_ROWS * n_rows:
        return _Summed(weights)
    table = _Waiting(weights, group)
    setattr(weights, _ATTRIBUTE, table)
    return table


class _Summed:
    """Sums the gradients of a step up in one table, of which only the rows that were used are cleared."""

    def __init__(self, weights: Tensor) -> None:
        self.total = torch.zeros_like(weights)

    def prepare(self, gradient: Tensor, _: dict[str, Any]) -> Tensor:
        """Return the dense gradient, for torch's Adam."""
        return self.total.index_add_(0, gradient._indices()[0], gradient._values())  # noqa: SLF001

    def clear(self, gradient: Tensor) -> None:
        """Forget the gradient."""
        self.total.index_fill_(0, gradient._indices()[0], 0)  # noqa: SLF001


class _Waiting:
    """A table whose rows wait: the moments m and v of a row are those of the last step that it made.

    If a row has no gradient after step s, step j moves a weight by

        cⱼ m / (√v / uⱼ + ε)    with    cⱼ = lr · β₁ʲ⁻ˢ / (1 − β₁ʲ)    and    uⱼ = √(1 − β₂ʲ) / β₂⁽ʲ⁻ˢ⁾ᐟ².

    All that it missed until step n are m · W₁ / (√v + ε · W₂ / W₁), where W₁ = Σ cⱼ uⱼ and W₂ = Σ cⱼ uⱼ² depend on
    s and n alone. That is exact for ε = 0, and to first order in ε.
    """

    def __init__(self, weights: Tensor, group: dict[str, Any]) -> None:
        place = weights.device
        n_rows, width = weights.shape
        self.weights = weights
        self.moments = torch.zeros(n_rows, 2, width, dtype=weights.dtype, device=place)
        """m and v of each row."""
        self.betas = torch.tensor(group["betas"], dtype=torch.double, device=place)
        self.eps = group["eps"]
        self.n_steps = 0
        self.last = torch.zeros(n_rows, dtype=torch.long, device=place)
        """The step of which the moments of each row are; 0 until it has a gradient."""
        self.sums = torch.zeros(1, 2, dtype=torch.double)
        """W₁ and W₂ for each s."""
        beta1, beta2 = group["betas"]
        memory = math.ceil(math.log(_NOTHING) / math.log(beta1 / beta2)) if beta1 else 1
        ages = torch.arange(memory, 0, -1)[:, None]
        self.fading = torch.tensor([beta1 / math.sqrt(beta2), beta1 / beta2], dtype=torch.double) ** ages
        self.rows, self.moments_now = self.last[:0], self.moments[:0]
        """The rows that were looked up last, and their moments, which are not stored yet."""

    def prepare(self, gradient: Tensor, group: dict[str, Any]) -> None:
        """Make a step of the rows that have a gradient; torch's Adam has nothing left to do."""
        summed = gradient.coalesce()
        rows = summed.indices()[0]
        if not torch.equal(rows, self.rows):
            self.catch_up(rows)
        self._count_step(group["lr"])
        values = summed.values()
        beta1, beta2 = self.betas.tolist()
        m, v = self.moments_now.unbind(1)
        m.lerp_(values, 1 - beta1)
        v.mul_(beta2).addcmul_(values, values, value=1 - beta2)
        size = v.sqrt().div_(math.sqrt(1 - beta2**self.n_steps)).add_(self.eps)
        rate = group["lr"] / (1 - beta1**self.n_steps)
        self.weights.data.index_add_(0, rows, torch.div(m, size, out=size), alpha=-rate)
        self._store()

    def clear(self, gradient: Tensor) -> None:
        """Nothing is left to forget."""

    def catch_up(self, rows: Tensor | None) -> None:
        """Make the steps that some rows missed, or all."""
        self._store()
        rows = torch.arange(len(self.last), device=self.last.device) if rows is None else torch.unique(rows)
        last = self.last.index_select(0, rows)  # several times as fast as self.last[rows]
        now = self.moments.index_select(0, rows)
        first, second = self.sums[last.cpu()].to(now).T[:, :, None]
        m, v = now.unbind(1)
        size = v.sqrt().add_((self.eps * second / first).nan_to_num_(self.eps))  # a row may have missed nothing
        self.weights.data.index_add_(0, rows, (m * first).div_(size), alpha=-1)
        fading = self.betas ** (self.n_steps - last)[:, None]
        self.rows, self.moments_now = rows, now.mul_(fading[:, :, None].to(now))

    def _store(self) -> None:
        """Store the moments of the rows that were looked up last."""
        self.moments.index_copy_(0, self.rows, self.moments_now)
        self.last.index_fill_(0, self.rows, self.n_steps)
        self.rows, self.moments_now = self.rows[:0], self.moments_now[:0]

    def _count_step(self, lr: float) -> None:
        """Add the next step to the sums of those before it."""
        self.n_steps += 1
        n = self.n_steps
        if n >= len(self.sums):
            self.sums = torch.cat([self.sums, torch.zeros_like(self.sums)])
        beta1, beta2 = self.betas.tolist()
        u = math.sqrt(1 - beta2**n)
        start = max(n - len(self.fading), 0)
        self.sums[start:n] += (
            self.fading[start - n :] * torch.tensor([u, u**2], dtype=torch.double) * (lr / (1 - beta1**n))
        )
