"""A trained model: predictions, and files that give the same model back."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import nnmfaug as na

ONE = na.TrainOptions(threads=1)


@pytest.fixture(scope="module")
def trained(splits: na.Splits) -> na.Trained:
    return na.LinkPredictor(model="rotate", dim=8, epochs=2).train(splits, options=ONE)


@pytest.fixture
def folder(trained: na.Trained, tmp_path: Path) -> Path:
    """A folder with a saved model."""
    trained.save(tmp_path)
    return tmp_path


def test_a_saved_model_has_the_same_settings_and_ranks(
    splits: na.Splits, trained: na.Trained, folder: Path
) -> None:
    loaded = na.load_trained(folder)
    assert loaded.settings == trained.settings
    np.testing.assert_array_equal(loaded.rank(splits.test).raw, trained.rank(splits.test).raw)


def test_a_saved_model_has_the_same_answers(trained: na.Trained, folder: Path) -> None:
    question = {"head": "china", "relation": "embassy"}
    assert na.load_trained(folder).predict(**question, n=14) == trained.predict(**question, n=14)


def test_answers_are_sorted_by_score(trained: na.Trained) -> None:
    scores = [answer.score for answer in trained.predict(head="china", relation="embassy", n=14)]
    assert scores == sorted(scores, reverse=True)


def test_answers_that_are_known_triples_are_marked(splits: na.Splits, trained: na.Trained) -> None:
    facts = set(splits.together().labels())
    for answer in trained.predict(head="china", relation="embassy", n=14):
        assert answer.known == (("china", "embassy", answer.entity) in facts)
    for answer in trained.predict(tail="china", relation="embassy", n=14):
        assert answer.known == ((answer.entity, "embassy", "china") in facts)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"head": "chine", "relation": "embassy"}, "unknown entity 'chine'; did you mean 'china'"),
        ({"head": "china", "relation": "loves"}, "unknown relation 'loves'"),
        ({"head": "china", "tail": "china", "relation": "embassy"}, "give a head to predict tails, or a tail"),
        ({"relation": "embassy"}, "give a head to predict tails, or a tail"),
    ],
)
def test_a_question_without_an_answer_is_refused_with_advice(
    trained: na.Trained, question: dict[str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        trained.predict(**question)  # type: ignore[arg-type]


def test_a_folder_without_a_model_is_named(folder: Path) -> None:
    (folder / "model.json").unlink()
    with pytest.raises(na.DataError, match="no model here") as caught:
        na.load_trained(folder)
    assert caught.value.path == str(folder)


@pytest.mark.parametrize("damage", ["truncated weights", "no weights", "other version", "broken json"])
def test_a_damaged_model_is_refused_with_the_file_that_is_damaged(folder: Path, damage: str) -> None:
    weights = folder / "model.safetensors"
    meta = folder / "model.json"
    if damage == "truncated weights":
        weights.write_bytes(weights.read_bytes()[:1000])
    elif damage == "no weights":
        weights.unlink()
    elif damage == "other version":
        meta.write_text(json.dumps({**json.loads(meta.read_text()), "version": 99}))
    else:
        meta.write_text("{")
    with pytest.raises(na.DataError, match="not a model that this nnmfaug can read: train it again") as caught:
        na.load_trained(folder)
    assert caught.value.path == str(weights if "weights" in damage else meta)
