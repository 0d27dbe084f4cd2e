"""Short runs, judged on valid, that choose how many generated triples to train with; none is a choice, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nnmfaug.arms import Augmentation, Extra
from nnmfaug.errors import DataError
from nnmfaug.graph import KnowledgeGraph, Splits
from nnmfaug.linkpred import LinkPredictor, TrainOptions
from nnmfaug.progress import report

SHARE = 3
"""A pilot has the preset's epochs over this."""


@dataclass(frozen=True)
class Pilot:
    """What short runs found: the number of triples that is best on valid, and the MRR of each that was tried."""

    amount: int
    scores: dict[int, float]

    @property
    def reason(self) -> str:
        """The outcome in words."""
        tried = ", ".join(f"{n:,}: {score:.4f}" for n, score in sorted(self.scores.items()))
        chosen = f"{self.amount:,} triples are best" if self.amount else "it is best without"
        return f"pilot runs, MRR on valid by number of triples: {tried}; {chosen}"


def run_pilot(
    splits: Splits,
    predictor: LinkPredictor,
    augmentation: Augmentation,
    *,
    parts: Sequence[float] = (0.25, 0.5, 1.0),
    epochs: int | None = None,
    seed: int = 0,
    options: TrainOptions | None = None,
) -> Pilot:
    """Train shortly without generated triples and with the first parts of them, and compare on valid.

    With more triples there are fewer epochs, so that all make about as many steps if all triples are in use from
    the start (``Constant``). Test is not looked at.

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
    if not all(0 < part <= 1 for part in parts) or (epochs is not None and epochs < 1):
        msg = f"parts={tuple(parts)}, epochs={epochs}: must be above 0 and at most 1, and from 1"
        raise ValueError(msg)
    extra = augmentation.generate(splits.train, seed)
    n_epochs, size = epochs or max(predictor.epochs // SHARE, 1), len(splits.train)
    options, scores = options or TrainOptions(), {}
    numbers = sorted({0, *(round(part * len(extra.graph)) for part in parts)})
    for done, n in enumerate(numbers):
        report("pilot runs", done, len(numbers))
        short = replace(predictor, epochs=max(round(n_epochs * size / (size + n)), 1))
        own = replace(options, evaluate_every=short.epochs, extra_weight=_first(extra, n).weight)
        graph = _first(extra, n).graph if n else None
        trained = short.train(splits, graph, schedule=augmentation.schedule, seed=seed, options=own)
        scores[n] = trained.curve[-1]["mrr"]
    return Pilot(max(scores, key=lambda n: (scores[n], -n)), scores)


def _first(extra: Extra, n: int) -> Extra:
    graph = KnowledgeGraph(extra.graph.vocabulary, extra.graph.triples[:n])
    return Extra(graph, extra.weight[:n] if isinstance(extra.weight, tuple) else extra.weight)
