"""The bootstrap is what a loop gives, agrees with the t-test, and its intervals cover."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nnmfaug.evaluation import bootstrap
from nnmfaug.evaluation.bootstrap import Resampled, column_weights, expansion, holm, resample, row_weights
from tests.evaluation.toy_runs import normal_table


def test_a_resample_is_the_mean_over_the_rows_and_columns_drawn() -> None:
    rng = np.random.default_rng(1)
    tables = [rng.normal(size=(3, 7)) + 5, rng.normal(size=(3, 7)) * 100, rng.normal(size=(4, 7))]
    resampled = resample(tables, 40, seed=9)
    columns = np.concatenate(list(column_weights(7, 40, seed=9))).astype(int)
    for table, each in zip(tables, resampled, strict=True):
        rows = np.rint(row_weights(len(table), 40, seed=9) * len(table)).astype(int)
        for b in range(40):
            drawn_rows = np.repeat(np.arange(len(table)), rows[b])
            drawn_columns = np.repeat(np.arange(7), columns[b])
            assert (len(drawn_rows), len(drawn_columns)) == table.shape
            slow = [table[s, i] for s in drawn_rows for i in drawn_columns]
            assert each.means()[b] == pytest.approx(np.mean(slow), rel=1e-6, abs=1e-5 * table.std())


def test_the_bits_of_a_table_do_not_depend_on_the_others() -> None:
    rng = np.random.default_rng(3)
    small, large = rng.normal(size=(3, 50)), 1e9 * rng.normal(size=(3, 50))
    (alone,) = resample([small], 100, seed=0)
    together, _ = resample([small, large], 100, seed=0)
    assert np.array_equal(alone.means(0.95), together.means(0.95))


def test_expanded_means_have_wider_rows_and_columns_and_nothing_else() -> None:
    table = np.random.default_rng(2).normal(size=(4, 6))
    (resampled,) = resample([table], 200, seed=0)
    rows = row_weights(4, 200, seed=0) @ (table.mean(axis=1) - table.mean())
    columns = np.concatenate(list(column_weights(6, 200, seed=0))) @ (table.mean(axis=0) - table.mean()) / 6
    extra = (expansion(4, 0.9) - 1) * rows + (expansion(6, 0.9) - 1) * columns
    assert resampled.means(0.9) - resampled.means() == pytest.approx(extra, abs=1e-6)


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
        (resampled,) = resample([np.repeat(seeds[:, None], 3, axis=1)], 4000, seed=0)
        expected = stats.ttest_1samp(seeds, 0)
        low, high = resampled.interval(0.95)
        bounds = expected.confidence_interval(0.95)
        ratios.append((high - low) / float(bounds.high - bounds.low))
        ps.append((resampled.p_value(), float(expected.pvalue)))
    assert np.mean(ratios) == pytest.approx(1, abs=0.06)
    assert float(np.mean(np.abs(np.log(np.divide(*np.array(ps).T))))) < 0.4


def test_a_p_value_is_below_5_percent_when_the_interval_leaves_out_0() -> None:
    rng = np.random.default_rng(5)
    agree = []
    for effect in np.linspace(0, 0.6, 40):
        (resampled,) = resample([normal_table(rng, 5, 60, effect)], 1000, seed=0)
        low, high = resampled.interval(0.95)
        agree.append((resampled.p_value() < 0.05) == (low > 0 or high < 0))
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


@pytest.mark.parametrize("n_seeds", [3, 5])
def test_it_covers_when_seeds_are_all_the_noise(n_seeds: int) -> None:
    covered = 0
    for i in range(300):
        seeds = 2 + np.random.default_rng([8, i]).normal(size=(n_seeds, 1))
        (resampled,) = resample([np.repeat(seeds, 2, axis=1)], 600, seed=i)
        low, high = resampled.interval(0.95)
        covered += low <= 2 <= high
    assert covered >= 0.92 * 300
