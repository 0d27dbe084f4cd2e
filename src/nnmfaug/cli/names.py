"""From names on the command line to arms of a comparison."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import nnmfaug as na
from nnmfaug.cli.console import notes_of_warnings, progress, say
from nnmfaug.cli.reading import parse_amount

if TYPE_CHECKING:
    from nnmfaug.augmenters.base import Augmenter, Supply
    from nnmfaug.experiments.transforms import Transform
    from nnmfaug.linkpred.schedule import Schedule

ScheduleName = Literal["polynomial", "constant", "step"]

DEFAULT_AMOUNT = "10%"
LISTED = ("rules", "auto")
"""Arms whose triples have a probability, and enter at once: they are thought to be facts."""
ARMS = "baseline, auto, rules, nnmf, random, typed, duplicate, inverse, concepts, or file:PATH"


@dataclass(frozen=True)
class Entry:
    """How generated triples enter training, as it was typed."""

    schedule: ScheduleName | None
    exponent: float
    weight: str | None

    def __post_init__(self) -> None:
        if not self.exponent > 0:
            msg = f"--exponent {self.exponent:g}: must be above 0; --schedule constant lets all triples in at once"
            raise ValueError(msg)
        if self.schedule not in (None, "polynomial") and self.exponent != 2.0:
            msg = f"--exponent is for --schedule polynomial, not {self.schedule}"
            raise ValueError(msg)


def make_arm(
    name: str, splits: na.Splits, n: int | None, entry: Entry, clusters: int | None, options: na.ReadOptions
) -> na.Augmentation | Transform | None:
    """Return the arm of a name; None for the baseline."""
    if name == "baseline":
        return None
    transforms: dict[str, Transform] = {"inverse": na.Inverse(), "concepts": na.Concepts()}
    if name in transforms:
        return transforms[name]
    usual = 1.0 if name == "auto" else parse_amount(DEFAULT_AMOUNT, len(splits.train), "--amount")
    amount = usual if n is None else n
    return na.Augmentation(
        _augmenter(name, splits, clusters, options),
        amount,
        _schedule(entry.schedule or ("constant" if name in LISTED else "polynomial"), entry.exponent),
        _weight(entry.weight, name),
    )


def piloted(
    splits: na.Splits, predictor: na.LinkPredictor, arm: object, options: na.TrainOptions, folder: Path
) -> tuple[na.Augmentation | None, na.Pilot]:
    """Let short runs choose the amount of the arm auto, None if none is best, and return what they found.

    Where triples weigh by their probability, unlikely ones are a choice, too.
    """
    if not isinstance(arm, na.Augmentation):
        msg = "--pilot is for the arm auto: add --arm auto"
        raise ValueError(msg)
    from nnmfaug.evaluation.runs import run_path
    from nnmfaug.experiments.pilots import LEVELS, kept_pilot

    path = folder / "pilot.json"
    if run_path(folder, "auto", 0).is_file() and not path.is_file():
        raise na.DataError(
            "runs of auto without a pilot are here: name another folder, or delete them", path=folder
        )

    if arm.weight == "probability":
        arm = replace(arm, method=na.Auto(threshold=min(LEVELS)))
    with progress(), notes_of_warnings():
        outcome = kept_pilot(path, splits, predictor, arm, options)
    say(f"note: {outcome.reason}")
    return (replace(arm, amount=outcome.amount) if outcome.amount else None), outcome


def _weight(text: str | None, arm: str) -> float | Literal["probability"]:
    if text is None:
        return "probability" if arm == "auto" else 1.0
    if arm == "duplicate" or (text == "probability" and arm not in LISTED):
        return 1.0
    if text == "probability":
        return "probability"
    try:
        return float(text)
    except ValueError:
        msg = f"--weight {text}: must be a number from 0, or probability"
        raise ValueError(msg) from None


def _schedule(name: str, exponent: float) -> Schedule:
    schedules: dict[str, Schedule] = {
        "polynomial": na.Polynomial(exponent),
        "constant": na.Constant(),
        "step": na.Step(),
    }
    return schedules[name]


def _augmenter(name: str, splits: na.Splits, clusters: int | None, options: na.ReadOptions) -> Augmenter[Supply]:
    from nnmfaug.augmenters.nnmf.nnmfaug import default_clusters
    from nnmfaug.experiments.arms import Duplicate, Given

    if name.startswith("file:"):
        path = name.removeprefix("file:")
        if not Path(path).is_file():
            msg = f"--arm {name}: there is no such file of triples"
            raise ValueError(msg)
        return Given(na.read_generated(path, splits.vocabulary, options), path)
    if name == "nnmf":
        return na.NNMFAug(cluster=na.Agglomerative(clusters or default_clusters(splits.train)))
    others: dict[str, Augmenter[Supply]] = {
        "auto": na.Auto(),
        "rules": na.Rules(),
        "random": na.RandomTriples(),
        "typed": na.TypedTriples(),
        "duplicate": Duplicate(),
    }
    if name not in others:
        msg = f"--arm {name}: must be one of {ARMS}"
        raise ValueError(msg)
    return others[name]
