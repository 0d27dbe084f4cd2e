"""The paper's experiments: results are those of the runs beside them, and a repeated command trains nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import nnmfaug as na
from nnmfaug.evaluation.runs import by_arm
from nnmfaug.experiments.reproduce import Cell, Part, arms_of, cells_of, default_seeds, run_cell
from nnmfaug.linkpred import LinkPredictor
from nnmfaug.reports.findings import findings
from nnmfaug.reports.reproduction import figure_data, table1_data, table2_data
from nnmfaug.reports.tables import as_markdown

RESULTS = Path(__file__).parents[1] / "docs" / "results"
PARTS: tuple[Part, ...] = ("table1", "figure1a", "figure1b", "figure1c")
CELLS = cells_of("table1", ["dl50a", "wn18rr"], ["transe", "rotate"], ["paper", "paper-tuned", "strong"])


def numbers(part: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((RESULTS / f"{part}.json").read_text())
    return document


def assert_close(document: Any, expected: Any) -> None:
    """Compare documents; numbers may differ in the last digits, where they depend on the processor."""
    if isinstance(expected, dict):
        assert list(document) == list(expected)
        for name, value in expected.items():
            assert_close(document[name], value)
    elif isinstance(expected, list):
        assert len(document) == len(expected)
        for one, other in zip(document, expected, strict=True):
            assert_close(one, other)
    elif isinstance(expected, float):
        assert document == pytest.approx(expected, rel=1e-9, abs=1e-12)
    else:
        assert document == expected


def finished_cells(part: Part) -> list[Cell]:
    names = numbers(part)["cells"]
    return [cell for cell in CELLS if cell.name in names]


@pytest.fixture
def no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        pytest.fail("a model is trained, although its run is there")

    monkeypatch.setattr(LinkPredictor, "train", refuse)


@pytest.mark.slow
@pytest.mark.usefixtures("no_training")
@pytest.mark.parametrize("part", PARTS)
def test_the_numbers_are_those_of_the_runs(part: Part, tmp_path: Path) -> None:
    shutil.copytree(RESULTS / "runs", tmp_path / "runs")  # a folder in use is locked
    results = {}
    for cell in finished_cells(part):
        n_seeds = default_seeds(part, cell)
        results[cell] = run_cell(part, cell, n_seeds=n_seeds, folder=tmp_path / "runs")
        arms = by_arm(results[cell])
        assert set(arms) == set(arms_of(part, cell, na.read_splits(cell.dataset).train))
        assert {len(runs) for runs in arms.values()} == {n_seeds}
    again = table1_data(results) if part == "table1" else figure_data(part, results)
    assert_close(json.loads(json.dumps(again)), numbers(part))
    if part == "table1":
        for stem, (table, data) in findings(results).items():
            assert_close(json.loads(json.dumps(data)), numbers(stem))
            assert as_markdown(table) == (RESULTS / f"{stem}.md").read_text()


def test_no_result_is_a_quick_one() -> None:
    assert not any(numbers(part)["quick"] for part in PARTS)


def test_table_2_is_that_of_the_data_sets() -> None:
    splits = [na.read_splits(name) for name in ("dl50a", "wn18rr")]
    assert table2_data(splits) == numbers("table2")


def test_the_page_has_the_rows_and_sentences_of_the_results() -> None:
    page = (RESULTS.parent / "reproduction.md").read_text()
    for part in ("table1", "table2"):
        rows = [line for line in (RESULTS / f"{part}.md").read_text().splitlines() if line.startswith("|")]
        assert len(rows) > 4
        assert not [row for row in rows if row not in page]
    for part in ("figure1a", "figure1b"):
        assert all(cell["sentence"] in page for cell in numbers(part)["cells"].values())
