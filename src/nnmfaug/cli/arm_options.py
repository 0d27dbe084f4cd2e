"""Options that choose the arms of a comparison and how their generated triples enter training."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import nnmfaug as na
from nnmfaug.cli.method_options import MethodOptions, Strategy
from nnmfaug.cli.reading import parse_amount
from nnmfaug.core.commands import command

if TYPE_CHECKING:
    from nnmfaug.experiments.arms import AnyArm, Weight
    from nnmfaug.linkpred.schedule import Schedule

ScheduleName = Literal["polynomial", "constant", "step"]
DEFAULT_EXPONENT = 2.0
DEFAULT_ARMS = ("baseline", "auto", "rules-alone", "combined")
ARM_HELP = (
    "Arm to compare: baseline, auto, rules, nnmf, mixture, typed, random, duplicate, inverse, concepts, "
    "rules-alone, combined, auto+combined, or file:PATH. Repeatable. "
    "Default: baseline, auto, rules-alone, combined."
)
"""Names the arms of the table of methods; a test compares the two."""


@dataclass(frozen=True)
class ArmOptions:
    """How generated triples enter training, as typed; None where an option was left out."""

    amount: str | None
    schedule: ScheduleName | None
    exponent: float | None
    weight: str | None
    clusters: int | None
    clusterer: Strategy | None = None

    def __post_init__(self) -> None:
        if self.exponent is not None and not self.exponent > 0:
            msg = f"--exponent {self.exponent:g}: must be above 0; --schedule constant uses all triples at once"
            raise ValueError(msg)
        if self.exponent not in (None, DEFAULT_EXPONENT) and self.schedule not in (None, "polynomial"):
            msg = f"--exponent is for --schedule polynomial, not {self.schedule}"
            raise ValueError(msg)

    def names(self, arms: list[str] | None) -> list[str]:
        """Return the names of the arms, with the baseline and those whose models others use."""
        names = list(dict.fromkeys(arms or DEFAULT_ARMS))
        for name in names:
            _check_arm(name)
        for needed in _needed_arms(names):
            if needed not in names:
                names.insert(0, needed)
        for option in ("clusters", "clusterer"):
            if getattr(self, option) is not None and "nnmf" not in names:
                msg = f"--{option} is for the arm nnmf: add --arm nnmf"
                raise ValueError(msg)
        return names

    def arm(
        self, name: str, train: na.KnowledgeGraph, predictor: na.LinkPredictor, options: na.ReadOptions
    ) -> AnyArm:
        """Return the arm of a name."""
        amount = None if self.amount is None else parse_amount(self.amount, len(train), "--amount")
        arm = na.find_arm(
            name,
            train,
            amount=amount,
            schedule=self._schedule(name),
            weight=self._weight(predictor),
            options=options,
        )
        return (
            replace(arm, method=self._nnmf(train)) if isinstance(arm, na.Augmentation) and name == "nnmf" else arm
        )

    def _nnmf(self, train: na.KnowledgeGraph) -> na.NNMFAug:
        """Return the method of the arm nnmf."""
        clusters = None if self.clusters is None else str(self.clusters)
        method: na.NNMFAug = MethodOptions("nnmf", clusters=clusters, clusterer=self.clusterer).augmenter(train)
        return method

    def _schedule(self, name: str) -> Schedule | None:
        """Return the schedule of an arm; None for its default. An exponent changes polynomial schedules only."""
        if self.schedule == "constant":
            return na.Constant()
        if self.schedule == "step":
            return na.Step()
        if self.schedule is None and (self.exponent is None or not _enters_by_polynomial(name)):
            return None
        return na.Polynomial(self.exponent or DEFAULT_EXPONENT)

    def _weight(self, predictor: na.LinkPredictor) -> Weight | None:
        if self.weight is None:
            return 1.0 if predictor.loss == "margin" else None
        if self.weight == "probability":
            return "probability"
        try:
            return float(self.weight)
        except ValueError:
            msg = f"--weight {self.weight}: must be a number from 0, or probability"
            raise ValueError(msg) from None


def _needed_arms(names: list[str]) -> list[str]:
    """Return the arms whose models other arms use, then the baseline."""
    from nnmfaug.experiments.methods import COMBINATIONS

    bases = [COMBINATIONS[name].base for name in names if name in COMBINATIONS]
    return [*(base for base in bases if base not in (None, "baseline")), "baseline"]


def _enters_by_polynomial(name: str) -> bool:
    """Whether the triples of an arm enter by (e/E)^k unless --schedule says otherwise."""
    from nnmfaug.experiments.methods import METHODS

    return name not in METHODS or isinstance(METHODS[name].schedule, na.Polynomial)


def _check_arm(name: str) -> None:
    """Raise if there is no arm of this name, or no such file."""
    from nnmfaug.core.checks import unknown_name
    from nnmfaug.experiments.methods import ARMS, FILE

    if name.startswith(FILE):
        if not Path(name.removeprefix(FILE)).is_file():
            msg = f"{command('--arm', name)}: there is no such file of triples"
            raise ValueError(msg)
    elif name not in ARMS:
        raise ValueError(f"--arm: {unknown_name('arm', name, (*ARMS, f'{FILE}PATH'))}")
