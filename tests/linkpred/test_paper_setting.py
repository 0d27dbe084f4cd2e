"""The presets of the paper against a reference in plain torch, which is written from what pykg2vec does."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

import nnmfaug as na
from nnmfaug.experiments.existing import LATER
from nnmfaug.io import to_pykeen
from nnmfaug.linkpred import adam
from nnmfaug.linkpred.models import make_model
from nnmfaug.linkpred.one_lookup import OneLookupTrainingLoop
from nnmfaug.linkpred.stopping import spread
from tests.saved import change_json, write_model_0_1

ONE = na.TrainOptions(threads=1)
TRANSE, ROTATE = (na.LinkPredictor.preset(name) for name in ("transe-paper", "rotate-paper"))
BOTH = pytest.mark.parametrize("paper", [TRANSE, ROTATE], ids=["transe", "rotate"])


# the reference

K, MARGIN, LR, BATCH = 50, 0.8, 0.01, 128
RANGE = (MARGIN + 2) / K


def transe_scores(entities: Tensor, relations: Tensor, triples: Tensor) -> Tensor:
    h, r, t = entities[triples[:, 0]], relations[triples[:, 1]], entities[triples[:, 2]]
    h, r, t = (x / x.pow(2).sum(1, keepdim=True).sqrt() for x in (h, r, t))
    return -(h + r - t).abs().sum(1)


def rotate_scores(entities: Tensor, relations: Tensor, triples: Tensor) -> Tensor:
    h, t = entities[triples[:, 0]], entities[triples[:, 2]]
    angles = relations[triples[:, 1]] * math.pi / RANGE
    re = h[:, 0::2] * angles.cos() - h[:, 1::2] * angles.sin() - t[:, 0::2]
    im = h[:, 0::2] * angles.sin() + h[:, 1::2] * angles.cos() - t[:, 1::2]
    return MARGIN - (re**2 + im**2).sum(1)


def transe_loss(positive: Tensor, negative: Tensor) -> Tensor:
    return (MARGIN - positive + negative).clamp(min=0).sum()


def rotate_loss(positive: Tensor, negative: Tensor) -> Tensor:
    return -functional.logsigmoid(positive).mean() - functional.logsigmoid(-negative).mean()


def first_adam_step(weights: Tensor, gradient: Tensor) -> Tensor:
    """Both moments, corrected for their start at 0, are those of this gradient alone."""
    return weights - LR * gradient / (gradient.pow(2).sqrt() + 1e-8)


REFERENCE: dict[str, tuple[Callable[..., Tensor], Callable[..., Tensor]]] = {
    "transe": (transe_scores, transe_loss),
    "rotate": (rotate_scores, rotate_loss),
}


# what training does


@dataclass
class Step:
    """A batch, the weights before its step, and its loss."""

    positives: Tensor
    negatives: Tensor
    entities: Tensor
    relations: Tensor
    loss: float


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[Step]:
    """Every step of the training that follows."""
    seen: list[Step] = []
    process = OneLookupTrainingLoop._process_batch

    def record(self: Any, batch: Any, *args: Any, **kwargs: Any) -> Tensor:
        weights = weights_of(self.model)
        loss = process(self, batch, *args, **kwargs)
        seen.append(Step(batch["positives"], batch["negatives"].flatten(0, 1), *weights, loss.item()))
        return loss

    monkeypatch.setattr(OneLookupTrainingLoop, "_process_batch", record)
    return seen


def weights_of(model: Any) -> tuple[Tensor, Tensor]:
    """Return the tables of entities and relations; of complex numbers, re and im alternate."""
    weights = {name.split("_")[0]: x.clone() for name, x in model.state_dict().items()}
    return weights["entity"], weights["relation"]


def part_of(splits: na.Splits, n: int) -> na.Splits:
    """Return the splits with n of the train triples."""
    return na.Splits(splits.name, spread(splits.train, n), splits.valid, splits.test)


def random_triples(splits: na.Splits, n: int) -> na.KnowledgeGraph:
    return na.RandomTriples().fit(splits.train).sample(n, seed=0).graph


# scores, loss and step


@BOTH
def test_scores_are_those_of_the_reference(splits: na.Splits, paper: na.LinkPredictor) -> None:
    model = replace(paper, epochs=2).train(splits, options=ONE).model
    triples = torch.from_numpy(splits.test.triples.astype(np.int64))
    scores = REFERENCE[paper.model][0](*weights_of(model), triples)
    constant = MARGIN if paper.model == "rotate" else 0.0
    with torch.no_grad():
        of_triples = model.score_hrt(triples)[:, 0]
        of_tails = model.score_t(triples[:, :2])[torch.arange(len(triples)), triples[:, 2]]
    torch.testing.assert_close(of_triples + constant, scores, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(of_tails + constant, scores, rtol=1e-5, atol=1e-5)  # by matrix products


@BOTH
def test_a_step_is_that_of_the_reference(splits: na.Splits, paper: na.LinkPredictor, steps: list[Step]) -> None:
    trained = replace(paper, epochs=1).train(part_of(splits, BATCH), options=ONE)
    (step,) = steps
    scores, loss = REFERENCE[paper.model]
    tables = [table.requires_grad_() for table in (step.entities, step.relations)]
    expected_loss = loss(scores(*tables, step.positives), scores(*tables, step.negatives))
    assert step.loss == pytest.approx(expected_loss.item(), rel=1e-6)
    gradients = torch.autograd.grad(expected_loss, tables)
    for table, gradient, after in zip(tables, gradients, weights_of(trained.model), strict=True):
        expected = first_adam_step(table, gradient).detach()
        size = gradient.abs()
        is_clear = (size > 1e-4 * size.max()) | (size == 0)  # Adam blows up the rounding of a gradient near 0
        assert is_clear.float().mean() > 0.95
        assert (expected - table.detach()).abs().max() > 0.9 * LR
        torch.testing.assert_close(after[is_clear], expected[is_clear], rtol=0, atol=1e-6)


@BOTH
def test_the_start_has_the_ranges_of_pykg2vec(splits: na.Splits, paper: na.LinkPredictor) -> None:
    torch.manual_seed(0)
    factory = to_pykeen(splits.train, reciprocal=False)
    model: Any = make_model(paper, factory)
    for table in weights_of(model):
        n_rows, n_columns = table.shape
        bound = RANGE if paper.model == "rotate" else math.sqrt(6 / (n_rows + n_columns))
        assert 0.98 * bound < table.max() <= bound
        assert -bound <= table.min() < -0.98 * bound
        assert table.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.05)
    assert tuple(weights_of(model)[0].shape) == (14, K if paper.model == "transe" else 2 * K)
    if paper.model == "rotate":
        angles = model.relation_representations[0]().angle()
        assert 0.98 * math.pi < angles.abs().max() <= math.pi


@pytest.mark.parametrize("preset", ["transe-paper", "rotate-paper"])
def test_rows_that_wait_end_with_the_weights_of_rows_that_do_not(
    preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    splits = na.split(na.synthesize(600, 2_000, 6, seed=0).given, valid=0.1, test=0.1, seed=0)
    paper = replace(na.LinkPredictor.preset(preset), epochs=2, batch_size=8, negatives=2, dim=8)
    tables = []
    for many in (1, 10**9):
        monkeypatch.setattr(adam, "_MANY_ROWS", many)
        tables.append(weights_of(paper.train(splits, options=na.TrainOptions(evaluate_every=1, threads=1)).model))
    (waiting, _), (moving, _) = tables
    assert (waiting - moving).abs().median() < 1e-5
    assert not torch.equal(waiting, moving), "rows did wait"


# negatives


def is_train(triples: Tensor, graph: na.KnowledgeGraph) -> list[bool]:
    known = set(map(tuple, graph.triples.tolist()))
    return [tuple(triple) in known for triple in triples.tolist()]


@BOTH
def test_no_negative_is_a_training_triple(splits: na.Splits, paper: na.LinkPredictor, steps: list[Step]) -> None:
    added = random_triples(splits, 300)
    replace(paper, epochs=3).train(
        splits, na.TrainingSet(splits.train, added, schedule=na.Constant()), options=ONE
    )
    negatives = torch.cat([step.negatives for step in steps])
    assert len(negatives) == 3 * ((len(splits.train) + 300) // BATCH) * BATCH
    assert not any(is_train(negatives, splits.train))
    assert not any(is_train(negatives, added))
    assert any(is_train(negatives, splits.test)), "the test can fail: triples outside of train are drawn"


def test_a_later_triple_may_be_a_negative_until_it_is_in_use(splits: na.Splits, steps: list[Step]) -> None:
    added = random_triples(splits, 3000)
    data = na.TrainingSet(splits.train, added, schedule=na.Step(0.5))
    replace(TRANSE, epochs=2).train(splits, data, options=ONE)
    first, second = steps[: len(splits.train) // BATCH], steps[len(splits.train) // BATCH :]
    assert any(any(is_train(step.negatives, added)) for step in first)
    assert not any(any(is_train(step.negatives, added)) for step in second)


# batches


@pytest.mark.parametrize(("n_triples", "n_batches"), [(128, 1), (255, 1), (256, 2), (1592, 12)])
def test_an_epoch_has_whole_batches_only(
    splits: na.Splits, steps: list[Step], n_triples: int, n_batches: int
) -> None:
    replace(TRANSE, epochs=2).train(part_of(splits, n_triples), options=ONE)
    assert [len(step.positives) for step in steps] == [BATCH] * n_batches * 2


@BOTH
def test_a_growing_set_has_more_batches_epoch_by_epoch(
    splits: na.Splits, paper: na.LinkPredictor, steps: list[Step]
) -> None:
    data = na.TrainingSet(splits.train, random_triples(splits, 1000), schedule=na.Polynomial(1))
    replace(paper, epochs=4).train(splits, data, options=ONE)
    sizes = [len(splits.train) + n for n in (250, 500, 750, 1000)]
    assert len(steps) == sum(size // BATCH for size in sizes)
    assert {len(step.positives) for step in steps} == {BATCH}


def test_fewer_triples_than_a_batch_are_refused(splits: na.Splits) -> None:
    with pytest.raises(ValueError, match="whole_batches=True: 127 triples are less than a batch of 128"):
        TRANSE.train(part_of(splits, 127), options=ONE)


# settings


def test_the_presets_have_the_numbers_of_pykg2vec() -> None:
    for paper in (TRANSE, ROTATE):
        assert (paper.dim, paper.margin, paper.lr, paper.batch_size) == (K, MARGIN, LR, BATCH)
        assert (paper.epochs, paper.patience, paper.look_every, paper.look_at) == (100, 3, 10, 1000)
        assert (paper.negatives, paper.optimizer, paper.decay) == (1, "adam", ())
        assert (paper.reciprocal, paper.normalize, paper.dropout) == (False, False, 0)
    assert ROTATE.temperature == 0.1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"unit_vectors": True}, "unit_vectors=True goes with model='transe'"),
        ({"start": "xavier"}, "start='xavier' goes with model='transe'"),
        ({"start": "uniform", "model": "transe"}, "start='uniform' goes with model='rotate'"),
        ({"start": "uniform", "margin": -2.0}, "start='uniform' goes with a margin above -2"),
        ({"start": "glorot"}, "start='glorot': must be one of normal, xavier, uniform"),
        ({"summed": True}, "summed=True goes with loss='margin' or 'self-adversarial'"),
        ({"redraw": True}, "redraw=True goes with shared=False"),
        ({"patience": -1}, "patience=-1: must be a whole number from 0"),
        ({"patience": 1.5}, r"patience=1\.5: must be a whole number from 0"),
        ({"look_every": 0}, "look_every=0: must be a whole number from 1"),
        ({"look_at": 0}, "look_at=0: must be a whole number from 1"),
    ],
)
def test_settings_that_do_not_fit_are_refused_by_name(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        na.LinkPredictor(**settings)  # type: ignore[arg-type]


@BOTH
def test_a_saved_model_has_the_same_settings_and_scores(
    splits: na.Splits, paper: na.LinkPredictor, tmp_path: Path
) -> None:
    trained = replace(paper, epochs=2).train(splits, options=ONE)
    trained.save(tmp_path)
    loaded = na.load_trained(tmp_path)
    assert loaded.settings == trained.settings
    np.testing.assert_array_equal(loaded.rank(splits.test).filtered, trained.rank(splits.test).filtered)


def without_later(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name not in LATER}


@pytest.mark.parametrize("model", ["transe", "rotate"])
def test_a_model_of_the_first_version_has_none_of_these_settings(
    splits: na.Splits, model: Any, tmp_path: Path
) -> None:
    trained = na.LinkPredictor(model=model, dim=4, epochs=1).train(splits, options=ONE)
    write_model_0_1(trained, tmp_path)
    path = tmp_path / "model.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"settings": without_later(document["settings"])}))
    assert na.load_trained(tmp_path).settings == trained.settings


def test_a_run_of_the_first_version_is_one_with_the_defaults(splits: na.Splits, tmp_path: Path) -> None:
    def run(predictor: na.LinkPredictor) -> None:
        na.run_experiment(splits, predictor, {"baseline": None}, seeds=[0], folder=tmp_path, options=ONE)

    small = na.LinkPredictor(model="transe", dim=4, epochs=1)
    run(small)
    path = tmp_path / "baseline-seed0.json"

    def make_old(document: dict[str, Any]) -> dict[str, Any]:
        settings = document["settings"]
        return document | {"settings": settings | {"predictor": without_later(settings["predictor"])}}

    change_json(path, make_old)
    before = path.read_bytes()
    run(small)
    assert path.read_bytes() == before, "it was not run again"
    with pytest.raises(na.DataError, match="predictor patience: 0 there, 3 now"):
        run(replace(small, patience=3))


def test_every_setting_that_the_first_runs_lack_is_known_with_its_default() -> None:
    defaults = {each.name: each.default for each in fields(na.LinkPredictor)}
    assert LATER.items() <= defaults.items()
    assert len(defaults) - len(LATER) == 18, "the settings of 0.1.0 without self_negative"


@BOTH
def test_an_experiment_is_resumed(splits: na.Splits, paper: na.LinkPredictor, tmp_path: Path) -> None:
    predictor = replace(paper, epochs=2)
    arms = {"baseline": None, "random": na.Augmentation(na.RandomTriples(), 50)}

    def run() -> list[na.Run]:
        return na.run_experiment(splits, predictor, arms, seeds=[0], folder=tmp_path, options=ONE)

    first, again = run(), run()
    assert [each.seconds for each in first] == [each.seconds for each in again]
    assert {each.n_extra for each in again} == {0, 50}
