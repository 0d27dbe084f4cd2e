"""The command that repeats the paper's experiments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

import nnmfaug as na
from nnmfaug.cli.console import Justify, notes_of_warnings, output, print_json, print_lines, progress, say, table
from nnmfaug.cli.engine_options import Workers
from nnmfaug.cli.reading import AsJson
from nnmfaug.core.checks import unknown_name
from nnmfaug.io.documents import parse, refusing

if TYPE_CHECKING:
    from nnmfaug.experiments.reproduce import Cell, DataSet, Model, Part, Setting
    from nnmfaug.reports.reproduction import Results
    from nnmfaug.reports.tables import Table

    Written = tuple[dict[str, Any], Table, list[str]]

Show = Callable[["Table", Sequence[str]], None]
"""Shows a table, and lines below it."""
Target = Literal["tune", "search", "table1", "table2", "figure1a", "figure1b", "figure1c", "all"]
DATASETS: tuple[DataSet, ...] = ("dl50a", "wn18rr")
MODELS: tuple[Model, ...] = ("transe", "rotate")
SETTINGS: tuple[Setting, ...] = ("paper", "paper-tuned", "strong")
TABLE_ENDINGS = (".md", ".tex", ".csv", ".json")
FIGURE_ENDINGS = (".svg", ".pdf", ".png")
UNSEARCHED = " (NNMFAug has its default settings: nobody has searched others here)"
INTERVALS = "means over seeds with 95 % intervals"
X_LABELS = {
    "figure1a": "generated triples, as a fraction of train",
    "figure1b": "exponent k of the routine (e/E)^k",
    "figure1c": "clustering of entities",
}
SCALES: Mapping[str, Literal["linear", "symlog", "category"]] = {
    "figure1a": "symlog",
    "figure1b": "linear",
    "figure1c": "category",
}


def reproduce(
    target: Annotated[
        Target,
        typer.Argument(
            help="A table or figure of the paper, or all; tune and search choose on valid what the paper leaves "
            "open: tune, settings of the models near the paper's baseline; search, settings of NNMFAug."
        ),
    ],
    workers: Workers,
    out: Annotated[
        Path,
        typer.Option("-o", "--out", metavar="FOLDER", help="Output folder. Run the same command again to resume."),
    ] = Path("reproduction"),
    datasets: Annotated[
        list[str] | None,
        typer.Option("--datasets", metavar="NAME", help="Only this data set: dl50a or wn18rr. Repeatable."),
    ] = None,
    models: Annotated[
        list[str] | None,
        typer.Option("--models", metavar="NAME", help="Only this model: transe or rotate. Repeatable."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--settings",
            metavar="NAME",
            help="Only this setting of the models: paper, the defaults of pykg2vec; paper-tuned, nearest to the "
            "paper's baseline on valid; or strong, that of compare. Repeatable.",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=2, metavar="N", help="Number of seeds. Default: 5; 3 where a run takes long."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A few epochs and two seeds, to see that it works. Output says so.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Repeat the paper's experiments, beside what the paper prints.

    Writes tables (Markdown, LaTeX, CSV, JSON), figures (SVG, PDF, PNG) and all runs to FOLDER. On one core, DL50a
    takes some hours, and WN18RR days.
    """
    chosen_datasets = _chosen("--datasets", datasets, DATASETS)
    chosen_models = _chosen("--models", models, MODELS)
    chosen_settings = _chosen("--settings", settings, SETTINGS)
    targets = get_args(Target)[2:-1] if target == "all" else (target,)
    # Every target has its cells before the first one is run: errors do not come after days.
    cells = {each: _cells(each, chosen_datasets, chosen_models, chosen_settings) for each in targets}
    if target != "all" and not cells[target] and target != "table2":
        msg = f"{target} has no such model: leave out --models"
        raise ValueError(msg)
    folder = out / "quick" if quick else out
    show = _silence if as_json else _print
    numbers = {}
    with workers.in_use():
        for each in targets:
            if each == "table2":
                numbers[each] = _table2(chosen_datasets, folder, show)
            elif each == "tune":
                numbers[each] = _tune(cells[each], folder, show, quick=quick)
            elif each == "search":
                numbers[each] = _search(cells[each], folder, show, quick=quick)
            elif cells[each]:
                numbers[each] = _run(each, cells[each], folder, seeds, show, quick=quick)
    if as_json:
        print_json(numbers)


