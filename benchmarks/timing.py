"""How the benchmarks take times."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def seconds(*work: Callable[[], object], repeats: int = 3) -> list[float]:
    """Median of several runs of each, taken in turn, so that a busy moment hits all alike."""
    times: list[list[float]] = [[] for _ in work]
    for _ in range(repeats):
        for job, spent in zip(work, times, strict=True):
            started = time.perf_counter()
            job()
            spent.append(time.perf_counter() - started)
    return [statistics.median(spent) for spent in times]


def least_seconds(work: Callable[[], object], repeats: int = 7) -> float:
    """The least of several runs: what the work costs when nothing else is in the way."""
    return min(seconds(work, repeats=1)[0] for _ in range(repeats))
