"""Settings of a model whose metrics are nearest to the paper's baseline, chosen on valid.

The paper names no settings, and the defaults of its library do not reach its baselines. So one setting after the
other is changed, and the value is kept whose metrics on valid are nearest to those that the paper prints. Test is
not in the data that a search sees. Every trial makes all of its epochs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from nnmfaug.evaluation.metrics import summary
from nnmfaug.experiments.arms import Baseline
from nnmfaug.experiments.paper import TABLE1, Metrics
from nnmfaug.experiments.reproduce import QUICK_DIVISOR, Cell, Model
from nnmfaug.experiments.runner import run_experiment
from nnmfaug.experiments.search import without_test
from nnmfaug.graph.splits import Splits
from nnmfaug.io.layouts import read_splits
from nnmfaug.linkpred import LinkPredictor, TrainOptions

VALUES: Mapping[Model, Mapping[str, tuple[float, ...]]] = {
    "transe": {
        "margin": (0.8, 2.0, 5.0, 10.0),
        "dim": (25, 50, 100, 200),
        "negatives": (1, 4, 16),
        "epochs": (50, 100, 200),
    },
    "rotate": {
        "margin": (0.8, 3.0, 6.0, 12.0),
        "dim": (25, 50, 100, 200),
        "negatives": (1, 4, 16),
        "epochs": (50, 100, 200),
    },
}
"""Model → settings in the order in which they are searched → the values that are tried."""
METRICS = ("mrr", "hits@10", "mr")
"""The metrics whose distance to the paper's counts."""


@dataclass(frozen=True)
class Trial:
    """Settings and what they give on valid.

    Parameters
    ----------
    settings
        The settings that a search changes.
    metrics
        Filtered metrics on valid.
    distance
        From the paper's baseline.
    """

    settings: Mapping[str, float]
    metrics: Mapping[str, float]
    distance: float


@dataclass(frozen=True)
class Tuning:
    """The trials of a cell; the first has the defaults of pykg2vec.

    Parameters
    ----------
    trials
        In the order in which they were made.
    """

    trials: tuple[Trial, ...]

    @property
    def chosen(self) -> Trial:
        """The trial nearest to the paper's baseline."""
        return min(self.trials, key=lambda trial: trial.distance)

    def to_json(self) -> dict[str, Any]:
        """Return the search as plain data."""
        return {"trials": [asdict(trial) for trial in self.trials], "chosen": asdict(self.chosen)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Tuning:
        """Return what :meth:`to_json` described."""
        return cls(tuple(Trial(**trial) for trial in data["trials"]))


def distance(ours: Metrics, printed: Metrics) -> float:
    """Return Σ |log(ours / printed)| over MRR, Hits@10 and mean rank.

    Examples
    --------
    >>> printed = {"mrr": 0.2, "hits@10": 0.4, "mr": 100}
    >>> round(distance({"mrr": 0.1, "hits@10": 0.4, "mr": 200}, printed), 3)  # 2 · log 2
    1.386
    """
    return sum(abs(math.log(max(ours[name], 1e-9) / printed[name])) for name in METRICS)


def tune_cell(cell: Cell, *, folder: str | Path, quick: bool = False) -> Tuning:
    """Search the settings of a model; trials that the folder already has are kept."""
    splits = without_test(read_splits(cell.dataset))
    printed = TABLE1[cell.dataset, cell.model, "baseline"]
    start = start_of(cell)
    trials: dict[LinkPredictor, Trial] = {}

    def is_near(predictor: LinkPredictor) -> float:
        if predictor not in trials:
            metrics = _metrics(predictor, cell, splits, folder, quick=quick)
            trials[predictor] = Trial(_settings(predictor, cell.model), metrics, distance(metrics, printed))
        return trials[predictor].distance

    best = start
    for name, values in VALUES[cell.model].items():
        others = (replace(best, **{name: type(getattr(best, name))(value)}) for value in values)
        best = min([best, *others], key=is_near)
    return Tuning(tuple(trials.values()))


def start_of(cell: Cell) -> LinkPredictor:
    """Return the defaults of pykg2vec, without an early end."""
    return replace(LinkPredictor.preset(f"{cell.model}-paper"), patience=0)


def _settings(predictor: LinkPredictor, model: Model) -> dict[str, float]:
    return {name: getattr(predictor, name) for name in VALUES[model]}


def _metrics(
    predictor: LinkPredictor, cell: Cell, splits: Splits, folder: str | Path, *, quick: bool
) -> dict[str, float]:
    """Train the baseline once, and return its metrics on valid."""
    name = ",".join(f"{key}={value:g}" for key, value in _settings(predictor, cell.model).items())
    if quick:
        predictor = replace(predictor, epochs=max(predictor.epochs // QUICK_DIVISOR, 1))
    (run,) = run_experiment(
        splits,
        predictor,
        {"baseline": Baseline()},
        seeds=[0],
        folder=Path(folder) / f"{cell.name}-search" / name,
        options=TrainOptions(threads=1),
    )
    return summary(run.ranks.filtered)
