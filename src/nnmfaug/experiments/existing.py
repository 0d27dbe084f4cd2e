"""Runs that a folder already contains: they are kept if they were made with the same settings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nnmfaug.core.errors import DataError
from nnmfaug.evaluation.runs import Run, load_run

_OUTCOMES = ("versions", "generated", "options")
"""Settings of a run that may differ; another number of threads changes the last digits only."""
LATER: dict[str, Any] = {
    "self_negative": 0.0,
    "unit_vectors": False,
    "start": "normal",
    "summed": False,
    "redraw": False,
    "whole_batches": False,
    "patience": 0,
    "look_every": 10,
    "look_at": 1000,
}
"""Settings of a predictor that the first runs do not record, and their values then."""


def with_later(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings with those of the predictor that did not exist when they were recorded."""
    predictor = settings.get("predictor", {})
    return {**settings, "predictor": {**LATER, **predictor}} if isinstance(predictor, dict) else settings


def load_same(path: Path, settings: dict[str, Any]) -> Run:
    """Load a run, and raise if it was made with other settings."""
    run = load_run(path)
    now = json.loads(json.dumps(settings))
    now["data"]["name"] = run.settings.get("data", {}).get("name")  # a folder may be renamed
    before = with_later(run.settings)
    names = [name for name in now if name not in _OUTCOMES]
    changes = [line for name in names for line in _changes(name, before.get(name), now[name])]
    if changes:
        first_changes = "; ".join(changes[:3])
        msg = f"this run was made with other settings ({first_changes}): use another folder, or delete this one"
        raise DataError(msg, path=path)
    return run


def _changes(name: str, before: object, now: object) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*before, *now]):
            yield from _changes(f"{name} {key}", before.get(key), now.get(key))
    elif before != now:
        yield f"{name} differs" if name.startswith("data ") else f"{name}: {before} there, {now} now"
