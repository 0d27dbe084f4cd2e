"""Options as values: what they mean for each method and arm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import nnmfaug as na
from nnmfaug.cli.arm_options import ArmOptions
from nnmfaug.cli.engine_options import Workers
from nnmfaug.cli.method_options import MethodName, MethodOptions
from nnmfaug.core.engines.base import n_cores, running_on
from nnmfaug.core.engines.processes import Processes

PREDICTOR = na.LinkPredictor(model="transe")
NOTHING: dict[str, Any] = dict.fromkeys(("amount", "schedule", "exponent", "weight", "clusters"))


def schedule_of(name: str, train: na.KnowledgeGraph, **options: Any) -> object:
    arm = ArmOptions(**{**NOTHING, **options}).arm(name, train, PREDICTOR, na.ReadOptions())
    assert isinstance(arm, na.Augmentation)
    return arm.schedule


def test_an_exponent_alone_changes_only_arms_that_enter_by_a_polynomial(splits: na.Splits) -> None:
    assert schedule_of("random", splits.train, exponent=3.0) == na.Polynomial(3.0)
    assert schedule_of("rules", splits.train, exponent=3.0) == na.Constant()
    assert schedule_of("auto", splits.train, exponent=3.0) == na.Constant()


def test_a_polynomial_schedule_that_is_asked_for_is_used_by_every_arm(splits: na.Splits) -> None:
    assert schedule_of("rules", splits.train, schedule="polynomial") == na.Polynomial(2.0)
    assert schedule_of("rules", splits.train, schedule="polynomial", exponent=3.0) == na.Polynomial(3.0)


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        (None, ["baseline", "auto", "rules-alone", "combined"]),
        (["rules-alone"], ["baseline", "rules-alone"]),
        (["auto+combined", "random"], ["baseline", "auto", "auto+combined", "random"]),
        (["auto", "baseline", "auto+combined"], ["auto", "baseline", "auto+combined"]),
    ],
)
def test_arms_whose_models_are_used_are_added(typed: list[str] | None, names: list[str]) -> None:
    assert ArmOptions(**NOTHING).names(typed) == names


def test_defaults_may_be_typed_where_they_change_nothing(splits: na.Splits) -> None:
    options = MethodOptions("rules", components="8", clusterer="ward", smoothing=0.0)
    assert options.augmenter(splits.train) == na.Rules()
    assert schedule_of("rules", splits.train, schedule="constant", exponent=2.0) == na.Constant()


@pytest.mark.parametrize("method", ["rules", "mixture"])
def test_the_default_depth_may_be_typed_and_changes_nothing(splits: na.Splits, method: MethodName) -> None:
    default = MethodOptions(method).augmenter(splits.train)
    assert MethodOptions(method, depth=2).augmenter(splits.train) == default
    assert MethodOptions(method, depth=1).augmenter(splits.train) != default


def test_the_depth_of_auto_changes_nothing_else_of_its_rules(splits: na.Splits) -> None:
    default = MethodOptions("auto").augmenter(splits.train).mixture(splits.train)
    typed = MethodOptions("auto", depth=2).augmenter(splits.train).mixture(splits.train)
    assert typed == default


@pytest.mark.parametrize(
    ("text", "number"), [("2000", 2000), ("500M", 500_000_000), ("2.5K", 2500), ("1g", 10**9)]
)
def test_a_budget_is_that_of_the_rules(splits: na.Splits, text: str, number: int) -> None:
    assert MethodOptions("rules", budget=text).augmenter(splits.train) == na.Rules(budget=number)
    (auto_rules,) = MethodOptions("auto", budget=text).augmenter(splits.train).mixture(splits.train).generators
    assert (auto_rules.budget, auto_rules.combine) == (number, "fading")


def test_a_budget_is_refused_where_nothing_is_mined() -> None:
    with pytest.raises(ValueError, match="--budget is for --method auto, rules, mixture, not for nnmf"):
        MethodOptions("nnmf", budget="1M")
    with pytest.raises(ValueError, match="--rules and --budget cannot be combined"):
        MethodOptions("rules", budget="1M", rules=Path("rules.txt"))
    with pytest.raises(ValueError, match="--budget lots: must be a number such as 2000"):
        MethodOptions("rules", budget="lots")


def test_spectral_clustering_is_k_means_of_eigenvectors(splits: na.Splits) -> None:
    method = MethodOptions("nnmf", clusterer="spectral", clusters="3", components="4").augmenter(splits.train)
    assert (method.embed, method.cluster) == (na.Spectral(4), na.KMeans(3))
    with pytest.raises(ValueError, match="--clusters auto cannot be combined with --clusterer spectral"):
        MethodOptions("nnmf", clusterer="spectral", clusters="auto")


def test_the_arm_nnmf_takes_a_clusterer(splits: na.Splits) -> None:
    options = ArmOptions(**{**NOTHING, "clusterer": "spectral", "clusters": 3})
    arm = options.arm("nnmf", splits.train, PREDICTOR, na.ReadOptions())
    assert isinstance(arm, na.Augmentation)
    assert isinstance(arm.method, na.NNMFAug)
    assert arm.method.cluster == na.KMeans(3)
    with pytest.raises(ValueError, match="--clusterer is for the arm nnmf: add --arm nnmf"):
        ArmOptions(**{**NOTHING, "clusterer": "spectral"}).names(["random"])


def test_the_arm_nnmf_is_the_same_on_the_command_line_and_in_python(splits: na.Splits) -> None:
    typed = ArmOptions(**NOTHING).arm("nnmf", splits.train, PREDICTOR, na.ReadOptions())
    assert typed == na.find_arm("nnmf", splits.train)


@pytest.mark.parametrize("option", [{"components": "4"}, {"clusterer": "kmeans"}, {"smoothing": 1.0}])
def test_other_values_of_another_methods_options_are_refused(option: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="is for --method nnmf, not for rules"):
        MethodOptions("rules", **option)


@pytest.mark.parametrize(
    ("engine", "threads", "is_noted"),
    [("processes:2", n_cores(), True), ("tcp://127.0.0.1:8786", n_cores(), False), ("processes:2", 0, False)],
)
def test_workers_that_share_cores_are_noted(
    engine: str, threads: int, *, is_noted: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with running_on(Processes(2)):
        Workers(engine).note_if_crowded(threads)
    assert ("--threads 1 is faster" in capsys.readouterr().err) == is_noted


def test_one_process_shares_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Workers("serial").note_if_crowded(1000)
    assert not capsys.readouterr().err
