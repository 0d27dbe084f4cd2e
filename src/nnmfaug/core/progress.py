"""Progress of long work: the library reports it, the command line decides what to show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Reporter = Callable[[str, int, int], None]
"""Called with the name of a task, the amount done, and the total amount."""

_reporter: ContextVar[Reporter | None] = ContextVar("nnmfaug_progress", default=None)


def report(task: str, done: int, total: int) -> None:
    """Report that ``done`` of ``total`` is done; without a reporter, do nothing."""
    reporter = _reporter.get()
    if reporter is not None:
        reporter(task, done, total)


def current() -> Reporter | None:
    """Return the reporter that receives reports, if there is one."""
    return _reporter.get()


@contextmanager
def reporting_to(reporter: Reporter) -> Iterator[None]:
    """Send every report made inside the ``with`` block to ``reporter``.

    Examples
    --------
    >>> with reporting_to(lambda task, done, total: print(f"{task}: {done}/{total}")):
    ...     report("reading", 1, 2)
    reading: 1/2
    """
    token = _reporter.set(reporter)
    try:
        yield
    finally:
        _reporter.reset(token)
