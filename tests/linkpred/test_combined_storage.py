"""A combined model comes back from its folder as it was; a folder with anything else is refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.io.npz import read_arrays, write_arrays
from nnmfaug.linkpred.mix import Calibration, Mix
from tests.linkpred.toy_models import made_up_prior
from tests.saved import Document, change_json

QUESTION = {"head": "china", "relation": "embassy"}
UNREADABLE = "not a combined model that this nnmfaug can read: make and save it again"
FILES = {"combined.json", "known.npz", "prior.npz", "model/model.json", "model/model.safetensors"}


@pytest.fixture(scope="module")
def combined(splits: na.Splits) -> na.Combined:
    predictor = na.LinkPredictor(model="transe", dim=8, epochs=2)
    trained = predictor.train(splits, options=na.TrainOptions(threads=1))
    return na.Combined.fit(trained, made_up_prior(splits), splits)


@pytest.fixture
def folder(combined: na.Combined, tmp_path: Path) -> Path:
    """A folder with a saved combined model."""
    combined.save(tmp_path / "x")
    return tmp_path / "x"


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def refused(folder: Path, reason: str) -> str:
    with pytest.raises(na.DataError, match=reason) as caught:
        na.load_combined(folder)
    return Path(caught.value.path or "").relative_to(folder).as_posix()


def assert_same(one: na.Combined, other: na.Combined, triples: na.KnowledgeGraph) -> None:
    assert (one.mix, one.calibration, one.known) == (other.mix, other.calibration, other.known)
    for kind in ("filtered", "raw"):
        np.testing.assert_array_equal(getattr(one.rank(triples), kind), getattr(other.rank(triples), kind))
    assert one.predict(**QUESTION, n=14) == other.predict(**QUESTION, n=14)


# what comes back


def test_a_combined_model_comes_back_as_it_was(splits: na.Splits, combined: na.Combined, folder: Path) -> None:
    assert files(folder) == FILES
    assert combined.calibration is not None
    assert_same(na.load_combined(folder), combined, splits.test)


def test_a_prior_without_a_model_comes_back(splits: na.Splits, tmp_path: Path) -> None:
    prior = na.ListedPrior(na.Rules(depth=1).fit(splits.train))
    rules = na.Combined(None, prior, splits.together(), Mix(1.0, 2.0, 0.01))
    rules.save(tmp_path / "x")
    assert files(tmp_path / "x") == {"combined.json", "known.npz", "prior.npz"}
    loaded = na.load_combined(tmp_path / "x")
    assert loaded.trained is None
    assert any(answer.evidence for answer in loaded.predict(**QUESTION, n=14))
    assert_same(loaded, rules, splits.test)


def test_a_prior_over_fewer_names_comes_back(splits: na.Splits, tmp_path: Path) -> None:
    arm = na.Concepts(cluster=na.Agglomerative(n_clusters=3)).prepare(splits.train, seed=0)
    predictor = na.LinkPredictor(model="transe", dim=8, epochs=1)
    trained = predictor.train(splits, arm, options=na.TrainOptions(threads=1))
    assert trained.hidden
    wide = na.Combined.fit(trained, made_up_prior(splits), splits)
    wide.save(tmp_path / "x")
    assert_same(na.load_combined(tmp_path / "x"), wide, splits.test)


def test_the_bytes_are_the_same_every_time(folder: Path, tmp_path: Path) -> None:
    na.load_combined(folder).save(tmp_path / "again")
    for name in FILES:
        assert (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes(), name


# saving


def test_a_combined_model_is_not_overwritten_unasked(combined: na.Combined, folder: Path) -> None:
    before = (folder / "combined.json").read_bytes()
    other = replace(combined, mix=Mix(9.0))
    with pytest.raises(FileExistsError, match="overwrite=True"):
        other.save(folder)
    assert (folder / "combined.json").read_bytes() == before
    other.save(folder, overwrite=True)
    assert na.load_combined(folder).mix == Mix(9.0)


def test_rules_alone_take_the_place_of_rules_and_a_model(combined: na.Combined, folder: Path) -> None:
    replace(combined, trained=None).save(folder, overwrite=True)
    assert na.load_combined(folder).trained is None
    assert files(folder) == {"combined.json", "known.npz", "prior.npz"}


def test_a_process_killed_while_saving_leaves_no_mixture(
    splits: na.Splits, combined: na.Combined, folder: Path, stages: Callable[[Path], list[Path]]
) -> None:
    other = replace(combined, mix=Mix(9.0), calibration=Calibration(0.0, 1.0))
    copies = stages(folder)
    other.save(folder, overwrite=True)
    for copy in copies[:-1]:
        refused(copy, "no combined model here")
    assert_same(na.load_combined(copies[-1]), other, splits.test)


def test_a_failed_save_leaves_nothing(
    combined: na.Combined, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError

    monkeypatch.setattr("nnmfaug.linkpred.storage.write_trained", fail)
    with pytest.raises(OSError):  # noqa: PT011  # ours
        combined.save(tmp_path / "new" / "x")
    assert not list(tmp_path.iterdir())


@dataclass(frozen=True)
class ForeignPrior(na.ListedPrior):
    """A prior that no file format exists for."""


def test_a_prior_of_another_kind_is_not_saved(combined: na.Combined, tmp_path: Path) -> None:
    foreign = replace(combined, prior=ForeignPrior(combined.prior.dist))  # type: ignore[attr-defined]
    with pytest.raises(
        TypeError, match="a prior of type ForeignPrior cannot be saved: it must be a RulePrior or ListedPrior"
    ):
        foreign.save(tmp_path / "x")
    assert not (tmp_path / "x").exists()


# what is refused


def with_values(**values: object) -> Callable[[Document], Document]:
    return lambda document: document | values


def without(name: str) -> Callable[[Document], Document]:
    def change(document: Document) -> Document:
        return document | {"sha256": {key: value for key, value in document["sha256"].items() if key != name}}

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (with_values(mix=None), "mix: must be an object, is None"),
        (
            with_values(mix={"temperature": 0, "weight": 1, "epsilon": 1}),
            "temperature=0: must be a number above 0",
        ),
        (with_values(mix={"temperature": 1, "weight": -1, "epsilon": 1}), "weight=-1: must be a number from 0"),
        (with_values(calibration={"constant": 0, "slope": -1}), "slope=-1: must be a number from 0"),
        (with_values(prior="guess"), "prior: must be "),
        (with_values(prior_names={"entities": ["atlantis"], "relations": []}), "prior_names: a name is not among"),
        (with_values(entities=["b", "a"]), "entities must be sorted"),
        (with_values(format="nnmfaug model"), "format: must be 'nnmfaug combined model'"),
        (with_values(more=1), "more: is unknown"),
        (without("known.npz"), "sha256.known.npz: is missing"),
        (without("model/model.json"), "sha256: must have both or neither of"),
    ],
)
def test_a_changed_document_is_refused_with_the_field(
    folder: Path, change: Callable[[Document], Document], reason: str
) -> None:
    change_json(folder / "combined.json", change)
    assert refused(folder, f"{UNREADABLE} .*{reason}") == "combined.json"


def test_names_that_are_not_those_of_the_model_are_refused(splits: na.Splits, folder: Path) -> None:
    names = ["a new name", *splits.vocabulary.entities]
    change_json(folder / "combined.json", with_values(entities=names))
    assert refused(folder, "entities and relations differ from those in model/model.json") == "combined.json"


@pytest.mark.parametrize("name", sorted(FILES - {"combined.json"}))
def test_a_file_that_has_changed_or_is_missing_is_refused(folder: Path, name: str) -> None:
    path = folder / name
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert refused(folder, "it has changed, or sha256 in combined.json has") == name
    path.unlink()
    assert refused(folder, "it is missing") == name


@pytest.mark.parametrize("data", [b"", b"{", b"[" * 200_000, b"\xff", b"[1]"])
def test_what_is_not_a_document_is_refused(folder: Path, data: bytes) -> None:
    (folder / "combined.json").write_bytes(data)
    assert refused(folder, UNREADABLE) == "combined.json"


def test_a_folder_without_a_document_is_refused(folder: Path) -> None:
    shutil.move(folder / "combined.json", folder / "other.json")
    assert refused(folder, "no combined model here: give a folder that contains combined.json") == "."


def change_arrays(folder: Path, name: str, changes: dict[str, object]) -> None:
    """Change arrays of a file, and let the document have its new checksum."""
    from nnmfaug.io.files import checksum

    path = folder / name
    types = {"train": "<i4", "triples": "<i4", "confidence": "<f8", "evidence": "|u1"}
    arrays = {**read_arrays(path, types), **{key: np.asarray(value) for key, value in changes.items()}}
    write_arrays(path, arrays)
    change_json(folder / "combined.json", lambda d: d | {"sha256": d["sha256"] | {name: checksum(path)}})


TRIPLES = np.zeros((1, 3), dtype=np.int32)


def text(content: str) -> object:
    return np.frombuffer(content.encode(), dtype=np.uint8)


@pytest.mark.parametrize(
    ("name", "changes", "reason"),
    [
        ("known.npz", {"triples": TRIPLES + 999}, "ids from"),
        ("known.npz", {"triples": TRIPLES[:, :2]}, "triples have shape"),
        ("known.npz", {"more": np.zeros(1)}, "it must contain triples alone"),
        ("known.npz", {"triples": np.zeros((1, 3))}, "triples has type float64"),
        ("prior.npz", {"train": TRIPLES + 999}, "ids from"),
        ("prior.npz", {"triples": TRIPLES}, "one confidence for each"),
        ("prior.npz", {"triples": np.repeat(TRIPLES, 2, axis=0)}, "repeated triples"),
        ("prior.npz", {"triples": TRIPLES, "confidence": [2.0]}, "confidence must be above 0 and at most 1"),
        ("prior.npz", {"triples": TRIPLES, "confidence": [np.nan]}, "confidence must be above 0 and at most 1"),
        ("prior.npz", {"more": np.zeros(1)}, "it must contain train, triples, confidence, evidence"),
        ("prior.npz", {"evidence": text("[]")}, "one evidence for each"),
        ("prior.npz", {"evidence": text('[{"source": 1}]')}, "evidence.0"),
        ("prior.npz", {"evidence": text("[" * 100_000)}, ""),
    ],
)
def test_arrays_that_make_no_sense_are_refused(
    folder: Path, name: str, changes: dict[str, object], reason: str
) -> None:
    change_arrays(folder, name, changes)
    assert refused(folder, f"{UNREADABLE} .*{reason}") == name
