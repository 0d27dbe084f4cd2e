"""Settings of a link predictor: which are possible, and what training does with them."""

from __future__ import annotations

from dataclasses import replace

import pytest

import nnmfaug as na
from nnmfaug.io import to_pykeen
from nnmfaug.linkpred.presets import PRESETS
from nnmfaug.linkpred.shared_negatives import _symmetry

SMALL = na.LinkPredictor(model="transe", dim=8, epochs=2, negatives=16)
ONE = na.TrainOptions(threads=1)


def test_a_device_is_checked_before_anything_is_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(ValueError, match="device 'cuda': there is none here; use auto or cpu"):
        na.TrainOptions(device="cuda")
    with pytest.raises(ValueError, match="device='gpu': must be auto, cpu, cuda"):
        na.TrainOptions(device="gpu")  # type: ignore[arg-type]
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    assert na.TrainOptions(device="cuda").device == "cuda"


def test_an_entity_is_less_near_to_itself_if_that_is_a_negative(splits: na.Splits) -> None:
    way = replace(SMALL, epochs=20, lr=0.05)
    lengths = []
    for settings in (way, replace(way, self_negative=100.0)):
        model = settings.train(splits, options=ONE).model
        symmetric, _ = _symmetry(to_pykeen(splits.train, reciprocal=True))
        relations = model.relation_representations[0]().detach().norm(dim=1)
        lengths.append(float(relations[~symmetric].mean() / relations[symmetric].mean()))
    assert lengths[1] > 1.2 * lengths[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "complex"}, "model='complex': must be one of transe, rotate"),
        ({"dim": 0}, "dim=0: must be a whole number from 1"),
        ({"dropout": 1.0}, "dropout=1.0"),
        ({"lr": float("inf")}, "lr=inf: must be a number above 0"),
        ({"norm": 3}, "norm=3"),
        ({"shared": False}, "loss='softmax' goes with shared=True"),
        ({"self_negative": 1.0, "loss": "self-adversarial"}, "self_negative goes with loss='softmax'"),
        ({"self_negative": -1.0}, "self_negative=-1.0: must be a number from 0"),
        ({"norm": 1, "squared": True}, "squared=True goes with norm=2"),
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        na.LinkPredictor(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", PRESETS)
def test_presets_train(splits: na.Splits, name: str) -> None:
    trained = replace(na.LinkPredictor.preset(name), epochs=2).train(splits, options=ONE)
    assert len(trained.losses) == 2


def test_a_curve_has_metrics_on_valid(splits: na.Splits) -> None:
    options = na.TrainOptions(evaluate_every=2, threads=1)
    curve = na.LinkPredictor(model="transe", dim=8, epochs=5).train(splits, options=options).curve
    assert [point["epoch"] for point in curve] == [2, 4, 5]
    assert all(0 < point["mrr"] <= 1 for point in curve)
