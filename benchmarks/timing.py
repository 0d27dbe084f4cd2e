"""Timing, as all benchmarks do it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def seconds(*work: Callable[[], object], repeats: int = 3) -> list[float]:
    """Median time of each function over several runs; the functions alternate, so that load affects all alike."""
    times: list[list[float]] = [[] for _ in work]
    for _ in range(repeats):
        for job, times_of_job in zip(work, times, strict=True):
            started = time.perf_counter()
            job()
            times_of_job.append(time.perf_counter() - started)
    return [statistics.median(times_of_job) for times_of_job in times]


def least_seconds(work: Callable[[], object], repeats: int = 7) -> float:
    """Minimum time over several runs: the cost of the work on an idle machine."""
    return min(seconds(work, repeats=1)[0] for _ in range(repeats))
