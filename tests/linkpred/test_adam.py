"""Adam with sparse gradients makes the steps of torch's Adam with dense ones, whether rows wait or not."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn, optim

from nnmfaug.linkpred.adam import TableAdam, _Waiting, catch_up, finish

N_ROWS, WIDTH = 200, 4


def look_up(table: Tensor, rows: Tensor, *, sparse: bool) -> Tensor:
    return nn.functional.embedding(rows, table, sparse=sparse)


def tolerance_of(scale: float) -> float:
    """Some gradients are as small as Adam's ε if they are scaled down; a weight moves by up to 0.01 a step."""
    return 1e-5 if scale == 1 else 1e-4


def train(
    n_steps: int, n_rows: int, scale: float = 1.0, dtype: torch.dtype = torch.float, **options: Any
) -> tuple[Tensor, Tensor, Tensor, TableAdam]:
    """Make steps of both optimisers with the same rows; return the start, both tables and ours."""
    torch.manual_seed(0)
    start = torch.randn(N_ROWS, WIDTH, dtype=dtype)
    sparse, dense = (nn.Parameter(start.clone()) for _ in range(2))
    ours = TableAdam([sparse], lr=0.01, fused=True, **options)
    theirs = optim.Adam([dense], lr=0.01, **options)
    for i in range(n_steps):
        rows = torch.randint(N_ROWS - 1, (n_rows,))  # some repeat; the last row is never looked up
        targets = torch.randn(n_rows, WIDTH, dtype=dtype)
        if i % 50 == 49:
            catch_up(sparse)  # as an evaluation does
        catch_up(sparse, rows)
        torch.testing.assert_close(sparse[rows], dense[rows], rtol=1e-4, atol=tolerance_of(scale))
        for table in (sparse, dense):
            vectors = look_up(table, rows, sparse=table is sparse)
            (vectors - targets).square().sum().mul(scale).backward()  # type: ignore[no-untyped-call]
        for optimizer in (ours, theirs):
            optimizer.step()
            optimizer.zero_grad()
            optimizer.param_groups[0]["lr"] = 0.01 if i < n_steps // 2 else 0.002
    catch_up(sparse)
    return start, sparse.detach(), dense.detach(), ours


@pytest.mark.parametrize("scale", [1.0, 1e-4])
@pytest.mark.parametrize(("n_rows", "waits"), [(2, True), (25, True), (26, False), (150, False)])
def test_it_makes_the_steps_of_torch(n_rows: int, waits: bool, scale: float) -> None:
    start, ours, theirs, optimizer = train(600, n_rows, scale)
    assert all(isinstance(table, _Waiting) is waits for table in optimizer._tables.values())
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=tolerance_of(scale))
    assert (ours - start).abs().max() > 0.3
    assert torch.equal(ours[-1], start[-1]), "a row without a gradient does not move"


def test_a_row_waits_until_it_is_looked_up() -> None:
    table = nn.Parameter(torch.ones(100, 1))
    optimizer = TableAdam([table], lr=0.1)
    after = []
    for row in (7, 8, 8):
        catch_up(table, torch.tensor([row]))
        look_up(table, torch.tensor([row]), sparse=True).sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        after.append(table[7].item())
    assert after[0] == after[1] == after[2] == pytest.approx(0.9)
    catch_up(table, torch.tensor([[9]]))
    assert table[7].item() == after[0]
    catch_up(table, torch.tensor([[7]]))
    assert table[7].item() < 0.85
    once = table[7].item()
    catch_up(table)
    assert table[7].item() == once, "it does not make a step twice"


@pytest.mark.parametrize("betas", [(0.9, 0.999), (0.97, 0.99), (0.0, 0.9), (0.99, 0.999)])
def test_in_double_precision_and_with_a_small_epsilon_it_is_exact(betas: tuple[float, float]) -> None:
    start, ours, theirs, _ = train(700, 3, dtype=torch.double, betas=betas, eps=1e-16)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-11)
    assert (ours - start).abs().max() > 0.1


def look_up_and_step(table: nn.Parameter, optimizer: TableAdam, row: int) -> None:
    rows = torch.tensor([row])
    catch_up(table, rows)
    look_up(table, rows, sparse=True).sum().backward()  # type: ignore[no-untyped-call]
    optimizer.step()


def test_two_tables_wait_for_themselves() -> None:
    one, other = (nn.Parameter(torch.ones(100, 1)) for _ in range(2))
    optimizer = TableAdam([one, other], lr=0.1)
    alone = nn.Parameter(torch.ones(100, 1))
    optimizer_alone = TableAdam([alone], lr=0.1)
    for row in (3, 3, 4):
        look_up(other, torch.tensor([row + 1]), sparse=True).sum().backward()  # type: ignore[no-untyped-call]
        look_up_and_step(one, optimizer, row)
        look_up_and_step(alone, optimizer_alone, row)
    for table in (one, alone):
        finish(table)
    assert torch.equal(one, alone)


def test_a_later_optimizer_leaves_no_step_out() -> None:
    table = nn.Parameter(torch.ones(100, 1))
    first = TableAdam([table], lr=0.1)
    look_up_and_step(table, first, 5)
    look_up_and_step(table, first, 6)
    before = table[5].item()
    look_up_and_step(table, TableAdam([table], lr=0.1), 7)
    assert table[5].item() < before, "row 5 has made the second step"


def test_a_finished_table_waits_for_nothing() -> None:
    table = nn.Parameter(torch.ones(100, 1))
    optimizer = TableAdam([table], lr=0.1)
    for row in (5, 6):
        look_up_and_step(table, optimizer, row)
    finish(table)
    weights = table.detach().clone()
    catch_up(table)
    assert torch.equal(table, weights)
    assert vars(table) == {}


@pytest.mark.parametrize("option", [{"weight_decay": 0.1}, {"amsgrad": True}, {"maximize": True}])
def test_options_that_it_does_not_have_are_refused(option: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(option))}=.*: TableAdam does not have it"):
        TableAdam([nn.Parameter(torch.ones(2))], lr=0.1, **option)


def test_what_would_go_wrong_silently_is_refused() -> None:
    table = nn.Parameter(torch.ones(100, 1))
    optimizer = TableAdam([table], lr=0.1)
    with pytest.raises(ValueError, match="closure"):
        optimizer.step(lambda: 0.0)
    look_up_and_step(table, optimizer, 5)
    with pytest.raises(ValueError, match="cannot be saved"):
        optimizer.state_dict()
    with pytest.raises(ValueError, match="the first must be below the second"):
        TableAdam([table], lr=0.1, betas=(0.9, 0.5))
