"""The work of one run, as any engine does it: nothing here reads or writes a file of the run's folder.

The process that has the folder writes the results. So a run whose worker died is made again, and a command that
was killed goes on from its folder.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np

from nnmfaug.augmenters.base import Prior
from nnmfaug.core.errors import SamplingError
from nnmfaug.core.progress import current, reporting_to
from nnmfaug.evaluation.runs import Run
from nnmfaug.experiments.arms import AnyArm, Arm, Fit
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.splits import Splits
from nnmfaug.linkpred import Combined, LinkPredictor, Trained, TrainOptions
from nnmfaug.linkpred.training_set import TrainingSet
from nnmfaug.quality.diagnostics import diagnose

PACKAGES = ("nnmfaug", "numpy", "torch", "pykeen")
"""Packages whose versions a run records."""
TRAINING = "training"
"""The task whose progress is that of all runs."""

Key = tuple[str, int]
"""An arm's name and a seed."""
Settings = Mapping[str, Any]


def installed_versions() -> dict[str, str]:
    """Return the versions that a run records, of the process that makes it."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


@dataclass(frozen=True, eq=False)
class TrainingTask:
    """A run to train.

    Parameters
    ----------
    key
        Name of the arm, and the seed.
    data
        The training set; if None, it is prepared where the run is trained.
    keeps_model
        Whether the model is returned with the run.
    """

    key: Key
    data: TrainingSet | None = None
    keeps_model: bool = False


@dataclass(frozen=True, eq=False)
class TrainedRun:
    """A run, and its model if it is kept."""

    run: Run
    trained: Trained | None


@dataclass(frozen=True, eq=False)
class Training:
    """Trains a model and ranks test.

    Parameters
    ----------
    settings
        Name of an arm → what its runs record.
    """

    splits: Splits
    predictor: LinkPredictor
    arms: Mapping[str, AnyArm]
    settings: Mapping[str, Settings]
    options: TrainOptions
    fit: Fit

    def __call__(self, task: TrainingTask) -> TrainedRun:
        """Return the run of a task."""
        arm, seed = task.key
        with _naming(task.key):
            data = task.data or self.prepare(task.key)
            trained = self.predictor.train(self.splits, data, seed=seed, options=self.options)
            started = time.perf_counter()
            ranks = trained.rank(self.splits.test)
        seconds = {**trained.seconds, "evaluate": time.perf_counter() - started}
        settings = {
            **self.settings[arm],
            "versions": installed_versions(),
            "generated": _describe(data.added, self.splits),
        }
        n_extra = data.size - len(self.splits.train)
        run = Run(arm, seed, ranks, settings, trained.losses, trained.curve, n_extra, seconds)
        return TrainedRun(run, trained if task.keeps_model else None)

    def prepare(self, key: Key) -> TrainingSet:
        """Make the training set of a run; errors name the arm."""
        name, seed = key
        arm: Arm = self.arms[name]  # type: ignore[assignment]
        try:
            return arm.prepare(self.splits.train, seed, self.fit)
        except SamplingError as error:
            msg = f"arm {name}: {error}; request fewer"
            raise SamplingError(msg, available=error.available, partial=error.partial) from None
        except ValueError as error:
            msg = f"arm {name}: {error}"
            raise ValueError(msg) from None


@dataclass(frozen=True, eq=False)
class CombiningTask:
    """A run that combines a model with rules; without a model, the rules alone."""

    key: Key
    trained: Trained | None
    keeps_model: bool = False


@dataclass(frozen=True, eq=False)
class CombinedRun:
    """A run, and its combined model if it is kept."""

    run: Run
    combined: Combined | None


@dataclass(frozen=True, eq=False)
class Combining:
    """Chooses T, w and ε on valid, and ranks test.

    Parameters
    ----------
    settings
        Name of an arm → what its runs record; T, w and ε are added.
    """

    splits: Splits
    prior: Prior
    settings: Mapping[str, Settings]

    def __call__(self, task: CombiningTask) -> CombinedRun:
        """Return the run of a task."""
        with _naming(task.key):
            started = time.perf_counter()
            combined = Combined.fit(task.trained, self.prior, self.splits)
            chosen = time.perf_counter()
            ranks = combined.rank(self.splits.test)
        seconds = {"combine": chosen - started, "evaluate": time.perf_counter() - chosen}
        mix = None if task.trained is None else asdict(combined.mix)
        settings = {**self.settings[task.key[0]], "versions": installed_versions(), "mix": mix}
        run = Run(*task.key, ranks, settings, seconds=seconds)
        return CombinedRun(run, combined if task.keeps_model else None)


def same_run(run: Run, seed: int) -> Run:
    """Return the run of rules alone with another seed: nothing in it depends on the seed."""
    return replace(run, seed=seed, seconds={})


def _describe(added: KnowledgeGraph | None, splits: Splits) -> dict[str, Any] | None:
    """Describe generated triples, and count those that valid and test confirm: reported only."""
    if added is None:
        return None
    generated = added.with_vocabulary(splits.vocabulary)
    in_train = int(splits.train.contains(generated.triples).sum())
    test_rows = np.flatnonzero(generated.contains(splits.test.triples)).tolist()
    return {"in_train": in_train, **asdict(diagnose(generated, splits)), "test_rows": test_rows}


@contextmanager
def _naming(key: Key) -> Iterator[None]:
    """Report work other than training under the name of this run."""
    arm, seed = key
    outer = current()
    if outer is None:
        yield
        return

    def relay(task: str, done: int, total: int) -> None:
        outer(task if task == TRAINING else f"{arm}, seed {seed}: {task}", done, total)

    with reporting_to(relay):
        yield
