"""Short runs, evaluated on valid, that choose how many generated triples to train with (docs/decisions/0011)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from nnmfaug.core.arrays import Array
from nnmfaug.core.checks import check_argument, check_at_least, require
from nnmfaug.core.engines.base import current_engine
from nnmfaug.core.errors import DataError
from nnmfaug.core.progress import report
from nnmfaug.evaluation.metrics import contributions
from nnmfaug.evaluation.runs import run_path
from nnmfaug.experiments.arms import Augmentation, Fit, arm_settings, fit_method
from nnmfaug.experiments.existing import with_later
from nnmfaug.graph.splits import Splits
from nnmfaug.io.documents import Schema, parse, refusing, unseal, write_document
from nnmfaug.io.files import replacing
from nnmfaug.linkpred import LinkPredictor, TrainOptions
from nnmfaug.linkpred.training_set import TrainingSet
from nnmfaug.quality.auto import Auto

EPOCH_DIVISOR = 3
"""A pilot run has the preset's epochs divided by this."""
LEVELS = (0.5, 0.1, 0.02)
"""Minimum estimated probabilities to try, if triples are weighted by their probability."""
PARTS = (0.25, 0.5, 1.0)
"""Fractions of the generated triples to try, if they are not weighted by probability."""
FILTER = ("train", "valid")
"""Splits whose triples filtered ranks leave out. Pilots that do not record them left out those of test, too."""
FILE_NAME = "pilot.json"
SCHEMA = Schema("nnmfaug pilot", 2, {"settings": {"*": object}, "scores": {"*": float}, "errors": {"*": float}})


@dataclass(frozen=True)
class Pilot:
    """The outcome of pilot runs: the chosen number of triples, and the MRR of each number of triples.

    Parameters
    ----------
    amount
        The smallest number whose MRR is below the best by no more than its standard error.
    scores
        MRR on valid of each number of triples.
    errors
        Standard error of the difference from the best, paired by valid triple.
    """

    amount: int
    scores: dict[int, float]
    errors: dict[int, float]

    @classmethod
    def of(cls, scores: dict[int, float], errors: dict[int, float]) -> Pilot:
        """Choose the amount."""
        best = max(scores.values())
        close = [n for n, score in scores.items() if best - score <= errors[n]]
        return cls(min(close), scores, errors)

    @property
    def reason(self) -> str:
        """The outcome in words."""
        scores = ", ".join(f"{n:,}: {score:.4f}" for n, score in sorted(self.scores.items()))
        is_best = self.scores[self.amount] == max(self.scores.values())
        verdict = "best" if is_best else "not clearly worse than the best"
        choice = f"adding {self.amount:,} triples" if self.amount else "adding none"
        return f"pilot runs, MRR on valid by number of generated triples: {scores}; {choice} is {verdict}"


