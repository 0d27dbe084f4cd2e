"""One arm trained with one seed, as two files: ``<name>.npz`` with the ranks, ``<name>.json`` with the rest.

The JSON is written last and holds the checksum of the ranks: where it is, the run is whole.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nnmfaug.core.checks import require
from nnmfaug.core.errors import DataError
from nnmfaug.evaluation.metrics import Ranks, summary
from nnmfaug.io.files import replacing
from nnmfaug.io.npz import BROKEN, read_arrays, write_arrays

FORMAT, VERSION = "nnmfaug run", 1
_KEYS = {"arm", "seed", "n_extra", "settings", "losses", "curve", "seconds"}
_KEYS |= {"format", "version", "metrics", "ranks_sha256"}


@dataclass(frozen=True, eq=False)
class Run:
    """What came of training one arm with one seed.

    Parameters
    ----------
    arm, seed
        Which way of training, and with which seed. Runs of two arms with the same seed are a pair.
    ranks
        Of the test triples, in the order of ``splits.test.triples``.
    settings
        Plain data for JSON: whatever it takes to train this again.
    losses
        Mean loss of each epoch.
    curve
        Metrics on valid at some epochs, such as ``{"epoch": 10, "mrr": 0.31}``.
    n_extra
        Number of generated triples.
    seconds
        How long the parts took; all else is the same when it is run again.

    Examples
    --------
    >>> Run("baseline", 0, Ranks(filtered=np.ones((5, 2)), raw=np.ones((5, 2))))
    <Run: baseline, seed 0, 5 test triples>
    """

    arm: str
    seed: int
    ranks: Ranks
    settings: dict[str, Any] = field(default_factory=dict)
    losses: tuple[float, ...] = ()
    curve: tuple[dict[str, float], ...] = ()
    n_extra: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_name(self.arm, self.seed)
        if self.n_extra < 0:
            msg = f"n_extra={self.n_extra}: must not be negative"
            raise ValueError(msg)
        if not all("epoch" in point for point in self.curve):
            raise ValueError("a point of the curve without its epoch: add epoch=…")
        own: dict[str, Any] = {
            "settings": _plain(self.settings),
            "losses": tuple(float(loss) for loss in self.losses),
            "curve": tuple(_numbers(point) for point in self.curve),
            "seconds": {name: float(value) for name, value in self.seconds.items()},
        }
        for name, value in own.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"<Run: {self.arm}, seed {self.seed}, {len(self.ranks)} test triples>"


def run_path(folder: str | Path, arm: str, seed: int) -> Path:
    """Return where the JSON of a run is: its name is safe on every system, and no other run has it.

    Examples
    --------
    >>> run_path("runs", "nnmf", 3).name
    'nnmf-seed3.json'
    >>> run_path("runs", "file:more/Extra.tsv", 3).name
    'file-more-extra-tsv~20d2aa41186d-seed3.json'
    """
    _check_name(arm, seed)
    slug = re.sub(r"[^a-z0-9_]+", "-", arm.lower())[:40].strip("-") or "arm"
    if slug != arm:  # no slug holds a ~, so no arm has the name that another one gets here
        slug += "~" + hashlib.sha256(arm.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return Path(folder) / f"{slug}-seed{seed}.json"


def save_run(run: Run, folder: str | Path) -> Path:
    """Write a run to its two files in a folder, and return the path of the JSON.

    Examples
    --------
    >>> ranks = Ranks(filtered=np.ones((5, 2)), raw=np.ones((5, 2)))
    >>> load_run(save_run(Run("baseline", 0, ranks, losses=(0.5, 0.25)), "runs")).losses
    (0.5, 0.25)
    """
    path = run_path(folder, run.arm, run.seed)
    path.unlink(missing_ok=True)  # an old one would stand beside new ranks for a moment
    with replacing(path.with_suffix(".npz")) as draft:
        write_arrays(draft, {"filtered": run.ranks.filtered, "raw": run.ranks.raw})
        digest = hashlib.sha256(draft.read_bytes()).hexdigest()
    text = json.dumps(_document(run, digest), indent=1, allow_nan=False)
    with replacing(path) as draft:
        draft.write_text(text + "\n", encoding="utf-8")
    return path


def load_run(path: str | Path) -> Run:
    """Read what :func:`save_run` wrote, given the path of the JSON; anything else is a ``DataError``."""
    path = Path(path)
    if not path.is_file():
        raise DataError("no such file: save_run writes one for each arm and seed", path=path)
    path.open("rb").close()  # what may not be read is not a broken file
    try:
        document = json.loads(path.read_bytes())
        require(document["format"] == FORMAT, "it is something else")
        require(document["version"] == VERSION, f"it has version {document['version']!r}, not {VERSION}")
        require(set(document) == _KEYS, "entries are missing or too many")
        return _restore(document, path)
    except BROKEN as error:
        why = str(error) or type(error).__name__
    todo = f"delete {path.stem}.json and {path.stem}.npz, and start the command again"
    raise DataError(f"not a whole run: {todo} ({why})", path=path)


def load_runs(folder: str | Path) -> list[Run]:
    """Read all runs of a folder, sorted by arm, then seed; what is not named like a run is passed over."""
    folder = Path(folder)
    if not folder.is_dir():
        raise DataError("no such folder: runs are kept in one", path=folder)
    runs = [load_run(path) for path in sorted(folder.glob("*-seed[0-9]*.json"))]
    return sorted(runs, key=lambda run: (run.arm, run.seed))


def _document(run: Run, digest: str) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "arm": run.arm,
        "seed": run.seed,
        "n_extra": run.n_extra,
        "metrics": {"filtered": summary(run.ranks.filtered), "raw": summary(run.ranks.raw)},
        "settings": run.settings,
        "losses": _writable(run.losses),
        "curve": [dict(zip(point, _writable(point.values()), strict=True)) for point in run.curve],
        "seconds": run.seconds,
        "ranks_sha256": digest,
    }


def _restore(document: dict[str, Any], path: Path) -> Run:
    ranks = path.with_suffix(".npz")
    require(ranks.is_file(), f"{ranks.name} is missing")
    digest = hashlib.sha256(ranks.read_bytes()).hexdigest()
    require(digest == document["ranks_sha256"], f"{ranks.name} has changed")
    arm, seed, n_extra = document["arm"], document["seed"], document["n_extra"]
    require(
        isinstance(arm, str) and type(seed) is int and type(n_extra) is int, "a name or number of the wrong type"
    )
    require(run_path(path.parent, arm, seed).name == path.name, f"{arm!r} with seed {seed} has another file name")
    return Run(
        arm,
        seed,
        Ranks(**read_arrays(ranks, {})),
        document["settings"],
        tuple(float(loss) for loss in document["losses"]),
        tuple(_numbers(point) for point in document["curve"]),
        n_extra,
        document["seconds"],
    )


def _check_name(arm: str, seed: int) -> None:
    if not arm:
        raise ValueError("an arm without a name: give it one, such as 'baseline'")
    if seed < 0:
        msg = f"seed={seed}: must not be negative"
        raise ValueError(msg)


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy as JSON gives it back, so that a run is the same before and after its file."""
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(settings), allow_nan=False))
    except (TypeError, ValueError) as error:
        msg = f"settings are not plain data for JSON: {error}"
        raise ValueError(msg) from None
    return plain


def _writable(values: Iterable[float]) -> list[float | str]:
    """JSON has no infinity: such a number, of a model that has diverged, becomes text and comes back as it was."""
    return [value if math.isfinite(value) else str(value) for value in values]


def _numbers(point: Mapping[str, Any]) -> dict[str, float]:
    """Whole numbers, such as the epoch, stay whole."""
    return {name: int(v) if isinstance(v, int | np.integer) else float(v) for name, v in point.items()}
