"""The command line: parse, make one call, print."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer

import nnmfaug as na
from nnmfaug import datasets as data_sets
from nnmfaug.cli_reading import Reading, dropped, protect, reads
from nnmfaug.console import count, notes_of_warnings, output, progress, say, show_stats, table
from nnmfaug.io.layouts import SPLIT_ADVICE
from nnmfaug.io.read import plain_suffix
from nnmfaug.io.write import WRITERS, Layout, check_writable

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

Graph = Annotated[str, typer.Argument(metavar="GRAPH", help="A data set's name, a file, a folder or an archive.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


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
        _print_json(asdict(found))
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
    n_valid, n_test = _amount(valid, len(found), "--valid"), _amount(test, len(found), "--test")
    parts = na.split(found, valid=n_valid, test=n_test, seed=seed, name=out.name)
    protect(found, *(out.iterdir() if out.is_dir() else ()))
    na.write_splits(parts, out, layout)
    sizes = {part: len(graph) for part, graph in parts.items()}
    if as_json:
        _print_json({"folder": str(out), "layout": layout, "seed": seed, **sizes, **dropped(found)})
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
        _print_json({"out": str(target), "triples": n_triples, **dropped(found)})
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


@app.command()
@reads
def augment(
    graph: Graph,
    reading: Reading,
    out: Annotated[
        Path,
        typer.Option("-o", "--out", help="The file to write: .tsv .txt .csv .nt (also .gz .bz2 .zst) .parquet."),
    ],
    method: Annotated[Literal["nnmf"], typer.Option(help="nnmf is the paper's method.")] = "nnmf",
    amount: Annotated[str, typer.Option(help="Share of train (10%) or number of triples (5000).")] = "10%",
    take_all: Annotated[bool, typer.Option("--all", help="All new triples there are, in random order.")] = False,
    clusters: Annotated[
        str | None,
        typer.Option(help="Number of clusters, or auto; else one per 20 kinds of entities, at most 50."),
    ] = None,
    components: Annotated[str, typer.Option(help="Number of columns of the factors, or auto.")] = "8",
    clusterer: Annotated[
        Literal["ward", "average", "complete", "single", "kmeans", "dbscan", "hdbscan"],
        typer.Option(help="How entities are clustered; the last two find the number of clusters themselves."),
    ] = "ward",
    eps: Annotated[float, typer.Option(min=0, help="For dbscan: how far neighbours may be.")] = 0.5,
    smoothing: Annotated[
        float, typer.Option(min=0, help="Added to A[h,r]·B[t,r]; above 0 any relation is possible.")
    ] = 0.0,
    relation: Annotated[list[str] | None, typer.Option(help="Only this relation; may be repeated.")] = None,
    head: Annotated[list[str] | None, typer.Option(help="Only this head; may be repeated.")] = None,
    tail: Annotated[list[str] | None, typer.Option(help="Only this tail; may be repeated.")] = None,
    quota: Annotated[
        list[str] | None, typer.Option(help="So many triples of one relation, as RELATION=N; may be repeated.")
    ] = None,
    exclude: Annotated[Path | None, typer.Option(help="A file of triples never to be generated.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same triples.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes that draw; the triples are the same.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Generate new triples from train (or the only graph) and write them, their scores and a manifest."""
    from nnmfaug.clustering import Clusterer
    from nnmfaug.generation import Conditions, generate, generated_files, write_generation
    from nnmfaug.recipe import default_clusters

    check_writable(out)
    found = reading.read(graph)
    train = found.train if isinstance(found, na.Splits) else found
    n = None if take_all else _amount(amount, len(train), "--amount")
    n_clusters = _size(clusters or "auto", default_clusters(train), "--clusters")
    n_components = _size(components, 8, "--components")
    strategies: dict[str, Clusterer] = {
        "kmeans": na.KMeans(n_clusters),
        "dbscan": na.DBSCAN(eps),
        "hdbscan": na.HDBSCAN(),
    }
    if clusterer in ("ward", "average", "complete", "single"):
        strategies[clusterer] = na.Agglomerative(n_clusters, clusterer)
    recipe = na.NNMFAug(na.NMF(n_components), strategies[clusterer], relations=na.CountProduct(smoothing))
    never = None if exclude is None else na.read_triples(exclude, reading.options)
    relations, heads, tails = (tuple(names) if names else None for names in (relation, head, tail))
    quotas = dict(_quota(text) for text in quota or ()) or None
    if quotas and len(quotas) != len(quota or ()):
        msg = "--quota: a relation is named twice"
        raise ValueError(msg)
    conditions = Conditions(relations, heads, tails, never, quotas)
    for source in (found, never):
        if source is not None:
            protect(source, *generated_files(out))
    auto = {"clusters": clusters == "auto", "components": components == "auto"}
    if any(auto.values()) and clusterer in ("dbscan", "hdbscan"):
        msg = f"--clusterer {clusterer} finds the number of clusters itself: auto goes with the other clusterers"
        raise ValueError(msg)
    if quotas and (take_all or relation):
        msg = "--quota says how many of which relation: leave out --all and --relation"
        raise ValueError(msg)
    with progress(), notes_of_warnings():
        made = generate(
            recipe, train, n, seed=seed, conditions=conditions, engine=na.Processes(workers), auto=auto
        )
    if "selection" in made.manifest:
        say(f"note: {made.manifest['selection']['reason']}")
    paths = write_generation(made, out, prefix=reading.options.prefix)
    if as_json:
        _print_json({**made.manifest, "method_name": method, "files": [str(path) for path in paths]})
    else:
        new, support = made.manifest["new_in_support"], made.manifest["support_size"]
        say(
            f"{out}: {count(len(made.sample), 'new triple')} of {new:,} possible ones ({support:,} with the known)"
        )


@datasets_app.callback(invoke_without_command=True)
def datasets(context: typer.Context, as_json: AsJson = False) -> None:
    """List the data sets that have names; fetch one."""
    if context.invoked_subcommand is not None:
        return
    rows = [(d.name, d.about, data_sets.is_local(d)) for d in data_sets.DATASETS.values()]
    if as_json:
        _print_json([{"name": name, "about": about, "here": here} for name, about, here in rows])
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
        _print_json({"name": dataset.name, "path": str(path)})
    else:
        say(f"{dataset.name}: {path}")


def main() -> None:
    """Run the command line; exit 0 when done, 1 when it could not be, 2 when the input was bad."""
    try:
        app()
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


def _size(text: str, default: int, option: str) -> int:
    """A number from 1, or the number to start from for ``auto``."""
    if text == "auto":
        return default
    if not text.isdecimal() or int(text) < 1:
        msg = f"{option} {text}: must be a number from 1, or auto"
        raise ValueError(msg)
    return int(text)


def _quota(text: str) -> tuple[str, int]:
    relation, equals, number = text.rpartition("=")
    if not equals or not number.isdecimal():
        msg = f"--quota {text}: must be a relation and a number, such as likes=100"
        raise ValueError(msg)
    return relation, int(number)


def _amount(text: str, total: int, option: str) -> int:
    """``5%`` of a total, or a plain number."""
    share, number = text.removesuffix("%"), text.isdecimal()
    if number:
        return int(text)
    try:
        value = float(share)
    except ValueError:
        value = -1.0
    if not text.endswith("%") or not 0 <= value < math.inf:
        msg = f"{option} {text}: must be a share such as 5% or a number such as 500"
        raise ValueError(msg)
    return int(total * value / 100)


def _print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
