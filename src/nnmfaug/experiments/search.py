"""What the paper leaves open about NNMFAug, chosen on valid: a search for each cell of Table 1.

The first trial has the defaults, the others random values of a grid; then, with the best of them, some radii of
DBSCAN are tried. Every trial is one run with seed 0 whose ranks are those of *valid*, without the other triples of
train and valid. Test is not in the data that a search sees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from nnmfaug.augmenters.nnmf.clusterers import DBSCAN
from nnmfaug.core.seeding import Stream, generator
from nnmfaug.evaluation.metrics import summary
from nnmfaug.evaluation.runs import Run
from nnmfaug.experiments.arms import AnyArm, Baseline
from nnmfaug.experiments.reproduce import Cell, DataSet, Sampling, Setting, predictor_of
from nnmfaug.experiments.runner import run_experiment
from nnmfaug.graph.splits import Splits
from nnmfaug.io.layouts import read_splits
from nnmfaug.linkpred import TrainOptions

GRID: Mapping[str, tuple[float, ...]] = {
    "n_components": (2, 4, 8, 16),
    "n_clusters": (10, 20, 50, 100),
    "fraction": (0.02, 0.05, 0.1, 0.2, 0.5),
    "exponent": (1, 2, 3, 4, 6),
    "alpha": (0, 0.1, 1),
    "l1_ratio": (0, 0.5, 1),
}
"""The values that are tried; α = 0 makes c irrelevant."""
RADII = (0.05, 0.2, 1.0, 5.0)
"""Values of DBSCAN's eps that are tried beside the default."""
TRIALS: Mapping[tuple[DataSet, Setting], tuple[int, int]] = {
    ("dl50a", "paper"): (26, 4),
    ("dl50a", "paper-tuned"): (10, 2),
    ("dl50a", "strong"): (10, 2),
    ("wn18rr", "paper"): (6, 2),
    ("wn18rr", "paper-tuned"): (6, 2),
    ("wn18rr", "strong"): (6, 2),
}
"""Numbers of trials, and of trials of eps after them; fewer where a run takes longer."""
EPOCH_DIVISOR = {"dl50a": 1, "wn18rr": 3}
"""A trial has this fraction of the epochs."""


@dataclass(frozen=True)
class Trial:
    """Settings and what they give on valid.

    Parameters
    ----------
    sampling
        The settings.
    metrics
        Filtered metrics on valid.
    """

    sampling: Sampling
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class Search:
    """The trials of a cell, the first with the defaults; and the choice.

    Parameters
    ----------
    baseline
        Metrics of the baseline on valid.
    trials
        All trials; those that differ from the best in eps alone are trained with DBSCAN.
    chosen
        The settings of the highest MRR, with the eps of the highest MRR among those of DBSCAN.
    """

    baseline: Mapping[str, float]
    trials: tuple[Trial, ...]
    radii: tuple[Trial, ...]
    chosen: Sampling

    def to_json(self) -> dict[str, Any]:
        """Return the search as plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Search:
        """Return what :meth:`to_json` described."""
        trials, radii = (
            tuple(Trial(Sampling(**trial["sampling"]), trial["metrics"]) for trial in data[name])
            for name in ("trials", "radii")
        )
        return cls(data["baseline"], trials, radii, Sampling(**data["chosen"]))


def candidates(n: int) -> list[Sampling]:
    """Return the settings to try: the defaults, then random ones, all different.

    Examples
    --------
    >>> first, second = candidates(2)
    >>> first == Sampling(), second == first
    (True, False)
    """
    rng = generator(0, Stream.SEARCH)
    samplings = [Sampling()]
    while len(samplings) < n:
        values: dict[str, Any] = {name: rng.choice(choices).item() for name, choices in GRID.items()}
        whole = {name: int(values[name]) for name in ("n_components", "n_clusters")}
        sampling = Sampling(**{**values, **whole})
        if not sampling.alpha:
            sampling = replace(sampling, l1_ratio=0.0)
        if sampling not in samplings:
            samplings.append(sampling)
    return samplings


def search_cell(cell: Cell, *, folder: str | Path, quick: bool = False) -> Search:
    """Try settings of NNMFAug in a cell of Table 1; trials that the folder already has are kept."""
    splits = without_test(read_splits(cell.dataset))
    n_trials, n_radii = (2, 1) if quick else TRIALS[cell.dataset, cell.setting]
    samplings = candidates(n_trials)
    arms: dict[str, AnyArm] = {f"trial {i}": sampling.arm() for i, sampling in enumerate(samplings)}
    runs = _run(cell, splits, {"baseline": Baseline(), **arms}, folder, quick=quick)
    trials = [Trial(sampling, runs[name]) for name, sampling in zip(arms, samplings, strict=True)]
    best = max(trials, key=lambda trial: trial.metrics["mrr"]).sampling
    radii = _search_radius(cell, splits, best, folder, n_radii, quick=quick)
    eps = max(radii, key=lambda trial: trial.metrics["mrr"]).sampling.eps
    return Search(runs["baseline"], tuple(trials), tuple(radii), replace(best, eps=eps))


def _search_radius(
    cell: Cell, splits: Splits, best: Sampling, folder: str | Path, n_radii: int, *, quick: bool
) -> list[Trial]:
    """Try radii of DBSCAN with the best other settings."""
    samplings = [replace(best, eps=eps) for eps in RADII[:n_radii]]
    arms: dict[str, AnyArm] = {f"eps {each.eps:g}": each.arm(cluster=DBSCAN(each.eps)) for each in samplings}
    runs = _run(cell, splits, arms, folder, quick=quick)
    return [Trial(sampling, runs[name]) for name, sampling in zip(arms, samplings, strict=True)]


def without_test(splits: Splits) -> Splits:
    """Return splits whose test triples are those of valid, so that nothing depends on test.

    Examples
    --------
    >>> import nnmfaug as na
    >>> splits = na.read_splits("nations")
    >>> len(without_test(splits).together()) == len(splits.train) + len(splits.valid)
    True
    """
    return replace(splits, test=splits.valid)


def _run(
    cell: Cell, splits: Splits, arms: Mapping[str, AnyArm], folder: str | Path, *, quick: bool
) -> dict[str, Mapping[str, float]]:
    """Train each arm once, and return its metrics on valid."""
    predictor = predictor_of("table1", cell, quick=quick)
    n_epochs = max(predictor.epochs // EPOCH_DIVISOR[cell.dataset], 1)
    runs: Sequence[Run] = run_experiment(
        splits,
        replace(predictor, epochs=n_epochs),
        arms,
        seeds=[0],
        folder=Path(folder) / f"{cell.name}-search",
        options=TrainOptions(threads=1),
    )
    return {run.arm: summary(run.ranks.filtered) for run in runs}
