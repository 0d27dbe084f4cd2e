"""The paper's experiments as data: every point is its own arm, and nothing but what it says differs."""

from __future__ import annotations

from pathlib import Path

import pytest

import nnmfaug as na
from nnmfaug.evaluation.runs import run_path
from nnmfaug.experiments import reproduce
from nnmfaug.experiments.paper import TABLE1, TABLE2
from nnmfaug.experiments.reproduce import (
    Cell,
    Part,
    Sampling,
    arms_of,
    cells_of,
    is_finished,
    predictor_of,
    variants,
)

FIGURES: tuple[Part, ...] = ("figure1a", "figure1b", "figure1c")
CELL = Cell("dl50a", "transe", "paper")


def nnmf_arms(part: Part, cell: Cell = CELL) -> dict[str, na.Augmentation]:
    train = na.read_splits("nations").train
    arms = arms_of(part, cell, train)
    return {
        name: arm for name, arm in arms.items() if name.startswith("nnmf") and isinstance(arm, na.Augmentation)
    }


def test_the_paper_s_tables_are_whole() -> None:
    cells = {(dataset, model) for dataset, model, _ in TABLE1}
    assert len(TABLE1) == 8
    assert cells == {(dataset, model) for dataset in TABLE2 for model in ("transe", "rotate")}
    for sizes in TABLE2.values():
        assert sizes["train"] + sizes["valid"] + sizes["test"] == sizes["total"]


@pytest.mark.parametrize("part", FIGURES)
def test_the_points_of_a_figure_are_arms_of_different_settings(part: Part) -> None:
    arms = nnmf_arms(part)
    assert list(arms) == [variant.arm for variant in variants(part)]
    settings = list(arms.values())
    assert all(one != other for i, one in enumerate(settings) for other in settings[:i])


@pytest.mark.parametrize("part", FIGURES)
def test_all_points_of_a_figure_make_the_steps_of_the_baseline(part: Part) -> None:
    assert all(arm.same_steps for arm in nnmf_arms(part).values())
    assert predictor_of(part, CELL).patience == 0


def test_figure_1a_changes_the_amount_alone() -> None:
    arms = nnmf_arms("figure1a")
    assert [arm.amount for arm in arms.values()] == list(reproduce.FRACTIONS)
    assert len({(arm.method, arm.schedule) for arm in arms.values()}) == 1


def test_figure_1b_changes_the_schedule_alone() -> None:
    arms = nnmf_arms("figure1b")
    schedules = [arm.schedule for arm in arms.values()]
    assert schedules == [na.Constant(), *(na.Polynomial(k) for k in reproduce.EXPONENTS)]
    assert len({(arm.method, arm.amount) for arm in arms.values()}) == 1


def test_figure_1c_changes_the_clusters_alone() -> None:
    arms = nnmf_arms("figure1c")
    assert len({(arm.schedule, arm.amount) for arm in arms.values()}) == 1
    assert list(arms)[:2] == ["nnmf agglomerative", "nnmf DBSCAN"]


def test_choices_for_a_cell_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduce, "SAMPLING", {CELL: Sampling(n_clusters=7, fraction=0.05, exponent=3.0)})
    (arm,) = nnmf_arms("table1").values()
    assert (arm.amount, arm.schedule) == (0.05, na.Polynomial(3.0))
    assert isinstance(arm.method, na.NNMFAug)
    assert arm.method.cluster == na.Agglomerative(7)
    other = nnmf_arms("table1", Cell("dl50a", "rotate", "paper"))
    assert other["nnmf"].amount == Sampling().fraction


def test_the_controls_of_table_1_are_as_many_triples_as_those_of_nnmf(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduce, "SAMPLING", {CELL: Sampling(fraction=0.05, exponent=3.0)})
    arms = arms_of("table1", CELL, na.read_splits("nations").train)
    for name in ("random", "typed", "duplicate"):
        arm = arms[name]
        assert isinstance(arm, na.Augmentation)
        assert (arm.amount, arm.schedule) == (0.05, na.Polynomial(3.0))


def test_a_margin_loss_takes_no_weights() -> None:
    train = na.read_splits("nations").train
    weights = {}
    for setting in ("paper", "strong"):
        auto = arms_of("table1", Cell("dl50a", "transe", setting), train)["auto"]
        assert isinstance(auto, na.Augmentation)
        weights[setting] = auto.weight
    assert weights == {"paper": 1.0, "strong": "probability"}


def test_every_cell_has_its_model() -> None:
    for cell in cells_of("table1", ["dl50a", "wn18rr"], ["transe", "rotate"], ["paper", "strong"]):
        assert cell.predictor.model == cell.model
    names = [cell.name for cell in cells_of("figure1a", ["wn18rr"], ["transe", "rotate"], ["paper"])]
    assert names == ["wn18rr-transe-paper"]
    assert not cells_of("figure1c", ["dl50a"], ["transe"], ["paper"])


def test_a_cell_is_finished_if_every_arm_has_every_seed(tmp_path: Path) -> None:
    folder = tmp_path / CELL.name
    assert not is_finished("table1", CELL, n_seeds=2, folder=tmp_path)
    folder.mkdir()
    for arm in arms_of("table1", CELL, na.read_splits("dl50a").train):
        assert not is_finished("table1", CELL, n_seeds=2, folder=tmp_path)
        for seed in range(2):
            run_path(folder, arm, seed).touch()
    assert is_finished("table1", CELL, n_seeds=2, folder=tmp_path)
    assert not is_finished("table1", CELL, n_seeds=3, folder=tmp_path)
    assert is_finished("table1", CELL, n_seeds=3, folder=tmp_path, quick=True)  # has two seeds
    assert not is_finished("figure1a", CELL, n_seeds=2, folder=tmp_path)
