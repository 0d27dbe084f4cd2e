"""nnmfaug reproduce: one command, files that a paper can use, and messages that say what to type."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nnmfaug as na
from nnmfaug.experiments import reproduce
from nnmfaug.experiments.reproduce import Cell, Part
from nnmfaug.reports import findings
from tests.cli.commands import run
from tests.evaluation.toy_runs import toy_runs
from tests.reports.test_reproduction import runs_of


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Part, str, int]]:
    """Cells that would be trained, instead of training them."""
    cells = []

    def run_cell(part: Part, cell: Cell, *, n_seeds: int, folder: Path, quick: bool) -> list[na.Run]:  # noqa: ARG001
        cells.append((part, cell.name, n_seeds))
        return toy_runs({"baseline": 0.0, "nnmf": 0.0}, n=201) if part == "table1" else runs_of(part, {}, {})

    monkeypatch.setattr(reproduce, "run_cell", run_cell)
    monkeypatch.setattr(findings, "read_splits", lambda _: na.read_splits("nations"))  # has 201 test triples
    return cells


def test_table_1_is_written_in_four_formats(tmp_path: Path, trained: list[tuple[Part, str, int]]) -> None:
    done = run("reproduce", "table1", "--datasets", "dl50a", "--models", "transe", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    names = [f"dl50a-transe-{setting}" for setting in ("paper", "paper-tuned", "strong")]
    assert [(part, name) for part, name, _ in trained] == [("table1", name) for name in names]
    assert "0.1597" in done.stdout
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        f"{stem}.{ending}"
        for stem in ("baselines", "controls", "degrees", "gains", "generated", "table1")
        for ending in ("csv", "json", "md", "tex")
    ]
    cells = json.loads((tmp_path / "out" / "table1.json").read_text())["cells"]
    assert list(cells) == names


def test_finished_cells_stay_in_the_table_of_a_narrowed_command(
    tmp_path: Path, trained: list[tuple[Part, str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    finished = {"dl50a-rotate-paper", "wn18rr-transe-strong"}
    monkeypatch.setattr(reproduce, "is_finished", lambda _, cell, **__: cell.name in finished)
    command = ("reproduce", "table1", "--datasets", "dl50a", "--models", "transe", "--settings", "strong")
    done = run(*command, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {name for _, name, _ in trained} == {"dl50a-transe-strong", *finished}
    cells = json.loads((tmp_path / "out" / "table1.json").read_text())["cells"]
    assert list(cells) == ["dl50a-transe-strong", "dl50a-rotate-paper", "wn18rr-transe-strong"]


def test_a_figure_is_written_with_its_numbers(tmp_path: Path, trained: list[tuple[Part, str, int]]) -> None:
    command = ("reproduce", "figure1b", "--datasets", "dl50a", "--settings", "strong", "--quick", "-o", "out")
    done = run(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [name for _, name, _ in trained] == ["dl50a-transe-strong"]
    endings = ("csv", "json", "md", "pdf", "png", "svg", "tex")
    folder = tmp_path / "out" / "quick"
    assert sorted(path.name for path in folder.iterdir()) == [f"figure1b.{ending}" for ending in endings]
    assert "inverted V" in done.stdout
    assert "quick" in (folder / "figure1b.svg").read_text()


def test_long_cells_have_three_seeds_unless_told_otherwise(
    tmp_path: Path, trained: list[tuple[Part, str, int]]
) -> None:
    run("reproduce", "table1", "--settings", "strong", "-o", "out", cwd=tmp_path)
    n_seeds = {name: n for _, name, n in trained}
    assert (n_seeds["dl50a-rotate-strong"], n_seeds["wn18rr-rotate-strong"]) == (5, 3)
    trained.clear()
    run("reproduce", "table1", "--settings", "strong", "--seeds", "4", "-o", "out", cwd=tmp_path)
    assert {n for _, _, n in trained} == {4}


def test_cells_whose_settings_nobody_searched_are_left_out(
    tmp_path: Path, trained: list[tuple[Part, str, int]]
) -> None:
    done = run("reproduce", "table1", "--datasets", "wn18rr", "--models", "transe", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0
    assert [name for _, name, _ in trained] == ["wn18rr-transe-paper", "wn18rr-transe-strong"]
    assert "left out: wn18rr-transe-paper-tuned: nobody has searched" in done.stderr


def test_all_leaves_out_figures_that_have_no_such_model(
    tmp_path: Path, trained: list[tuple[Part, str, int]]
) -> None:
    narrow = ("--datasets", "dl50a", "--models", "rotate", "--settings", "paper")
    done = run("reproduce", "all", *narrow, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [part for part, _, _ in trained] == ["table1", "figure1c"]


def test_other_finished_cells_keep_their_seeds(
    tmp_path: Path, trained: list[tuple[Part, str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    finished = {("dl50a-rotate-paper", 5)}
    monkeypatch.setattr(reproduce, "is_finished", lambda _, cell, n_seeds, **__: (cell.name, n_seeds) in finished)
    narrow = ("--datasets", "dl50a", "--models", "transe", "--settings", "strong", "--seeds", "3")
    run("reproduce", "table1", *narrow, "-o", "out", cwd=tmp_path)
    assert {(name, n) for _, name, n in trained} == {("dl50a-transe-strong", 3), *finished}


def test_a_cell_with_default_settings_of_nnmfaug_says_so(
    tmp_path: Path,
    trained: list[tuple[Part, str, int]],  # noqa: ARG001  # instead of training
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reproduce, "SAMPLING", {})
    done = run("reproduce", "figure1b", "--datasets", "dl50a", "--settings", "paper", "-o", "out", cwd=tmp_path)
    assert "dl50a-transe-paper (NNMFAug has its default settings" in done.stderr


def test_json_alone_is_printed_if_it_is_asked_for(tmp_path: Path, trained: list[tuple[Part, str, int]]) -> None:
    done = run("reproduce", "all", "--datasets", "dl50a", "-o", "out", "--json", cwd=tmp_path)
    assert list(json.loads(done.stdout)) == ["table1", "table2", "figure1a", "figure1b", "figure1c"]
    assert len(trained) == 6 + 3 + 3 + 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("table1", "--datasets", "dl50"), "--datasets: unknown name 'dl50'; did you mean 'dl50a'?"),
        (("figure1c", "--models", "transe"), "figure1c has no such model: leave out --models"),
        (("table1", "--seeds", "1"), "--seeds"),
        (
            ("table1", "--datasets", "wn18rr", "--settings", "paper-tuned"),
            "nobody has searched settings near the paper's baseline",
        ),
    ],
)
def test_what_does_not_exist_is_refused(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run("reproduce", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert not list(tmp_path.iterdir())
