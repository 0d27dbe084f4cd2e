"""Hold-out refits: an augmenter fitted again without some triples of the graph.

A *hold-out refit* leaves each triple of the graph out with probability s, independently, and fits the augmenter
again to the remaining triples. A triple that the refit lists is recovered if it is one of those left out
(:mod:`nnmfaug.quality.recovery`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from nnmfaug.augmenters.listed import Listed
from nnmfaug.core.arrays import Array, Bools
from nnmfaug.core.checks import check_at_least, check_fraction
from nnmfaug.core.progress import report
from nnmfaug.core.seeding import Stream, generator
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.recovery import MAX_CONCLUSIONS, Conclusions, Recovery

MIN_COMMON = 50
"""Number of triples listed by both fits that it takes to compare their confidences."""


def check_refits(fraction: float, n_refits: int) -> None:
    """Raise unless refits leave out a part of the graph, and there are enough of them to compare."""
    check_fraction("fraction", fraction)
    check_at_least("n_refits", n_refits, 2)


def refit(
    fit: Callable[[KnowledgeGraph], Listed],
    full: Listed,
    *,
    fraction: float = 0.1,
    n_refits: int = 5,
    seed: int = 0,
    task: str = "refitting",
) -> Recovery:
    """Fit several times, each time without a random fraction of the graph.

    Parameters
    ----------
    fit
        Fits the augmenter to a graph.
    full
        The result of ``fit`` for the whole graph.
    fraction, n_refits
        s, the fraction that each refit leaves out; and the number of refits.
    task
        Name under which progress is reported.

    Examples
    --------
    >>> import nnmfaug as na
    >>> graph = na.family(60, seed=0).given
    >>> recovery = refit(na.Rules().fit, na.Rules().fit(graph))
    >>> len(recovery) > recovery.n_recovered > 100
    True
    """
    parts = []
    for i in range(n_refits):
        report(task, i, n_refits)
        left_out = generator(seed, Stream.HOLDOUT, i).random(len(full.graph)) < fraction
        parts.append(_refit_without(left_out, fit, full))
    report(task, n_refits, n_refits)
    number = np.repeat(np.arange(n_refits), [len(conclusions) for conclusions, _ in parts])
    recovered = np.concatenate([recovered for _, recovered in parts])
    conclusions = Conclusions.join([part for part, _ in parts])
    return Recovery(conclusions, recovered, number, fraction)


def _refit_without(
    left_out: Bools, fit: Callable[[KnowledgeGraph], Listed], full: Listed
) -> tuple[Conclusions, Bools]:
    """Fit without some triples; return the conclusions, and which of them were left out."""
    graph = full.graph
    rest = KnowledgeGraph(graph.vocabulary, graph.triples[~left_out])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the fit to the whole graph has issued those that matter
        listed = fit(rest)
    triples = listed.triples[:MAX_CONCLUSIONS]
    conclusions = Conclusions.of(rest, triples, _on_scale_of(full, listed))
    hidden = KnowledgeGraph(graph.vocabulary, graph.triples[left_out])
    return conclusions, hidden.contains(triples)


def _on_scale_of(full: Listed, listed: Listed) -> Array:
    """Multiply the confidences of a refit by one factor, so that they compare with those of the full fit.

    A refit has fewer triples, so its confidences are lower. The factor is the median of full / refit over the
    triples that both list.
    """
    confidence = listed.confidence[:MAX_CONCLUSIONS]
    in_full = full.confidence_of(listed.triples[:MAX_CONCLUSIONS])
    common = in_full > 0
    if common.sum() < MIN_COMMON:
        return confidence
    factor = np.median(in_full[common] / confidence[common])
    scaled: Array = np.minimum(confidence * factor, 1.0)
    return scaled