def _chosen(option: str, names: list[str] | None, known: Sequence[Any]) -> list[Any]:
    """Return the known names that were typed, or all."""
    for name in names or ():
        if name not in known:
            raise ValueError(f"{option}: {unknown_name('name', name, known)}")
    return [name for name in known if not names or name in names]


def _cells(
    target: str, datasets: Sequence[DataSet], models: Sequence[Model], settings: Sequence[Setting]
) -> list[Cell]:
    """Return the cells of a target; a figure has none for some models."""
    from nnmfaug.experiments.reproduce import cells_of

    if target == "table2":
        return []
    if target == "tune":
        return cells_of("table1", datasets, models, ["paper-tuned"])
    part: Any = "table1" if target == "search" else target
    return _searched(cells_of(part, datasets, models, settings))


def _searched(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells whose settings are known, and say which are left out."""
    names = ", ".join(cell.name for cell in cells if not cell.is_searched)
    message = f"{names}: nobody has searched settings near the paper's baseline (presets.py has none)"
    searched = [cell for cell in cells if cell.is_searched]
    if cells and not searched:
        raise ValueError(message)
    if names:
        say(f"left out: {message}")
    return searched


def _run(
    part: Part, cells: Sequence[Cell], folder: Path, n_seeds: int | None, show: Show, *, quick: bool
) -> dict[str, Any]:
    """Run the cells of a table or figure; after each, write what there is, other finished cells included."""
    from nnmfaug.experiments.reproduce import SAMPLING, cells_of, default_seeds, is_finished, run_cell

    def seeds_of(cell: Cell) -> int:
        return n_seeds if n_seeds and cell in cells else default_seeds(part, cell)

    runs = folder / "runs"
    every_cell = cells_of(part, DATASETS, MODELS, SETTINGS)
    finished = [
        each for each in every_cell if is_finished(part, each, n_seeds=seeds_of(each), folder=runs, quick=quick)
    ]
    results: dict[Cell, list[na.Run]] = {}
    numbers: dict[str, Any] = {}
    write = _write_table1 if part == "table1" else partial(_write_figure, part)
    for cell in [*(each for each in finished if each not in cells), *cells]:
        say(f"{part}: {cell.name}{'' if cell in SAMPLING else UNSEARCHED}")
        with progress(), notes_of_warnings():
            results[cell] = run_cell(part, cell, n_seeds=seeds_of(cell), folder=runs, quick=quick)
        if cell not in cells:
            continue
        in_order = {each: results[each] for each in every_cell if each in results}
        numbers, result, lines = write(in_order, folder, quick=quick)
        show(result, lines)
    return numbers


def _tune(cells: Sequence[Cell], folder: Path, show: Show, *, quick: bool) -> dict[str, Any]:
    """Search the models' settings of each cell; after each, write what there is."""
    from nnmfaug.experiments.tuning import Tuning, tune_cell
    from nnmfaug.reports.reproduction import tuning_table
    from nnmfaug.reports.tables import write_table

    searches = {name: Tuning.from_json(data) for name, data in _existing(folder, "tune").items()}
    for cell in cells:
        say(f"tune: {cell.name}")
        with progress(), notes_of_warnings():
            searches[cell.name] = tune_cell(cell, folder=folder / "runs", quick=quick)
        result = tuning_table(searches, quick=quick)
        write_table(result, _plain(searches), folder, "tune")
        show(result, [_where(folder, "tune", TABLE_ENDINGS)])
    return _plain(searches)


def _search(cells: Sequence[Cell], folder: Path, show: Show, *, quick: bool) -> dict[str, Any]:
    """Search NNMFAug's settings in each cell; after each, write what there is."""
    from nnmfaug.experiments.search import Search, search_cell
    from nnmfaug.reports.reproduction import search_table
    from nnmfaug.reports.tables import write_table

    searches = {name: Search.from_json(data) for name, data in _existing(folder, "search").items()}
    for cell in cells:
        say(f"search: {cell.name}")
        with progress(), notes_of_warnings():
            searches[cell.name] = search_cell(cell, folder=folder / "runs", quick=quick)
        result = search_table(searches, quick=quick)
        write_table(result, _plain(searches), folder, "search")
        show(result, [_where(folder, "search", TABLE_ENDINGS)])
    return _plain(searches)


def _existing(folder: Path, stem: str) -> dict[str, Any]:
    """Return the searches that a folder already has, which remain in its table."""
    path = folder / f"{stem}.json"
    if not path.is_file():
        return {}
    with refusing(path, "delete it, and run the command again"):
        document: Any = parse(path.read_bytes())
    return dict(document)


def _plain(searches: Mapping[str, Any]) -> dict[str, Any]:
    return {name: search.to_json() for name, search in searches.items()}


def _write_table1(results: Results, folder: Path, *, quick: bool) -> Written:
    """Write Table 1, and the small tables of what it says."""
    from nnmfaug.reports.findings import findings
    from nnmfaug.reports.reproduction import make_table1, table1_data
    from nnmfaug.reports.tables import write_table

    data = table1_data(results, quick=quick)
    result = make_table1(results, quick=quick)
    write_table(result, data, folder, "table1")
    lines = [_where(folder, "table1", TABLE_ENDINGS)]
    for stem, (small_table, small_data) in findings(results, quick=quick).items():
        write_table(small_table, small_data, folder, stem)
        lines.append(_where(folder, stem, TABLE_ENDINGS))
    return data, result, lines


def _table2(datasets: Sequence[DataSet], folder: Path, show: Show) -> dict[str, Any]:
    from nnmfaug.reports.reproduction import make_table2, table2_data
    from nnmfaug.reports.tables import write_table

    splits = [na.read_splits(name) for name in datasets]
    data = table2_data(splits)
    result = make_table2(splits)
    write_table(result, data, folder, "table2")
    show(result, [_where(folder, "table2", TABLE_ENDINGS)])
    return data


def _write_figure(part: Part, results: Results, folder: Path, *, quick: bool) -> Written:
    from nnmfaug.reports.figures import draw_curves, write_figure
    from nnmfaug.reports.reproduction import METRICS, QUICK, figure_data, figure_table, make_curve, sentence_of
    from nnmfaug.reports.tables import write_table

    data = figure_data(part, results, quick=quick)
    curves = [make_curve(part, cell, runs) for cell, runs in results.items()]
    title = QUICK if quick else INTERVALS
    figure = draw_curves(curves, metrics=METRICS, x_label=X_LABELS[part], title=title, scale=SCALES[part])
    write_figure(figure, folder, part)
    result = figure_table(part, curves, quick=quick)
    write_table(result, data, folder, part)
    sentences = [sentence_of(part, cell, runs) for cell, runs in results.items() if part != "figure1c"]
    return data, result, [*sentences, _where(folder, part, (*FIGURE_ENDINGS, *TABLE_ENDINGS))]


def _where(folder: Path, stem: str, endings: Sequence[str]) -> str:
    return f"{folder / stem}{', '.join(endings)}: written"


def _silence(result: Table, lines: Sequence[str]) -> None:
    """Print nothing: JSON follows."""


def _print(result: Table, lines: Sequence[str]) -> None:
    """Print a table, its notes, and lines below it."""
    columns: list[tuple[str, Justify]] = [
        (name, "left" if place < result.n_label_columns else "right") for place, name in enumerate(result.header)
    ]
    output().print(table(result.title, columns, [list(row) for row in result.rows]))
    print_lines([*result.notes, *lines])
