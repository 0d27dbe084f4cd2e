"""A comparison finds what is there, and seldom what is not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from nnmfaug.core.arrays import Array
from nnmfaug.evaluation import bootstrap
from nnmfaug.evaluation.bootstrap import Resampled, column_weights, expansion, holm, resample, row_weights
from nnmfaug.evaluation.comparison import Comparison, compare, to_json
from nnmfaug.evaluation.metrics import METRICS, Ranks, contributions
from nnmfaug.evaluation.runs import Run
from nnmfaug.evaluation.sentences import sentence


def make_run(arm: str, seed: int, ranks: NDArray[Any], raw: NDArray[Any] | None = None) -> Run:
    return Run(arm, seed, Ranks(filtered=ranks, raw=ranks if raw is None else raw))


def made_up(
    effects: dict[str, float], seeds: Sequence[int] = range(5), n: int = 200, rng_seed: int = 0
) -> list[Run]:
    """Ranks of a world where an effect of 0.1 makes ranks 10 % larger, that is worse, at every seed and triple."""
    rng, runs = np.random.default_rng(rng_seed), []
    hard = rng.gamma(1.0, 20.0, size=(n, 2))
    for arm, effect in effects.items():
        for seed in seeds:
            noise = rng.normal(0, 0.05, size=(n, 2)) + rng.normal(0, 0.01)
            runs.append(make_run(arm, seed, 1 + hard * np.exp(effect + noise)))
    return runs


def normal_table(rng: np.random.Generator, n_seeds: int, n: int, effect: float = 0.0) -> Array:
    """Effect + seed + triple + both; with 5 seeds and 100 triples, seeds and triples make about as much noise."""
    parts = rng.normal(size=(n_seeds, 1)) * 0.3, rng.normal(size=(1, n)), rng.normal(size=(n_seeds, n)) * 0.5
    return np.asarray(effect + sum(parts))


# ── the bootstrap


def test_a_resample_is_the_mean_over_the_rows_and_columns_drawn() -> None:
    rng = np.random.default_rng(1)
    tables = [rng.normal(size=(3, 7)) + 5, rng.normal(size=(3, 7)) * 100, rng.normal(size=(4, 7))]
    found = resample(tables, 40, seed=9)
    columns = np.concatenate(list(column_weights(7, 40, seed=9))).astype(int)
    for table, each in zip(tables, found, strict=True):
        rows = np.rint(row_weights(len(table), 40, seed=9) * len(table)).astype(int)
        for b in range(40):
            drawn_rows = np.repeat(np.arange(len(table)), rows[b])
            drawn_columns = np.repeat(np.arange(7), columns[b])
            assert (len(drawn_rows), len(drawn_columns)) == table.shape
            slow = [table[s, i] for s in drawn_rows for i in drawn_columns]
            assert each.means()[b] == pytest.approx(np.mean(slow), rel=1e-6, abs=1e-5 * table.std())


def test_expanded_means_have_wider_rows_and_columns_and_nothing_else() -> None:
    table = np.random.default_rng(2).normal(size=(4, 6))
    (found,) = resample([table], 200, seed=0)
    rows = row_weights(4, 200, seed=0) @ (table.mean(axis=1) - table.mean())
    columns = np.concatenate(list(column_weights(6, 200, seed=0))) @ (table.mean(axis=0) - table.mean()) / 6
    extra = (expansion(4, 0.9) - 1) * rows + (expansion(6, 0.9) - 1) * columns
    assert found.means(0.9) - found.means() == pytest.approx(extra, abs=1e-6)


def test_blocks_do_not_change_what_is_drawn_much_of(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.concatenate(list(column_weights(50, 30, seed=3)))
    monkeypatch.setattr(bootstrap, "CELLS", 200)
    parts = list(column_weights(50, 30, seed=3))
    assert [len(part) for part in parts] == [4] * 7 + [2]
    assert np.array_equal(np.concatenate(parts), whole)
    assert (whole.sum(axis=1) == 50).all()


def test_the_expansion_is_that_of_the_t_distribution() -> None:
    for n in (2, 5, 30):
        for level in (0.5, 0.95, 0.999):
            ratio = stats.t.ppf((1 + level) / 2, n - 1) / stats.norm.ppf((1 + level) / 2)
            assert expansion(n, level) == pytest.approx(np.sqrt(n / (n - 1)) * ratio)
    assert expansion(1, 0.95) == 1


@pytest.mark.parametrize("n_seeds", [4, 5, 10])
def test_with_noise_between_seeds_alone_it_is_the_t_test(n_seeds: int) -> None:
    rng = np.random.default_rng(n_seeds)
    ratios, ps = [], []
    for _ in range(20):
        seeds = rng.normal(0.8, 1, size=n_seeds)
        (found,) = resample([np.repeat(seeds[:, None], 3, axis=1)], 4000, seed=0)
        expected = stats.ttest_1samp(seeds, 0)
        low, high = found.interval(0.95)
        bounds = expected.confidence_interval(0.95)
        ratios.append((high - low) / float(bounds.high - bounds.low))
        ps.append((found.p_value(), float(expected.pvalue)))
    assert np.mean(ratios) == pytest.approx(1, abs=0.06)
    assert float(np.mean(np.abs(np.log(np.divide(*np.array(ps).T))))) < 0.4


def test_a_p_value_is_below_5_percent_when_the_interval_leaves_out_0() -> None:
    rng = np.random.default_rng(5)
    agree = []
    for effect in np.linspace(0, 0.6, 40):
        (found,) = resample([normal_table(rng, 5, 60, effect)], 1000, seed=0)
        low, high = found.interval(0.95)
        agree.append((found.p_value() < 0.05) == (low > 0 or high < 0))
    assert sum(agree) >= 39, "they may differ by the correction of a p-value for the number of resamples"


def test_p_values_are_between_the_least_possible_and_1() -> None:
    nothing = np.zeros(999)
    assert Resampled((5, 9), 0.0, nothing, nothing, nothing).p_value() == pytest.approx(1)
    assert Resampled((5, 9), 1.0, nothing, nothing, nothing).p_value() == 2 / 1000
    spread = np.linspace(-1, 1, 999)
    assert Resampled((1, 9), 0.0, nothing, nothing, spread).p_value() == pytest.approx(1)
    assert Resampled((1, 9), 0.9, nothing, nothing, spread).p_value() == pytest.approx(0.1, abs=0.005)


def test_holm_by_hand() -> None:
    # sorted: .005·4 = .02, .01·3 = .03, .03·2 = .06, .04·1 = .04, which must not be below the one before
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1, 1]
    assert holm([0.02]) == [0.02]
    assert holm([0.02, 0.02]) == [0.04, 0.04]


# ── simulations


def mr_runs(table: Array) -> list[Run]:
    """Runs whose difference in mean rank is the table."""
    ranks = np.full((table.shape[1], 2), 1000.0)
    base = [make_run("baseline", seed, ranks) for seed in range(len(table))]
    return base + [make_run("arm", seed, ranks + row[:, None]) for seed, row in enumerate(table)]


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


@pytest.mark.parametrize("n_seeds", [3, 5])
def test_it_covers_when_seeds_are_all_the_noise(n_seeds: int) -> None:
    covered = 0
    for i in range(300):
        seeds = 2 + np.random.default_rng([8, i]).normal(size=(n_seeds, 1))
        (found,) = resample([np.repeat(seeds, 2, axis=1)], 600, seed=i)
        low, high = found.interval(0.95)
        covered += low <= 2 <= high
    assert covered >= 0.92 * 300


def test_with_several_arms_that_do_nothing_a_wrong_call_is_still_seldom() -> None:
    wrong = 0
    for i in range(150):
        rng = np.random.default_rng([9, i])
        arms = [replace(run, arm=f"arm {a}") for a in range(4) for run in mr_runs(normal_table(rng, 4, 50))[4:]]
        base = mr_runs(np.zeros((4, 50)))[:4]
        found = compare([*base, *arms], metrics=("mr",), n_resamples=400, seed=i)
        wrong += any(row.verdict != "no difference shown" for row in found.rows)
    assert wrong <= 0.07 * 150


# ── the comparison

RUNS = made_up({"baseline": 0.0, "good": -0.3, "bad": 0.3, "same": 0.0})
FOUND = compare(RUNS, n_resamples=2000)


@pytest.mark.parametrize("metric", ["mrr", "mr", "hits@10"])
def test_a_clear_effect_is_found_in_its_direction(metric: str) -> None:
    verdicts = [FOUND.row(arm, metric).verdict for arm in ("good", "bad", "same")]
    assert verdicts == ["better", "worse", "no difference shown"]
    sign = 1 if metric == "mr" else -1
    assert FOUND.row("bad", metric).difference * sign > 0 > FOUND.row("good", metric).difference * sign


def test_the_numbers_of_a_row_are_what_a_loop_says() -> None:
    by_arm = {arm: [run for run in RUNS if run.arm == arm] for arm in ("baseline", "good")}
    for metric in METRICS:
        row = FOUND.row("good", metric)
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
        (first, *_), deviation = FOUND.summaries, np.std(means["baseline"], ddof=1)
        assert first.means[metric] == pytest.approx(row.baseline_mean)
        assert first.deviations[metric] == pytest.approx(deviation)


def test_arms_come_in_the_order_given_and_rows_by_arm_then_metric() -> None:
    assert FOUND.arms == ("good", "bad", "same")
    assert FOUND.seeds == (0, 1, 2, 3, 4)
    assert [(row.arm, row.metric) for row in FOUND.rows] == [(a, m) for a in FOUND.arms for m in METRICS]
    assert [each.arm for each in FOUND.summaries] == ["baseline", *FOUND.arms]
    assert FOUND.notes == ()


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
    for row in FOUND.rows:
        again = shuffled.row(row.arm, row.metric)
        assert (again.low, again.high, again.p_value) == pytest.approx((row.low, row.high, row.p_value), rel=1e-4)


def test_it_is_the_same_every_time_and_another_with_another_seed() -> None:
    assert compare(RUNS, n_resamples=2000) == FOUND
    other = compare(RUNS, n_resamples=2000, seed=1)
    assert other != FOUND
    assert [row.verdict for row in other.rows] == [row.verdict for row in FOUND.rows]


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
    found = compare([run for run in RUNS if run.seed == 0], n_resamples=2000)
    row = found.row("good")
    assert 0 < row.low < row.high
    assert {each.verdict for each in found.rows} == {"no difference shown"}
    assert any("one seed cannot tell seed noise from an effect" in note for note in found.notes)
    assert "no difference shown (one seed cannot tell" in sentence(found, arm="good")
    assert found.summaries[0].deviations["mrr"] is None


def test_only_seeds_that_both_have_are_compared() -> None:
    missing = {("baseline", 0), ("good", 1), ("same", 2)}
    runs = [run for run in RUNS if (run.arm, run.seed) not in missing]
    found = compare(runs, n_resamples=2000)
    assert [found.row(arm).seeds for arm in found.arms] == [(2, 3, 4), (1, 2, 3, 4), (1, 3, 4)]
    assert found.seeds == (1, 2, 3, 4)
    assert "good: compared without seeds 0, 1, which it or baseline lacks" in found.notes
    whole = [run for run in RUNS if run.arm in ("baseline", "good") and run.seed in (2, 3, 4)]
    expected = compare(whole, n_resamples=2000).row("good")
    assert found.row("good").difference == pytest.approx(expected.difference)
    assert (found.row("good").low, found.row("good").high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ([], r"baseline='baseline': there is no run of it, only of \[\]"),
        ([run for run in RUNS if run.arm == "good"], r"only of \['good'\]; name one of these or run it"),
        (RUNS[:5], "only runs of the baseline 'baseline': run another arm"),
        ([*RUNS, RUNS[7]], "two runs of arm 'good' with seed 2: leave one of them out"),
        ([*RUNS, *made_up({"x": 0}, n=30)], "runs with 30 and 200 test triples"),
        ([*RUNS, *made_up({"x": 0}, seeds=[7])], "arm 'x' has no seed in common with 'baseline'"),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(runs: list[Run], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare(runs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ("mrr", "accuracy")}, "metric='accuracy': must be one of"),
        ({"metrics": ()}, "name at least one"),
        ({"level": 1.0}, "level=1.0: must be between 0 and 1"),
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
        FOUND.row("x")


def test_plain_data_holds_all_and_is_json() -> None:
    plain = to_json(FOUND)
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["rows"][0]["low"] == FOUND.rows[0].low
    assert plain["summaries"][0]["means"]["mrr"] == FOUND.summaries[0].means["mrr"]
    assert len(plain["rows"]) == len(FOUND.rows)


# ── in words


def worded(comparison: Comparison = FOUND, **values: float | str | None) -> str:
    row: dict[str, Any] = {
        "baseline_mean": 0.3531,
        "mean": 0.3269,
        "difference": -0.0262,
        "relative": -0.0742,
        "low": -0.0341,
        "high": -0.0179,
        "verdict": "worse",
    }
    changed = replace(comparison.rows[0], arm="nnmf", **(row | values))
    return sentence(replace(comparison, rows=(changed,), arms=("nnmf",)), changed.metric)


def test_the_sentence_says_what_a_person_wants_to_read() -> None:
    start = "nnmf: filtered MRR .353 → .327, −.026 or −7.4 % (95 % interval "
    assert worded() == start + "−.034 to −.018, 5 seeds): worse than baseline."
    assert worded(high=0.011, verdict="no difference shown").endswith("to +.011, 5 seeds): no difference shown.")
    late = worded(verdict="no difference shown")
    assert late.endswith("no difference shown (corrected for the number of arms).")


def test_small_and_large_numbers_are_readable() -> None:
    assert "(95 % interval −.0004 to +.0012, 5 seeds)" in worded(low=-0.0004, high=0.0012)
    assert "(95 % interval .0000 to .0000, 5 seeds)" in worded(low=-0.0, high=0.0)
    large = worded(
        metric="mr",
        baseline_mean=512.3,
        mean=498.04,
        difference=-14.26,
        relative=-0.0278,
        low=-20.14,
        high=-8,
        verdict="better",
    )
    start = "nnmf: filtered MR 512.3 → 498.0, −14.3 or −2.8 % (95 % interval −20.1 to −8.0, 5 seeds)"
    assert large == f"{start}: better than baseline."
    assert "Hits@10 1.000 → .327, −.026 or +0.4 % (" in worded(metric="hits@10", baseline_mean=1.0, relative=0.004)
    assert "MRR .000 → .327, −.026 (95" in worded(baseline_mean=0.0, relative=None)


def test_without_a_name_all_arms_have_a_line() -> None:
    lines = sentence(FOUND, "mr").splitlines()
    assert [line.split(":")[0] for line in lines] == ["good", "bad", "same"]
    assert lines[0] == sentence(FOUND, "mr", arm="good")
