"""Commands that inspect and prepare a graph: stats, split, convert, datasets."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

import nnmfaug as na
from nnmfaug.cli.console import Justify, count, fail, notes_of_warnings, output, print_json, progress, say, table
from nnmfaug.cli.reading import AsJson, Graph, Overwrite, Reading, count_dropped, parse_amount, protect
from nnmfaug.cli.stats_tables import show_stats
from nnmfaug.core.commands import command
from nnmfaug.io import datasets as data_sets
from nnmfaug.io.detect import plain_suffix
from nnmfaug.io.folder import check_set
from nnmfaug.io.layout_names import check_names
from nnmfaug.io.layouts import split_command
from nnmfaug.io.preflight import check_files, check_folder
from nnmfaug.io.write import WRITERS, Layout, layout_files

datasets_app = typer.Typer(help="List the known data sets; fetch one.", rich_markup_mode=None)


def stats(
    graph: Graph,
    reading: Reading,
    relations: Annotated[int, typer.Option(min=0, metavar="N", help="Number of relations to show.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show sizes, leaks between splits, and a table of relations."""
    source = reading.read(graph)
    with progress():
        description = na.describe(source, name=None if isinstance(source, na.Splits) else Path(graph).name)
    if as_json:
        print_json(asdict(description))
    else:
        show_stats(description, output(), relations)


def split(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of triples.")],
    reading: Reading,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FOLDER", help="Output folder.")],
    valid: Annotated[str, typer.Option(metavar="SIZE", help="Fraction (5%) or number (500) of triples.")] = "5%",
    test: Annotated[str, typer.Option(metavar="SIZE", help="Fraction (10%) or number (1000) of triples.")] = "10%",
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Random seed. The same seed gives the same split.")
    ] = 0,
    layout: Annotated[Layout, typer.Option(help="Library whose file layout is written.")] = "pykeen",
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Split a file into train, valid and test. Every entity and relation occurs in train.

    Writes them to FOLDER, with a manifest.json that has their checksums.
    """
    _check_folder(out, layout, overwrite=overwrite)
    source = reading.read(file)
    if isinstance(source, na.Splits):
        advice = command("nnmfaug", "convert", file, "all.tsv", "--split", "all")
        raise na.DataError(f"already split. To split it anew, first run: {advice}", path=file)
    n_valid = parse_amount(valid, len(source), "--valid")
    n_test = parse_amount(test, len(source), "--test")
    settings = {"seed": seed, "source_sha256": source.digest(), "source_triples": len(source)}
    with notes_of_warnings():
        check_names(source.vocabulary, layout, out)
        splits = na.split(source, valid=n_valid, test=n_test, seed=seed, name=out.name)
        protect(source, *(out.iterdir() if out.is_dir() else ()))
        na.write_splits(splits, out, layout, overwrite=overwrite, settings=settings)
    sizes = {name: len(graph) for name, graph in splits.items()}
    if as_json:
        print_json({"folder": str(out), "layout": layout, "seed": seed, **sizes, **count_dropped(source)})
    else:
        say(f"{out}: " + ", ".join(f"{name} {size:,}" for name, size in sizes.items()) + _repeats(source))


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="Name of a data set, file, folder or archive.")],
    target: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="File (.tsv .txt .csv .nt .parquet, also .gz .bz2 .zst), or folder."),
    ],
    reading: Reading,
    split_: Annotated[
        Literal["train", "valid", "test", "all"] | None,
        typer.Option("--split", help="The split to write into a single file."),
    ] = None,
    layout: Annotated[
        Layout | None, typer.Option(help="Library whose file layout a folder gets. Default: pykeen.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Convert triples to another format, or splits to a layout."""
    if _names_file(target):
        check_files([target], overwrite=overwrite)
    else:
        _check_folder(target, layout or "pykeen", overwrite=overwrite)
    graphs = reading.read(source)
    part = _part(graphs, split_, source)
    _check_target(graphs, part, source, target, layout)
    protect(graphs, *(target.iterdir() if target.is_dir() else (target,)))
    if isinstance(part, na.Splits):
        with notes_of_warnings():
            na.write_splits(part, target, layout or "pykeen", overwrite=overwrite)
        n_triples = sum(len(graph) for _, graph in part.items())
    else:
        na.write_triples(part, target, prefix=reading.options.prefix, overwrite=overwrite)
        n_triples = len(part)
    if as_json:
        print_json({"out": str(target), "triples": n_triples, **count_dropped(graphs)})
    else:
        say(f"{target}: {count(n_triples, 'triple')}{_repeats(graphs)}")


