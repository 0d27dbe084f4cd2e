"""One arm trained with one seed, stored in two files: ``<name>.npz`` has the ranks, ``<name>.json`` the rest.

Both appear together. The JSON contains checksums of the ranks and of itself. If it exists, the run is complete.
Ranks are multiples of ½, since entities of equal scores share the mean of two ranks. They are stored as compressed
integers, twice the ranks.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nnmfaug.core.checks import check_at_least, require
from nnmfaug.core.errors import DataError
from nnmfaug.evaluation.metrics import Ranks, summary
from nnmfaug.io.documents import Schema, read_document, refusing, write_document
from nnmfaug.io.files import checksum, replacing_all
from nnmfaug.io.npz import Arrays, read_arrays, write_arrays

_NUMBER = (float, "inf", "-inf", "nan")
"""A model that diverged has numbers that JSON does not have."""
_SETTINGS = {
    "data?": {"*": object},
    "predictor?": {"*": object},
    "versions?": {"*": object},
    "arm?": (None, {"*": object}),
    "generated?": (None, {"in_valid?": int, "in_test?": int, "test_rows?": [int], "*": object}),
    "mix?": (None, {"temperature": float, "weight": float, "epsilon": float}),
    "*": object,
}
"""The settings that are used later, and must be as an experiment writes them."""
SCHEMA = Schema(
    "nnmfaug run",
    3,
    {
        "arm": str,
        "seed": int,
        "n_extra": int,
        "metrics": {"filtered": {"*": float}, "raw": {"*": float}},
        "settings": _SETTINGS,
        "losses": [_NUMBER],
        "curve": [{"epoch": int, "*": _NUMBER}],
        "seconds": {"*": float},
        "ranks_sha256": str,
    },
)


TWICE = "twice_"
"""Prefix of arrays that contain twice the ranks; those without it, of earlier versions, contain the ranks."""
_PACKED = (f"{TWICE}filtered", f"{TWICE}raw")
MAX_RANKS_BYTES = 1 << 30
"""Ranks that unpack to more are refused."""


@dataclass(frozen=True, eq=False)
class Run:
    """The outcome of training one arm with one seed.

    Parameters
    ----------
    arm
        Name of the arm.
    seed
        Seed of the training. Runs of two arms with the same seed are a pair.
    ranks
        Ranks of the test triples, in the order of ``splits.test.triples``.
    settings
        Plain data for JSON: everything needed to train this run again.
    losses
        Mean loss of each epoch.
    curve
        Metrics on valid at some epochs, such as ``{"epoch": 10, "mrr": 0.31}``.
    n_extra
        Number of generated triples.
    seconds
        Duration of each part. Everything else is identical when the run is repeated.

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
        check_at_least("n_extra", self.n_extra, 0)
        have_epochs = all("epoch" in point for point in self.curve)
        require(have_epochs, "a point of the curve without its epoch: add epoch=…")
        plain_values: dict[str, Any] = {
            "settings": _plain(self.settings),
            "losses": tuple(float(loss) for loss in self.losses),
            "curve": tuple(_plain_point(point) for point in self.curve),
            "seconds": {name: float(value) for name, value in self.seconds.items()},
        }
        for name, value in plain_values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"<Run: {self.arm}, seed {self.seed}, {len(self.ranks)} test triples>"


def by_arm(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """Return the runs of each arm; arms and runs keep their order.

    Examples
    --------
    >>> ranks = Ranks(filtered=np.ones((5, 2)), raw=np.ones((5, 2)))
    >>> by_arm([Run("baseline", 0, ranks), Run("auto", 0, ranks), Run("baseline", 1, ranks)])
    {'baseline': [<Run: baseline, seed 0, ...>, <Run: baseline, seed 1, ...>], 'auto': [<Run: auto, seed 0, ...>]}
    """
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.arm, []).append(run)
    return groups


def run_path(folder: str | Path, arm: str, seed: int) -> Path:
    """Return the path of a run's JSON file: safe on every system, and different for every run.

    Examples
    --------
    >>> run_path("runs", "nnmf", 3).name
    'nnmf-seed3.json'
    >>> run_path("runs", "file:more/Extra.tsv", 3).name
    'file-more-extra-tsv~20d2aa41186d-seed3.json'
    """
    _check_name(arm, seed)
    slug = re.sub(r"[^a-z0-9_]+", "-", arm.lower())[:40].strip("-") or "arm"
    if slug != arm:  # a slug contains no ~, so the checksum keeps arms with equal slugs apart
        digest = hashlib.sha256(arm.encode("utf-8", "surrogatepass")).hexdigest()
        slug += "~" + digest[:12]
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
    with replacing_all([path, path.with_suffix(".npz")]) as (draft, draft_of_ranks):
        write_arrays(draft_of_ranks, _pack(run.ranks), compress=True)
        write_document(draft, SCHEMA, {**_content(run), "ranks_sha256": checksum(draft_of_ranks)})
    return path


