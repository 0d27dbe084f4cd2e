"""Experiments in a folder: what they leave, how they go on, what they refuse."""

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.core.progress import reporting_to
from nnmfaug.experiments import runner as experiment
from nnmfaug.experiments.runner import model_folder
from nnmfaug.io import to_pykeen
from nnmfaug.linkpred import predictor
from nnmfaug.linkpred.presets import PRESETS
from nnmfaug.linkpred.shared_negatives import _symmetry

SMALL = na.LinkPredictor(model="transe", dim=8, epochs=2, negatives=16)
ONE = na.TrainOptions(threads=1)


def arms() -> dict[str, na.Augmentation | None]:
    method = na.NNMFAug(cluster=na.Agglomerative(n_clusters=3))
    return {"baseline": None, "nnmf": na.Augmentation(method), "duplicate": na.Augmentation(na.Duplicate(), 50)}


def test_a_folder_has_every_run_and_the_models_of_the_first_seed(splits: na.Splits, tmp_path: Path) -> None:
    runs = na.run_experiment(splits, SMALL, arms(), seeds=range(2), folder=tmp_path, options=ONE)
    assert [(run.arm, run.seed, run.n_extra) for run in runs] == [
        ("baseline", 0, 0),
        ("baseline", 1, 0),
        ("nnmf", 0, 159),
        ("nnmf", 1, 159),
        ("duplicate", 0, 50),
        ("duplicate", 1, 50),
    ]
    assert {run.arm for run in na.load_runs(tmp_path)} == {"baseline", "nnmf", "duplicate"}
    assert sorted(path.name for path in (tmp_path / "models").iterdir()) == [
        "baseline-seed0",
        "duplicate-seed0",
        "nnmf-seed0",
    ]
    assert not list(tmp_path.rglob("*.tmp"))


