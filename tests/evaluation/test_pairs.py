"""Runs are paired by seed, and runs that cannot be paired are refused."""

from __future__ import annotations

import numpy as np
import pytest

from nnmfaug.evaluation.metrics import contributions
from nnmfaug.evaluation.pairs import difference_table, metric_table, pair_runs
from nnmfaug.evaluation.runs import Run
from tests.evaluation.toy_runs import RUNS, toy_runs


def test_a_pair_has_the_same_seed_and_arms_keep_their_order() -> None:
    pairs = pair_runs(RUNS[::-1], "baseline")
    assert list(pairs) == ["same", "bad", "good"]
    for arm, arm_pairs in pairs.items():
        assert [(run.arm, base.arm) for run, base in arm_pairs] == [(arm, "baseline")] * 5
        assert [(run.seed, base.seed) for run, base in arm_pairs] == [(seed, seed) for seed in range(5)]


@pytest.mark.parametrize("metric", ["mrr", "mr", "hits@3"])
def test_a_row_of_a_table_is_a_run(metric: str) -> None:
    pairs = pair_runs(RUNS, "baseline")["bad"]
    table = metric_table((run for run, _ in pairs), metric, "raw")
    assert table.shape == (5, 200)
    for row, difference, (run, base) in zip(table, difference_table(pairs, metric, "raw"), pairs, strict=True):
        assert np.array_equal(row, contributions(run.ranks.raw, metric))
        assert np.array_equal(difference, row - contributions(base.ranks.raw, metric))


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ([], r"baseline='baseline': there is no run of it, only of \[\]"),
        ([run for run in RUNS if run.arm == "good"], r"only of \['good'\]; name one of these or run it"),
        (RUNS[:5], "only runs of the baseline 'baseline': run another arm"),
        ([*RUNS, RUNS[7]], "two runs of arm 'good' with seed 2: leave one of them out"),
        ([*RUNS, *toy_runs({"x": 0}, n=30)], "runs with 30 and 200 test triples"),
        ([*RUNS, *toy_runs({"x": 0}, seeds=[7])], "arm 'x' has no seed in common with 'baseline'"),
    ],
)
def test_runs_that_cannot_be_paired_are_refused(runs: list[Run], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pair_runs(runs, "baseline")
