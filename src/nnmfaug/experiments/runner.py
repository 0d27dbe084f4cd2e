"""Arms × seeds in a folder: existing runs are kept, so an interrupted experiment resumes where it stopped."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from nnmfaug.augmenters.base import Prior
from nnmfaug.core.engines.base import current_engine
from nnmfaug.core.progress import current, reporting_to
from nnmfaug.evaluation.runs import Run, run_path, save_run
from nnmfaug.experiments.arms import AnyArm, Arms, Combination, Fit, Fits, arm_settings, as_arms
from nnmfaug.experiments.checks import check_experiment
from nnmfaug.experiments.combinations import arms_with_models, combination_settings, combinations
from nnmfaug.experiments.existing import load_same
from nnmfaug.experiments.work import (
    TRAINING,
    Combining,
    CombiningTask,
    Key,
    Training,
    TrainingTask,
    installed_versions,
    same_run,
)
from nnmfaug.graph.splits import Splits
from nnmfaug.io.lock import locked
from nnmfaug.linkpred import LinkPredictor, Trained, TrainOptions, load_trained
from nnmfaug.linkpred.storage import DOCUMENT as MODEL_FILE
from nnmfaug.quality.prior import fit_prior


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
    keys = [(arm, seed) for seed in seeds for arm in arms]
    runs = experiment.existing(keys)
    missing = [key for key in keys if key not in runs]
    if missing:
        experiment.warn_of_old(list(runs.values()))
    to_combine = [key for key in missing if key[0] in combinations(arms)]
    without_model = experiment.without_model(to_combine, runs)
    to_train = [key for key in keys if key in without_model or (key in missing and key not in to_combine)]
    # Every arm is prepared for the first seed at once, so that errors come before anything is trained.
    training_sets = {key: experiment.training.prepare(key) for key in to_train if key[1] == seeds[0]}
    with _progress(len(to_train)) as finish_one:
        for of_round in _rounds(seeds):
            tasks = [
                TrainingTask(key, training_sets.pop(key, None), experiment.keeps_model(key, seeds[0]))
                for key in to_train
                if key[1] in of_round
            ]
            for run in experiment.train(tasks, runs):
                runs.setdefault((run.arm, run.seed), run)
                finish_one()
            for run in experiment.combine([key for key in to_combine if key[1] in of_round], runs, seeds[0]):
                runs[run.arm, run.seed] = run
    return [runs[arm, seed] for arm in arms for seed in seeds]


def _rounds(seeds: Sequence[int]) -> list[Sequence[int]]:
    """Return the seeds that are worked on together; one at a time keeps an interrupted experiment comparable."""
    return [seeds] if current_engine().n_workers > 1 else [(seed,) for seed in seeds]


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
        return {
            "data": {"name": self.splits.name, **digests},
            "predictor": asdict(self.predictor),
            "options": {"threads": self.options.threads, "device": self.options.device},
            "versions": installed_versions(),
        }

    @cached_property
    def settings_of(self) -> dict[str, dict[str, Any]]:
        """Name of an arm → the settings of its runs, as far as they are known before."""
        return {name: {**self.settings, "arm": self._arm_settings(arm)} for name, arm in self.arms.items()}

    def _arm_settings(self, arm: AnyArm) -> object:
        return combination_settings(arm, self.arms) if isinstance(arm, Combination) else arm_settings(arm)

    @cached_property
    def training(self) -> Training:
        """The work of a run that trains. All engines use as many torch threads."""
        options = replace(self.options, threads=self.options.n_threads)
        return Training(self.splits, self.predictor, self.arms, self.settings_of, options, self.fit)

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
                runs[arm, seed] = load_same(path, self.settings_of[arm])
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

    def keeps_model(self, key: Key, first_seed: int) -> bool:
        """Whether the model of a run is saved: it is of the first seed, or a combination needs it."""
        arm, seed = key
        return seed == first_seed or arm in arms_with_models(self.arms)

    def train(self, tasks: Sequence[TrainingTask], runs: Mapping[Key, Run]) -> Iterator[Run]:
        """Train, and write each run, and its model if it is kept, as soon as it is finished.

        A run that exists was only lacking its model, so that alone is written.
        """
        for place, result in current_engine().as_finished(self.training, tasks):
            key = tasks[place].key
            if result.trained is not None:
                result.trained.save(model_folder(self.folder, *key), overwrite=True)
            if key in runs:
                _warn_of_repeat(runs[key], result.run)
            else:
                save_run(result.run, self.folder)
            yield result.run

    def combine(self, keys: Sequence[Key], runs: Mapping[Key, Run], first_seed: int) -> Iterator[Run]:
        """Combine models of other arms with rules, rank test, and write the runs."""
        with_model = [key for key in keys if combinations(self.arms)[key[0]].base is not None]
        rules_alone = [key for key in keys if key not in with_model]
        engine = current_engine()
        for start in range(0, len(with_model), engine.n_workers):  # so many models are in memory
            yield from self._combine(with_model[start : start + engine.n_workers], runs, first_seed)
        for arm in dict.fromkeys(arm for arm, _ in rules_alone):
            seeds = [seed for name, seed in rules_alone if name == arm]
            run = next((run for (name, _), run in runs.items() if name == arm), None)
            if run is None:
                (run,) = self._combine([(arm, seeds.pop(0))], runs, first_seed)
                yield run
            for seed in seeds:
                save_run(same_run(run, seed), self.folder)
                yield same_run(run, seed)

    def _combine(self, keys: Sequence[Key], runs: Mapping[Key, Run], first_seed: int) -> Iterator[Run]:
        work = Combining(self.splits, self.prior, self.settings_of)
        tasks = [CombiningTask((arm, seed), self._base_of(arm, seed), seed == first_seed) for arm, seed in keys]
        for place, result in current_engine().as_finished(work, tasks):
            arm, seed = keys[place]
            base = combinations(self.arms)[arm].base
            run = result.run if base is None else replace(result.run, n_extra=runs[base, seed].n_extra)
            if result.combined is not None:
                result.combined.save(model_folder(self.folder, arm, seed), overwrite=True)
            save_run(run, self.folder)
            yield run

    def _base_of(self, arm: str, seed: int) -> Trained | None:
        """Read the model that an arm combines with rules."""
        base = combinations(self.arms)[arm].base
        return None if base is None else load_trained(model_folder(self.folder, base, seed))

    def without_model(self, to_combine: Sequence[Key], runs: Mapping[Key, Run]) -> set[Key]:
        """Return the runs that exist, and whose models are needed but were not saved."""
        bases = {(combinations(self.arms)[arm].base, seed) for arm, seed in to_combine}
        return {key for key in runs if key in bases and not has_model(self.folder, *key)}


def _warn_of_repeat(run: Run, repeated: Run) -> None:
    """Warn that a run was trained again for its model."""
    is_same = run.losses == repeated.losses
    outcome = "the same" if is_same else "not quite the same, because versions or threads differ"
    msg = f"the model of {run.arm} with seed {run.seed} was not saved, so it was trained again: it is {outcome}"
    warnings.warn(msg, UserWarning, stacklevel=3)


def has_model(folder: str | Path, arm: str, seed: int) -> bool:
    """Return whether the model of a run that trains was saved."""
    return (model_folder(folder, arm, seed) / MODEL_FILE).is_file()


def model_folder(folder: str | Path, arm: str, seed: int) -> Path:
    """Return the folder of the model of a run."""
    return Path(folder) / "models" / run_path(folder, arm, seed).stem


@contextmanager
def _progress(n_runs: int) -> Iterator[Callable[[], None]]:
    """Report training as progress of all runs; yield a function to be called after each."""
    outer = current()
    if outer is None:
        yield lambda: None
        return
    name = "training, 1 run" if n_runs == 1 else f"training, {n_runs} runs"
    is_elsewhere = current_engine().n_workers > 1  # where reports do not come from
    n_finished = 0

    def finish_one() -> None:
        nonlocal n_finished
        n_finished += 1
        if is_elsewhere:
            outer(name, n_finished, n_runs)

    def relay(task: str, done: int, total: int) -> None:
        if task == TRAINING:
            outer(name, n_finished * total + done, n_runs * total)
        else:
            outer(task, done, total)

    with reporting_to(relay):
        if is_elsewhere and n_runs:
            outer(name, 0, n_runs)
        yield finish_one
