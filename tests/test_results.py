"""The paper's experiments: results are those of the runs beside them, and a repeated command trains nothing."""

from __future__ import annotations

import json
import re
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

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
COMBINED = ROOT / "benchmarks" / "results" / "combined"
PAGE = ROOT / "docs" / "reproduction.md"
README = ROOT / "README.md"
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


def rows_of(stem: str) -> list[str]:
    return [line for line in (RESULTS / f"{stem}.md").read_text().splitlines() if line.startswith("|")]


@pytest.mark.parametrize(
    ("page", "stems"), [(PAGE, ("gains", "baselines", "controls", "table2")), (README, ("gains",))]
)
def test_a_page_has_the_rows_of_the_results(page: Path, stems: tuple[str, ...]) -> None:
    text = page.read_text()
    for stem in stems:
        assert len(rows_of(stem)) > 2
        assert not [row for row in rows_of(stem) if row not in text]


def test_the_page_has_the_sentences_of_the_figures() -> None:
    text = PAGE.read_text()
    for part in ("figure1a", "figure1b"):
        assert all(cell["sentence"] in text for cell in numbers(part)["cells"].values())


def numbers_in(text: str) -> set[str]:
    """Numbers with a point or a comma, and percentages; a minus sign is a hyphen."""
    return set(re.findall(r"(?<![\w.,-])[+-]?\d*[.,]\d+%?|\d+%", text.replace("\N{MINUS SIGN}", "-")))


def test_every_number_of_the_page_stands_in_a_result() -> None:
    results = " ".join(path.read_text() for path in RESULTS.glob("*.md"))
    results += " ".join(
        cell["sentence"] for part in ("figure1a", "figure1b") for cell in numbers(part)["cells"].values()
    )
    shown = numbers_in(PAGE.read_text())
    assert len(shown) > 50
    assert shown <= numbers_in(results)


def test_the_table_of_the_readme_has_the_numbers_of_the_comparisons() -> None:
    rows = [line.strip("| ").split(" | ") for line in README.read_text().splitlines() if " seeds | " in line]
    assert len(rows) == 10
    for name, *cells in rows:
        dataset, model, seeds = re.fullmatch(r"(.*), (.*), (\d) seeds", name).groups()  # type: ignore[union-attr]
        document = json.loads((COMBINED / f"{dataset}-{model}.json".lower()).read_text())["filtered"]
        assert len(document["seeds"]) == int(seeds)
        assert cells == [cell_of(document, arm) for arm in ("baseline", "auto", "rules-alone", "combined")]


def cell_of(document: dict[str, Any], arm: str) -> str:
    """Mean MRR of an arm, bold if it is better than the baseline."""
    mrr = next(each["means"]["mrr"] for each in document["summaries"] if each["arm"] == arm)
    verdicts = [row["verdict"] for row in document["rows"] if (row["arm"], row["metric"]) == (arm, "mrr")]
    text = f"{mrr:.3f}".removeprefix("0")
    return f"**{text}**" if verdicts == ["better"] else text
