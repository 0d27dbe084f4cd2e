"""Tables and figures of the paper, from runs whose effects are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.experiments.reproduce import Cell, Part, variants
from nnmfaug.reports.reproduction import (
    METRICS,
    estimate_mean,
    figure_data,
    figure_table,
    find_peak,
    make_curve,
    make_table1,
    make_table2,
    sentence_of,
    table1_data,
)
from tests.evaluation.toy_runs import toy_runs

CELL = Cell("dl50a", "transe", "strong")


def with_valid(runs: Sequence[na.Run], on_valid: Mapping[str, float]) -> list[na.Run]:
    return [replace(run, curve=({"epoch": 9, "mrr": on_valid[run.arm]},)) for run in runs]


def runs_of(part: Part, effects: Mapping[str, float], on_valid: Mapping[str, float]) -> list[na.Run]:
    """Runs of a figure; arms that are not named have the effect, or the MRR on valid, of the others, 0."""
    arms = ["baseline", *(variant.arm for variant in variants(part))]
    runs = toy_runs({arm: effects.get(arm, 0.0) for arm in arms})
    return with_valid(runs, {arm: on_valid.get(arm, 0.0) for arm in arms})


def test_table_1_has_the_paper_s_rows_before_ours() -> None:
    table = make_table1({CELL: toy_runs({"baseline": 0.0, "nnmf": 0.3})})
    settings_and_arms = [row[2:4] for row in table.rows]
    assert settings_and_arms == [
        ("printed", "baseline"),
        ("printed", "nnmf"),
        ("strong", "baseline"),
        ("strong", "nnmf"),
    ]
    assert table.rows[0][4:] == ("8.13", "19.27", "25.03", "33.21", "0.1597", "506", "")
    assert table.rows[1][-1] == "+0.0200"
    assert table.rows[3][-1].endswith(", worse")
    assert not table.rows[2][-1]


def test_the_numbers_of_table_1_are_those_of_a_comparison() -> None:
    runs = toy_runs({"baseline": 0.0, "nnmf": 0.3})
    data = table1_data({CELL: runs})["cells"][CELL.name]
    difference = na.compare(runs, metrics=METRICS).row("nnmf").difference
    row = next(row for row in data["filtered"]["rows"] if row["metric"] == "mrr")
    assert row["difference"] == difference
    assert data["raw"]["kind"] == "raw"


def test_quick_results_say_so() -> None:
    results = {CELL: toy_runs({"baseline": 0.0, "nnmf": 0.3})}
    assert any("quick" in note for note in make_table1(results, quick=True).notes)
    assert not any("quick" in note for note in make_table1(results).notes)
    assert table1_data(results, quick=True)["quick"] is True


def test_table_2_has_both_sizes() -> None:
    splits = na.read_splits("dl50a")
    table = make_table2([splits])
    assert table.rows[0][2:4] == ("2,705", "20")
    assert table.rows[1][2:4] == ("1,971", "22")


def test_the_peak_is_chosen_on_valid_and_compared_on_test() -> None:
    effects = {"nnmf 5%": -0.4, "nnmf 20%": -0.6}
    peak = find_peak("figure1a", runs_of("figure1a", effects, {"nnmf 5%": 1.0}))
    assert peak.arm == "nnmf 5%"  # not the best on test
    assert peak.is_inverted_v
    assert peak.left is not None
    assert peak.left.verdict == "better"


def test_a_peak_at_an_end_is_no_inverted_v() -> None:
    runs = runs_of("figure1a", {"nnmf 100%": -0.6}, {"nnmf 100%": 1.0})
    peak = find_peak("figure1a", runs)
    assert (peak.arm, peak.right, peak.is_inverted_v) == ("nnmf 100%", None, False)
    sentence = sentence_of("figure1a", CELL, runs)
    assert "no inverted V shown. The best point on valid is 100%: " in sentence
    assert sentence.endswith("on test against the first point, the last point itself.")


def test_a_peak_that_test_does_not_confirm_is_no_inverted_v() -> None:
    assert not find_peak("figure1b", runs_of("figure1b", {}, {"nnmf k=3": 1.0})).is_inverted_v


def test_the_points_of_a_curve_are_means_over_seeds() -> None:
    runs = runs_of("figure1b", {}, {})
    curve = make_curve("figure1b", CELL, runs)
    of_arm = [run for run in runs if run.arm == "nnmf k=2"]
    mean = np.mean([(1 / run.ranks.filtered).mean() for run in of_arm])
    point = next(point for point in curve.points if point.label == "2")
    assert point.estimates["mrr"].value == pytest.approx(mean)
    assert curve.points[0].label == "all at once"


def test_the_first_point_of_figure_1a_is_the_baseline() -> None:
    curve = make_curve("figure1a", CELL, runs_of("figure1a", {}, {}))
    assert curve.baseline is not None
    assert (curve.points[0].label, curve.points[0].estimates) == ("0%", curve.baseline.estimates)
    labels = [row[1] for row in figure_table("figure1a", [curve]).rows]
    assert labels == ["baseline", "1%", "2%", "5%", "10%", "20%", "50%", "100%"]


def test_one_seed_has_no_interval() -> None:
    only = estimate_mean([0.3])
    assert (only.low, only.value, only.high) == (0.3, 0.3, 0.3)
    several = estimate_mean([0.2, 0.3, 0.4])
    assert several.low < 0.2
    assert several.high > 0.4


def test_clusterers_have_no_peak() -> None:
    data = figure_data("figure1c", {CELL: runs_of("figure1c", {}, {})})
    assert data["cells"][CELL.name]["peak"] is None
