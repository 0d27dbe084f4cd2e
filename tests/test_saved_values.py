"""Every document that is read back: one field is changed, and it is refused with that field, or does no harm."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.evaluation.sentences import left_out, notes
from nnmfaug.experiments import pilots
from nnmfaug.experiments.pilots import choose_amount
from nnmfaug.linkpred.mix import Calibration
from tests.saved import Document, Place, change_json, change_meta, deleted, places, replaced

SMALL = na.LinkPredictor(model="transe", dim=4, epochs=1, negatives=4)
ARM = na.Augmentation(na.RandomTriples(), 20)
ARMS: dict[str, na.Arm | na.Combination | None] = {"baseline": None, "random": ARM, "combined": na.Combination()}
ONE = na.TrainOptions(threads=1, evaluate_every=1)
VALUES: tuple[object, ...] = (None, [7], {"x": 1}, -1, "x", 10**400)
Change = Callable[[Document], Document]


@dataclass(frozen=True)
class Saved:
    """A document in a folder, how to change it, and how it is read and used."""

    path: Path
    change: Callable[[Path, Change], None]
    use: Callable[[Path], object]

    def read(self) -> Document:
        if self.path.suffix == ".json":
            document: Document = json.loads(self.path.read_bytes())
            return document
        with np.load(self.path) as entries:
            meta: Document = json.loads(entries["meta"].tobytes())
        return meta


@pytest.fixture(scope="module")
def splits() -> na.Splits:
    """Splits that are read, trained on and ranked in no time."""
    return na.split(na.family(30, seed=0).given, valid=5, test=5, seed=0)


@pytest.fixture(scope="module")
def folder(splits: na.Splits, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every kind of document."""
    folder = tmp_path_factory.mktemp("saved")
    choose_amount(splits, SMALL, ARM, folder=folder, options=ONE)
    na.run_experiment(splits, SMALL, ARMS, seeds=[0], folder=folder, options=ONE)
    dist = na.NNMFAug(cluster=na.Agglomerative(n_clusters=3)).fit(splits.train)
    na.save_distribution(dist, folder / "dist.npz")
    trained = na.load_trained(folder / "models" / "baseline-seed0")
    prior = na.ListedPrior(na.Rules(depth=1).fit(splits.train))
    na.Combined(trained, prior, splits.together(), calibration=Calibration(0.0, 1.0)).save(folder / "combined")
    return folder


@pytest.fixture
def no_pilot_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pilot of other settings is run again; that is no concern here."""
    outcome = na.Pilot(0, {0: 0.5}, {0: 0.0})
    monkeypatch.setattr(pilots, "run_pilot", lambda *_, **__: outcome)


@pytest.fixture(params=["run", "combined run", "model", "pilot", "distribution", "combined"])
def saved(request: pytest.FixtureRequest, splits: na.Splits, folder: Path) -> Iterator[Saved]:
    def use_runs(path: Path) -> None:
        runs = na.run_experiment(splits, SMALL, ARMS, seeds=[0], folder=path.parent, options=ONE)
        list(notes(runs))
        list(left_out([], path.parent))

    def use_model(path: Path) -> None:
        names = splits.vocabulary
        na.load_trained(path.parent).predict(head=names.entities[0], relation=names.relations[0])

    def use_pilot(path: Path) -> None:
        choose_amount(splits, SMALL, ARM, folder=path.parent, options=ONE)

    def use_distribution(path: Path) -> None:
        na.load_distribution(path).draw(5, seed=0)

    def use_combined(path: Path) -> None:
        names = splits.vocabulary
        na.load_combined(path.parent).predict(head=names.entities[0], relation=names.relations[0])

    documents = {
        "run": Saved(folder / "random-seed0.json", change_json, use_runs),
        "combined run": Saved(folder / "combined-seed0.json", change_json, use_runs),
        "model": Saved(folder / "models" / "random-seed0" / "model.json", change_json, use_model),
        "pilot": Saved(folder / "pilot.json", change_json, use_pilot),
        "distribution": Saved(folder / "dist.npz", change_meta, use_distribution),
        "combined": Saved(folder / "combined" / "combined.json", change_json, use_combined),
    }
    saved = documents[request.param]
    before = saved.path.read_bytes()
    yield saved
    saved.path.write_bytes(before)


def changes(document: Document) -> Iterator[tuple[Place, Change]]:
    """Yield every change of one field, with the place of the field."""
    for place in places(document):
        yield place, lambda document, place=place: deleted(document, place)  # type: ignore[misc]
        for value in VALUES:
            yield place, lambda document, place=place, value=value: replaced(document, place, value)  # type: ignore[misc]


def is_named(place: Place, message: str) -> bool:
    """Whether a message names a field, or the one that it is part of."""
    names = [step for step in place if isinstance(step, str)]
    return any(name in message for name in names[-2:]) or "newer nnmfaug" in message


def refusal(saved: Saved) -> str:
    """Return the message with which a document is refused, or nothing."""
    try:
        saved.use(saved.path)
    except na.DataError as error:
        return str(error)
    return ""


@pytest.mark.usefixtures("no_pilot_runs")
def test_any_field_that_is_changed_is_refused_by_name_or_does_no_harm(saved: Saved) -> None:
    before = saved.path.read_bytes()
    n_refused = 0
    for place, change in changes(saved.read()):
        saved.change(saved.path, change)
        message = refusal(saved)
        saved.path.write_bytes(before)
        n_refused += bool(message)
        assert not message or is_named(place, message), place
    assert n_refused > 50


@pytest.mark.usefixtures("no_pilot_runs")
@pytest.mark.parametrize(
    "saved", ["run", "combined run", "model", "pilot", "combined"], indirect=True
)  # JSON files
def test_any_field_that_is_changed_without_its_checksum_is_refused(saved: Saved) -> None:
    document = saved.read()
    for place in places(document):
        saved.path.write_text(json.dumps(replaced(document, place, -7)), encoding="utf-8")
        with pytest.raises(na.DataError):
            saved.use(saved.path)
