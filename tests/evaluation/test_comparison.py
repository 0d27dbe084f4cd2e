"""A comparison finds effects that exist, and seldom others."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nnmfaug.core.arrays import Array
from nnmfaug.evaluation.comparison import compare, to_json
from nnmfaug.evaluation.metrics import METRICS, contributions
from nnmfaug.evaluation.runs import Run
from tests.evaluation.toy_runs import RUNS, make_run, normal_table

# ── simulations


def mr_runs(table: Array) -> list[Run]:
    """Runs whose difference in mean rank is the table."""
    ranks = np.full((table.shape[1], 2), 1000.0)
    base = [make_run("baseline", seed, ranks) for seed in range(len(table))]
    return base + [make_run("arm", seed, ranks + row[:, None]) for seed, row in enumerate(table)]


@pytest.mark.slow
def test_the_interval_covers_and_the_verdict_is_seldom_wrong() -> None:
    truth, n_simulations = 0.0, 300
    covered = called = 0
    for i in range(n_simulations):
        table = normal_table(np.random.default_rng([7, i]), 5, 100, truth)
        row = compare(mr_runs(table), metrics=("mr",), n_resamples=600, seed=i).row("arm", "mr")
        covered += row.low <= truth <= row.high
        called += row.verdict != "no difference shown"
    assert covered >= 0.92 * n_simulations
    assert called <= 0.07 * n_simulations


@pytest.mark.slow
def test_with_several_arms_that_do_nothing_a_wrong_call_is_still_seldom() -> None:
    wrong = 0
    for i in range(150):
        rng = np.random.default_rng([9, i])
        arms = [replace(run, arm=f"arm {a}") for a in range(4) for run in mr_runs(normal_table(rng, 4, 50))[4:]]
        base = mr_runs(np.zeros((4, 50)))[:4]
        comparison = compare([*base, *arms], metrics=("mr",), n_resamples=400, seed=i)
        wrong += any(row.verdict != "no difference shown" for row in comparison.rows)
    assert wrong <= 0.07 * 150


# ── the comparison

COMPARISON = compare(RUNS, n_resamples=2000)


@pytest.mark.parametrize("metric", ["mrr", "mr", "hits@10"])
def test_a_clear_effect_is_found_in_its_direction(metric: str) -> None:
    verdicts = [COMPARISON.row(arm, metric).verdict for arm in ("good", "bad", "same")]
    assert verdicts == ["better", "worse", "no difference shown"]
    sign = 1 if metric == "mr" else -1
    assert COMPARISON.row("bad", metric).difference * sign > 0 > COMPARISON.row("good", metric).difference * sign


def test_the_numbers_of_a_row_are_what_a_loop_says() -> None:
    by_arm = {arm: [run for run in RUNS if run.arm == arm] for arm in ("baseline", "good")}
    for metric in METRICS:
        row = COMPARISON.row("good", metric)
        means = {
            arm: [float(contributions(run.ranks.filtered, metric).mean()) for run in own]
            for arm, own in by_arm.items()
        }
        per_seed = [a - b for a, b in zip(means["good"], means["baseline"], strict=True)]
        assert row.per_seed == pytest.approx(per_seed)
        assert row.difference == pytest.approx(np.mean(per_seed))
        assert (row.baseline_mean, row.mean) == pytest.approx((np.mean(means["baseline"]), np.mean(means["good"])))
        relative = row.difference / row.baseline_mean if row.baseline_mean else None
        assert row.relative == pytest.approx(relative)
        assert row.low <= row.difference <= row.high
        assert row.p_value <= row.p_holm <= 3 * row.p_value
        (first, *_), deviation = COMPARISON.summaries, np.std(means["baseline"], ddof=1)
        assert first.means[metric] == pytest.approx(row.baseline_mean)
        assert first.deviations[metric] == pytest.approx(deviation)


def test_arms_come_in_the_order_given_and_rows_by_arm_then_metric() -> None:
    assert COMPARISON.arms == ("good", "bad", "same")
    assert COMPARISON.seeds == (0, 1, 2, 3, 4)
    assert [(row.arm, row.metric) for row in COMPARISON.rows] == [(a, m) for a in COMPARISON.arms for m in METRICS]
    assert [each.arm for each in COMPARISON.summaries] == ["baseline", *COMPARISON.arms]
    assert COMPARISON.notes == ()


def test_swapping_arm_and_baseline_swaps_sign_and_verdict() -> None:
    opposite = {"better": "worse", "worse": "better", "no difference shown": "no difference shown"}
    for arm in ("good", "same"):
        two = [run for run in RUNS if run.arm in ("baseline", arm)]
        there, back = compare(two, n_resamples=2000), compare(two, arm, n_resamples=2000)
        for a, b in zip(there.rows, back.rows, strict=True):
            assert b.difference == pytest.approx(-a.difference)
            assert (b.low, b.high) == pytest.approx((-a.high, -a.low), abs=1e-6)
            assert b.p_value == pytest.approx(a.p_value, rel=1e-3)
            assert b.verdict == opposite[a.verdict]


def test_the_order_of_runs_does_not_matter_to_an_arm() -> None:
    shuffled = compare(RUNS[::-1], n_resamples=2000)
    for row in COMPARISON.rows:
        again = shuffled.row(row.arm, row.metric)
        assert (again.low, again.high, again.p_value) == pytest.approx((row.low, row.high, row.p_value), rel=1e-4)


def test_it_is_the_same_every_time_and_another_with_another_seed() -> None:
    assert compare(RUNS, n_resamples=2000) == COMPARISON
    other = compare(RUNS, n_resamples=2000, seed=1)
    assert other != COMPARISON
    assert [row.verdict for row in other.rows] == [row.verdict for row in COMPARISON.rows]


def test_filtered_and_raw_are_kept_apart() -> None:
    ranks = np.full((20, 2), 10.0)
    runs = [make_run("baseline", s, ranks, ranks) for s in range(3)]
    runs += [make_run("arm", s, ranks - 5, ranks + 5) for s in range(3)]
    assert compare(runs, metrics=["mr"]).row("arm", "mr").verdict == "better"
    assert compare(runs, metrics=["mr"], kind="raw").row("arm", "mr").verdict == "worse"
    with pytest.raises(ValueError, match="kind='both': must be 'filtered' or 'raw'"):
        compare(runs, kind="both")  # type: ignore[arg-type]


def test_runs_that_are_equal_show_no_difference() -> None:
    runs = [replace(run, arm=arm) for run in RUNS[:5] for arm in ("baseline", "copy")]
    for row in compare(runs, n_resamples=500).rows:
        assert (row.low, row.difference, row.high, row.verdict) == (0, 0, 0, "no difference shown")
        assert row.p_value == pytest.approx(1)


def test_one_seed_gives_an_interval_but_never_a_verdict() -> None:
    comparison = compare([run for run in RUNS if run.seed == 0], n_resamples=2000)
    row = comparison.row("good")
    assert 0 < row.low < row.high
    assert {each.verdict for each in comparison.rows} == {"no difference shown"}
    assert any("one seed cannot tell seed noise from an effect" in note for note in comparison.notes)
    assert comparison.summaries[0].deviations["mrr"] is None


def test_only_seeds_that_both_have_are_compared() -> None:
    missing = {("baseline", 0), ("good", 1), ("same", 2)}
    runs = [run for run in RUNS if (run.arm, run.seed) not in missing]
    comparison = compare(runs, n_resamples=2000)
    assert [comparison.row(arm).seeds for arm in comparison.arms] == [(2, 3, 4), (1, 2, 3, 4), (1, 3, 4)]
    assert comparison.seeds == (1, 2, 3, 4)
    assert "good: compared without seeds 0, 1, which it or baseline lacks" in comparison.notes
    whole = [run for run in RUNS if run.arm in ("baseline", "good") and run.seed in (2, 3, 4)]
    expected = compare(whole, n_resamples=2000).row("good")
    assert comparison.row("good").difference == pytest.approx(expected.difference)
    assert (comparison.row("good").low, comparison.row("good").high) == pytest.approx(
        (expected.low, expected.high)
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ("mrr", "accuracy")}, "metric='accuracy': must be one of"),
        ({"metrics": ()}, "name at least one"),
        ({"level": 1.0}, "level=1.0: must be above 0 and below 1"),
        ({"level": 95}, "level=95"),
        ({"n_resamples": 100}, "n_resamples=100: must be at least 200 for level=0.95"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare(RUNS, **options)


def test_an_unknown_row_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"arm='x', metric='mrr': there are arms \['good', 'bad', 'same'\]"):
        COMPARISON.row("x")


def test_plain_data_holds_all_and_is_json() -> None:
    plain = to_json(COMPARISON)
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["rows"][0]["low"] == COMPARISON.rows[0].low
    assert plain["summaries"][0]["means"]["mrr"] == COMPARISON.summaries[0].means["mrr"]
    assert len(plain["rows"]) == len(COMPARISON.rows)
