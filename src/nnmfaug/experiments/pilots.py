"""Short runs, judged on valid, that choose how many generated triples to train with (docs/decisions/0011)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from nnmfaug.core.arrays import Array
from nnmfaug.core.errors import DataError
from nnmfaug.core.progress import report
from nnmfaug.evaluation.metrics import contributions
from nnmfaug.experiments.arms import Augmentation, Extra, arm_settings
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.splits import Splits
from nnmfaug.io.files import replacing
from nnmfaug.linkpred import LinkPredictor, TrainOptions

SHARE = 3
"""A pilot has the preset's epochs over this."""
LEVELS = (0.5, 0.1, 0.02)
"""How likely triples must be that weigh by their probability, to be tried."""
PARTS = (0.25, 0.5, 1.0)
"""Which parts of triples without a probability are tried."""


@dataclass(frozen=True)
class Pilot:
    """What short runs found: how many triples to add, the MRR of each number that was tried, and how sure that is.

    ``errors`` are standard errors of the difference from the best, paired by valid triple. The amount is the
    smallest that is behind the best by no more than that.
    """

    amount: int
    scores: dict[int, float]
    errors: dict[int, float]

    @classmethod
    def of(cls, scores: dict[int, float], errors: dict[int, float]) -> Pilot:
        """Choose."""
        best = max(scores.values())
        return cls(min(n for n in scores if best - scores[n] <= errors[n]), scores, errors)

    @property
    def reason(self) -> str:
        """The outcome in words."""
        tried = ", ".join(f"{n:,}: {score:.4f}" for n, score in sorted(self.scores.items()))
        chosen = f"{self.amount:,} triples are" if self.amount else "it is"
        how = (
            "best" if self.scores[self.amount] == max(self.scores.values()) else "not clearly worse than the best"
        )
        without = "" if self.amount else " without"
        return f"pilot runs, MRR on valid by number of triples: {tried}; {chosen} {how}{without}"


def run_pilot(
    splits: Splits,
    predictor: LinkPredictor,
    augmentation: Augmentation,
    *,
    parts: Sequence[float] | None = None,
    epochs: int | None = None,
    seed: int = 0,
    options: TrainOptions | None = None,
) -> Pilot:
    """Train shortly without generated triples and with the first of them, and choose as few as will do, by valid.

    How many are tried goes by ``parts``; else by their probability of truth, if they weigh by it; else a quarter,
    half and all. With more triples there are fewer epochs, so that all make about as many steps if all triples
    are in use from the start (``Constant``). Test is not looked at.

    Examples
    --------
    >>> import nnmfaug as na
    >>> splits = na.read_splits("nations")
    >>> small = na.LinkPredictor(model="transe", dim=8, epochs=6)
    >>> found = na.run_pilot(splits, small, na.Augmentation(na.RandomTriples(), 100))
    >>> sorted(found.scores), found.amount in found.scores
    ([0, 25, 50, 100], True)
    """
    if not len(splits.valid):
        raise DataError("no valid triples, so nothing to judge pilot runs by", path=splits.name)
    if not all(0 < part <= 1 for part in parts or ()) or (epochs is not None and epochs < 1):
        msg = f"parts={parts}, epochs={epochs}: must be above 0 and at most 1, and from 1"
        raise ValueError(msg)
    n_epochs, size = epochs or max(predictor.epochs // SHARE, 1), len(splits.train)
    extra = augmentation.generate(splits.train, seed)
    options, found = options or TrainOptions(), {}
    numbers = sorted({0, *_amounts(extra, parts)})
    for done, n in enumerate(numbers):
        report("pilot runs", done, len(numbers))
        short = replace(predictor, epochs=max(round(n_epochs * size / (size + n)), 1))
        own = replace(options, evaluate_every=None, extra_weight=_first(extra, n).weight)
        graph = _first(extra, n).graph if n else None
        trained = short.train(splits, graph, schedule=augmentation.schedule, seed=seed, options=own)
        found[n] = contributions(trained.rank(splits.valid).filtered, "mrr")
    return _judge(found)


def kept_pilot(
    path: Path, splits: Splits, predictor: LinkPredictor, augmentation: Augmentation, options: TrainOptions
) -> Pilot:
    """As :func:`run_pilot`, kept in a file: if it is there, and of the same settings, nothing is trained."""
    settings = {
        "data": {"train": splits.train.digest(), "valid": splits.valid.digest()},
        "predictor": asdict(predictor),
        "arm": arm_settings(augmentation),
    }
    found = _load(path, json.loads(json.dumps(settings)))
    if found is None:
        found = run_pilot(splits, predictor, augmentation, options=options)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as draft:
            text = json.dumps({"settings": settings, "scores": found.scores, "errors": found.errors}, indent=1)
            draft.write_text(text + "\n", encoding="utf-8")
    return found


def _load(path: Path, settings: dict[str, Any]) -> Pilot | None:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        scores, errors = ({int(n): float(x) for n, x in kept[key].items()} for key in ("scores", "errors"))
        return Pilot.of(scores, errors) if kept["settings"] == settings else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):  # none there, or a broken one: run it again
        return None


def _judge(found: dict[int, Array]) -> Pilot:
    """Compare by the reciprocal ranks of each valid triple."""
    best = max(found.values(), key=np.mean)
    errors = {
        n: float(np.std(best - own, ddof=1) / np.sqrt(len(own))) if len(own) > 1 else 0.0
        for n, own in found.items()
    }
    return Pilot.of({n: float(own.mean()) for n, own in found.items()}, errors)


def _amounts(extra: Extra, parts: Sequence[float] | None) -> list[int]:
    if parts is None and isinstance(extra.weight, tuple):
        return [sum(weight >= level for weight in extra.weight) for level in LEVELS]
    return [round(part * len(extra.graph)) for part in parts or PARTS]


def _first(extra: Extra, n: int) -> Extra:
    graph = KnowledgeGraph(extra.graph.vocabulary, extra.graph.triples[:n])
    return Extra(graph, extra.weight[:n] if isinstance(extra.weight, tuple) else extra.weight)
