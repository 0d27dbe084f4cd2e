"""A model comes back from its two files as it was; files that are anything else are refused."""

from __future__ import annotations

import json
import resource
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

import nnmfaug as na
from tests.saved import Document, change_json, write_model_0_1

ONE = na.TrainOptions(threads=1)
QUESTION = {"head": "china", "relation": "embassy"}


@pytest.fixture(scope="module", params=["transe", "rotate"])
def trained(request: pytest.FixtureRequest, splits: na.Splits) -> na.Trained:
    predictor = na.LinkPredictor(model=request.param, dim=8, epochs=2, normalize=True, dropout=0.1)
    return replace(predictor.train(splits, options=ONE), hidden=("brazil",))


@pytest.fixture
def folder(trained: na.Trained, tmp_path: Path) -> Path:
    """A folder with a saved model."""
    trained.save(tmp_path / "model")
    return tmp_path / "model"


def refused(folder: Path, reason: str) -> str:
    with pytest.raises(na.DataError, match=reason) as caught:
        na.load_trained(folder)
    return Path(caught.value.path or "").name


def same(one: na.Trained, other: na.Trained) -> bool:
    return one.settings == other.settings and one.predict(**QUESTION, n=14) == other.predict(**QUESTION, n=14)


# what comes back


def test_a_model_comes_back_as_it_was(splits: na.Splits, trained: na.Trained, folder: Path) -> None:
    loaded = na.load_trained(folder)
    assert same(loaded, trained)
    assert loaded.hidden == trained.hidden
    np.testing.assert_array_equal(loaded.rank(splits.test).raw, trained.rank(splits.test).raw)


def test_loading_draws_no_random_numbers(folder: Path) -> None:
    before = torch.random.get_rng_state()
    na.load_trained(folder)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_loaded_model_needs_its_files_no_more(trained: na.Trained, folder: Path) -> None:
    loaded = na.load_trained(folder)
    weights = folder / "model.safetensors"
    with weights.open("rb+") as file:
        file.write(bytes(weights.stat().st_size))
    assert same(loaded, trained)


def test_the_bytes_are_the_same_every_time(folder: Path, tmp_path: Path) -> None:
    na.load_trained(folder).save(tmp_path / "again")
    for path in folder.iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


def test_a_model_of_the_first_version_is_read(trained: na.Trained, tmp_path: Path) -> None:
    write_model_0_1(trained, tmp_path)
    assert same(na.load_trained(tmp_path), trained)


def test_settings_that_an_older_model_does_not_have_are_the_defaults(trained: na.Trained, tmp_path: Path) -> None:
    write_model_0_1(trained, tmp_path)
    path = tmp_path / "model.json"
    document = json.loads(path.read_text())
    del document["settings"]["self_negative"], document["hidden"]
    path.write_text(json.dumps(document))
    assert na.load_trained(tmp_path).settings == trained.settings


# saving


def test_a_model_is_not_overwritten_unasked(trained: na.Trained, folder: Path) -> None:
    before = (folder / "model.json").read_bytes()
    other = replace(trained, hidden=())
    with pytest.raises(FileExistsError, match="overwrite=True"):
        other.save(folder)
    assert (folder / "model.json").read_bytes() == before
    other.save(folder, overwrite=True)
    assert na.load_trained(folder).hidden == ()


def test_a_process_killed_while_saving_leaves_no_mixture(
    splits: na.Splits, trained: na.Trained, folder: Path, stages: Callable[[Path], list[Path]]
) -> None:
    other = replace(trained.settings, dim=4).train(splits, options=ONE)
    copies = stages(folder)
    other.save(folder, overwrite=True)
    for copy in copies[:-1]:
        refused(copy, "no model here")
    assert same(na.load_trained(copies[-1]), other)


# what is refused


def test_every_setting_has_a_default_whose_type_is_checked() -> None:
    assert {type(each.default) for each in fields(na.LinkPredictor)} == {str, int, float, bool, tuple}


def with_settings(**values: object) -> Callable[[Document], Document]:
    return lambda document: document | {"settings": document["settings"] | values}


