"""Hold-out refits: what is left out, what is recovered."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.augmenters.listed import Listed
from nnmfaug.core.progress import reporting_to
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.holdout import check_refits, refit

GRAPH = na.family(40, seed=0).given


def everything_missing(part: KnowledgeGraph) -> Listed:
    """List all triples of the graph that a part lacks, at .8, and the inverse of each, at .4."""
    missing = GRAPH.triples[~part.contains(GRAPH.triples)]
    inverse = missing[:, [2, 1, 0]]
    inverse = inverse[~GRAPH.contains(inverse)]
    confidence = np.repeat([0.8, 0.4], [len(missing), len(inverse)])
    return Listed(part, np.concatenate([missing, inverse]), confidence)


def test_recovered_triples_are_those_of_the_graph() -> None:
    recovery = refit(everything_missing, everything_missing(GRAPH), fraction=0.2, n_refits=3, seed=0)
    assert np.unique(recovery.fold).tolist() == [0, 1, 2]
    assert np.array_equal(recovery.recovered, recovery.confidence == 0.8)
    assert recovery.n_recovered == pytest.approx(3 * 0.2 * len(GRAPH), rel=0.15)
    first = recovery.take(recovery.fold == 0)
    assert len(first) == len(first.conclusions) == (recovery.fold == 0).sum()


def test_warnings_of_refits_are_not_repeated() -> None:
    def fit(part: KnowledgeGraph) -> Listed:
        warnings.warn("few triples", UserWarning, stacklevel=2)
        return everything_missing(part)

    refit(fit, everything_missing(GRAPH))


def test_progress_is_reported_by_name() -> None:
    reports: list[tuple[str, int, int]] = []
    with reporting_to(lambda *progress: reports.append(progress)):
        refit(everything_missing, everything_missing(GRAPH), n_refits=2, task="checking")
    assert reports == [("checking", 0, 2), ("checking", 1, 2), ("checking", 2, 2)]


@pytest.mark.parametrize(
    ("fraction", "n_refits", "name"), [(0, 5, "fraction"), (1, 5, "fraction"), (0.1, 1, "n_refits")]
)
def test_refits_that_measure_nothing_are_refused(fraction: float, n_refits: int, name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}="):
        check_refits(fraction, n_refits)
