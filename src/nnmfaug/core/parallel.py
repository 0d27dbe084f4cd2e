"""Work in one process or several, with bit-identical results.

The size of a block of work depends on the data only, results are returned in the order of the blocks, and sums
are taken pairwise in that order. So one process and eight give the same numbers, bit for bit.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, TypeVar, cast

from nnmfaug.core.arrays import Array
from nnmfaug.core.checks import check_at_least, require
from nnmfaug.core.signals import uninterrupted, without_ctrl_c

T = TypeVar("T")
R = TypeVar("R")

BLOCK_ROWS = 1 << 16
"""Number of rows of a matrix, or proposals of a sampler, in one block."""


PATIENCE = 0.2
"""Seconds without a look at signals."""


class Engine(Protocol):
    """Applies a function to items and returns the results in order."""

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """Yield ``work(item)`` for each item, in the order of the items."""
        ...


@dataclass(frozen=True)
class Serial:
    """Run everything in this process.

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
    """Run work in several processes on this machine. ``work`` and the items must be picklable."""

    workers: int

    def __post_init__(self) -> None:
        check_at_least("workers", self.workers, 1)

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """Yield ``work(item)`` for each item, in the order of the items."""
        if self.workers == 1 or len(items) < 2:
            yield from map(work, items)
            return
        # Not fork: this process may have threads (BLAS, DuckDB), and a fork would copy their locks.
        context = multiprocessing.get_context("spawn")
        n_workers = min(self.workers, len(items))
        with ProcessPoolExecutor(n_workers, context, _set_work, initargs=(work,)) as pool, _ending_workers():
            with uninterrupted(), without_ctrl_c():
                futures = deque(pool.submit(_do_work, item) for item in items)
            while futures:
                yield cast("R", _result(futures.popleft()))


def _result(future: Future[object]) -> object:
    """Wait for a result, and be awake now and then.

    A signal may reach another thread of this process. CPython 3.11 then does not wake a main thread that waits.
    """
    while not wait([future], timeout=PATIENCE).done:
        pass
    return future.result()


@contextmanager
def _ending_workers() -> Iterator[None]:
    """End the workers at once on an error, instead of waiting for work that nobody needs."""
    others = set(multiprocessing.active_children())
    try:
        yield
    except BrokenProcessPool as error:
        msg = "a worker process was ended by the system, probably for lack of memory; use fewer workers"
        raise MemoryError(msg) from error
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise


_work_of_process: list[Callable[..., object]] = []
"""In a worker process: the function to apply."""


def _set_work(work: Callable[..., object]) -> None:
    """Store the function in a worker process, so that its data are sent once and not with every item."""
    _work_of_process[:] = [work]


def _do_work(item: object) -> object:
    return _work_of_process[0](item)


def one_thread() -> AbstractContextManager[object]:
    """Limit BLAS to one thread in a ``with`` block.

    The matrices here are narrow, so threads do not pay; and several threads add numbers in varying order.
    """
    return cast("AbstractContextManager[object]", _thread_pools().limit(limits=1, user_api="blas"))


@cache
def _thread_pools() -> Any:  # noqa: ANN401  # threadpoolctl has no types
    """Return the thread pools of the libraries numpy uses; finding them takes milliseconds, so it is done once."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


def blas_libraries() -> list[str]:
    """Return name, version and kernels of each BLAS library in use, such as ``openblas 0.3.31 SkylakeX``."""
    from threadpoolctl import threadpool_info

    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    parts = ("internal_api", "version", "architecture")
    names = {" ".join(str(pool.get(part) or "unknown") for part in parts) for pool in pools}
    return sorted(names)


def blocks(n_rows: int, size: int = BLOCK_ROWS) -> list[slice]:
    """Return slices of a fixed size that cover all rows; the last may be shorter.

    Examples
    --------
    >>> blocks(5, size=2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def tree_sum(parts: Iterable[Array]) -> Array:
    """Return the sum of arrays, added pairwise and neighbours first, so that the result has a fixed rounding.

    Examples
    --------
    >>> import numpy as np
    >>> tree_sum([np.array([1.0]), np.array([2.0]), np.array([3.0])])
    array([6.])
    """
    sums = list(parts)
    require(len(sums) > 0, "nothing to add")
    while len(sums) > 1:
        pairs = [sums[i] + sums[i + 1] for i in range(0, len(sums) - 1, 2)]
        unpaired = sums[2 * len(pairs) :]
        sums = pairs + unpaired
    return sums[0]
