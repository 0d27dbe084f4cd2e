"""Auto: the triples that are more likely true than not, by rules chosen for the graph; none if there are none.

Most triples that can be generated are false, and false triples make a model worse. So ``Auto`` needs no number of
triples: it keeps those whose estimated probability (:mod:`nnmfaug.quality.calibration`) reaches a threshold.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from nnmfaug.augmenters.base import Augmenter, Distribution, Sample
from nnmfaug.augmenters.listed import Listed
from nnmfaug.core.checks import check_argument, check_count
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.completeness import check_completeness
from nnmfaug.quality.default_rules import default_rules
from nnmfaug.quality.mixture import Mixture


@dataclass(frozen=True)
class Auto:
    """All triples whose estimated probability reaches a threshold, the highest first; possibly none.

    Parameters
    ----------
    generators
        The augmenters. Default: rules of up to three steps, of two if the graph is dense.
    threshold
        Minimum estimated probability of a triple.
    completeness
        Fraction of all true facts that the graph contains. Default: estimated.

    Examples
    --------
    >>> import nnmfaug as na
    >>> world = na.family(100, seed=0)
    >>> extra = na.Auto().fit(world.given).everything()
    >>> len(extra) > 100, bool(world.is_true(extra.triples).mean() > 0.95)
    (True, True)
    """

    generators: tuple[Augmenter[Distribution], ...] | None = None
    threshold: float = 0.5
    completeness: float | None = None

    def __post_init__(self) -> None:
        check_argument("threshold", self.threshold, 0 < self.threshold <= 1, "above 0 and at most 1")
        check_completeness(self.completeness)

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> Listed:
        """Fit to a graph, which should be the train split alone; with rules alone, the seed has no effect.

        Warns
        -----
        UserWarning
            If no triple reaches the threshold; it states the highest probability.
        """
        candidates = self.mixture(graph).fit(graph, seed=seed)
        chosen = candidates.above(self.threshold)
        if not chosen.support_size:
            warnings.warn(self._why_none(candidates), UserWarning, stacklevel=2)
        return chosen

    def mixture(self, graph: KnowledgeGraph) -> Mixture:
        """Return the mixture that is cut at the threshold."""
        augmenters = default_generators(graph) if self.generators is None else self.generators
        return Mixture(augmenters, self.completeness)

    def _why_none(self, candidates: Listed) -> str:
        n = candidates.support_size
        highest = (
            f"highest of {n:,} candidates: {candidates.confidence[0]:.2f}" if n else "there are no candidates"
        )
        return f"no triple is worth adding: no estimated probability reaches {self.threshold:.2f} ({highest})"


def default_generators(graph: KnowledgeGraph) -> tuple[Augmenter[Distribution], ...]:
    """Return the default rules of a graph."""
    return (default_rules(graph),)


def augment(graph: KnowledgeGraph, n: int | None = None, *, seed: int = 0) -> Sample:
    """Return triples worth adding to a train graph, by :class:`Auto`: at most n, by default all; possibly none.

    Examples
    --------
    >>> import nnmfaug as na
    >>> world = na.family(100, seed=0)
    >>> extra = na.augment(world.given, 50)
    >>> len(extra), bool(world.is_true(extra.triples).all())
    (50, True)
    """
    limit = None if n is None else check_count(n)
    dist = Auto().fit(graph, seed=seed)
    return dist.top(dist.n_new if limit is None else min(limit, dist.n_new))
