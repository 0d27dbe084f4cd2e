"""Every preset is found by its name, and an unknown name is answered with a hint."""

from __future__ import annotations

import pytest

from nnmfaug.linkpred import LinkPredictor
from nnmfaug.linkpred.presets import _TUNED, PRESETS, find_preset, is_tuned


def test_the_models_of_the_paper_have_presets() -> None:
    paper = ("transe-paper", "rotate-paper", "transe-paper-tuned", "rotate-paper-tuned")
    assert ("transe", "rotate", "rotate-long", *paper) == PRESETS
    assert all(find_preset(name).model == name.partition("-")[0] for name in PRESETS)


@pytest.mark.parametrize("name", PRESETS)
def test_a_link_predictor_knows_them(name: str) -> None:
    assert LinkPredictor.preset(name) == find_preset(name)


@pytest.mark.parametrize(("name", "dataset"), _TUNED)
def test_a_data_set_may_have_settings_of_its_own_in_any_case(name: str, dataset: str) -> None:
    assert is_tuned(name, dataset.upper())
    assert find_preset(name, dataset.upper()) is _TUNED[name, dataset]
    assert find_preset(name, dataset).model == name.partition("-")[0]


def test_any_other_data_set_has_the_general_settings() -> None:
    assert not is_tuned("rotate", "my graph")
    assert find_preset("rotate", "my graph") is find_preset("rotate")
    assert not is_tuned("rotate-long", "wn18rr")
    assert find_preset("rotate-long", "wn18rr") is find_preset("rotate-long")


def test_an_unknown_name_is_answered_with_a_hint() -> None:
    with pytest.raises(ValueError, match="unknown preset 'transE'; did you mean 'transe'"):
        find_preset("transE")
    with pytest.raises(ValueError, match="unknown preset 'conve'; choose one of: transe, rotate, rotate-long"):
        find_preset("conve", "wn18rr")
