"""Arms that train nothing: the model of another arm, combined with rules when it predicts; or rules alone."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from nnmfaug.augmenters.base import Prior
from nnmfaug.core.checks import require
from nnmfaug.core.errors import DataError
from nnmfaug.evaluation.runs import Run
from nnmfaug.experiments.arms import AnyArm, Combination, arm_settings
from nnmfaug.graph.splits import Splits
from nnmfaug.linkpred import Combined, Trained
from nnmfaug.quality.prior import MAX_CONSTANT_RULES, MAX_RULES, MIN_CONFIDENCE, MIN_SUPPORT

RULES = {
    "min_support": MIN_SUPPORT,
    "min_confidence": MIN_CONFIDENCE,
    "max_rules": MAX_RULES,
    "max_constant_rules": MAX_CONSTANT_RULES,
}
"""Settings of the rules, which a run records."""


def combinations(arms: Mapping[str, AnyArm | None]) -> dict[str, Combination]:
    """Return the arms that train nothing."""
    return {name: arm for name, arm in arms.items() if isinstance(arm, Combination)}


def arms_with_models(arms: Mapping[str, AnyArm | None]) -> set[str]:
    """Return the names of the arms whose models other arms use: those of all seeds are saved."""
    return {arm.base for arm in combinations(arms).values() if arm.base is not None}


def check_combinations(arms: Mapping[str, AnyArm | None], splits: Splits) -> None:
    """Raise if an arm uses models of an arm that is not there, or if there is no valid triple to combine on."""
    for name, arm in combinations(arms).items():
        if arm.base is None:
            continue
        is_trained = arm.base in arms and not isinstance(arms[arm.base], Combination)
        require(is_trained, f"arm {name}: it uses the models of {arm.base}, so add the arm {arm.base}")
        if not len(splits.valid):
            msg = f"no valid triples, on which arm {name} weights rules against the model: leave it out"
            raise DataError(f"{msg}, or move some triples there with na.split", path=splits.name)


def combination_settings(arm: Combination, arms: Mapping[str, AnyArm]) -> dict[str, Any]:
    """Return an arm as plain data, with the settings of the arm whose models it uses."""
    if arm.base is None:
        return {"rules": RULES}
    base = {"arm": arm.base, "settings": arm_settings(arms[arm.base])}
    return {"model_of": base, "rules": RULES}


@dataclass(frozen=True, eq=False)
class CombinedRun:
    """A run of a combined arm, and the combined model."""

    run: Run
    combined: Combined


def run_combined(
    key: tuple[str, int], trained: Trained | None, prior: Prior, splits: Splits, settings: Mapping[str, Any]
) -> CombinedRun:
    """Choose T, w and ε on valid, and rank test.

    Parameters
    ----------
    key
        Name of the arm, and the seed.
    trained
        The model; None for rules alone.
    settings
        Settings of the run, to which T, w and ε are added.
    """
    started = time.perf_counter()
    combined = Combined.fit(trained, prior, splits)
    chosen = time.perf_counter()
    ranks = combined.rank(splits.test)
    seconds = {"combine": chosen - started, "evaluate": time.perf_counter() - chosen}
    mix = None if trained is None else asdict(combined.mix)
    run = Run(*key, ranks, {**settings, "mix": mix}, seconds=seconds)
    return CombinedRun(run, combined)


def same_run(run: Run, seed: int) -> Run:
    """Return the run of rules alone with another seed: nothing in it depends on the seed."""
    return replace(run, seed=seed, seconds={})