def with_values(**values: object) -> Callable[[Document], Document]:
    return lambda document: document | values


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (with_values(settings=True), "settings: must be an object, is True"),
        (with_values(settings=0.5), "settings: must be an object, is 0.5"),
        (with_settings(dim="x"), "settings.dim: must be a whole number, is 'x'"),
        (with_settings(dim=0), "dim=0: must be a whole number from 1"),
        (with_settings(model="conve"), "model='conve': must be one of transe, rotate"),
        (with_settings(model=[]), r"settings.model: must be text, is \[\]"),
        (with_settings(lr="fast"), "settings.lr: must be a number, is 'fast'"),
        (with_settings(shared=1), "settings.shared: must be true or false, is 1"),
        (with_settings(decay=[[1]]), "settings.decay: must be pairs"),
        (with_settings(decay=7), "settings.decay: must be a list, is 7"),
        (with_settings(color=1), "settings.color: is unknown"),
        (with_values(hidden=["atlantis"]), "hidden: not among the entities: atlantis"),
        (with_values(hidden="brazil"), "hidden: must be a list"),
        (with_values(entities=["b", "a"]), "entities must be sorted"),
        (with_values(format="nnmfaug run"), "format: must be 'nnmfaug model'"),
        (with_values(more=1), "more: is unknown"),
    ],
)
def test_a_changed_document_is_refused_with_the_field(
    folder: Path, change: Callable[[Document], Document], reason: str
) -> None:
    change_json(folder / "model.json", change)
    assert refused(folder, f"train it again .*{reason}") == "model.json"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (with_settings(dim=9), r"has shape \[14, .*but model.json \(settings.dim, entities, relations\) needs"),
        (with_settings(dim=100_000_000), r"has shape \[14, .*but model.json"),
        (with_settings(dim=2**62), "settings.dim in model.json: "),
        (with_settings(reciprocal=False), r"has shape \[110, 8\].* needs \[55, 8\]"),
        (with_values(entities=["a", "brazil"]), "ids from"),
        (with_values(weights_sha256="0"), "it has changed, or weights_sha256 in model.json has"),
    ],
)
def test_weights_that_do_not_fit_the_document_are_refused(
    folder: Path, change: Callable[[Document], Document], reason: str
) -> None:
    change_json(folder / "model.json", change)
    assert refused(folder, f"train it again .*{reason}") == "model.safetensors"


def test_a_document_that_promises_a_huge_model_asks_for_no_memory(folder: Path) -> None:
    change_json(folder / "model.json", with_settings(dim=100_000_000))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused(folder, "train it again")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 1_000_000, "kB; the model would have 44 GB"


def test_a_changed_document_is_noticed_by_its_checksum(folder: Path) -> None:
    path = folder / "model.json"
    path.write_text(path.read_text().replace('"lr": 0.005', '"lr": 0.006'))
    assert refused(folder, "checksum: does not match") == "model.json"


def test_a_model_of_a_later_version_needs_a_later_nnmfaug(folder: Path) -> None:
    change_json(folder / "model.json", with_values(version=3, something="new"))
    assert refused(folder, "written by a newer nnmfaug: update nnmfaug$") == "model.json"


@pytest.mark.parametrize("data", [b"", b"{", b"[" * 200_000, b"\xff", b"[1]"])
def test_what_is_not_a_document_is_refused(folder: Path, data: bytes) -> None:
    (folder / "model.json").write_bytes(data)
    assert refused(folder, "not a model that this nnmfaug can read: train it again") == "model.json"


def without_checksum(folder: Path) -> None:
    change_json(folder / "model.json", lambda d: {k: v for k, v in d.items() if k != "weights_sha256"})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda tensors: tensors.pop("known"), "does not contain tensor known"),
        (lambda tensors: tensors.update(more=torch.zeros(1)), "it has more, .*but settings in model.json need"),
        (lambda tensors: tensors.update(known=tensors["known"][:, :2].contiguous()), "triples have shape"),
        (lambda tensors: tensors.update(known=tensors["known"] - 50), "ids from"),
        (lambda tensors: tensors.update(known=tensors["known"].bfloat16()), "BFloat16"),
        (lambda tensors: tensors.update({k: v.half() for k, v in tensors.items() if k != "known"}), "type F16"),
    ],
)
def test_other_tensors_are_refused(folder: Path, change: Callable[[dict[str, Any]], object], reason: str) -> None:
    path = folder / "model.safetensors"
    tensors = load(path.read_bytes())
    change(tensors)
    path.write_bytes(save(tensors))
    assert refused(folder, "it has changed") == "model.safetensors"
    without_checksum(folder)
    assert refused(folder, reason) == "model.safetensors"


@pytest.mark.parametrize("size", [0, 7, 8, 100, 1000])
def test_weights_cut_short_are_refused(folder: Path, size: int) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:size])
    assert refused(folder, "it has changed") == "model.safetensors"
    without_checksum(folder)
    assert refused(folder, "train it again") == "model.safetensors"


def test_missing_weights_and_a_folder_in_their_place_are_refused(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.unlink()
    assert refused(folder, "it is missing") == "model.safetensors"
    path.mkdir()
    assert refused(folder, "this is a folder") == "model.safetensors"
    (folder / "model.json").unlink()
    assert refused(folder, "no model here") == "model"
