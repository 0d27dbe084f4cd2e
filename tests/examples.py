"""How many examples a property is tried with: all of them in ``make test``, a few in ``make quick``."""

from __future__ import annotations

import os

QUICK = bool(os.environ.get("NNMFAUG_QUICK"))


def examples(n: int) -> int:
    """Return n, or a tenth of it for a quick look."""
    return max(n // 10, 3) if QUICK else n