def run_pilot(  # noqa: PLR0913
    splits: Splits,
    predictor: LinkPredictor,
    augmentation: Augmentation,
    *,
    parts: Sequence[float] | None = None,
    epochs: int | None = None,
    seed: int = 0,
    options: TrainOptions | None = None,
    fit: Fit = fit_method,
) -> Pilot:
    """Train briefly with none and with some of the generated triples, and choose the smallest good number.

    With more triples there are fewer epochs, so that all runs make about as many steps if all triples are in use
    from the start (``Constant``). Test is not inspected: filtered ranks leave out triples of train and valid only.

    Parameters
    ----------
    parts
        Fractions of the generated triples to try. Default: those above some estimated probabilities, if they are
        weighted by it; otherwise a quarter, half and all.
    epochs
        Number of epochs of a run without generated triples. Default: a third of the predictor's.
    fit
        Fits the augmenter; :class:`~nnmfaug.experiments.arms.Fits` keeps the distribution for later arms.

    Examples
    --------
    >>> import nnmfaug as na
    >>> splits = na.read_splits("nations")
    >>> small = na.LinkPredictor(model="transe", dim=8, epochs=6)
    >>> pilot = na.run_pilot(splits, small, na.Augmentation(na.RandomTriples(), 100))
    >>> sorted(pilot.scores), pilot.amount in pilot.scores
    ([0, 25, 50, 100], True)
    """
    _check(splits, parts, epochs)
    data = augmentation.prepare(splits.train, seed, fit)
    n_epochs = epochs or max(predictor.epochs // EPOCH_DIVISOR, 1)
    options = options or TrainOptions()
    options = replace(options, evaluate_every=None, threads=options.n_threads)  # as many on every engine
    numbers = sorted({0, *_amounts(data, parts)})
    pilot_run = _PilotRun(splits, replace(predictor, epochs=n_epochs), data, seed, options)
    reciprocal_ranks = {}
    report("pilot runs", 0, len(numbers))
    for done, (place, values) in enumerate(current_engine().as_finished(pilot_run, numbers), start=1):
        reciprocal_ranks[numbers[place]] = values
        report("pilot runs", done, len(numbers))
    return _choose({n: reciprocal_ranks[n] for n in numbers})


@dataclass(frozen=True, eq=False)
class _PilotRun:
    """Trains briefly with some of the added triples, as any engine does it.

    Parameters
    ----------
    predictor
        Its epochs are those of a run without added triples.
    """

    splits: Splits
    predictor: LinkPredictor
    data: TrainingSet
    seed: int
    options: TrainOptions

    def __call__(self, n: int) -> Array:
        """Return the reciprocal ranks of the valid triples after training with the first n added triples."""
        part = self.data.first(n)
        n_short = max(round(self.predictor.epochs * len(self.data.train) / part.size), 1)
        short = replace(self.predictor, epochs=n_short)
        trained = short.train(self.splits, part, seed=self.seed, options=self.options)
        ranks = trained.rank(self.splits.valid, known=self.splits.train_and_valid())
        return contributions(ranks.filtered, "mrr")


def choose_amount(
    splits: Splits,
    predictor: LinkPredictor,
    arm: Augmentation,
    *,
    folder: str | Path,
    options: TrainOptions | None = None,
    fit: Fit = fit_method,
) -> tuple[Augmentation | None, Pilot]:
    """Let pilot runs choose the amount of an arm, as ``compare --pilot`` does.

    The pilot is written to ``folder`` and read from there the next time. If triples are weighted by probability,
    improbable ones are tried, too.

    Returns
    -------
    arm, pilot
        The arm with its amount, or None if adding no triples is best; and the outcome of the pilot runs.

    Examples
    --------
    >>> import nnmfaug as na
    >>> splits = na.read_splits("nations")
    >>> small = na.LinkPredictor(model="transe", dim=8, epochs=6)
    >>> arm, pilot = na.choose_amount(splits, small, na.Augmentation(na.RandomTriples(), 50), folder="runs")
    >>> sorted(pilot.scores)
    [0, 12, 25, 50]
    """
    folder = Path(folder)
    path = folder / FILE_NAME
    if run_path(folder, "auto", 0).is_file() and not path.is_file():
        msg = "runs of auto without a pilot are here: use another folder, or delete them"
        raise DataError(msg, path=folder)
    if arm.weight == "probability" and isinstance(arm.method, Auto):
        arm = replace(arm, method=replace(arm.method, threshold=min(LEVELS)))
    pilot = _load_or_run(path, splits, predictor, arm, options or TrainOptions(), fit)
    arm_of_choice = replace(arm, amount=pilot.amount) if pilot.amount else None
    return arm_of_choice, pilot


def _load_or_run(
    path: Path, splits: Splits, predictor: LinkPredictor, arm: Augmentation, options: TrainOptions, fit: Fit
) -> Pilot:
    """Run a pilot and write it to a file; a file with the same settings is read instead."""
    settings = {
        "data": {"train": splits.train.digest(), "valid": splits.valid.digest()},
        "predictor": asdict(predictor),
        "arm": arm_settings(arm),
        "filter": FILTER,
    }
    existing = _load(path, json.loads(json.dumps(settings))) if path.exists() else None
    if existing is not None:
        return existing
    pilot = run_pilot(splits, predictor, arm, options=options, fit=fit)
    with replacing(path) as draft:
        write_document(draft, SCHEMA, {"settings": settings, "scores": pilot.scores, "errors": pilot.errors})
    return pilot


def _load(path: Path, settings: dict[str, Any]) -> Pilot | None:
    """Read a pilot; None if it was run with other settings."""
    with refusing(path, f"not a pilot that can be read: delete {FILE_NAME} and the runs of auto beside it"):
        content = unseal(_with_format(parse(path.read_bytes())), SCHEMA)
        scores = _numbers("scores", content["scores"])
        errors = _numbers("errors", content["errors"])
        require(0 in scores, "scores.0: is missing")
        good_errors = set(scores) == set(errors) and min(errors.values()) >= 0
        require(good_errors, "errors: must be from 0, of the same numbers of triples as scores")
    return Pilot.of(scores, errors) if with_later(content["settings"]) == settings else None


def _with_format(document: object) -> object:
    """Add the format and version that nnmfaug 0.1 did not write."""
    if isinstance(document, dict) and document.keys() <= SCHEMA.shape.keys():
        return {"format": SCHEMA.format, "version": 1, **document}
    return document


def _numbers(field: str, values: dict[str, float]) -> dict[int, float]:
    """Return numbers by number of triples; JSON has these as text."""
    for n in values:
        require(n.isdecimal() and len(n) < 19, f"{field}.{n}: its name must be a number of triples")
    return {int(n): float(value) for n, value in values.items()}


def _check(splits: Splits, parts: Sequence[float] | None, epochs: int | None) -> None:
    if not len(splits.valid):
        raise DataError("no valid triples, so there is nothing to evaluate pilot runs on", path=splits.name)
    good_parts = all(0 < part <= 1 for part in parts or ())
    check_argument("parts", parts, good_parts, "above 0 and at most 1, each")
    if epochs is not None:
        check_at_least("epochs", epochs, 1)


def _choose(reciprocal_ranks: dict[int, Array]) -> Pilot:
    """Compare by the reciprocal ranks of each valid triple."""
    best = max(reciprocal_ranks.values(), key=np.mean)
    errors = {n: _standard_error(best - values) for n, values in reciprocal_ranks.items()}
    scores = {n: float(values.mean()) for n, values in reciprocal_ranks.items()}
    return Pilot.of(scores, errors)


def _standard_error(differences: Array) -> float:
    if len(differences) < 2:
        return 0.0
    return float(np.std(differences, ddof=1) / np.sqrt(len(differences)))


def _amounts(data: TrainingSet, parts: Sequence[float] | None) -> list[int]:
    """Return the numbers of triples to try."""
    if parts is None and not isinstance(data.weights, float | int):
        return [int(np.count_nonzero(data.weights >= level)) for level in LEVELS]
    n_added = data.size - len(data.train)
    return [round(part * n_added) for part in parts or PARTS]