def test_an_experiment_that_was_killed_goes_on_to_the_same_numbers(
    splits: na.Splits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = na.run_experiment(splits, SMALL, arms(), seeds=[3], folder=tmp_path / "whole", options=ONE)
    train, calls = predictor.LinkPredictor.train, []

    def killed(self: na.LinkPredictor, *args: object, **kwargs: object) -> object:
        calls.append(self)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return train(self, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(predictor.LinkPredictor, "train", killed)
    with pytest.raises(KeyboardInterrupt):
        na.run_experiment(splits, SMALL, arms(), seeds=[3], folder=tmp_path / "cut", options=ONE)
    again = na.run_experiment(splits, SMALL, arms(), seeds=[3], folder=tmp_path / "cut", options=ONE)
    assert len(calls) == 4  # one before, the killed one, and the two that were missing
    for run, same in zip(whole, again, strict=True):
        assert run.losses == same.losses
        np.testing.assert_array_equal(run.ranks.filtered, same.ranks.filtered)
        np.testing.assert_array_equal(run.ranks.raw, same.ranks.raw)


def test_runs_with_other_settings_are_not_mixed(splits: na.Splits, tmp_path: Path) -> None:
    na.run_experiment(splits, SMALL, {"baseline": None}, seeds=[0], folder=tmp_path, options=ONE)
    other = replace(SMALL, lr=1e-3)
    with pytest.raises(na.DataError, match=r"other settings \(predictor lr: 0\.005 there, 0\.001 now\)"):
        na.run_experiment(splits, other, {"baseline": None}, seeds=[0], folder=tmp_path, options=ONE)
    less = na.Splits(splits.name, splits.train, splits.valid, splits.valid)
    with pytest.raises(na.DataError, match="data test: "):
        na.run_experiment(less, SMALL, {"baseline": None}, seeds=[0], folder=tmp_path, options=ONE)


def test_a_setting_that_an_older_version_did_not_know_has_its_default(splits: na.Splits, tmp_path: Path) -> None:
    na.run_experiment(splits, SMALL, {"baseline": None}, seeds=[0], folder=tmp_path, options=ONE)
    path = tmp_path / "baseline-seed0.json"
    old = json.loads(path.read_text())
    del old["settings"]["predictor"]["self_negative"]
    path.write_text(json.dumps(old))
    na.run_experiment(splits, SMALL, {"baseline": None}, seeds=[0], folder=tmp_path, options=ONE)
    assert "self_negative" not in json.loads(path.read_text())["settings"]["predictor"], "it was not run again"
    other = replace(SMALL, self_negative=1.0)
    with pytest.raises(na.DataError, match=r"predictor self_negative: 0\.0 there, 1\.0 now"):
        na.run_experiment(splits, other, {"baseline": None}, seeds=[0], folder=tmp_path, options=ONE)


def test_an_entity_is_less_near_to_itself_if_that_is_a_negative(splits: na.Splits) -> None:
    way = replace(SMALL, epochs=20, lr=0.05)
    lengths = []
    for settings in (way, replace(way, self_negative=100.0)):
        model = settings.train(splits, options=ONE).model
        symmetric, _ = _symmetry(to_pykeen(splits.train, reciprocal=True))
        relations = model.relation_representations[0]().detach().norm(dim=1)
        lengths.append(float(relations[~symmetric].mean() / relations[symmetric].mean()))
    assert lengths[1] > 1.2 * lengths[0]


def test_what_old_runs_lack_is_told(splits: na.Splits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        na.run_experiment(splits, SMALL, {"baseline": None}, seeds=[0], folder=tmp_path, options=ONE)
        na.run_experiment(splits, SMALL, {"baseline": None}, seeds=[0], folder=tmp_path, options=ONE)
    curved = replace(ONE, evaluate_every=1)
    with pytest.warns(UserWarning, match="1 of the existing runs have no learning curve"):
        na.run_experiment(splits, SMALL, {"baseline": None}, seeds=range(2), folder=tmp_path, options=curved)
    monkeypatch.setattr(experiment, "version", lambda _: "99")
    with pytest.warns(UserWarning, match=r"holds runs of nnmfaug \d\S*; new runs use 99"):
        na.run_experiment(splits, SMALL, {"baseline": None}, seeds=range(3), folder=tmp_path, options=ONE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is new
        na.run_experiment(splits, SMALL, {"baseline": None}, seeds=[0], folder=tmp_path, options=curved)


def test_each_seed_draws_triples_of_its_own_from_train_alone(splits: na.Splits) -> None:
    augmentation = na.Augmentation(na.NNMFAug(cluster=na.Agglomerative(n_clusters=3)), 40)
    first, second = (augmentation.generate(splits.train, seed).graph for seed in (0, 1))
    assert len(first) == len(second) == 40
    assert first != second
    assert not splits.train.contains(first.triples).any()
    assert first == augmentation.generate(splits.train, 0).graph


def test_a_duplicate_repeats_train_and_only_train(splits: na.Splits) -> None:
    triples = na.Augmentation(na.Duplicate(), 100).generate(splits.train, 0).graph
    assert splits.train.contains(triples.triples).all()
    assert len(triples) == 100


def test_given_triples_keep_their_order_and_must_be_new(splits: na.Splits) -> None:
    new = na.TypedTriples().fit(splits.train).sample(30, seed=0).graph
    assert na.Augmentation(na.Given(new), 20).generate(splits.train, 0).graph.labels() == new.labels()[:20]
    known = na.KnowledgeGraph(splits.vocabulary, splits.train.triples[:2])
    with pytest.raises(na.DataError, match=r"x\.tsv: 2 of these triples are in train"):
        na.Augmentation(na.Given(known, "x.tsv"), 2).generate(splits.train, 0)


def test_amounts_are_shares_or_numbers(splits: na.Splits) -> None:
    method = na.RandomTriples()
    assert len(na.Augmentation(method, 0.5).generate(splits.train, 0).graph) == len(splits.train) // 2
    assert len(na.Augmentation(method, 7).generate(splits.train, 0).graph) == 7
    with pytest.raises(ValueError, match="less than one triple"):
        na.Augmentation(method, 0.0001).generate(splits.train, 0)


def test_nothing_to_compare_by_is_said_before_training(splits: na.Splits, tmp_path: Path) -> None:
    empty = na.Splits.merge("mine", train=splits.train)
    with pytest.raises(na.DataError, match="no test triples"):
        na.run_experiment(empty, SMALL, {"baseline": None}, folder=tmp_path)
    with pytest.raises(ValueError, match="no arms or no seeds"):
        na.run_experiment(splits, SMALL, {}, folder=tmp_path)
    assert not list(tmp_path.iterdir())


def test_progress_is_that_of_all_runs(splits: na.Splits, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    with reporting_to(lambda *what: told.append(what)):
        na.run_experiment(splits, SMALL, {"baseline": None}, seeds=[4, 5], folder=tmp_path, options=ONE)
    assert [what for what in told if what[0] == "training, 2 runs"] == [
        ("training, 2 runs", done, 4) for done in (1, 2, 3, 4)
    ]
    assert any(task == "baseline, seed 5: ranking" for task, *_ in told)


def test_a_saved_model_gives_the_same_ranks_and_answers(splits: na.Splits, tmp_path: Path) -> None:
    trained = na.LinkPredictor(model="rotate", dim=8, epochs=2).train(splits, options=ONE)
    trained.save(tmp_path)
    again = na.load_trained(tmp_path)
    assert again.settings == trained.settings
    np.testing.assert_array_equal(again.rank(splits.test).raw, trained.rank(splits.test).raw)
    answers = again.predict(head="china", relation="embassy", n=14)
    assert answers == trained.predict(head="china", relation="embassy", n=14)
    assert [a.score for a in answers] == sorted((a.score for a in answers), reverse=True)
    facts = set(splits.together().labels())
    assert all(a.known == (("china", "embassy", a.entity) in facts) for a in answers)
    heads = again.predict(tail="china", relation="embassy", n=3)
    assert all(a.known == ((a.entity, "embassy", "china") in facts) for a in heads)


def test_questions_that_make_no_sense_are_answered_with_advice(splits: na.Splits) -> None:
    trained = SMALL.train(splits, options=ONE)
    with pytest.raises(ValueError, match="unknown entity 'chine'; did you mean 'china'"):
        trained.predict(head="chine", relation="embassy")
    with pytest.raises(ValueError, match="unknown relation 'loves'"):
        trained.predict(head="china", relation="loves")
    with pytest.raises(ValueError, match="give a head to predict tails, or a tail"):
        trained.predict(head="china", tail="china", relation="embassy")


@pytest.mark.parametrize("harm", ["missing", "truncated", "format", "weights", "json"])
def test_a_broken_model_is_named(splits: na.Splits, tmp_path: Path, harm: str) -> None:
    SMALL.train(splits, options=ONE).save(tmp_path)
    weights, meta = tmp_path / "model.safetensors", tmp_path / "model.json"
    if harm == "missing":
        meta.unlink()
    elif harm == "truncated":
        weights.write_bytes(weights.read_bytes()[:1000])
    elif harm == "format":
        meta.write_text(json.dumps({**json.loads(meta.read_text()), "version": 99}))
    elif harm == "weights":
        weights.unlink()
    else:
        meta.write_text("{")
    with pytest.raises(na.DataError, match=r"no model here|not a model that this nnmfaug can read") as caught:
        na.load_trained(tmp_path)
    named = {"missing": tmp_path, "truncated": weights, "weights": weights}.get(harm, meta)
    assert caught.value.path == str(named)


def test_models_of_arms_have_folders_of_their_own() -> None:
    assert model_folder("runs", "nnmf", 0).parts == ("runs", "models", "nnmf-seed0")


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


def test_presets_exist_for_the_models_of_the_paper() -> None:
    for name in PRESETS:
        assert na.LinkPredictor.preset(name).model == name.partition("-")[0]
    with pytest.raises(ValueError, match="unknown preset 'conve'; choose one of: transe, rotate"):
        na.LinkPredictor.preset("conve")


@pytest.mark.parametrize("name", PRESETS)
def test_presets_train(splits: na.Splits, name: str) -> None:
    trained = replace(na.LinkPredictor.preset(name), epochs=2).train(splits, options=ONE)
    assert len(trained.losses) == 2


def test_a_loss_that_is_no_number_is_said_to_have_diverged(splits: na.Splits) -> None:
    wild = na.LinkPredictor(model="transe", dim=4, epochs=3, optimizer="sgd", lr=1e38)
    with pytest.raises(ValueError, match="diverged, use a smaller learning rate"):
        wild.train(splits, options=ONE)


def test_a_curve_has_metrics_on_valid(splits: na.Splits) -> None:
    options = na.TrainOptions(evaluate_every=2, threads=1)
    curve = na.LinkPredictor(model="transe", dim=8, epochs=5).train(splits, options=options).curve
    assert [point["epoch"] for point in curve] == [2, 4, 5]
    assert all(0 < point["mrr"] <= 1 for point in curve)


def test_triples_may_weigh_as_much_as_they_are_probable(splits: na.Splits) -> None:
    data = na.Augmentation(na.Rules(), 30, weight="probability").prepare(splits.train, 0)
    dist = na.Rules().fit(splits.train)
    assert data.added is not None
    assert data.added.labels() == dist.top(30).labels
    np.testing.assert_array_equal(data.weights, dist.confidence[:30])
    with pytest.raises(ValueError, match="this method gives none"):
        na.Augmentation(na.RandomTriples(), 5, weight="probability").prepare(splits.train, 0)
    with pytest.raises(ValueError, match="'probability'"):
        na.Augmentation(na.RandomTriples(), 5, weight="much")  # type: ignore[arg-type]
