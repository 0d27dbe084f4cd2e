"""Arms × seeds in a folder: what is there is not run again, so a killed experiment goes on where it was."""

from __future__ import annotations

import json
import math
import platform
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from nnmfaug.errors import DataError
from nnmfaug.generation import describe_settings
from nnmfaug.graph import KnowledgeGraph, Splits
from nnmfaug.linkpred import LinkPredictor, Trained, TrainOptions
from nnmfaug.progress import current, reporting_to
from nnmfaug.runs import Run, load_run, run_path, save_run
from nnmfaug.schedule import Polynomial, Schedule
from nnmfaug.seeding import generator

_STREAM = 0xD0B1E


class Drawn(Protocol):
    """What a distribution gives: triples in their order."""

    @property
    def graph(self) -> KnowledgeGraph:
        """The triples."""
        ...


class Distribution(Protocol):
    """What an augmenter is fitted to."""

    def sample(self, n: int, *, seed: int) -> Drawn:
        """Draw n different new triples."""
        ...


class Augmenter(Protocol):
    """Anything that can be fitted to a train graph and then sampled."""

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> Distribution:
        """Fit to a train graph."""
        ...


@dataclass(frozen=True)
class Given:
    """Triples from anywhere, such as a file, in their order."""

    triples: KnowledgeGraph = field(repr=False)
    source: str = ""

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> Given:  # noqa: ARG002
        """Check that they are new."""
        known = int(graph.contains(self.triples.with_vocabulary(graph.vocabulary).triples).sum())
        if known:
            raise DataError(f"{known} of these triples are in train: leave them out", path=self.source or None)
        return self

    def sample(self, n: int, *, seed: int = 0) -> Given:  # noqa: ARG002
        """Return the first n, or all if there are fewer."""
        return replace(self, triples=KnowledgeGraph(self.triples.vocabulary, self.triples.triples[:n]))

    @property
    def graph(self) -> KnowledgeGraph:
        """The triples."""
        return self.triples


@dataclass(frozen=True)
class Duplicate:
    """Some of the train triples once more: a control for training longer on the same."""

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> Given:
        """Shuffle the train triples."""
        order = generator(seed, _STREAM).permutation(len(graph))
        return Given(KnowledgeGraph(graph.vocabulary, graph.triples[order]))


@dataclass(frozen=True)
class Augmentation:
    """One way of making the training set larger.

    Parameters
    ----------
    method
        What makes triples. It sees train alone; each seed fits and draws anew.
    amount
        A share of train below or equal to 1 (a float), or a number of triples (an int).
    schedule
        How many of them an epoch uses.
    weight
        What a generated triple weighs in the loss.
    """

    method: Augmenter
    amount: float = 0.1
    schedule: Schedule = field(default_factory=Polynomial)
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.weight < math.inf:
            msg = f"weight={self.weight}: must be a number from 0"
            raise ValueError(msg)

    def triples(self, train: KnowledgeGraph, seed: int) -> KnowledgeGraph:
        """Fit to train and draw."""
        n = self.amount if isinstance(self.amount, int) else int(self.amount * len(train))
        if n < 1:
            msg = f"amount={self.amount}: less than one triple of {len(train)}"
            raise ValueError(msg)
        return self.method.fit(train, seed=seed).sample(n, seed=seed).graph


Arms = Mapping[str, Augmentation | None]


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
    if not len(splits.test):
        raise DataError("no test triples, so nothing to compare by: nnmfaug split makes some", path=splits.name)
    if not arms or not seeds:
        msg = "no arms or no seeds: nothing to run"
        raise ValueError(msg)
    todo = [(arm, seed) for seed in seeds for arm in arms]  # pairs first: a killed experiment can be compared
    common = _common_settings(splits, predictor, options)
    runs: dict[tuple[str, int], Run] = {}
    for place, (arm, seed) in enumerate(todo):
        settings = {**common, "arm": _arm_settings(arms[arm])}
        found = _existing(folder, arm, seed, settings)
        if found is None:
            with _progress(f"{arm}, seed {seed}", place, len(todo)):
                found, trained = _run(splits, predictor, arm, arms[arm], seed, options)
            found = replace(found, settings=settings)
            if seed == seeds[0]:
                trained.save(model_folder(folder, arm, seed))
            save_run(found, folder)
        runs[arm, seed] = found
    return [runs[arm, seed] for arm in arms for seed in seeds]


def model_folder(folder: str | Path, arm: str, seed: int) -> Path:
    """Where the model of a run is saved."""
    return Path(folder) / "models" / run_path(folder, arm, seed).stem


def _run(
    splits: Splits,
    predictor: LinkPredictor,
    arm: str,
    augmentation: Augmentation | None,
    seed: int,
    options: TrainOptions,
) -> tuple[Run, Trained]:
    started = time.perf_counter()
    extra = None if augmentation is None else augmentation.triples(splits.train, seed)
    schedule = None if augmentation is None else augmentation.schedule
    generated = time.perf_counter() - started
    own = options if augmentation is None else replace(options, extra_weight=augmentation.weight)
    trained = predictor.train(splits, extra, schedule=schedule, seed=seed, options=own)
    started = time.perf_counter()
    ranks = trained.rank(splits.test)
    seconds = {"generate": generated, **trained.seconds, "evaluate": time.perf_counter() - started}
    n_extra = 0 if extra is None else len(extra)
    return Run(arm, seed, ranks, {}, trained.losses, trained.curve, n_extra, seconds), trained


def _existing(folder: Path, arm: str, seed: int, settings: dict[str, Any]) -> Run | None:
    path = run_path(folder, arm, seed)
    if not path.is_file():
        return None
    run = load_run(path)
    plain = json.loads(json.dumps(settings))
    other = [key for key in plain if run.settings.get(key) != plain[key] and key != "versions"]
    if other:
        msg = f"this run was made with another {', '.join(other)}: name another folder, or delete this one"
        raise DataError(msg, path=path)
    return run


def _common_settings(splits: Splits, predictor: LinkPredictor, options: TrainOptions) -> dict[str, Any]:
    packages = ("nnmfaug", "numpy", "torch", "pykeen")
    return {
        "data": {"name": splits.name, **{name: graph.digest() for name, graph in splits.items()}},
        "predictor": asdict(predictor),
        "options": {"threads": options.threads, "device": options.device},
        "versions": {"python": platform.python_version(), **{name: version(name) for name in packages}},
    }


def _arm_settings(augmentation: Augmentation | None) -> object:
    if augmentation is None:
        return None
    method = augmentation.method
    plain = {"name": "Given", "sha256": method.triples.digest()} if isinstance(method, Given) else None
    return {
        "method": plain or describe_settings(method),
        "amount": augmentation.amount,
        "schedule": describe_settings(augmentation.schedule),
        "weight": augmentation.weight,
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
            outer(f"training, {n_runs} runs", place * total + done, n_runs * total)
        else:
            outer(f"{run}: {task}", done, total)

    with reporting_to(tell):
        yield