def _check_folder(folder: Path, layout: Layout, *, overwrite: bool) -> None:
    """Raise before anything is read if the files of a layout could not be written."""
    check_folder(folder)
    check_set(folder, layout_files(layout), overwrite=overwrite)


def _names_file(target: Path) -> bool:
    return plain_suffix(target) in (*WRITERS, ".parquet")


def _part(graphs: na.Splits | na.KnowledgeGraph, name: str | None, source: str) -> na.Splits | na.KnowledgeGraph:
    """Return the named split, or everything that was read."""
    if name is None:
        return graphs
    if not isinstance(graphs, na.Splits):
        raise na.DataError("--split is for sources with train, valid and test; this is one graph", path=source)
    return graphs.together() if name == "all" else dict(graphs.items())[name]


def _check_target(
    graphs: na.Splits | na.KnowledgeGraph,
    part: na.Splits | na.KnowledgeGraph,
    source: str,
    target: Path,
    layout: Layout | None,
) -> None:
    """Raise if splits go to a file, one graph to a folder, or a file has a layout."""
    is_file = _names_file(target)
    if layout is not None and is_file:
        raise na.DataError("--layout is for folders; this is the name of a file", path=target)
    if isinstance(part, na.Splits) == is_file:
        raise na.DataError(_other_target(source, target, graphs, part), path=target)


def _other_target(source: str, target: Path, graphs: na.Splits | na.KnowledgeGraph, part: object) -> str:
    if isinstance(part, na.Splits):
        return f"{source} has train, valid and test: pass --split, or name a folder"
    if isinstance(graphs, na.Splits):
        return f"one split is one file: name a file such as {target}.tsv"
    return f"name a file such as {target}.tsv; for a folder: {split_command(source, target)}"


def _repeats(graphs: na.Splits | na.KnowledgeGraph) -> str:
    """Mention repeated lines that were dropped."""
    repeated = count_dropped(graphs)["repeated"]
    return f" ({count(repeated, 'repeated line')} dropped)" if repeated else ""


@datasets_app.callback(invoke_without_command=True)
def datasets(context: typer.Context, as_json: AsJson = False) -> None:
    """List the known data sets; fetch one."""
    if context.invoked_subcommand is not None:
        return
    known = data_sets.DATASETS.values()
    if as_json:
        print_json([{"name": d.name, "about": d.about, "here": data_sets.is_local(d)} for d in known])
        return
    columns: list[tuple[str, Justify]] = [("name", "left"), ("what", "left"), ("on this machine", "left")]
    rows = [[d.name, d.about, "yes" if data_sets.is_local(d) else f"no: {_how_to_get(d)}"] for d in known]
    output().print(table("data sets", columns, rows))


def _how_to_get(dataset: data_sets.Dataset) -> str:
    return f"nnmfaug datasets fetch {dataset.name}" if dataset.archive else "pip install pykeen"


@datasets_app.command()
def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a data set.")], as_json: AsJson = False
) -> None:
    """Download a data set and check its sha256."""
    dataset = data_sets.find(name)
    if dataset is None:
        raise na.DataError(f"{name!r} is not a known data set ({', '.join(data_sets.DATASETS)})")
    try:
        path = data_sets.fetch(dataset, progress=sys.stderr.isatty() and not as_json)
    except na.DataError as error:  # the network failed, not the user's input
        fail(str(error), 1)
    if as_json:
        print_json({"name": dataset.name, "path": str(path)})
    else:
        say(f"{dataset.name}: {path}")