def load_run(path: str | Path) -> Run:
    """Read a run that :func:`save_run` wrote, by the path of its JSON; raise ``DataError`` for anything else."""
    path = Path(path)
    if not path.is_file():
        raise DataError("no such file: save_run writes one for each arm and seed", path=path)
    advice = f"delete {path.stem}.json and {path.stem}.npz, and start the command again"
    with refusing(path, f"not a complete run: {advice}"):
        return _restore(read_document(path, SCHEMA), path)


def load_runs(folder: str | Path) -> list[Run]:
    """Read all runs of a folder, sorted by arm, then seed; files with other names are ignored.

    Examples
    --------
    >>> ranks = Ranks(filtered=np.ones((5, 2)), raw=np.ones((5, 2)))
    >>> paths = [save_run(Run(arm, 0, ranks), "runs") for arm in ("baseline", "auto")]
    >>> load_runs("runs")
    [<Run: auto, seed 0, 5 test triples>, <Run: baseline, seed 0, 5 test triples>]
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise DataError("no such folder: give the folder that contains the runs", path=folder)
    runs = [load_run(path) for path in sorted(folder.glob("*-seed[0-9]*.json"))]
    return sorted(runs, key=lambda run: (run.arm, run.seed))


def _content(run: Run) -> dict[str, Any]:
    return {
        "arm": run.arm,
        "seed": run.seed,
        "n_extra": run.n_extra,
        "metrics": {"filtered": summary(run.ranks.filtered), "raw": summary(run.ranks.raw)},
        "settings": run.settings,
        "losses": [_json_number(loss) for loss in run.losses],
        "curve": [{name: _json_number(value) for name, value in point.items()} for point in run.curve],
        "seconds": run.seconds,
    }


def _restore(content: dict[str, Any], path: Path) -> Run:
    """Return the run of a document; raise one of ``BROKEN`` if it does not fit its name or its ranks."""
    arm = content["arm"]
    seed = content["seed"]
    expected = run_path(path.parent, arm, seed).name
    require(expected == path.name, f"arm, seed: the file of {reprlib.repr(arm)} with seed {seed} is {expected}")
    ranks = _load_ranks(path.with_suffix(".npz"), content["ranks_sha256"])
    _check_rows(content["settings"], len(ranks))
    return Run(
        arm=arm,
        seed=seed,
        ranks=ranks,
        settings=content["settings"],
        losses=tuple(float(loss) for loss in content["losses"]),
        curve=tuple(_plain_point(point) for point in content["curve"]),
        n_extra=content["n_extra"],
        seconds=content["seconds"],
    )


def _load_ranks(path: Path, sha256: str) -> Ranks:
    require(path.is_file(), f"{path.name} is missing")
    require(checksum(path) == sha256, f"{path.name} has changed, or ranks_sha256 has")
    arrays = read_arrays(path, dict.fromkeys(_PACKED, "<i4"), max_bytes=MAX_RANKS_BYTES)
    return _unpack(arrays) if set(arrays) == set(_PACKED) else Ranks(**arrays)


def _pack(ranks: Ranks) -> Arrays:
    """Return ranks as integers if all are multiples of ½, otherwise as they are."""
    values = {"filtered": ranks.filtered, "raw": ranks.raw}
    twice = {TWICE + name: 2 * array for name, array in values.items()}
    fits = all((array == np.rint(array)).all() and array.max(initial=0) < 2**31 for array in twice.values())
    return {name: array.astype("<i4") for name, array in twice.items()} if fits else values


def _unpack(arrays: Arrays) -> Ranks:
    return Ranks(**{name.removeprefix(TWICE): array / 2 for name, array in arrays.items()})


def _check_rows(settings: Mapping[str, Any], n_triples: int) -> None:
    rows = (settings.get("generated") or {}).get("test_rows", [])
    good_rows = all(0 <= row < n_triples for row in rows)
    require(good_rows, f"settings.generated.test_rows: must be from 0 to below {n_triples}")


def _check_name(arm: str, seed: int) -> None:
    require(bool(arm), "an arm without a name: give it one, such as 'baseline'")
    check_at_least("seed", seed, 0)


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy as JSON restores it, so that a run is the same before saving and after loading."""
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(settings), allow_nan=False))
    except (TypeError, ValueError) as error:
        msg = f"settings are not plain data for JSON: {error}"
        raise ValueError(msg) from None
    return plain


def _plain_point(point: Mapping[str, Any]) -> dict[str, float]:
    """Return a point of the curve with Python's numbers; whole numbers, such as the epoch, stay whole."""
    return {
        name: int(value) if isinstance(value, int | np.integer) else float(value) for name, value in point.items()
    }


def _json_number(value: float) -> float | str:
    """Return a number that JSON can represent; an infinity or NaN of a diverged model becomes text."""
    return value if math.isfinite(value) else str(value)
