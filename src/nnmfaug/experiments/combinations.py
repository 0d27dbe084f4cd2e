"""Arms that train nothing: the model of another arm, combined with rules when it predicts; or rules alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nnmfaug.core.checks import require
from nnmfaug.core.errors import DataError
from nnmfaug.experiments.arms import AnyArm, Combination, arm_settings
from nnmfaug.graph.splits import Splits
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
