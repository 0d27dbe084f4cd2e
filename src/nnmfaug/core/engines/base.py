"""What an engine is, and which one is in use.

The same functions run on every engine, on blocks of work whose size depends on the data only. Their results are
put together in the order of the blocks, so one process, eight, and a cluster give the same numbers, bit for bit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Engine(Protocol):
    """Applies a function to items. The function must do the same if it is called again."""

    @property
    def n_workers(self) -> int:
        """Number of items that are worked on at a time."""
        ...

    def as_finished(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[tuple[int, R]]:
        """Yield the place of an item and ``work(item)``, whichever is finished first."""
        ...

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

    n_workers: ClassVar[int] = 1

    def as_finished(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[tuple[int, R]]:
        """Yield the place of an item and ``work(item)``, in the order of the items."""
        return enumerate(map(work, items))

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """Yield ``work(item)`` for each item, in the order of the items."""
        return map(work, items)


_engine: ContextVar[Engine] = ContextVar("nnmfaug_engine", default=Serial())  # noqa: B039  # it is frozen


def current_engine() -> Engine:
    """Return the engine in use."""
    return _engine.get()


@contextmanager
def running_on(engine: Engine) -> Iterator[Engine]:
    """Run all work inside the ``with`` block on an engine; results do not depend on it.

    Examples
    --------
    >>> import nnmfaug as na
    >>> train = na.read_splits("nations").train
    >>> with na.running_on(na.Processes(2)):
    ...     rules = na.Rules().mine(train)
    >>> len(rules) == len(na.Rules().mine(train))
    True
    """
    token = _engine.set(engine)
    try:
        yield engine
    finally:
        _engine.reset(token)


def in_order(results: Iterable[tuple[int, R]]) -> Iterator[R]:
    """Yield numbered results by their numbers, each as soon as those before it are there.

    Examples
    --------
    >>> list(in_order([(1, "b"), (0, "a"), (2, "c")]))
    ['a', 'b', 'c']
    """
    waiting: dict[int, R] = {}
    place = 0
    for number, result in results:
        waiting[number] = result
        while place in waiting:
            yield waiting.pop(place)
            place += 1


def n_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
