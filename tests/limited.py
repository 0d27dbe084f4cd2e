"""Read a file in a process of its own, whose time and memory are limited."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

SCRIPT = """import sys, nnmfaug
try:
    nnmfaug.read_any(sys.argv[1], nnmfaug.ReadOptions(bad_lines=sys.argv[2]))
except nnmfaug.DataError as error:
    print(error)
else:
    print("a graph")
"""


def answer(path: Path, *, bad_lines: str = "error", cpu: int = 30, memory: int = 3 << 30) -> str:
    """Return ``a graph`` or the message of a DataError; anything else is a failure, too much time as well."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    command = [sys.executable, "-c", SCRIPT, str(path), bad_lines]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, check=False)
    assert done.returncode == 0, done.stderr[-2000:] or f"ended by signal {-done.returncode}"
    return done.stdout.strip()
