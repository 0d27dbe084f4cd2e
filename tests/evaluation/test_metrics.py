"""Metrics by their definitions, and ranks against another implementation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import rankdata

from nnmfaug.evaluation.metrics import METRICS, Ranks, contributions, higher_is_better, realistic_rank, summary

RANKS = np.array([[1, 1.5], [3, 6], [10, 11], [1000, 1]])


def test_the_metrics_are_what_a_loop_says() -> None:
    metrics = summary(RANKS)
    ranks = [float(rank) for row in RANKS for rank in row]
    assert metrics["mrr"] == pytest.approx(sum(1 / rank for rank in ranks) / len(ranks))
    assert metrics["mr"] == pytest.approx(sum(ranks) / len(ranks))
    for k in (1, 3, 5, 10):
        assert metrics[f"hits@{k}"] == sum(rank <= k for rank in ranks) / len(ranks)
    assert tuple(metrics) == METRICS


@pytest.mark.parametrize("metric", METRICS)
def test_a_metric_is_the_mean_of_its_contributions(metric: str) -> None:
    parts = contributions(RANKS, metric)
    assert parts.shape == (4,)
    assert parts.mean() == pytest.approx(summary(RANKS)[metric])


@pytest.mark.parametrize("metric", METRICS)
def test_a_better_rank_is_better_in_every_metric(metric: str) -> None:
    worst, best = np.full((1, 2), 500.0), np.ones((1, 2))
    assert (contributions(best, metric) > contributions(worst, metric)) == higher_is_better(metric)


def test_an_unknown_metric_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"metric='hits@7': must be one of mrr, mr, hits@1"):
        contributions(RANKS, "hits@7")


def test_ranks_are_a_read_only_copy() -> None:
    given_ranks = RANKS.copy()
    ranks = Ranks(filtered=given_ranks, raw=given_ranks.astype(np.float32))
    given_ranks[:] = 7
    assert np.array_equal(ranks.filtered, RANKS)
    assert ranks.raw.dtype == np.float64
    assert len(ranks) == 4
    with pytest.raises(ValueError, match="read-only"):
        ranks.filtered[0] = 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.ones((3, 2)), "4 filtered and 3 raw ranks"),
        (np.ones(4), r"raw ranks of shape \(4,\): must be \(n_triples, 2\)"),
        (np.ones((4, 3)), "shape"),
        (np.ones((0, 2)), "at least one triple"),
        (RANKS - 1, "raw ranks from 0.0 to 999.0: must be finite and at least 1"),
        (np.full((4, 2), np.nan), "finite"),
        (np.full((4, 2), np.inf), "finite"),
    ],
)
def test_what_is_not_a_rank_is_refused(wrong: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Ranks(filtered=RANKS, raw=wrong)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12), st.data())
def test_the_realistic_rank_is_the_mean_place_among_equals(scores: list[int], data: st.DataObject) -> None:
    target = data.draw(st.integers(0, len(scores) - 1))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores))))
    assert realistic_rank(scores, target) == rankdata(-np.array(scores), "average")[target]
    mask[target] = False
    left = -np.array(scores)[~mask]
    place = target - int(mask[:target].sum())
    expected = rankdata(left, "average")[place]
    assert realistic_rank(scores, target, mask) == expected
    mask[target] = True
    assert realistic_rank(scores, target, mask) == expected, "the target stays"


def test_a_score_that_is_no_number_is_refused_unless_it_is_left_out() -> None:
    with pytest.raises(ValueError, match="diverged"):
        realistic_rank([1, np.nan], 0)
    assert realistic_rank([1, np.nan], 0, [False, True]) == 1
