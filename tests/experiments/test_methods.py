"""One table of methods: the command line and Python have the same names and the same defaults."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest

import nnmfaug as na
from nnmfaug.cli.arm_options import ARM_HELP, DEFAULT_ARMS
from nnmfaug.cli.compare import compare
from nnmfaug.cli.method_options import METHOD_HELP, MethodName
from nnmfaug.core.settings import describe_settings
from nnmfaug.experiments.arms import Fits, arm_settings
from nnmfaug.experiments.methods import ARMS, COMBINATIONS, METHODS, TRANSFORMS, find_method
from nnmfaug.linkpred.presets import PRESETS
from tests.cli.commands import run

NEW = [name for name, method in METHODS.items() if method.new]
every_method = pytest.mark.parametrize("name", METHODS)
every_new_method = pytest.mark.parametrize("name", NEW)


@pytest.fixture
def quick_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fit short rules in place of the augmenters that calibrate; their settings stay."""

    def fit(_: object, graph: na.KnowledgeGraph, *, seed: int = 0) -> na.Listed:
        return na.Rules(depth=1).fit(graph, seed=seed)

    monkeypatch.setattr(na.Auto, "fit", fit)
    monkeypatch.setattr(na.Mixture, "fit", fit)


@pytest.fixture(scope="module")
def train() -> na.KnowledgeGraph:
    return na.read_splits("nations").train


def as_json(value: object) -> Any:
    return json.loads(json.dumps(value))


# the same defaults


@every_method
def test_the_arm_of_a_method_has_its_augmenter(train: na.KnowledgeGraph, name: str) -> None:
    arm = na.Augmentation.of(name, train)
    assert describe_settings(arm.method) == describe_settings(na.augmenter(name, train))
    assert na.find_arm(name, train) == arm


