"""What Table 1 says, from runs whose effects are known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

import nnmfaug as na
from nnmfaug.evaluation.metrics import summary
from nnmfaug.experiments.paper import TABLE1
from nnmfaug.experiments.reproduce import Cell
from nnmfaug.experiments.tuning import distance
from nnmfaug.reports import findings as module
from nnmfaug.reports.findings import Finding, findings
from nnmfaug.reports.reproduction import table1_data
from tests.evaluation.toy_runs import toy_runs

PAPER, STRONG = (Cell("dl50a", "transe", setting) for setting in ("paper", "strong"))
ROTATE = Cell("dl50a", "rotate", "strong")


@pytest.fixture(autouse=True)
def nations(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy runs are those of its 201 test triples."""
    monkeypatch.setattr(module, "read_splits", lambda _: na.read_splits("nations"))


def runs_of(nnmf: float, **others: float) -> list[na.Run]:
    return toy_runs({"baseline": 0.0, "nnmf": nnmf, **others}, n=201)


def cells_of(finding: Finding) -> list[dict[str, str]]:
    table, _ = finding
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


def test_gains_have_a_row_for_each_model_and_a_column_for_each_setting() -> None:
    results = {PAPER: runs_of(0.5), STRONG: runs_of(-0.5), ROTATE: runs_of(0.0)}
    transe, rotate = cells_of(findings(results)["gains"])
    assert (transe[""], transe["printed"], rotate["printed"]) == ("DL50a, TransE", "+0.0200", "+0.0055")
    assert transe["paper"].startswith("-")
    assert transe["paper"].endswith(", worse")
    assert transe["strong"].endswith(", better")
    assert transe["paper-tuned"] == rotate["paper"] == ""
    assert rotate["strong"].endswith(")")


def test_the_verdict_of_a_gain_is_that_of_table_1() -> None:
    runs = runs_of(0.02, **{f"other {i}": 0.0 for i in range(9)})
    _, data = findings({PAPER: runs})["gains"]
    rows = table1_data({PAPER: runs})["cells"][PAPER.name]["filtered"]["rows"]
    row = next(row for row in rows if (row["arm"], row["metric"]) == ("nnmf", "mrr"))
    assert json.loads(json.dumps(data["dl50a-transe"]["paper"])) == row
    assert row["p_holm"] > row["p_value"]


def test_a_distance_is_that_of_the_means_over_seeds() -> None:
    runs = runs_of(0.0)
    _, data = findings({PAPER: runs})["baselines"]
    row = data[PAPER.name]
    assert row["filtered"] == pytest.approx(distance(row, TABLE1["dl50a", "transe", "baseline"]))
    per_seed = [summary(run.ranks.filtered)["mrr"] for run in runs if run.arm == "baseline"]
    assert row["mrr"] == pytest.approx(sum(per_seed) / 5)
    assert 0 < row["deviation"] < max(per_seed) - min(per_seed)
    assert row["epochs"] == [0] * 5, "toy runs have no losses"


def test_controls_are_compared_with_nnmfaug_itself() -> None:
    (row,) = cells_of(findings({PAPER: runs_of(0.0, random=0.5, duplicate=-0.5)})["controls"])
    assert row["random"].startswith("+")
    assert row["duplicate"].startswith("-")
    assert row["typed"] == "", "the cell has no such arm"


def with_confirmed(runs: Sequence[na.Run], n: int, fractions: Sequence[float]) -> list[na.Run]:
    """Runs of n generated triples, of which a fraction was confirmed; they ended after half of the epochs."""
    plan = {"arm": {"schedule": {"name": "Polynomial", "exponent": 2.0}}, "predictor": {"epochs": 4}}
    described = [{**plan, "generated": {"n": n, "confirmed": fraction}} for fraction in fractions]
    return [
        replace(run, settings=described[run.seed] if run.arm != "baseline" else {}, losses=(1.0, 1.0))
        for run in runs
    ]


def test_confirmed_triples_of_all_seeds_are_counted_and_those_of_auto_once() -> None:
    runs = with_confirmed(runs_of(0.0, auto=0.0), 50, [0.0, 0.02, 0.04, 0.0, 0.0])
    nnmf, auto = cells_of(findings({PAPER: runs})["generated"])
    assert (nnmf["arm"], nnmf["triples"], nnmf["confirmed"], nnmf["fraction"]) == ("nnmf", "250", "3", "1.20%")
    assert (auto["triples"], auto["confirmed"]) == ("50", "0")
    assert (nnmf["used"], auto["used"]) == ("60", "12"), "a quarter, rounded down for each seed"


def test_bands_of_degrees_have_all_test_triples() -> None:
    rows = cells_of(findings({PAPER: runs_of(0.5)})["degrees"])
    assert sum(int(row["test triples"]) for row in rows) == 201
    assert all(row["difference in MRR"].startswith("-") for row in rows)


def test_quick_findings_say_so() -> None:
    for table, _ in findings({PAPER: runs_of(0.0)}, quick=True).values():
        assert any("quick" in note for note in table.notes)
