"""Several processes on this machine."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from nnmfaug.core.checks import check_at_least
from nnmfaug.core.engines.base import in_order
from nnmfaug.core.engines.tasks import Outcome, run_task
from nnmfaug.core.signals import uninterrupted, without_ctrl_c

T = TypeVar("T")
R = TypeVar("R")

PATIENCE = 0.2
"""Seconds without a look at signals."""


@dataclass(frozen=True)
class Processes:
    """Run work in several processes on this machine. ``work`` and the items must be picklable."""

    workers: int

    def __post_init__(self) -> None:
        check_at_least("workers", self.workers, 1)

    @property
    def n_workers(self) -> int:
        """Number of processes."""
        return self.workers

    def as_finished(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[tuple[int, R]]:
        """Yield the place of an item and ``work(item)``, whichever is finished first."""
        if self.workers == 1 or len(items) < 2:
            yield from enumerate(map(work, items))
            return
        # Not fork: this process may have threads (BLAS, DuckDB), and a fork would copy their locks.
        context = multiprocessing.get_context("spawn")
        n_workers = min(self.workers, len(items))
        with ProcessPoolExecutor(n_workers, context, _set_work, initargs=(work,)) as pool, _ending_workers():
            with uninterrupted(), without_ctrl_c():
                places = {pool.submit(_do_work, item): place for place, item in enumerate(items)}
            while places:
                for future in _finished(places):
                    yield places.pop(future), cast("R", future.result().deliver())

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """Yield ``work(item)`` for each item, in the order of the items."""
        return in_order(self.as_finished(work, items))


def _finished(futures: dict[Future[Outcome[Any]], int]) -> list[Future[Outcome[Any]]]:
    """Wait for the next results, and be awake now and then; return them in the order of their places.

    A signal may reach another thread of this process. CPython 3.11 then does not wake a main thread that waits.
    """
    while True:
        done = wait(futures, PATIENCE, FIRST_COMPLETED).done
        if done:
            return sorted(done, key=futures.__getitem__)


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


def _do_work(item: object) -> Outcome[object]:
    return run_task(_work_of_process[0], item)
