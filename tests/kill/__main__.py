"""Kill every writing command after each of its steps: ``python -m tests.kill [--every N] [--only COMMAND]``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.kill.commands import COMMANDS, Command
from tests.kill.harness import Outcome, load_once, prepare


def main() -> int:
    """Write one line per command, and every failure; return 1 if there is one."""
    parser = argparse.ArgumentParser(prog="python -m tests.kill", description=__doc__)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="kill at every N-th step only")
    parser.add_argument("--only", action="append", metavar="COMMAND", help="kill only this command; repeatable")
    options = parser.parse_args()
    commands = [command for command in COMMANDS if not options.only or command.name in options.only]
    load_once(training=any(command.arguments[0] == "compare" for command in commands))
    outcomes = [outcome for command in commands for outcome in _kill_everywhere(command, options.every)]
    bad = [outcome for outcome in outcomes if not outcome.is_good]
    for outcome in bad:
        _say(str(outcome))
    mixtures = sum(bool(outcome.mixture) for outcome in outcomes)
    reruns = sum(bool(outcome.rerun) for outcome in outcomes)
    leftovers = sum(bool(outcome.leftovers) for outcome in outcomes)
    _say(f"{len(outcomes)} kills: {mixtures} mixtures, {reruns} wrong reruns, {leftovers} with leftovers")
    return 1 if bad or not outcomes else 0


def _kill_everywhere(command: Command, every: int) -> list[Outcome]:
    with tempfile.TemporaryDirectory(prefix="nnmfaug-kill-") as root:
        trial = prepare(command, Path(root) / "trial")
        steps = range(1, len(trial.steps) + 1, every)
        outcomes = [trial.kill_at(step, Path(root) / str(step)) for step in steps]
    n_good = sum(outcome.is_good for outcome in outcomes)
    _say(f"{command.name}: {len(trial.steps)} steps, killed at {len(outcomes)}, good {n_good}")
    return outcomes


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
