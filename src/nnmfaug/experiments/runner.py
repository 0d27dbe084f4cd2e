"""Arms × seeds in a folder: existing runs are kept, so an interrupted experiment resumes where it stopped."""

from __future__ import annotations

import json
import platform
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from nnmfaug.core.errors import DataError, SamplingError
from nnmfaug.core.progress import current, reporting_to
from nnmfaug.evaluation.runs import Run, load_run, run_path, save_run
from nnmfaug.experiments.arms import Arm, Arms, Fit, Fits, arm_settings, as_arms
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.splits import Splits
from nnmfaug.io.lock import locked
from nnmfaug.io.preflight import check_folder
from nnmfaug.linkpred import LinkPredictor, TrainOptions
from nnmfaug.linkpred.training_set import TrainingSet
from nnmfaug.quality.diagnostics import diagnose

PACKAGES = ("nnmfaug", "numpy", "torch", "pykeen")
"""Packages whose versions a run records."""
_OUTCOMES = ("versions", "generated", "options")
"""Settings of a run that may differ; another number of threads changes the last digits only."""
_LATER = {"self_negative": 0.0}
"""Settings of a predictor that the first runs do not record, and their values then."""

Key = tuple[str, int]
"""An arm's name and a seed."""


def run_experiment(
    splits: Splits,
    predictor: LinkPredictor,
    arms: Arms,
    *,
    seeds: Iterable[int] = range(5),
    folder: str | Path,
    options: TrainOptions | None = None,
    fit: Fit | None = None,
) -> list[Run]:
    """Train every arm with every seed and rank the test triples; None as an arm is train alone.

    Each run is two files in ``folder``; the model of an arm's first seed is saved in ``models``. Existing runs are
    kept if they were made with the same settings.

    Parameters
    ----------
    fit
        Fits the augmenters. Default: each is fitted once per seed.

    Examples
    --------
    >>> import nnmfaug as na
    >>> small = na.LinkPredictor(model="transe", dim=16, epochs=2)
    >>> arms = {"baseline": None, "nnmf": na.Augmentation(na.NNMFAug(cluster=na.Agglomerative(3)))}
    >>> splits = na.read_splits("nations")
    >>> runs = na.run_experiment(splits, small, arms, seeds=range(2), folder="runs/nations")
    >>> [(run.arm, run.seed, run.n_extra) for run in runs]
    [('baseline', 0, 0), ('baseline', 1, 0), ('nnmf', 0, 159), ('nnmf', 1, 159)]
    """
    folder = Path(folder)
    seeds = tuple(dict.fromkeys(seeds))
    check_experiment(splits, predictor, arms, seeds, folder)
    experiment = _Experiment(splits, predictor, as_arms(arms), folder, options or TrainOptions(), fit or Fits())
    with locked(folder):
        return _run_all(experiment, arms, seeds)


def _run_all(experiment: _Experiment, arms: Arms, seeds: Sequence[int]) -> list[Run]:
    """Load the runs that exist, train the others, and return them all."""
    keys = [(arm, seed) for seed in seeds for arm in arms]  # seed by seed: an interrupted experiment is comparable
    runs = experiment.existing(keys)
    missing = [key for key in keys if key not in runs]
    if missing:
        experiment.warn_of_old(list(runs.values()))
    # Every arm is prepared for the first seed at once, so that errors come before anything is trained.
    training_sets = {key: experiment.prepare(key) for key in missing if key[1] == seeds[0]}
    for place, key in enumerate(missing):
        data = training_sets.pop(key, None) or experiment.prepare(key)
        with _progress(key, place, len(missing)):
            runs[key] = experiment.run(key, data, save_model=key[1] == seeds[0])
    return [runs[arm, seed] for arm in arms for seed in seeds]


