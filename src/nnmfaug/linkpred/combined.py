"""A trained model combined with a prior over answers, such as that of rules.

The score of a triple (h, r, t) is

    score = model score / T + w · log(1 + p / ε)

where p is its estimated probability, 0 for triples that the prior does not propose. ``docs/prediction.md`` has
more about the equation, :mod:`nnmfaug.linkpred.combining` about how T, w and ε are chosen on valid.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from nnmfaug.augmenters.base import Evidence, Prior
from nnmfaug.evaluation.metrics import Ranks
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.splits import Splits
from nnmfaug.linkpred.trained import Trained


class CombinedAnswer(NamedTuple):
    """An entity that may complete a triple, and what speaks for it."""

    entity: str
    score: float
    """The sum of ``from_model`` and ``from_rules``."""
    known: bool
    """Whether the triple is in train, valid or test."""
    probability: float | None
    """Estimated probability that the triple is true; None if there was no valid triple to calibrate it."""
    from_model: float
    from_rules: float
    evidence: Evidence | None
    """The best rule and the train triples behind it; None if no rule proposes the triple."""


@dataclass(frozen=True)
class Mix:
    """How a model and a prior are combined: model score / temperature + weight · log(1 + p / epsilon)."""

    temperature: float = 1.0
    weight: float = 1.0
    epsilon: float = 1e-3


@dataclass(frozen=True)
class Calibration:
    """Probability of an answer: 1 / (1 + exp(−constant − slope · log softmax(score)))."""

    constant: float
    slope: float


@dataclass(frozen=True, eq=False)
class Combined:
    """A trained model and a prior; without a model, the prior alone.

    Attributes
    ----------
    trained
        The model, or None.
    prior
        Estimated probabilities of answers, from train alone.
    known
        The triples of all splits: filtered ranks leave them out, and :meth:`predict` marks them.
    mix
        T, w and ε.
    calibration
        Turns scores into probabilities; None without valid triples.
    """

    trained: Trained | None
    prior: Prior
    known: KnowledgeGraph
    mix: Mix = Mix()
    calibration: Calibration | None = None

    @classmethod
    def fit(cls, trained: Trained | None, prior: Prior, splits: Splits) -> Combined:
        """Choose T, w and ε on valid, where filtered ranks leave out train and valid; test is not used."""
        from nnmfaug.linkpred.combining import combine

        none = KnowledgeGraph(splits.vocabulary, splits.test.triples[:0])
        seen = replace(splits, test=none).together()
        combined = combine(trained, prior, splits.valid, known=seen)
        return replace(combined, known=splits.together().with_vocabulary(combined.known.vocabulary))

    def rank(self, triples: KnowledgeGraph, *, known: KnowledgeGraph | None = None) -> Ranks:
        """Rank the true heads and tails of triples among all entities, filtered and raw.

        Filtered ranks leave out the triples in ``known``, by default those of all splits. To choose something on
        valid, pass the triples of train and valid.
        """
        raise NotImplementedError

    def predict(
        self, *, head: str | None = None, relation: str, tail: str | None = None, n: int = 10
    ) -> list[CombinedAnswer]:
        """Return the n most probable tails of a head, or heads of a tail, best first."""
        raise NotImplementedError

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write ``combined.json``, ``known.npz``, ``prior.npz`` and, if there is a model, its folder ``model``.

        Files that exist are a ``FileExistsError`` unless ``overwrite``.
        """
        from nnmfaug.linkpred.combined_storage import save_combined

        save_combined(self, Path(folder), overwrite=overwrite)
