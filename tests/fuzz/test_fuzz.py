"""A slice of the fuzzer, and the fuzzer itself."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.__main__ import AREAS
from tests.fuzz.area import Area, Files
from tests.fuzz.runner import make_case, run_cases
from tests.fuzz.seeds import BINARIES

ROOT = Path(__file__).parents[2]


def test_the_first_cases_of_the_readers_are_answered() -> None:
    """In a process of its own, which has no threads when it forks."""
    command = [sys.executable, "-m", "tests.fuzz", "--area", "readers", "--cases", "150"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("area", AREAS.values(), ids=list(AREAS))
def test_a_case_is_made_from_its_number_and_the_seed_alone(area: Area) -> None:
    cases = [make_case(area, 1, number) for number in range(50)]
    assert cases == [make_case(area, 1, number) for number in range(50)]
    assert cases != [make_case(area, 2, number) for number in range(50)]


def test_the_files_of_the_corpus_are_small() -> None:
    assert all(len(data) < 2000 for data in BINARIES.values())


class Failing:
    """An area whose cases end in every way."""

    name = "failing"
    allowed: tuple[type[Exception], ...] = (ValueError,)

    def make(self, rng: random.Random) -> Files:
        return {"kind": rng.choice((b"good", b"bad", b"error", b"busy", b"large", b"litter")), "data/x": b""}

    def check(self, folder: Path) -> str:
        kind = (folder / "kind").read_text()
        if kind == "bad":
            raise ValueError
        if kind == "error":
            raise KeyError(kind)
        while kind == "busy":
            pass
        if kind == "large":
            bytearray(2 << 30)
        if kind == "litter":
            (folder.parent / "tmp" / "left").touch()
        return "good"


def test_every_bad_end_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.runner.CPU_SECONDS", 1)
    area = Failing()
    numbers = {make_case(area, 0, number)["kind"].decode(): number for number in range(100)}
    outcomes = {kind: next(iter(run_cases(area, 0, [number]))) for kind, number in numbers.items()}
    assert (outcomes["good"].answer, outcomes["good"].failure) == ("good", "")
    assert (outcomes["bad"].answer, outcomes["bad"].failure) == ("ValueError", "")
    assert "KeyError: 'error'" in outcomes["error"].failure
    assert outcomes["busy"].failure == "ended by SIGXCPU"
    assert "MemoryError" in outcomes["large"].failure
    assert outcomes["litter"].failure == "left temporary files"
