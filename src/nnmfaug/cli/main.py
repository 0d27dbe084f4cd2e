"""The command line: parse, make one call, print."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer

import nnmfaug as na
from nnmfaug.cli.augment import augment
from nnmfaug.cli.compare import compare, predict
from nnmfaug.cli.console import count, output, print_json, progress, say, show_stats, table
from nnmfaug.cli.quality import estimate, rules
from nnmfaug.cli.reading import AsJson, Graph, Reading, dropped, parse_amount, protect, reads
from nnmfaug.io import datasets as data_sets
from nnmfaug.io.detect import plain_suffix
from nnmfaug.io.layouts import SPLIT_ADVICE
from nnmfaug.io.write import WRITERS, Layout

app = typer.Typer(
    name="nnmfaug",
    help="Knowledge graph data augmentation that is measured. GRAPH is the name of a data set (see: nnmfaug "
    "datasets), a file of triples, a folder with train, valid and test, or an archive of such a folder.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
datasets_app = typer.Typer(help="List the data sets that have names; fetch one.", rich_markup_mode=None)
app.add_typer(datasets_app, name="datasets")


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    """Handle what stands before the command."""
    if version:
        sys.stdout.write(f"nnmfaug {na.__version__}\n")
        raise typer.Exit


@app.command()
@reads
def stats(
    graph: Graph,
    reading: Reading,
    relations: Annotated[int, typer.Option(min=0, help="How many relations to show.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Sizes, leaks between splits, and a table of relations."""
    read = reading.read(graph)
    with progress():
        found = na.describe(read, name=None if isinstance(read, na.Splits) else Path(graph).name)
    if as_json:
        print_json(asdict(found))
    else:
        show_stats(found, output(), relations)


@app.command()
@reads
def split(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of triples.")],
    reading: Reading,
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder to write.")],
    valid: Annotated[str, typer.Option(help="Share (5%) or number (500) of triples.")] = "5%",
    test: Annotated[str, typer.Option(help="Share (10%) or number (1000) of triples.")] = "10%",
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same split.")] = 0,
    layout: Annotated[Layout, typer.Option(help="For which library.")] = "pykeen",
    as_json: AsJson = False,
) -> None:
    """Split a file into train, valid and test; every entity and relation stays in train."""
    found = reading.read(file)
    if isinstance(found, na.Splits):
        raise na.DataError(
            f"split already; to split it anew, first: nnmfaug convert {file} all.tsv --split all", path=file
        )
    n_valid, n_test = parse_amount(valid, len(found), "--valid"), parse_amount(test, len(found), "--test")
    parts = na.split(found, valid=n_valid, test=n_test, seed=seed, name=out.name)
    protect(found, *(out.iterdir() if out.is_dir() else ()))
    na.write_splits(parts, out, layout)
    sizes = {part: len(graph) for part, graph in parts.items()}
    if as_json:
        print_json({"folder": str(out), "layout": layout, "seed": seed, **sizes, **dropped(found)})
    else:
        say(f"{out}: " + ", ".join(f"{part} {size:,}" for part, size in sizes.items()) + _left_out(found))


@app.command()
@reads
def convert(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="A data set's name, a file, a folder or an archive.")
    ],
    target: Annotated[
        Path,
        typer.Argument(
            metavar="OUT", help="A file (.tsv .txt .csv .nt .parquet, also .gz .bz2 .zst), or a folder."
        ),
    ],
    reading: Reading,
    split_: Annotated[
        Literal["train", "valid", "test", "all"] | None,
        typer.Option("--split", help="Which split goes into a single file."),
    ] = None,
    layout: Annotated[
        Layout | None, typer.Option(help="For which library a folder is; pykeen if not said.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write triples in another format, or splits in the layout of another library."""
    found = reading.read(source)
    is_file = plain_suffix(target) in (*WRITERS, ".parquet")
    if split_ is not None and not isinstance(found, na.Splits):
        raise na.DataError("--split is for sources with train, valid and test; this is one graph", path=source)
    if layout is not None and is_file:
        raise na.DataError("--layout is for folders; this names a file", path=target)
    chosen = found
    if isinstance(found, na.Splits) and split_ is not None:
        chosen = found.together() if split_ == "all" else dict(found.items())[split_]
    if isinstance(chosen, na.Splits) == is_file:
        raise na.DataError(_other_target(source, target, found, chosen), path=target)
    protect(found, *(target.iterdir() if target.is_dir() else (target,)))
    if isinstance(chosen, na.Splits):
        na.write_splits(chosen, target, layout or "pykeen")
        n_triples = sum(len(part) for _, part in chosen.items())
    else:
        na.write_triples(chosen, target, prefix=reading.options.prefix)
        n_triples = len(chosen)
    if as_json:
        print_json({"out": str(target), "triples": n_triples, **dropped(found)})
    else:
        say(f"{target}: {count(n_triples, 'triple')}{_left_out(found)}")


def _other_target(source: str, target: Path, found: na.Splits | na.KnowledgeGraph, chosen: object) -> str:
    if isinstance(chosen, na.Splits):
        return f"{source} has train, valid and test: pass --split, or name a folder"
    if isinstance(found, na.Splits):
        return f"one split is one file: name it {target}.tsv, say"
    return f"name a file such as {target}.tsv; for a folder: " + SPLIT_ADVICE.format(source).replace(
        "folder", str(target)
    )


def _left_out(found: na.Splits | na.KnowledgeGraph) -> str:
    """What a person should know was dropped."""
    repeated = dropped(found)["repeated"]
    return f" ({count(repeated, 'repeated line')} dropped)" if repeated else ""


app.command()(reads(augment))
app.command()(reads(rules))
app.command()(reads(estimate))
app.command()(reads(compare))
app.command()(predict)


@datasets_app.callback(invoke_without_command=True)
def datasets(context: typer.Context, as_json: AsJson = False) -> None:
    """List the data sets that have names; fetch one."""
    if context.invoked_subcommand is not None:
        return
    rows = [(d.name, d.about, data_sets.is_local(d)) for d in data_sets.DATASETS.values()]
    if as_json:
        print_json([{"name": name, "about": about, "here": here} for name, about, here in rows])
        return
    get = {
        d.name: f"nnmfaug datasets fetch {d.name}" if d.archive else "pip install pykeen"
        for d in data_sets.DATASETS.values()
    }
    cells = [[name, about, "yes" if here else f"no: {get[name]}"] for name, about, here in rows]
    output().print(table("data sets", [("name", "left"), ("what", "left"), ("on this machine", "left")], cells))


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
    except na.DataError as error:  # not the user's input but the network
        _fail(str(error), 1)
    if as_json:
        print_json({"name": dataset.name, "path": str(path)})
    else:
        say(f"{dataset.name}: {path}")


def main() -> None:
    """Run the command line; exit 0 when done, 1 when it could not be, 2 when the input was bad."""
    try:
        app()
    except KeyboardInterrupt:
        _fail("interrupted; what was finished is kept, and the same command goes on from there", 130)
    except na.DataError as error:
        _fail(str(error), 2)
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        _fail(f"{error.filename}: {error.strerror}", 2)
    except OSError as error:
        _fail(str(error), 1)
    except na.SamplingError as error:
        _fail(str(error), 1)
    except ValueError as error:
        _fail(str(error), 2)


def _fail(message: str, code: int) -> NoReturn:
    say(f"error: {message}")
    sys.exit(code)
