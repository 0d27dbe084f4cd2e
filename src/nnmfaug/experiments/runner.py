"""Arms × seeds in a folder: existing runs are kept, so an interrupted experiment resumes where it stopped."""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from nnmfaug.augmenters.base import Prior
from nnmfaug.core.errors import SamplingError
from nnmfaug.core.progress import current, reporting_to
from nnmfaug.evaluation.runs import Run, run_path, save_run
from nnmfaug.experiments.arms import AnyArm, Arm, Arms, Combination, Fit, Fits, arm_settings, as_arms
from nnmfaug.experiments.checks import check_experiment
from nnmfaug.experiments.combinations import (
    arms_with_models,
    combination_settings,
    combinations,
    run_combined,
    same_run,
)
from nnmfaug.experiments.existing import load_same
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.splits import Splits
from nnmfaug.io.lock import locked
from nnmfaug.linkpred import LinkPredictor, TrainOptions, load_trained
from nnmfaug.linkpred.storage import DOCUMENT as MODEL_FILE
from nnmfaug.linkpred.training_set import TrainingSet
from nnmfaug.quality.diagnostics import diagnose
from nnmfaug.quality.prior import fit_prior

PACKAGES = ("nnmfaug", "numpy", "torch", "pykeen")
"""Packages whose versions a run records."""

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

    A :class:`~nnmfaug.Combination` trains nothing and uses the models of another arm, which are then saved for all
    seeds. A model that an earlier experiment did not save is trained again.

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
    """Load the runs that exist, train and combine the others, and return them all."""
    keys = [(arm, seed) for seed in seeds for arm in arms]  # seed by seed: an interrupted experiment is comparable
    runs = experiment.existing(keys)
    missing = [key for key in keys if key not in runs]
    if missing:
        experiment.warn_of_old(list(runs.values()))
    to_combine = [key for key in missing if key[0] in combinations(arms)]
    without_model = experiment.without_model(to_combine, runs)
    to_train = [key for key in keys if key in without_model or (key in missing and key not in to_combine)]
    # Every arm is prepared for the first seed at once, so that errors come before anything is trained.
    training_sets = {key: experiment.prepare(key) for key in to_train if key[1] == seeds[0]}
    for key in _models_first([*to_train, *to_combine], seeds):
        with _progress(key, to_train.index(key) if key in to_train else 0, len(to_train)):
            if key in to_combine:
                runs[key] = experiment.combine(key, runs, is_first=key[1] == seeds[0])
                continue
            data = training_sets.pop(key, None) or experiment.prepare(key)
            if key in without_model:
                experiment.train_again(runs[key], data)
            else:
                runs[key] = experiment.run(key, data, is_first=key[1] == seeds[0])
    return [runs[arm, seed] for arm in arms for seed in seeds]


def _models_first(keys: Sequence[Key], seeds: Sequence[int]) -> list[Key]:
    """Return the runs seed by seed; those of a seed keep their order, so models come before their combinations."""
    return [key for seed in seeds for key in keys if key[1] == seed]


