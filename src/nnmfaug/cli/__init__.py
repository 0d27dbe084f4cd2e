"""The commands of ``nnmfaug``, and what they print.

This module imports next to nothing, so that a program that is ended while it starts says so in one line.
"""

from __future__ import annotations

import signal
import sys
from types import FrameType

ENDINGS = {
    130: "interrupted",
    143: "asked to end",
}
"""Exit code → what happened."""
KEPT = "Nothing is half-written and finished runs are kept: the same command goes on from there"


def main() -> None:
    """Run the command line; exit 0 when done, 1 when it could not be done, 2 when the input was bad."""
    try:
        signal.signal(signal.SIGTERM, _end)
        from nnmfaug.cli.app import run

        run()
    except KeyboardInterrupt:
        _leave(130)
    except SystemExit as stop:
        if stop.code not in ENDINGS:
            raise
        _leave(stop.code)


def _end(_signal: int, _frame: FrameType | None) -> None:
    """End as Ctrl-C does: what is in preparation is removed on the way out."""
    sys.exit(143)


def _leave(code: str | int | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not show a traceback of this exit
    sys.stderr.write(f"error: {ENDINGS[int(code or 0)]}. {KEPT}\n")
    sys.exit(code)
