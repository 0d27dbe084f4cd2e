"""Fast TransE and RotatE against PyKEEN's own and against the formulas of the paper's Table 3."""

from typing import Any

import numpy as np
import pytest
import torch
from pykeen.nn.modules import RotatEInteraction, TransEInteraction
from torch import Tensor

from nnmfaug.linkpred.interactions import FastRotatE, FastTransE

SHAPES = {
    "triples": ((7, 5), (7, 5), (7, 5)),
    "tails": ((7, 1, 5), (7, 1, 5), (1, 40, 5)),
    "heads": ((1, 40, 5), (7, 1, 5), (7, 1, 5)),
    "own negatives": ((7, 1, 5), (7, 1, 5), (7, 3, 5)),
    "one query": ((1, 1, 5), (1, 1, 5), (1, 40, 5)),
}


class Squared(RotatEInteraction):
    """What PyKEEN's should be with ``power_norm=True``, which its forward of 1.11.1 does not look at."""

    def __init__(self) -> None:
        super().__init__(power_norm=True)

    def forward(self, h: Tensor, r: Tensor, t: Tensor) -> Tensor:
        return -(super().forward(h, r, t) ** 2)


class Moduli(RotatEInteraction):
    """RotatE as its authors have it, the sum of the moduli; PyKEEN's forward does not look at ``p`` either."""

    def __init__(self) -> None:
        super().__init__(p=1)

    def forward(self, h: Tensor, r: Tensor, t: Tensor) -> Tensor:
        return -(h * r - t).abs().sum(-1)


PAIRS: list[tuple[Any, Any]] = [
    (FastTransE(p=1), TransEInteraction(p=1)),
    (FastTransE(p=2), TransEInteraction(p=2)),
    (FastTransE(p=2, power_norm=True), TransEInteraction(p=2, power_norm=True)),
    (FastRotatE(), RotatEInteraction()),
    (FastRotatE(power_norm=True), Squared()),
    (FastRotatE(p=1), Moduli()),
]


def draw(shapes: tuple[tuple[int, ...], ...], *, rotate: bool) -> list[Tensor]:
    rng = torch.Generator().manual_seed(0)
    if not rotate:
        return [torch.randn(shape, generator=rng).requires_grad_() for shape in shapes]
    h, r, t = (torch.randn((*shape, 2), generator=rng) for shape in shapes)
    r = r / r.norm(dim=-1, keepdim=True)
    return [torch.view_as_complex(x).requires_grad_() for x in (h, r, t)]


@pytest.mark.parametrize("shapes", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize(("fast", "stock"), PAIRS, ids=lambda x: f"{type(x).__name__}-{x.p}-{x.power_norm}")
def test_scores_and_gradients_are_those_of_pykeen(fast: Any, stock: Any, shapes: Any) -> None:
    results = []
    for interaction in (fast, stock):
        parts = draw(shapes, rotate=isinstance(stock, RotatEInteraction))
        scores = interaction(*parts)
        weights = torch.linspace(-1, 1, scores.numel()).view(scores.shape)
        (scores * weights).sum().backward()
        results.append([scores.detach(), *(x.grad for x in parts)])
    names = ("scores", "head", "relation", "tail")
    for name, ours, theirs in zip(names, *results, strict=True):
        if name == "relation" and isinstance(stock, RotatEInteraction):
            continue  # see the next test
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5, msg=name)


@pytest.mark.parametrize("pair", [(FastRotatE(), RotatEInteraction()), (FastRotatE(p=1), Moduli())], ids=[2, 1])
@pytest.mark.parametrize("shapes", SHAPES.values(), ids=SHAPES)
def test_gradients_of_angles_are_those_of_pykeen(shapes: Any, pair: Any) -> None:
    """Along a rotation; across it, |r| changes, which RotatE does not have, and the two forms differ."""
    found = []
    for interaction in pair:
        h, _, t = draw(shapes, rotate=True)
        angles = torch.linspace(-3, 3, int(np.prod(shapes[1]))).view(shapes[1]).requires_grad_()
        scores = interaction(h, torch.polar(torch.ones_like(angles), angles), t)
        (scores * torch.linspace(-1, 1, scores.numel()).view(scores.shape)).sum().backward()
        found.append(angles.grad)
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-5)


def test_transe_is_the_formula_of_the_paper() -> None:
    h, r, t = (x.detach() for x in draw(SHAPES["triples"], rotate=False))
    for p in (1, 2):
        expected = [-np.linalg.norm((h + r - t)[i].numpy(), p) for i in range(7)]
        np.testing.assert_allclose(FastTransE(p=p)(h, r, t).numpy(), expected, rtol=1e-5)


def test_rotate_with_the_squared_norm_is_the_formula_of_the_paper() -> None:
    h, r, t = (x.detach() for x in draw(SHAPES["triples"], rotate=True))
    difference = h.numpy() * r.numpy() - t.numpy()
    np.testing.assert_allclose(
        FastRotatE(power_norm=True)(h, r, t).numpy(), -(np.abs(difference) ** 2).sum(1), rtol=1e-4
    )


def test_rotate_refuses_another_norm() -> None:
    with pytest.raises(ValueError, match="p=3: RotatE has the norms 1 and 2"):
        FastRotatE(p=3)


@pytest.mark.parametrize(("n_queries", "n_candidates"), [(4000, 30), (3, 9000), (0, 5), (5, 0)])
def test_sums_of_moduli_are_right_in_all_blocks(n_queries: int, n_candidates: int) -> None:
    rng, found = torch.Generator().manual_seed(1), []
    parts = [torch.randn(n, 9, dtype=torch.cfloat, generator=rng) for n in (n_queries, n_candidates)]
    for interaction in (FastRotatE(p=1), Moduli()):
        h, t = parts[0][:, None].clone().requires_grad_(), parts[1][None].clone().requires_grad_()
        scores = interaction(h, torch.ones_like(h), t)
        (scores * torch.linspace(-1, 1, scores.numel()).view(scores.shape)).sum().backward()
        found.append((scores.detach(), h.grad, t.grad))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_a_distance_of_zero_has_no_direction() -> None:
    h = torch.randn(2, 1, 9, dtype=torch.cfloat, generator=torch.Generator().manual_seed(1)).requires_grad_()
    scores = FastRotatE(p=1)(h, torch.ones_like(h), h.detach()[:1])
    (50 * scores[0, 0]).backward()
    assert scores[0, 0] == 0
    assert h.grad is not None
    assert not h.grad.any()


def test_norms_can_be_told_apart() -> None:
    ways = [FastRotatE(p=1), FastRotatE(), FastRotatE(power_norm=True), FastTransE(p=1), FastTransE(p=2)]
    assert len({repr(way) for way in ways}) == len(ways)
