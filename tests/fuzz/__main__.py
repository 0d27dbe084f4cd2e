"""Fuzz parts of the package: ``python -m tests.fuzz --minutes 5``."""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.area import Area
from tests.fuzz.readers import Readers
from tests.fuzz.runner import Outcome, make_case, put_files, run_cases
from tests.fuzz.saved import Saved

AREAS: dict[str, Area] = {area.name: area for area in (Readers(), Saved())}


def main() -> int:
    """Run cases until time is up, print a table, and return 1 if one failed."""
    arguments = _parse()
    areas = [AREAS[arguments.area]] if arguments.area else list(AREAS.values())
    n_failures = 0
    for area in areas:
        numbers = _numbers(arguments.first, arguments.cases, arguments.minutes / len(areas))
        outcomes = list(run_cases(area, arguments.seed, numbers))
        _print_summary(area, arguments.seed, outcomes)
        failures = [outcome for outcome in outcomes if outcome.failure]
        _keep(area, arguments.seed, failures)
        n_failures += len(failures)
    return 1 if n_failures else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="time for all areas together")
    parser.add_argument("--cases", type=int, help="number of cases for each area, whatever the time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case, to repeat a failure")
    parser.add_argument("--area", choices=sorted(AREAS))
    return parser.parse_args()


def _numbers(first: int, n_cases: int | None, minutes: float) -> Iterator[int]:
    """Yield the numbers of cases: as many as asked for, or until time is up."""
    if n_cases is not None:
        yield from range(first, first + n_cases)
        return
    end = time.monotonic() + 60 * minutes
    yield from itertools.takewhile(lambda _: time.monotonic() < end, itertools.count(first))


def _print_summary(area: Area, seed: int, outcomes: list[Outcome]) -> None:
    answers = Counter(outcome.answer for outcome in outcomes if not outcome.failure)
    n_failures = sum(bool(outcome.failure) for outcome in outcomes)
    slowest = max(outcomes, key=lambda outcome: outcome.cpu)
    largest = max(outcomes, key=lambda outcome: outcome.megabytes)
    rows = {
        "cases": f"{len(outcomes):,}",
        **{f"answer {answer}": f"{count:,}" for answer, count in sorted(answers.items())},
        "slowest": f"{slowest.cpu:.1f} s of CPU (case {slowest.number})",
        "largest": f"{largest.megabytes:,.0f} MB (case {largest.number})",
        "failures": f"{n_failures:,}",
    }
    _say(f"{area.name}, seed {seed}")
    for name, value in rows.items():
        _say(f"  {name:<18} {value}")


def _keep(area: Area, seed: int, failures: list[Outcome]) -> None:
    """Write the files of failed cases to a folder, and say where."""
    if not failures:
        return
    folder = Path(tempfile.mkdtemp(prefix="nnmfaug-fuzz-"))
    for outcome in failures:
        case = folder / f"{area.name}-{seed}-{outcome.number}"
        put_files(make_case(area, seed, outcome.number), case)
        (case / "failure.txt").write_text(outcome.failure)
        reason = outcome.failure.strip().splitlines()[-1]
        _say(f"  case {outcome.number}: {reason[:200]}")
    _say(f"  files of failed cases: {folder}")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