@dataclass(frozen=True)
class _Experiment:
    """The parts that all runs of an experiment have in common."""

    splits: Splits
    predictor: LinkPredictor
    arms: Mapping[str, AnyArm]
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

    def settings_of(self, name: str) -> dict[str, Any]:
        """Return the settings of the runs of an arm, as far as they are known before."""
        arm = self.arms[name]
        if isinstance(arm, Combination):
            return {**self.settings, "arm": combination_settings(arm, self.arms)}
        return {**self.settings, "arm": arm_settings(arm)}

    @cached_property
    def prior(self) -> Prior:
        """The estimated probabilities of answers by rules, fitted once."""
        return fit_prior(self.splits.train)

    def existing(self, keys: Sequence[Key]) -> dict[Key, Run]:
        """Load the runs that the folder already contains."""
        runs = {}
        for arm, seed in keys:
            path = run_path(self.folder, arm, seed)
            if path.is_file():
                runs[arm, seed] = load_same(path, self.settings_of(arm))
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
        n_flat = sum(not run.curve for run in runs if run.arm not in combinations(self.arms))
        if with_curve and n_flat:
            msg = f"{n_flat} of the existing runs have no learning curve. Use a new folder to get all curves"
            warnings.warn(msg, UserWarning, stacklevel=3)

    def prepare(self, key: Key) -> TrainingSet:
        """Make the training set of a run; errors name the arm."""
        arm, seed = key
        trained_arm: Arm = self.arms[arm]  # type: ignore[assignment]
        try:
            return trained_arm.prepare(self.splits.train, seed, self.fit)
        except SamplingError as error:
            msg = f"arm {arm}: {error}; request fewer"
            raise SamplingError(msg, available=error.available, partial=error.partial) from None
        except ValueError as error:
            msg = f"arm {arm}: {error}"
            raise ValueError(msg) from None

    def run(self, key: Key, data: TrainingSet, *, is_first: bool) -> Run:
        """Train, rank test, and write the run; also the model, if it is of the first seed or needed later."""
        arm, seed = key
        trained = self.predictor.train(self.splits, data, seed=seed, options=self.options)
        started = time.perf_counter()
        ranks = trained.rank(self.splits.test)
        seconds = {**trained.seconds, "evaluate": time.perf_counter() - started}
        settings = {**self.settings_of(arm), "generated": _describe(data.added, self.splits)}
        n_extra = data.size - len(self.splits.train)
        run = Run(arm, seed, ranks, settings, trained.losses, trained.curve, n_extra, seconds)
        if is_first or arm in arms_with_models(self.arms):
            trained.save(model_folder(self.folder, arm, seed), overwrite=True)
        save_run(run, self.folder)
        return run

    def combine(self, key: Key, runs: Mapping[Key, Run], *, is_first: bool) -> Run:
        """Combine the model of another arm with rules, rank test, and write the run."""
        arm, seed = key
        base = combinations(self.arms)[arm].base
        others = [run for run in runs.values() if run.arm == arm]
        if base is None and others:
            run = same_run(others[0], seed)
        else:
            trained = None if base is None else load_trained(model_folder(self.folder, base, seed))
            outcome = run_combined(key, trained, self.prior, self.splits, self.settings_of(arm))
            run = outcome.run if base is None else replace(outcome.run, n_extra=runs[base, seed].n_extra)
            if is_first:
                outcome.combined.save(model_folder(self.folder, arm, seed), overwrite=True)
        save_run(run, self.folder)
        return run

    def without_model(self, to_combine: Sequence[Key], runs: Mapping[Key, Run]) -> set[Key]:
        """Return the runs that exist, and whose models are needed but were not saved."""
        bases = {(combinations(self.arms)[arm].base, seed) for arm, seed in to_combine}
        return {key for key in runs if key in bases and not has_model(self.folder, *key)}

    def train_again(self, run: Run, data: TrainingSet) -> None:
        """Train and save the model of a run that exists."""
        trained = self.predictor.train(self.splits, data, seed=run.seed, options=self.options)
        trained.save(model_folder(self.folder, run.arm, run.seed), overwrite=True)
        is_same = trained.losses == run.losses
        outcome = "the same" if is_same else "not quite the same, because versions or threads differ"
        msg = (
            f"the model of {run.arm} with seed {run.seed} was not saved, so it was trained again: it is {outcome}"
        )
        warnings.warn(msg, UserWarning, stacklevel=3)


def has_model(folder: str | Path, arm: str, seed: int) -> bool:
    """Return whether the model of a run that trains was saved."""
    return (model_folder(folder, arm, seed) / MODEL_FILE).is_file()


def model_folder(folder: str | Path, arm: str, seed: int) -> Path:
    """Return the folder of the model of a run."""
    return Path(folder) / "models" / run_path(folder, arm, seed).stem


def _describe(added: KnowledgeGraph | None, splits: Splits) -> dict[str, Any] | None:
    """Describe generated triples, and count those that valid and test confirm: reported only."""
    if added is None:
        return None
    generated = added.with_vocabulary(splits.vocabulary)
    in_train = int(splits.train.contains(generated.triples).sum())
    test_rows = np.flatnonzero(generated.contains(splits.test.triples)).tolist()
    return {"in_train": in_train, **asdict(diagnose(generated, splits)), "test_rows": test_rows}


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
