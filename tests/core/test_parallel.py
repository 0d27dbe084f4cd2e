"""Work in several processes gives the same results in the same order."""

from __future__ import annotations

import functools
import operator
import os

import numpy as np
import pytest
from hypothesis import given, strategies as st
from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

from nnmfaug.core.parallel import BLOCK_ROWS, Engine, Processes, Serial, blocks, one_thread, tree_sum


def square_and_process(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def fail_at_three(number: int) -> int:
    if number == 3:
        msg = "three"
        raise ValueError(msg)
    return number


@pytest.mark.parametrize("engine", [Serial(), Processes(1), Processes(2)])
def test_results_come_in_the_order_of_the_items(engine: Engine) -> None:
    results = list(engine.map(square_and_process, range(20)))
    assert [square for square, _ in results] == [number**2 for number in range(20)]
    is_elsewhere = any(process != os.getpid() for _, process in results)
    assert is_elsewhere == (engine == Processes(2))


def test_the_work_may_carry_data() -> None:
    work = functools.partial(operator.mul, 3)
    assert list(Processes(2).map(work, [1, 2])) == [3, 6]


def test_an_error_in_a_process_is_raised_here() -> None:
    with pytest.raises(ValueError, match="three"):
        list(Processes(2).map(fail_at_three, range(5)))


def test_no_items_give_no_results() -> None:
    assert list(Processes(2).map(square_and_process, [])) == []


def test_less_than_one_worker_is_refused() -> None:
    with pytest.raises(ValueError, match="workers=0: must be at least 1"):
        Processes(0)


@given(n_rows=st.integers(0, 300), size=st.integers(1, 50))
def test_blocks_cover_every_row_once_in_order(n_rows: int, size: int) -> None:
    rows = [row for block in blocks(n_rows, size) for row in range(n_rows)[block]]
    assert rows == list(range(n_rows))
    assert all(0 < block.stop - block.start <= size for block in blocks(n_rows, size))


def test_the_default_block_does_not_change() -> None:
    assert BLOCK_ROWS == 65_536, "another size changes the rounding of sums, and so published results"


@given(n_parts=st.integers(1, 40))
def test_a_tree_sum_adds_every_part_once(n_parts: int) -> None:
    parts = [np.eye(1, n_parts, i) for i in range(n_parts)]
    np.testing.assert_array_equal(tree_sum(parts), np.ones((1, n_parts)))


def test_a_tree_sum_adds_neighbours_first() -> None:
    parts = [np.array([value]) for value in (1e16, 1.0, -1e16, 1.0, 0.5)]
    assert tree_sum(parts)[0] == ((1e16 + 1.0) + (-1e16 + 1.0)) + 0.5


def test_a_tree_sum_leaves_its_parts_alone() -> None:
    part = np.ones(2)
    tree_sum([part, part, part])
    np.testing.assert_array_equal(part, np.ones(2))


def test_nothing_cannot_be_added() -> None:
    with pytest.raises(ValueError, match="nothing to add"):
        tree_sum([])


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_blas_has_one_thread_inside_and_gets_the_others_back() -> None:
    before = blas_threads()
    with one_thread():
        assert blas_threads() == {1}
    assert blas_threads() == before
