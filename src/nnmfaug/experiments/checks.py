"""What can be refused before anything is fitted or trained."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nnmfaug.core.errors import DataError
from nnmfaug.experiments.arms import Arms
from nnmfaug.experiments.combinations import arms_with_models, check_combinations
from nnmfaug.graph.splits import Splits
from nnmfaug.io.preflight import check_folder
from nnmfaug.linkpred import LinkPredictor


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
    check_combinations(arms, splits)
    predictor.check_weights(weighted=any(getattr(arm, "weight", 1) != 1 for arm in arms.values()))
    check_folder(folder, size=_size(splits, predictor, arms, len(seeds)))


def _size(splits: Splits, predictor: LinkPredictor, arms: Arms, n_seeds: int) -> int:
    """Estimate the bytes of all runs and models."""
    run = 32 * len(splits.test) + 100 * predictor.epochs + 10_000
    names = splits.vocabulary
    model = 8 * predictor.dim * (len(names.entities) + 2 * len(names.relations)) + 50 * len(names.entities)
    known = 12 * sum(len(graph) for _, graph in splits.items())
    n_models = len(arms) + len(arms_with_models(arms)) * (n_seeds - 1)
    return len(arms) * n_seeds * run + n_models * (model + known)
