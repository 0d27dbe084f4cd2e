"""How work is spread over processes without changing a bit of its result.

Work is cut into blocks by the size of the data alone, results come back in the order of the blocks, and sums are
taken over them pairwise in that order. So one process and eight give the same numbers, bit for bit.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
R = TypeVar("R")

BLOCK_ROWS = 1 << 16
"""Rows of a matrix, or proposals of a sampler, that one task takes."""


class Engine(Protocol):
    """Applies a function to items, in order."""

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """Yield ``work(item)`` for each item, in the order of the items."""
        ...


@dataclass(frozen=True)
class Serial:
    """Everything in this process.

    Examples
    --------
    >>> list(Serial().map(abs, [-1, 2]))
    [1, 2]
    """

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """Yield ``work(item)`` for each item, in the order of the items."""
        return map(work, items)


@dataclass(frozen=True)
class Processes:
    """Spread over processes of this machine. ``work`` and the items must be picklable."""

    workers: int

    def __post_init__(self) -> None:
        if self.workers < 1:
            msg = f"workers={self.workers}: must be at least 1"
            raise ValueError(msg)

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """Yield ``work(item)`` for each item, in the order of the items."""
        if self.workers == 1 or len(items) < 2:
            yield from map(work, items)
            return
        # Not fork: this process may have threads (BLAS, DuckDB), and a fork would copy their locks.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(
            min(self.workers, len(items)), mp_context=context, initializer=_receive, initargs=(work,)
        ) as pool:
            yield from cast("Iterator[R]", pool.map(_call, items))


_received: list[Callable[..., object]] = []


def _receive(work: Callable[..., object]) -> None:
    """Keep the function in the worker: what it carries is sent once, not with every item."""
    _received[:] = [work]


def _call(item: object) -> object:
    return _received[0](item)


def one_thread() -> AbstractContextManager[object]:
    """While open, BLAS has one thread: matrices here are narrow, and threads would add up in their own order."""
    return cast("AbstractContextManager[object]", _pools().limit(limits=1, user_api="blas"))


@cache
def _pools() -> Any:  # noqa: ANN401  # it has no types
    """The libraries that numpy uses; to look for them takes milliseconds, so it is done once."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


def blocks(n_rows: int, size: int = BLOCK_ROWS) -> list[slice]:
    """Cut rows into slices of a fixed size.

    Examples
    --------
    >>> blocks(5, size=2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def tree_sum(parts: Iterable[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Add arrays pairwise, neighbours first, whatever made them.

    Examples
    --------
    >>> tree_sum([np.array([1.0]), np.array([2.0]), np.array([3.0])])
    array([6.])
    """
    level = list(parts)
    if not level:
        msg = "nothing to add"
        raise ValueError(msg)
    while len(level) > 1:
        pairs = [level[i] + level[i + 1] for i in range(0, len(level) - 1, 2)]
        level = pairs + level[len(level) - len(level) % 2 :]
    return level[0]