@pytest.mark.usefixtures("quick_fits")
@every_new_method
def test_augment_has_the_defaults_of_python(train: na.KnowledgeGraph, tmp_path: Path, name: str) -> None:
    done = run("augment", "nations", "--method", name, "-o", "x.tsv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "x.tsv.json").read_text())
    augmenter = na.augmenter(name, train)
    assert manifest["method"] == as_json(describe_settings(augmenter))
    if find_method(name).at_most:
        assert manifest["amount"] == augmenter.fit(train).n_new, "every triple above the threshold"
    else:
        assert manifest["amount"] == na.Augmentation.of(name, train).amount


@every_new_method
def test_estimate_has_the_defaults_of_python(
    train: na.KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    calls = []

    def estimate_precision(
        augmenter: object, _: na.KnowledgeGraph, n: int | None, **__: object
    ) -> na.PrecisionEstimate:
        calls.append((augmenter, n))
        return na.PrecisionEstimate(0.0, 0.0, 0.0, 0.5, 0, (), {})

    monkeypatch.setattr(na, "estimate_precision", estimate_precision)
    na.write_triples(train, tmp_path / "train.tsv")
    done = run("estimate", "train.tsv", "--method", name, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    ((augmenter, n),) = calls
    assert augmenter == na.augmenter(name, train)
    assert n == (None if find_method(name).at_most else na.Augmentation.of(name, train).amount)


@pytest.mark.usefixtures("quick_fits", "fake_training")
def test_compare_has_the_defaults_of_python(train: na.KnowledgeGraph, tmp_path: Path) -> None:
    arms = [option for name in METHODS for option in ("--arm", name)]
    done = run("compare", "nations", *arms, "--epochs", "1", "--seeds", "1", "-o", "runs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    settings = {run.arm: run.settings["arm"] for run in na.load_runs(tmp_path / "runs")}
    expected = {name: as_json(arm_settings(na.Augmentation.of(name, train))) for name in METHODS}
    assert settings == {"baseline": None, **expected}


@pytest.mark.usefixtures("quick_fits", "fake_training")
def test_where_the_loss_takes_no_weights_the_default_weight_is_one(tmp_path: Path) -> None:
    small = ("--model", "transe-paper", "--epochs", "1", "--seeds", "1")
    done = run("compare", "nations", "--arm", "auto", *small, "-o", "runs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    weights = [run.settings["arm"]["weight"] for run in na.load_runs(tmp_path / "runs") if run.arm == "auto"]
    assert weights == [1.0]


# the same names


def test_the_command_line_offers_every_method_with_new_triples() -> None:
    assert list(get_args(MethodName)) == NEW


def test_the_help_explains_every_method() -> None:
    names = re.findall(r"(?:^|\. )([a-z, ]+):", METHOD_HELP)
    assert ", ".join(names).split(", ") == NEW


def test_the_help_names_every_arm() -> None:
    names = re.fullmatch(r"Arm to compare: (.*)\. Repeatable\. Default: (.*)\.", ARM_HELP)
    assert names is not None
    assert names[1].replace(", or ", ", ").split(", ") == [*ARMS, "file:PATH"]
    assert tuple(names[2].split(", ")) == DEFAULT_ARMS


def test_the_help_names_every_preset() -> None:
    option = inspect.signature(compare, eval_str=True).parameters["model"].annotation.__metadata__[0]
    assert option.help == f"Model preset: {', '.join(PRESETS)}."


@pytest.mark.parametrize("look_up", [na.augmenter, na.Augmentation.of], ids=["augmenter", "Augmentation.of"])
def test_an_unknown_method_is_answered_with_similar_names(look_up: Any) -> None:
    with pytest.raises(ValueError, match=r"unknown method 'rulse'; did you mean 'rules'\?"):
        look_up("rulse")


def test_an_unknown_arm_is_answered_with_similar_names_or_all(train: na.KnowledgeGraph) -> None:
    with pytest.raises(ValueError, match=r"unknown arm 'concept'; did you mean 'concepts'\?"):
        na.find_arm("concept", train)
    with pytest.raises(ValueError, match=r"unknown arm 'xyz'; choose one of: baseline, auto, .*, file:PATH"):
        na.find_arm("xyz", train)


# in Python


@pytest.mark.parametrize("look_up", [na.augmenter, na.Augmentation.of], ids=["augmenter", "Augmentation.of"])
def test_nnmf_without_a_graph_says_what_to_pass(look_up: Any) -> None:
    with pytest.raises(ValueError, match="pass the train graph"):
        look_up("nnmf")


@pytest.mark.parametrize("name", [name for name in METHODS if name != "nnmf"])
def test_other_methods_need_no_graph(name: str) -> None:
    assert na.Augmentation.of(name).amount == find_method(name).amount


@pytest.mark.usefixtures("quick_fits")
@pytest.mark.parametrize("name", [name for name in ARMS if name not in COMBINATIONS])
def test_every_arm_that_trains_can_be_prepared(train: na.KnowledgeGraph, name: str) -> None:
    arm: Any = na.find_arm(name, train)
    data = arm.prepare(train, 0, Fits())
    assert (data.size > len(train)) == (name != "baseline")
    assert bool(data.hidden) == (name == "concepts")
    assert (data.added is not None) == (name in METHODS)


@pytest.mark.parametrize("name", COMBINATIONS)
def test_every_combined_arm_uses_models_of_an_arm_that_trains(train: na.KnowledgeGraph, name: str) -> None:
    arm = na.find_arm(name, train)
    assert isinstance(arm, na.Combination)
    assert arm.base is None or arm.base in {"baseline", *METHODS, *TRANSFORMS}


def test_triples_of_a_file_are_an_arm(train: na.KnowledgeGraph, tmp_path: Path) -> None:
    extra = na.TypedTriples().fit(train).sample(40, seed=0).graph
    na.write_triples(extra, tmp_path / "extra.tsv")
    arm = na.find_arm(f"file:{tmp_path / 'extra.tsv'}", train, amount=30)
    assert isinstance(arm, na.Augmentation)
    added = arm.prepare(train, 0).added
    assert added is not None
    assert added.labels() == extra.labels()[:30]


def test_a_file_that_does_not_exist_is_refused(train: na.KnowledgeGraph) -> None:
    with pytest.raises(ValueError, match=r"arm file:none\.tsv: there is no such file of triples"):
        na.find_arm("file:none.tsv", train)


def test_a_requested_weight_is_used_where_a_method_can_use_it(train: na.KnowledgeGraph) -> None:
    weights = {name: na.find_arm(name, train, weight="probability") for name in METHODS}
    assert {name: getattr(arm, "weight", None) for name, arm in weights.items()} == {
        "auto": "probability",
        "rules": "probability",
        "nnmf": 1.0,
        "mixture": "probability",
        "typed": 1.0,
        "random": 1.0,
        "duplicate": 1.0,
    }
    duplicate = na.find_arm("duplicate", train, weight=0.5)
    assert isinstance(duplicate, na.Augmentation)
    assert duplicate.weight == 1.0


def test_transforms_ignore_the_options_of_generated_triples(train: na.KnowledgeGraph) -> None:
    for name, transform in TRANSFORMS.items():
        assert na.find_arm(name, train, amount=5, weight=0.5) == transform


def test_the_number_of_clusters_is_that_of_nnmf_alone(train: na.KnowledgeGraph) -> None:
    arm = na.find_arm("nnmf", train, clusters=2)
    assert isinstance(arm, na.Augmentation)
    assert arm.method == na.NNMFAug(cluster=na.Agglomerative(2))
    assert na.find_arm("random", train, clusters=2) == na.find_arm("random", train)
