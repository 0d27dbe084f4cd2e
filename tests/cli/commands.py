"""Run commands as a user types them, for the tests of the command line and of the documentation."""

from __future__ import annotations

import io
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

from nnmfaug.cli import main


class Done(NamedTuple):
    """The outcome of a command."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments: str | Path, cwd: Path) -> Done:
    """Run a command as its script would, without the cost of a new process."""
    out = io.StringIO()
    err = io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), chdir(cwd), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["nnmfaug", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
    return Done(int(stop.value.code or 0), out.getvalue(), err.getvalue())
