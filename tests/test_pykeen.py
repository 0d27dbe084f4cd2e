"""PyKEEN finds the loops and the data set by name; its evaluation never sees a generated triple."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from pykeen.datasets import dataset_resolver
from pykeen.evaluation import RankBasedEvaluator
from pykeen.hpo import hpo_pipeline
from pykeen.losses import loss_resolver
from pykeen.nn.modules import interaction_resolver
from pykeen.pipeline import pipeline
from pykeen.training import training_loop_resolver
from pykeen.training.callbacks import TrainingCallback, callback_resolver

import nnmfaug as na
import nnmfaug.pykeen as nap
from nnmfaug.pykeen_datasets import DL50a

pytestmark = [
    pytest.mark.usefixtures("quick_collections"),
    pytest.mark.filterwarnings("ignore:'pin_memory' argument is set as true:UserWarning"),
    pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning"),
]

LOOPS: dict[str, Any] = {
    "nnmfaug": nap.NNMFAugTrainingLoop,
    "nnmfauglcwa": nap.NNMFAugLCWATrainingLoop,
    "nnmfaugshared": nap.NNMFAugSharedTrainingLoop,
}
SMALL: dict[str, Any] = {
    "model": "transe",
    "model_kwargs": {"embedding_dim": 8},
    "training_kwargs": {"num_epochs": 3, "batch_size": 512, "use_tqdm": False, "pin_memory": False},
    "evaluation_kwargs": {"batch_size": 64, "use_tqdm": False},
    "device": "cpu",
}
ROOT = Path(__file__).parents[1]


@pytest.fixture
def nations() -> Any:
    return dataset_resolver.make("nations")


@pytest.fixture
def extra(nations: Any, tmp_path: Path) -> Path:
    """A file of generated triples that are the valid triples: a filter that contains them changes the metrics."""
    names = nations.training.label_triples(nations.validation.mapped_triples)
    path = tmp_path / "extra.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in names))
    return path


class Counter(TrainingCallback):
    """Records the numbers of positives and negatives in each batch, of all loops that use it."""

    seen: list[tuple[int, int, torch.Size]] = []  # noqa: RUF012

    def on_batch(self, epoch: int, batch: Any, *_: Any, **__: Any) -> None:
        self.seen.append((epoch, len(batch["positives"]), batch["negatives"].shape))


@pytest.fixture
def counter() -> Iterator[type[Counter]]:
    Counter.seen.clear()
    callback_resolver.register(Counter, raise_on_conflict=False)
    yield Counter
    callback_resolver.lookup_dict.pop("counter")


def run(dataset: Any, **kwargs: Any) -> Any:
    return pipeline(**{**SMALL, "dataset": dataset, "random_seed": 0, **kwargs})


class TestPipeline:
    @pytest.mark.parametrize("name", LOOPS)
    def test_a_loop_is_found_by_name_and_by_class(self, name: str, nations: Any, extra: Path) -> None:
        found = []
        for loop in (name, LOOPS[name]):
            result = run(nations, training_loop=loop, training_loop_kwargs={"extra": str(extra)})
            assert type(result.training_loop) is LOOPS[name]
            assert result.training_loop.n_extra() == nations.validation.num_triples
            found.append((result.losses, result.get_metric("mrr")))
        assert len(found[0][0]) == 3
        assert found[0] == found[1]

    def test_generated_triples_change_the_training(self, nations: Any, extra: Path) -> None:
        plain, grown, late = (
            run(nations, training_loop="nnmfaug", training_loop_kwargs=kwargs).losses
            for kwargs in ({}, {"extra": extra}, {"extra": extra, "schedule": na.Step(0.9)})
        )
        assert plain[0] != grown[0]
        assert plain[:2] == late[:2]
        assert plain[2] != late[2]

    def test_arguments_of_a_loop_and_of_its_training_arrive(
        self, nations: Any, extra: Path, counter: type[Counter]
    ) -> None:
        training = {**SMALL["training_kwargs"], "exponent": 1.0, "extra_share": 0.5, "callbacks": "counter"}
        run(
            nations,
            training_loop="nnmfaug",
            training_loop_kwargs={"extra": extra, "automatic_memory_optimization": False},
            negative_sampler_kwargs={"num_negs_per_pos": 4},
            training_kwargs=training,
        )
        half = round(nations.validation.num_triples / 2)
        counts = [sum(n for at, n, _ in counter.seen if at == epoch) for epoch in (1, 2, 3)]
        assert counts == [nations.training.num_triples + epoch * half // 3 for epoch in (1, 2, 3)]
        assert {shape[1:] for _, _, shape in counter.seen} == {(4, 3)}

    @pytest.mark.parametrize("loss", ["SampledSoftmax", "SelfAdversarial", "bcewithlogits", "marginranking"])
    def test_losses_go_with_shared_negatives_by_name(self, loss: str, nations: Any) -> None:
        result = run(
            nations,
            training_loop="nnmfaugshared",
            training_loop_kwargs={"num_negatives": 14},
            loss=loss,
        )
        assert torch.tensor(result.losses).isfinite().all()
        assert result.training_loop.num_negatives == 14

    def test_the_filter_of_the_evaluation_has_real_triples_only(self, nations: Any, extra: Path) -> None:
        loop = {"training_loop": "nnmfaug", "training_loop_kwargs": {"extra": extra}}
        result = run(nations, filter_validation_when_testing=False, **loop)
        train, test = nations.training.mapped_triples, nations.testing.mapped_triples
        found = result.metric_results.to_flat_dict()["both.realistic.inverse_harmonic_mean_rank"]
        assert found == evaluate(result.model, test, [train])
        assert found != evaluate(result.model, test, [train, nations.validation.mapped_triples])


def evaluate(model: Any, triples: Any, known: list[Any]) -> float:
    results = RankBasedEvaluator().evaluate(
        model, triples, additional_filter_triples=known, batch_size=64, use_tqdm=False
    )
    mrr: float = results.to_flat_dict()["both.realistic.inverse_harmonic_mean_rank"]
    return mrr


def test_hpo_tunes_the_exponent_and_uses_the_negatives_of_the_loop(
    nations: Any, extra: Path, counter: type[Counter]
) -> None:
    training = {**SMALL["training_kwargs"], "num_epochs": 2, "callbacks": "counter"}
    result = hpo_pipeline(
        **{**SMALL, "training_kwargs": training},
        dataset=nations,
        training_loop="nnmfaug",
        training_loop_kwargs={
            "extra": str(extra),
            "automatic_memory_optimization": False,
            "negative_sampler": "basic",
            "negative_sampler_kwargs": {"num_negs_per_pos": 7},
        },
        optimizer_kwargs={"lr": 0.01},
        loss_kwargs={"margin": 1.0},
        n_trials=2,
        sampler="random",
        sampler_kwargs={"seed": 0},
    )
    trials = result.study.trials
    assert len(trials) == 2
    assert all(trial.state.name == "COMPLETE" for trial in trials)
    exponents = [trial.params["training.exponent"] for trial in trials]
    assert all(0.5 <= exponent <= 6 for exponent in exponents)
    assert exponents[0] != exponents[1]
    assert all(0 <= trial.params["training.extra_share"] <= 1 for trial in trials)
    assert {shape[1:] for _, _, shape in counter.seen} == {(7, 3)}


class TestNames:
    def test_loops_losses_and_interactions_are_registered(self) -> None:
        assert {name: training_loop_resolver.lookup(name) for name in LOOPS} == LOOPS
        assert loss_resolver.lookup("sampledsoftmax") is nap.SampledSoftmaxLoss
        assert loss_resolver.lookup("selfadversarial") is nap.SelfAdversarialLoss
        assert interaction_resolver.lookup("fasttranse") is nap.FastTransE
        assert interaction_resolver.lookup("fastrotate") is nap.FastRotatE

    def test_those_of_pykeen_stay(self) -> None:
        assert training_loop_resolver.lookup(None).__name__ == "SLCWATrainingLoop"
        assert interaction_resolver.lookup("transe").__name__ == "TransEInteraction"
        assert loss_resolver.lookup("nssa").__name__ == "NSSALoss"

    def test_all_that_is_promised_is_there(self) -> None:
        assert all(hasattr(nap, name) for name in nap.__all__)


class TestDL50a:
    @pytest.mark.usefixtures("archives")
    @pytest.mark.parametrize("inverse", [False, True])
    def test_no_triple_is_lost(self, inverse: bool) -> None:
        splits = na.read_splits("dl50a")
        dataset: Any = DL50a(create_inverse_triples=inverse)
        assert (dataset.num_entities, dataset.training.real_num_relations) == (
            1971,
            22,
        )  # the paper has 2,705 and 20
        assert dataset.training.create_inverse_triples is inverse
        for factory, graph in (
            (dataset.training, splits.train),
            (dataset.validation, splits.valid),
            (dataset.testing, splits.test),
        ):
            assert list(map(tuple, factory.label_triples(factory.mapped_triples).tolist())) == graph.labels()

    @pytest.mark.usefixtures("archives")
    def test_its_statistics_are_those_it_states(self) -> None:
        dataset: Any = DL50a()
        stated: Any = DL50a.__docdata__  # type: ignore[attr-defined]
        found = {
            "entities": dataset.num_entities,
            "relations": dataset.num_relations,
            "training": dataset.training.num_triples,
            "testing": dataset.testing.num_triples,
            "validation": dataset.validation.num_triples,
        }
        assert stated["statistics"] == {
            **found,
            "triples": found["training"] + found["testing"] + found["validation"],
        }

    @pytest.mark.usefixtures("archives")
    @pytest.mark.parametrize(
        "first",
        ["import pykeen.pipeline", "import pykeen.datasets", "import nnmfaug.pykeen", "import pykeen.training"],
    )
    def test_pykeen_finds_it_by_its_entry_point_whatever_is_imported_first(
        self, first: str, tmp_path: Path
    ) -> None:
        groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
        info = tmp_path / "nnmfaug-0.1.0.dist-info"  # as an installation has it
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: nnmfaug\nVersion: 0.1.0\n")
        lines = [
            line
            for group, entries in groups.items()
            for line in (f"[{group}]", *(f"{name} = {place}" for name, place in entries.items()))
        ]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        code = f"""{first}
from pykeen.datasets import dataset_resolver
dataset = dataset_resolver.make("dl50a")
print(dataset.num_entities, dataset.num_relations, dataset.testing.num_triples)
from pykeen.training import training_loop_resolver
print(training_loop_resolver.lookup("nnmfaug").__name__)
"""
        paths = os.pathsep.join([str(tmp_path), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
        ran = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.split() == ["1971", "22", "1249", "NNMFAugTrainingLoop"]
