"""What a part of the package must offer so that it can be fuzzed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Protocol

Files = dict[str, bytes]
"""Path inside the folder of a case → content."""


class Area(Protocol):
    """A part of the package that reads files of strangers.

    A further area is a module with such a class, and a line in ``AREAS`` of ``tests.fuzz.__main__``.
    """

    name: str
    allowed: tuple[type[Exception], ...]
    """Errors that are a good answer to bad files."""

    def make(self, rng: random.Random) -> Files:
        """Make the files of one case. The same state of ``rng`` must give the same bytes."""
        ...

    def check(self, folder: Path) -> str:
        """Read the files of one case; return the kind of the answer, or raise one of ``allowed``."""
        ...
