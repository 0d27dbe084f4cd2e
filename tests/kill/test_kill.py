"""A short part of the kill test; ``make kill-test`` is the whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("command", "every"),
    [("split, over another", 3), ("split, another layout", 5), ("augment, nnmf", 4), ("fetch", 2)],
)
def test_a_killed_command_leaves_no_mixture_and_its_rerun_leaves_nothing_else(command: str, every: int) -> None:
    options = ["--only", command, "--every", str(every)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.kill", *options], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1].endswith("kills: 0 mixtures, 0 wrong reruns, 0 with leftovers"), done
    assert done.returncode == 0


def test_files_renamed_one_by_one_are_a_mixture_that_is_noticed(tmp_path: Path) -> None:
    from tests.kill.commands import COMMANDS
    from tests.kill.harness import Trial

    command = next(command for command in COMMANDS if command.name == "split, over another")
    files = command.sets[0]
    old = dict.fromkeys(files, "old")
    new = dict.fromkeys(files, "new")
    trial = Trial(command, tmp_path, old, new, ())
    assert not trial.mixture(old)
    assert not trial.mixture(new)
    assert not trial.mixture({**new, files[0]: "old"} | {files[0]: "new"})
    assert not trial.mixture(dict.fromkeys(files[1:], "new")), "without the first, the others are not read"
    assert trial.mixture({**old, files[0]: "new"})
    assert trial.mixture({files[0]: "old"})
