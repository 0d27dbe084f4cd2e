"""A trained model combined with a prior over answers, such as that of rules.

The score of a triple (h, r, t) is

    score = model score / T + w · log(1 + p / ε)

where p is its estimated probability, 0 for triples that the prior does not propose. ``docs/prediction.md`` has
more about the equation, :mod:`nnmfaug.linkpred.combining` about how T, w and ε are chosen on valid.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nnmfaug.augmenters.base import Evidence, Prior
from nnmfaug.augmenters.translated_prior import with_names
from nnmfaug.core.arrays import Array, Bools, Places
from nnmfaug.core.checks import check_count
from nnmfaug.evaluation.metrics import Ranks
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.splits import Splits
from nnmfaug.linkpred.mix import Calibration, Mix, log_sum_exp
from nnmfaug.linkpred.trained import Query, Trained, best_first

if TYPE_CHECKING:
    from nnmfaug.linkpred.combined_scores import CombinedScores


class CombinedAnswer(NamedTuple):
    """An entity that may complete a triple, and what speaks for it."""

    entity: str
    score: float
    """The sum of ``from_model`` and ``from_rules``."""
    known: bool
    """Whether the triple is in train, valid or test."""
    probability: float | None
    """Estimated probability that the triple is true; None if it is known, or if nothing could be calibrated."""
    from_model: float
    from_rules: float
    evidence: Evidence | None
    """The best rule and the train triples behind it; None if the prior gives none."""


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

    Examples
    --------
    >>> import nnmfaug as na
    >>> splits = na.split(na.family(60, seed=0).given, valid=0.05, test=0.1, seed=0)
    >>> prior = na.ListedPrior(na.Rules(depth=1).fit(splits.train))
    >>> rules_alone = na.Combined.fit(None, prior, splits)
    >>> head, relation, tail = prior.dist.top(1).labels[0]
    >>> best = rules_alone.predict(head=head, relation=relation, n=1)[0]
    >>> best.entity == tail, best.evidence.reason
    (True, 'sibling_of(x, y) ← sibling_of(y, x)')
    """

    trained: Trained | None
    prior: Prior
    known: KnowledgeGraph
    mix: Mix = field(default_factory=Mix)
    calibration: Calibration | None = None

    def __reduce__(self) -> tuple[type[Combined], tuple[object, ...]]:
        """To another process goes what it is made of, not what was computed from that."""
        return Combined, (self.trained, self.prior, self.known, self.mix, self.calibration)

    @classmethod
    def fit(cls, trained: Trained | None, prior: Prior, splits: Splits) -> Combined:
        """Choose T, w and ε on valid, where filtered ranks leave out train and valid; test is not used."""
        from nnmfaug.linkpred.combining import combine

        combined = combine(trained, prior, splits.valid, known=splits.train_and_valid())
        return replace(combined, known=splits.together().with_vocabulary(combined.known.vocabulary))

    def rank(self, triples: KnowledgeGraph, *, known: KnowledgeGraph | None = None) -> Ranks:
        """Rank the true heads and tails of triples among all entities, filtered and raw.

        Filtered ranks leave out the triples in ``known``, by default those of all splits. To choose something on
        valid, pass the triples of train and valid.
        """
        from nnmfaug.linkpred.ranking import rank

        names = self.known.vocabulary
        others = self.known if known is None else known.with_vocabulary(names)
        return rank(self._scores, triples.with_vocabulary(names), others, hidden=self.hidden_ids())

    def hidden_ids(self) -> list[int]:
        """Return the ids of entities that are never an answer, because they are not of the data set."""
        return [] if self.trained is None else self.trained.hidden_ids()

    @cached_property
    def _scores(self) -> CombinedScores:
        from nnmfaug.linkpred.combined_scores import CombinedScores, model_scores

        prior = with_names(self.prior, self.known.vocabulary)
        return CombinedScores(model_scores(self.trained, self.known), prior, self.mix)

    def predict(
        self, *, head: str | None = None, relation: str, tail: str | None = None, n: int = 10
    ) -> list[CombinedAnswer]:
        """Return the n most probable tails of a head, or heads of a tail, best first."""
        names = self.known.vocabulary
        query = Query.of(names, head, relation, tail)
        scores = self._scores(query.pair, heads=query.heads)[0].cpu().numpy()
        scores[self.hidden_ids()] = -np.inf
        is_known = self.known.contains(query.complete(np.arange(len(scores))))
        best = best_first(scores, min(check_count(n), len(scores) - len(self.hidden_ids())))
        probability = self._probability(scores, is_known, best)
        from_rules, evidence = self._rules(query, best)
        return [
            CombinedAnswer(
                entity=names.entities[x],
                score=float(scores[x]),
                known=bool(is_known[x]),
                probability=probability.get(x),
                from_model=float(scores[x] - from_rules[x]),
                from_rules=float(from_rules[x]),
                evidence=evidence.get(x),
            )
            for x in best.tolist()
        ]

    def _probability(self, scores: Array, is_known: Bools, best: Places) -> dict[int, float]:
        """Return the probability of each of the best entities that is not a known answer."""
        if self.calibration is None:
            return {}
        unknown = best[~is_known[best]]
        log_softmax = scores[unknown] - log_sum_exp(scores[~is_known])
        probability = self.calibration.probability(log_softmax)
        return dict(zip(unknown.tolist(), probability.tolist(), strict=True))

    def _rules(self, query: Query, best: Places) -> tuple[Array, dict[int, Evidence]]:
        """Return what the prior adds to the score of each entity, and its evidence for the best ones."""
        prior = self._scores.prior
        _, entities, probability = prior.answers(query.pair, heads=query.heads)
        from_rules = np.zeros(self.known.n_entities)
        from_rules[entities] = self.mix.from_rules(probability)
        proposed = best[np.isin(best, entities)]
        evidence = prior.explain(query.complete(proposed))
        by_entity = {x: each for x, each in zip(proposed.tolist(), evidence, strict=True) if each.reason}
        return from_rules, by_entity

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write ``combined.json``, ``known.npz``, ``prior.npz`` and, if there is a model, its folder ``model``.

        Files that exist are a ``FileExistsError`` unless ``overwrite``.
        """
        from nnmfaug.linkpred.combined_storage import save_combined

        save_combined(self, Path(folder), overwrite=overwrite)
