"""Saved values with random changes: the answer is the value as it was, or an error that says what is wrong."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from unittest.mock import patch

import nnmfaug as na
from nnmfaug.evaluation.runs import load_run, save_run
from nnmfaug.experiments.pilots import SCHEMA, choose_amount
from nnmfaug.io.documents import read_document, write_document
from tests.fuzz.area import Files
from tests.saved import change_json, change_meta, deleted, places, replaced

SPLITS = na.split(na.family(30, seed=0).given, valid=5, test=5, seed=0)
SMALL = na.LinkPredictor(model="transe", dim=4, epochs=1, negatives=4)
ARM = na.Augmentation(na.RandomTriples(), 20)
TARGET = "target"
EXPECTED = "expected"
"""Files of a case that say what was changed, and how it was before."""
VALUES: tuple[object, ...] = (
    None,
    [],
    [[7]],
    {},
    {"0": 1},
    0,
    -1,
    0.5,
    1e308,
    2**62,
    10**400,
    True,
    "",
    "x",
    "\udcff",
)
TOKENS = (
    b"",
    b"[",
    b"{",
    b"}",
    b'"',
    b"null",
    b"NaN",
    b"1e999",
    b"-1",
    b"9" * 5000,
    b"\xff\xfe",
    b"\0" * 9,
    b"PK\x03\x04",
)


@dataclass(frozen=True)
class Target:
    """A file to change, how the value is read and written again elsewhere, and which file is then the same."""

    file: str
    copy: Callable[[Path, Path], object]
    document: bool = True


def copy_run(folder: Path, other: Path) -> None:
    save_run(load_run(folder / "random-seed0.json"), other)


def copy_model(folder: Path, other: Path) -> None:
    na.load_trained(folder / "model").save(other / "model")


def copy_distribution(folder: Path, other: Path) -> None:
    na.save_distribution(na.load_distribution(folder / "dist.npz"), other / "dist.npz")


def copy_combined(folder: Path, other: Path) -> None:
    na.load_combined(folder / "combined").save(other / "combined")


def copy_pilot(folder: Path, other: Path) -> None:
    with patch("nnmfaug.experiments.pilots.run_pilot", return_value=na.Pilot(0, {0: 0.5}, {0: 0.0})):
        choose_amount(SPLITS, SMALL, ARM, folder=folder)
    write_document(other / "pilot.json", SCHEMA, read_document(folder / "pilot.json", SCHEMA))


TARGETS = (
    Target("random-seed0.json", copy_run),
    Target("random-seed0.npz", copy_run, document=False),
    Target("model/model.json", copy_model),
    Target("model/model.safetensors", copy_model, document=False),
    Target("dist.npz", copy_distribution),
    Target("pilot.json", copy_pilot),
    Target("combined/combined.json", copy_combined),
    Target("combined/known.npz", copy_combined, document=False),
    Target("combined/prior.npz", copy_combined, document=False),
    Target("combined/model/model.safetensors", copy_combined, document=False),
)


def write_values(folder: Path) -> None:
    """Write one value of each kind."""
    options = na.TrainOptions(threads=1, evaluate_every=1)
    na.run_experiment(SPLITS, SMALL, {"random": ARM}, seeds=[0], folder=folder, options=options)
    (folder / "models" / "random-seed0").rename(folder / "model")
    choose_amount(SPLITS, SMALL, ARM, folder=folder, options=options)
    dist = na.NNMFAug(cluster=na.Agglomerative(n_clusters=3)).fit(SPLITS.train)
    na.save_distribution(dist, folder / "dist.npz")
    prior = na.ListedPrior(na.Rules(depth=1).fit(SPLITS.train))
    combined = na.Combined.fit(na.load_trained(folder / "model"), prior, SPLITS)
    combined.save(folder / "combined")


@cache
def values() -> Files:
    """Return the files of one value of each kind."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_values(folder)
        paths = [path for path in folder.rglob("*") if path.is_file()]
        return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


class Saved:
    """Values that were saved, with a change in one of their files."""

    name = "saved"
    allowed: tuple[type[Exception], ...] = (na.DataError, FileNotFoundError)

    def make(self, rng: random.Random) -> Files:
        """Change one file: its bytes, or a field with the checksum computed anew."""
        target = rng.choice(TARGETS)
        is_sealed = target.document and rng.random() < 0.5
        change = _change_field if is_sealed else _change_bytes
        files = dict(values())
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / Path(target.file).name
            path.write_bytes(files[target.file])
            change(path, rng)
            changed = path.read_bytes()
        expected = {} if is_sealed else {EXPECTED: files[target.file]}
        return {**files, target.file: changed, **expected, TARGET: target.file.encode()}

    def check(self, folder: Path) -> str:
        """Read the value and write it again; it must be as it was, unless the checksum was computed anew."""
        name = (folder / TARGET).read_text()
        target = next(target for target in TARGETS if target.file == name)
        with tempfile.TemporaryDirectory() as other:
            target.copy(folder, Path(other))
            again = (Path(other) / target.file).read_bytes()
        expected = folder / EXPECTED
        assert not expected.exists() or expected.read_bytes() == again, "a change was not noticed"
        return "value"


def _change_bytes(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice((1, 1, 1, 3, 20))):
        start = rng.randrange(len(data) + 1)
        end = min(start + rng.choice((0, 1, 1, 8, 500)), len(data))
        data[start:end] = rng.choice((rng.choice(TOKENS), rng.randbytes(end - start), data[start:end] * 2))
    path.write_bytes(data[: rng.choice((None, None, None, rng.randrange(len(data) + 1)))])


def _change_field(path: Path, rng: random.Random) -> None:
    """Change a field of a document, and compute its checksum anew."""
    change = change_json if path.suffix == ".json" else change_meta
    change(path, partial(_with_other_field, rng=rng))


def _with_other_field(document: dict[str, object], rng: random.Random) -> dict[str, object]:
    place = rng.choice(list(places(document)))
    if rng.random() < 0.2:
        return deleted(document, place)
    return replaced(document, place, rng.choice(VALUES))
