"""nnmfaug reproduce, killed at random instants and run again: the numbers of a command that nobody killed."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import nnmfaug as na
from nnmfaug.evaluation.runs import by_arm

COMMAND = (sys.executable, "-m", "nnmfaug", "reproduce", "table1", "--quick")
NARROW = ("--datasets", "dl50a", "--models", "transe", "--settings", "paper", "-o")
N_KILLS = 10


def start(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*COMMAND, *NARROW, str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def n_runs(folder: Path) -> int:
    """Count runs; temporary files come and go."""
    return len(list(folder.glob("quick/runs/*/*.npz")))


def kill_after_the_next_run(folder: Path, delay: float) -> int:
    """Start the command; when it has made another run, wait a little and kill it; return its exit code."""
    before = n_runs(folder)
    process = start(folder)
    while n_runs(folder) <= before and process.poll() is None:
        time.sleep(0.01)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    return process.wait(timeout=60)


def numbers(folder: Path, stem: str) -> Any:
    return json.loads((folder / "quick" / f"{stem}.json").read_text())


def ranks(folder: Path) -> dict[tuple[str, int], bytes]:
    runs = na.load_runs(folder / "quick" / "runs" / "dl50a-transe-paper")
    return {(run.arm, run.seed): run.ranks.filtered.tobytes() for each in by_arm(runs).values() for run in each}


@pytest.mark.slow
def test_the_numbers_are_those_of_an_unkilled_run(tmp_path: Path) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    rng = random.Random(0)
    codes = [kill_after_the_next_run(killed, rng.uniform(0, 0.5)) for _ in range(N_KILLS)]
    assert codes.count(-signal.SIGKILL) > N_KILLS // 2, "a fast machine may be done before the last ones"
    for folder in (killed, whole):
        assert start(folder).wait() == 0
    for stem in ("table1", "gains", "generated"):
        assert numbers(killed, stem) == numbers(whole, stem)
    assert ranks(killed) == ranks(whole)
    assert len(ranks(whole)) == 14
