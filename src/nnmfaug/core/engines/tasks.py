"""One block of work in another process: what is done around it there, and what comes back."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from nnmfaug.core.blas import one_thread

T = TypeVar("T")
R = TypeVar("R")

_one_at_a_time = threading.Lock()
"""Warnings, BLAS and the random numbers of torch belong to the whole process: a worker with threads waits."""


@dataclass(frozen=True)
class Outcome(Generic[R]):
    """The result of a block, and the warnings on the way to it.

    Parameters
    ----------
    result
        What the function returned.
    notes
        Text, category, file and line of each warning.
    """

    result: R
    notes: tuple[tuple[str, type[Warning], str, int], ...] = ()

    def deliver(self) -> R:
        """Issue the warnings here, and return the result."""
        for text, category, file, line in self.notes:
            warnings.warn_explicit(text, category, file, line)
        return self.result


def run_task(work: Callable[[T], R], item: T) -> Outcome[R]:
    """Return ``work(item)``, done with one thread of BLAS, together with its warnings."""
    with _one_at_a_time, one_thread(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        result = work(item)
    return Outcome(
        result, tuple((str(each.message), each.category, each.filename, each.lineno) for each in caught)
    )
