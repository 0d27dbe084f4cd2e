"""Arms × seeds in a folder: what is there is not run again, so a killed experiment goes on where it was."""

from __future__ import annotations

import json
import platform
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from nnmfaug.core.errors import DataError, SamplingError
from nnmfaug.core.progress import current, reporting_to
from nnmfaug.evaluation.runs import Run, load_run, run_path, save_run
from nnmfaug.experiments.arms import Arms, Augmentation, Extra, arm_settings
from nnmfaug.experiments.transforms import Transform
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.splits import Splits
from nnmfaug.linkpred import LinkPredictor, Trained, TrainOptions
from nnmfaug.quality.diagnostics import diagnose

_OUTCOMES = ("versions", "generated", "options")
"""What a run's settings tell but need not be the same; another number of threads changes the last digits."""
_LATER = {"self_negative": 0.0}
"""Settings of a predictor that the first runs do not tell, and what they were then."""


def run_experiment(
    splits: Splits,
    predictor: LinkPredictor,
    arms: Arms,
    *,
    seeds: Iterable[int] = range(5),
    folder: str | Path,
    options: TrainOptions | None = None,
) -> list[Run]:
    """Train every arm with every seed and rank the test triples; None as an arm is train alone.

    Each run is two files in ``folder``; the model of an arm's first seed is saved in ``models``. Runs that are
    there already are taken as they are, if they were made with the same settings.

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
    folder, options, seeds = Path(folder), options or TrainOptions(), tuple(dict.fromkeys(seeds))
    check_experiment(splits, predictor, arms, seeds, folder)
    todo = [(arm, seed) for seed in seeds for arm in arms]  # pairs first: a killed experiment can be compared
    common = _common_settings(splits, predictor, options)
    runs: dict[tuple[str, int], Run] = {}
    for arm, seed in todo:
        found = _existing(folder, arm, seed, {**common, "arm": arm_settings(arms[arm])})
        if found is not None:
            runs[arm, seed] = found
    if len(runs) < len(todo):
        _tell_of_old(list(runs.values()), common, curve=bool(options.evaluate_every and len(splits.valid)))
    first = {arm: _draw(arm, arms[arm], splits, seeds[0]) for arm in arms if (arm, seeds[0]) not in runs}
    missing = [pair for pair in todo if pair not in runs]
    for place, (arm, seed) in enumerate(missing):
        extra = first.get(arm) if seed == seeds[0] else _draw(arm, arms[arm], splits, seed)
        with _progress(f"{arm}, seed {seed}", place, len(missing)):
            found, trained = _run(splits, predictor, (arm, arms[arm], extra), seed, options)
        own = {"arm": arm_settings(arms[arm]), "generated": _describe(extra, splits)}
        runs[arm, seed] = replace(found, settings={**common, **own})
        if seed == seeds[0]:
            trained.save(model_folder(folder, arm, seed))
        save_run(runs[arm, seed], folder)
    return [runs[arm, seed] for arm in arms for seed in seeds]


def model_folder(folder: str | Path, arm: str, seed: int) -> Path:
    """Where the model of a run is saved."""
    return Path(folder) / "models" / run_path(folder, arm, seed).stem


def check_experiment(
    splits: Splits, predictor: LinkPredictor, arms: Arms, seeds: Sequence[int], folder: Path
) -> None:
    """Raise before anything is trained."""
    if not isinstance(splits, Splits):
        msg = f"splits of type {type(splits).__name__}: read_splits makes what is needed"
        raise TypeError(msg)
    if not len(splits.test):
        raise DataError("no test triples, so nothing to compare by: nnmfaug split makes some", path=splits.name)
    if not arms or not seeds:
        msg = "no arms or no seeds: nothing to run"
        raise ValueError(msg)
    weights = [arm.weight for arm in arms.values() if isinstance(arm, Augmentation)]
    if predictor.loss == "margin" and any(weight != 1 for weight in weights):
        msg = "the margin loss takes no weights of triples: use weight 1, or a model with another loss"
        raise ValueError(msg)
    parent = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not parent.is_dir():
        raise DataError("this is a file, a folder for the runs is needed: name another", path=parent)


def _draw(
    arm: str, way: Augmentation | Transform | None, splits: Splits, seed: int
) -> Extra | KnowledgeGraph | None:
    """What an arm adds to train, or the training set that a transform makes."""
    try:
        if way is None:
            return None
        return (
            way.generate(splits.train, seed)
            if isinstance(way, Augmentation)
            else way.apply(splits.train, seed=seed)
        )
    except SamplingError as error:
        msg = f"arm {arm}: {error}; ask for less"
        raise SamplingError(msg, available=error.available, partial=error.partial) from None
    except ValueError as error:
        msg = f"arm {arm}: {error}"
        raise ValueError(msg) from None


def _describe(extra: Extra | KnowledgeGraph | None, splits: Splits) -> dict[str, Any] | None:
    """What generated triples are like, and how many are facts that were held out: told, never used."""
    if not isinstance(extra, Extra):
        return None
    generated = extra.graph.with_vocabulary(splits.vocabulary)
    in_train = int(splits.train.contains(generated.triples).sum())
    rows = np.flatnonzero(generated.contains(splits.test.triples)).tolist()
    return {"in_train": in_train, **asdict(diagnose(generated, splits)), "test_rows": rows}


def _run(
    splits: Splits,
    predictor: LinkPredictor,
    arm: tuple[str, Augmentation | Transform | None, Extra | KnowledgeGraph | None],
    seed: int,
    options: TrainOptions,
) -> tuple[Run, Trained]:
    name, way, extra = arm
    if isinstance(extra, KnowledgeGraph):
        n_extra, trained = len(extra) - len(splits.train), _train_on(extra, splits, predictor, seed, options)
    elif isinstance(extra, Extra) and isinstance(way, Augmentation):
        own, n_extra = replace(options, extra_weight=extra.weight), len(extra.graph)
        trained = predictor.train(splits, extra.graph, schedule=way.schedule, seed=seed, options=own)
    else:
        n_extra, trained = 0, predictor.train(splits, seed=seed, options=options)
    started = time.perf_counter()
    ranks = trained.rank(splits.test)
    seconds = {**trained.seconds, "evaluate": time.perf_counter() - started}
    return Run(name, seed, ranks, {}, trained.losses, trained.curve, n_extra, seconds), trained


def _train_on(
    train: KnowledgeGraph, splits: Splits, predictor: LinkPredictor, seed: int, options: TrainOptions
) -> Trained:
    """Train on a transformed graph; what it has added is neither an answer nor in the filter."""
    wider = Splits.merge(splits.name, train=train, valid=splits.valid, test=splits.test)
    trained = predictor.train(wider, seed=seed, options=options)
    added = tuple(name for name in wider.vocabulary.entities if name not in splits.vocabulary.entity_ids)
    return replace(trained, known=splits.together().with_vocabulary(wider.vocabulary), hidden=added)


def _existing(folder: Path, arm: str, seed: int, settings: dict[str, Any]) -> Run | None:
    path = run_path(folder, arm, seed)
    if not path.is_file():
        return None
    run = load_run(path)
    plain = json.loads(json.dumps(settings))
    plain["data"]["name"] = run.settings.get("data", {}).get("name")  # a folder may be renamed
    before = {**run.settings, "predictor": {**_LATER, **run.settings.get("predictor", {})}}
    changed = [
        line for key in plain if key not in _OUTCOMES for line in _changes(key, before.get(key), plain[key])
    ]
    if changed:
        what = "; ".join(changed[:3])
        msg = f"this run was made with other settings ({what}): name another folder, or delete this one"
        raise DataError(msg, path=path)
    return run


def _tell_of_old(runs: Sequence[Run], settings: dict[str, Any], *, curve: bool) -> None:
    """Say what runs that are there already have not, or have from another version, unlike those to come."""
    now = settings["versions"]["nnmfaug"]
    others = sorted({str(run.settings.get("versions", {}).get("nnmfaug", "?")) for run in runs} - {now})
    if others:
        msg = f"runs here are by nnmfaug {', '.join(others)}, new ones are by {now}: a new folder has all by one"
        warnings.warn(msg, UserWarning, stacklevel=3)
    if flat := sum(not run.curve for run in runs) if curve else 0:
        msg = (
            f"{flat} of the runs that are here already have no curve, only new ones get one: a new folder has all"
        )
        warnings.warn(msg, UserWarning, stacklevel=3)


def _changes(name: str, before: object, now: object) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*before, *now]):
            yield from _changes(f"{name} {key}", before.get(key), now.get(key))
    elif before != now:
        yield f"{name}: {before} there, {now} now"


def _common_settings(splits: Splits, predictor: LinkPredictor, options: TrainOptions) -> dict[str, Any]:
    packages = ("nnmfaug", "numpy", "torch", "pykeen")
    return {
        "data": {"name": splits.name, **{name: graph.digest() for name, graph in splits.items()}},
        "predictor": asdict(predictor),
        "options": {"threads": options.threads, "device": options.device},
        "versions": {"python": platform.python_version(), **{name: version(name) for name in packages}},
    }


@contextmanager
def _progress(run: str, place: int, n_runs: int) -> Iterator[None]:
    """Tell how far all runs are while this one trains; what else it does is told under its name."""
    outer = current()
    if outer is None:
        yield
        return

    def tell(task: str, done: int, total: int) -> None:
        if task == "training":
            outer(f"training, {n_runs} run{'s' if n_runs > 1 else ''}", place * total + done, n_runs * total)
        else:
            outer(f"{run}: {task}", done, total)

    with reporting_to(tell):
        yield
