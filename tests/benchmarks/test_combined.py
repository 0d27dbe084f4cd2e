"""Tables of combined prediction, on runs with ranks whose means are known."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import combined
import nnmfaug as na
from combined import Folder, arm_header, arm_row, group_rows, groups, short
from nnmfaug.evaluation.breakdown import breakdown
from nnmfaug.evaluation.runs import save_run
from nnmfaug.evaluation.strata import derivable_strata

RANKS = {"baseline": 4.0, "auto": 2.0, "rules-alone": 5.0, "combined": 1.0, "auto+combined": 1.0}


@pytest.fixture(scope="module")
def nations() -> na.Splits:
    return na.read_splits("nations")


def save(folder: Path, splits: na.Splits, ranks: Mapping[str, float], seeds: int = 3) -> Path:
    """Write runs of arms whose test triples all have one rank."""
    data = {"name": splits.name, **{name: part.digest() for name, part in splits.items()}}
    for arm, rank in ranks.items():
        places = np.full((len(splits.test), 2), rank)
        for seed in range(seeds):
            save_run(na.Run(arm, seed, na.Ranks(filtered=places, raw=places), {"data": data}), folder)
    return folder


def cells(folder: Path) -> dict[str, str]:
    return dict(zip(arm_header(), arm_row(Folder.read(folder)), strict=True))


def test_a_row_has_the_means_of_each_arm_and_their_differences(tmp_path: Path, nations: na.Splits) -> None:
    row = cells(save(tmp_path / "toy", nations, RANKS))
    assert (row[""], row["seeds"]) == ("toy", "3")
    assert [row[arm] for arm in RANKS] == [".250", ".500", ".200", "1.000", "1.000"]
    assert row["combined − baseline"] == "+.750 (+.750 to +.750)"
    assert row["combined − auto"] == "+.500 (+.500 to +.500)"
    assert [row[f"Hits@{k} {arm}"] for k in (1, 10) for arm in ("baseline", "combined")] == [
        ".000",
        "1.000",
        "1.000",
        "1.000",
    ]


def test_intervals_are_those_of_a_comparison_with_all_arms(tmp_path: Path, nations: na.Splits) -> None:
    rng = np.random.default_rng(0)
    for seed in range(3):
        for arm in ("baseline", "auto", "combined"):
            places = rng.integers(1, 9, size=(len(nations.test), 2)).astype(np.float64)
            save_run(na.Run(arm, seed, na.Ranks(filtered=places, raw=places)), tmp_path)
    expected = na.compare(na.load_runs(tmp_path), "auto").row("combined")
    cell = cells(tmp_path)["combined − auto"]
    difference, low, _, high = cell.replace("(", "").replace(")", "").split()
    assert float(difference) == pytest.approx(expected.difference, abs=6e-4)
    assert [float(low), float(high)] == pytest.approx([expected.low, expected.high], abs=0.004)


def test_arms_without_runs_are_dashes_and_seeds_that_an_arm_lacks_are_left_out(
    tmp_path: Path, nations: na.Splits
) -> None:
    save(tmp_path, nations, {"baseline": 4.0, "typed": 9.0})
    row = cells(tmp_path)
    assert (row["seeds"], row["baseline"], row["combined"], row["combined − baseline"]) == ("3", ".250", "–", "–")
    save(tmp_path, nations, {"combined": 2.0}, seeds=2)
    row = cells(tmp_path)
    assert (row["seeds"], row["combined − auto"]) == ("2", "–")


def test_a_folder_without_a_common_seed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(na.DataError, match="no seed that all of its arms have"):
        Folder.read(tmp_path)


def test_groups_have_the_means_of_a_breakdown(tmp_path: Path, nations: na.Splits) -> None:
    rng = np.random.default_rng(0)
    data = {"name": "nations", **{name: part.digest() for name, part in nations.items()}}
    for arm in ("baseline", "combined"):
        places = rng.integers(1, 9, size=(len(nations.test), 2)).astype(np.float64)
        save_run(na.Run(arm, 0, na.Ranks(filtered=places, raw=places), {"data": data}), tmp_path)
    runs = na.load_runs(tmp_path)
    derivable = derivable_strata(na.find_derivable(nations.train, nations.test))
    expected = [*breakdown(runs, nations, by="seen"), *breakdown(runs, nations, by=derivable)]
    rows = list(group_rows(Folder.read(tmp_path)))
    assert len(rows) > 2
    for row, group in zip(rows, expected, strict=True):
        (difference,) = group.differences
        assert row[1:3] == (group.name, str(group.n_triples))
        assert (row[3], row[6]) == (short(difference.baseline_mean), short(difference.mean))


def test_other_triples_under_the_same_name_are_refused(nations: na.Splits) -> None:
    with pytest.raises(na.DataError, match="not the triples that the runs were made with"):
        groups("nations", nations.train.digest(), nations.valid.digest())


def test_the_program_prints_two_tables_of_markdown(
    tmp_path: Path, nations: na.Splits, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [str(save(tmp_path / name, nations, RANKS, seeds=2)) for name in ("one", "other")]
    monkeypatch.setattr(sys, "argv", ["combined.py", *folders])
    combined.main()
    first, second = capsys.readouterr().out.split("\n\n")
    assert [line.split(" | ")[0] for line in first.splitlines()[2:]] == ["| one", "| other"]
    assert {line.count("|") for line in first.splitlines()} == {len(arm_header()) + 1}
    assert {line.count("|") for line in second.splitlines()} == {len(RANKS) + 4}
    monkeypatch.setattr(sys, "argv", ["combined.py", "--no-groups", *folders])
    combined.main()
    assert capsys.readouterr().out == first + "\n"