@dataclass(frozen=True)
class _Experiment:
    """The parts that all runs of an experiment have in common."""

    splits: Splits
    predictor: LinkPredictor
    arms: Mapping[str, Arm]
    folder: Path
    options: TrainOptions
    fit: Fit

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The settings that all runs have in common, as plain data."""
        digests = {name: graph.digest() for name, graph in self.splits.items()}
        versions = {name: version(name) for name in PACKAGES}
        return {
            "data": {"name": self.splits.name, **digests},
            "predictor": asdict(self.predictor),
            "options": {"threads": self.options.threads, "device": self.options.device},
            "versions": {"python": platform.python_version(), **versions},
        }

    def existing(self, keys: Sequence[Key]) -> dict[Key, Run]:
        """Load the runs that the folder already contains."""
        runs = {}
        for arm, seed in keys:
            path = run_path(self.folder, arm, seed)
            if path.is_file():
                settings = {**self.settings, "arm": arm_settings(self.arms[arm])}
                runs[arm, seed] = _load_same(path, settings)
        return runs

    def warn_of_old(self, runs: Sequence[Run]) -> None:
        """Warn if existing runs differ from new ones in version, or have no learning curve."""
        current_version = self.settings["versions"]["nnmfaug"]
        versions = {str(run.settings.get("versions", {}).get("nnmfaug", "?")) for run in runs}
        others = ", ".join(sorted(versions - {current_version}))
        if others:
            msg = (
                f"this folder holds runs of nnmfaug {others}; new runs use {current_version}. "
                "Use a new folder for a consistent comparison"
            )
            warnings.warn(msg, UserWarning, stacklevel=3)
        with_curve = bool(self.options.evaluate_every and len(self.splits.valid))
        n_flat = sum(not run.curve for run in runs)
        if with_curve and n_flat:
            msg = f"{n_flat} of the existing runs have no learning curve. Use a new folder to get all curves"
            warnings.warn(msg, UserWarning, stacklevel=3)

    def prepare(self, key: Key) -> TrainingSet:
        """Make the training set of a run; errors name the arm."""
        arm, seed = key
        try:
            return self.arms[arm].prepare(self.splits.train, seed, self.fit)
        except SamplingError as error:
            msg = f"arm {arm}: {error}; request fewer"
            raise SamplingError(msg, available=error.available, partial=error.partial) from None
        except ValueError as error:
            msg = f"arm {arm}: {error}"
            raise ValueError(msg) from None

    def run(self, key: Key, data: TrainingSet, *, save_model: bool) -> Run:
        """Train, rank test, and write the run."""
        arm, seed = key
        trained = self.predictor.train(self.splits, data, seed=seed, options=self.options)
        started = time.perf_counter()
        ranks = trained.rank(self.splits.test)
        seconds = {**trained.seconds, "evaluate": time.perf_counter() - started}
        generated = _describe(data.added, self.splits)
        settings = {**self.settings, "arm": arm_settings(self.arms[arm]), "generated": generated}
        n_extra = data.size - len(self.splits.train)
        run = Run(arm, seed, ranks, settings, trained.losses, trained.curve, n_extra, seconds)
        if save_model:
            trained.save(model_folder(self.folder, arm, seed), overwrite=True)
        save_run(run, self.folder)
        return run


def model_folder(folder: str | Path, arm: str, seed: int) -> Path:
    """Return the folder of the model of a run."""
    return Path(folder) / "models" / run_path(folder, arm, seed).stem


def check_experiment(
    splits: Splits, predictor: LinkPredictor, arms: Arms, seeds: Sequence[int], folder: Path
) -> None:
    """Raise before anything is trained."""
    if not isinstance(splits, Splits):
        msg = f"splits of type {type(splits).__name__}: must be Splits, such as read_splits returns"
        raise TypeError(msg)
    if not len(splits.test):
        raise DataError(
            "no test triples, so there is nothing to compare by: move some there with na.split",
            path=splits.name,
        )
    if not arms or not seeds:
        msg = "no arms or no seeds: nothing to run"
        raise ValueError(msg)
    predictor.check_weights(weighted=any(getattr(arm, "weight", 1) != 1 for arm in arms.values()))
    check_folder(folder, size=_size(splits, predictor, len(arms), len(seeds)))


def _size(splits: Splits, predictor: LinkPredictor, n_arms: int, n_seeds: int) -> int:
    """Estimate the bytes of all runs and models."""
    run = 32 * len(splits.test) + 100 * predictor.epochs + 10_000
    names = splits.vocabulary
    model = 8 * predictor.dim * (len(names.entities) + 2 * len(names.relations)) + 50 * len(names.entities)
    known = 12 * sum(len(graph) for _, graph in splits.items())
    return n_arms * (n_seeds * run + model + known)


def _describe(added: KnowledgeGraph | None, splits: Splits) -> dict[str, Any] | None:
    """Describe generated triples, and count those that valid and test confirm: reported only."""
    if added is None:
        return None
    generated = added.with_vocabulary(splits.vocabulary)
    in_train = int(splits.train.contains(generated.triples).sum())
    test_rows = np.flatnonzero(generated.contains(splits.test.triples)).tolist()
    return {"in_train": in_train, **asdict(diagnose(generated, splits)), "test_rows": test_rows}


def _load_same(path: Path, settings: dict[str, Any]) -> Run:
    """Load a run, and raise if it was made with other settings."""
    run = load_run(path)
    now = json.loads(json.dumps(settings))
    now["data"]["name"] = run.settings.get("data", {}).get("name")  # a folder may be renamed
    before = {**run.settings, "predictor": {**_LATER, **run.settings.get("predictor", {})}}
    names = [name for name in now if name not in _OUTCOMES]
    changes = [line for name in names for line in _changes(name, before.get(name), now[name])]
    if changes:
        first_changes = "; ".join(changes[:3])
        msg = f"this run was made with other settings ({first_changes}): use another folder, or delete this one"
        raise DataError(msg, path=path)
    return run


def _changes(name: str, before: object, now: object) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*before, *now]):
            yield from _changes(f"{name} {key}", before.get(key), now.get(key))
    elif before != now:
        yield f"{name} differs" if name.startswith("data ") else f"{name}: {before} there, {now} now"


@contextmanager
def _progress(key: Key, place: int, n_runs: int) -> Iterator[None]:
    """Report training as progress of all runs, and other work under the name of this run."""
    arm, seed = key
    outer = current()
    if outer is None:
        yield
        return

    def relay(task: str, done: int, total: int) -> None:
        if task == "training":
            runs = "1 run" if n_runs == 1 else f"{n_runs} runs"
            outer(f"training, {runs}", place * total + done, n_runs * total)
        else:
            outer(f"{arm}, seed {seed}: {task}", done, total)

    with reporting_to(relay):
        yield
