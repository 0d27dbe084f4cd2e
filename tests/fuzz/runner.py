"""Runs cases, each in a process of its own with little time and memory, and judges how it ends.

A case is made from the seed and its number alone, so a failure can be repeated.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import tempfile
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from tests.fuzz.area import Area, Files

CPU_SECONDS = 10
MEMORY = 1 << 30
"""Bytes above those of the parent."""
WALL_SECONDS = 300
"""A case that waits for something uses no processor; a busy machine takes its time."""


@dataclass(frozen=True)
class Outcome:
    """How a case ended: the answer, or a failure if there is one."""

    number: int
    answer: str
    failure: str
    cpu: float
    megabytes: float


def make_case(area: Area, seed: int, number: int) -> Files:
    """Make the files of a case."""
    return area.make(random.Random(f"{area.name}/{seed}/{number}"))


def put_files(files: Files, folder: Path) -> None:
    """Write the files of a case."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def run_cases(area: Area, seed: int, numbers: Iterable[int]) -> Iterator[Outcome]:
    """Run cases one after the other."""
    for number in numbers:
        home = Path(tempfile.mkdtemp(prefix="nnmfaug-case-"))
        try:
            put_files(make_case(area, seed, number), home / "case")
            (home / "tmp").mkdir()
            yield _run(area, home, number)
        finally:
            shutil.rmtree(home)


def _run(area: Area, home: Path, number: int) -> Outcome:
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        _be_the_child(area, home, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer, _, failure = pipe.read().decode().partition("\n")
    _, status, usage = os.wait4(process, 0)
    if os.WIFSIGNALED(status):
        failure = f"ended by {signal.Signals(os.WTERMSIG(status)).name}"
    elif not failure and any((home / "tmp").iterdir()):
        failure = "left temporary files"
    return Outcome(number, answer, failure, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def _be_the_child(area: Area, home: Path, writer: int) -> NoReturn:
    """Read the case within limits, and report to the parent."""
    report = "\nno report"
    try:
        _limit()
        tempfile.tempdir = str(home / "tmp")
        report = area.check(home / "case")
    except area.allowed as error:
        report = type(error).__name__
    except BaseException:  # noqa: BLE001 (whatever it is, it is a failure)
        report = f"\n{traceback.format_exc()}"
    finally:
        os.write(writer, report.encode(errors="backslashreplace")[-20_000:])
        os._exit(0)


def _limit() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    memory = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # DuckDB starts a thread for each processor
    signal.alarm(WALL_SECONDS)
