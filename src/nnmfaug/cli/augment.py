"""The command that generates triples."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import nnmfaug as na
from nnmfaug.cli.console import count, notes_of_warnings, print_json, progress, roughly, say
from nnmfaug.cli.method_options import (
    METHOD_HELP,
    Amount,
    Clusters,
    Depth,
    MethodName,
    MethodOptions,
    Strategy,
    Threshold,
)
from nnmfaug.cli.reading import AsJson, Graph, Reading, protect, train_of
from nnmfaug.io.datasets import find
from nnmfaug.io.write import check_writable

if TYPE_CHECKING:
    from nnmfaug.augmenters.conditions import Conditions

LONG_SECONDS = 2.0
LARGE_BYTES = 1e9
"""A clustering that takes more is announced."""


def augment(
    graph: Graph,
    reading: Reading,
    out: Annotated[
        Path,
        typer.Option("-o", "--out", help="Output file: .tsv .txt .csv .nt (also .gz .bz2 .zst) .parquet."),
    ],
    method: Annotated[MethodName, typer.Option(help=METHOD_HELP)] = "auto",
    amount: Amount = None,
    take_all: Annotated[
        bool,
        typer.Option("--all", help="Write all new triples: in random order (nnmf) or highest confidence first."),
    ] = False,
    depth: Depth = None,
    threshold: Threshold = None,
    clusters: Clusters = None,
    components: Annotated[
        str | None, typer.Option(help='Number of NMF components, or "auto" (method nnmf). Default: 8.')
    ] = None,
    clusterer: Annotated[
        Strategy | None,
        typer.Option(
            help="Clustering of entities (method nnmf); dbscan and hdbscan choose the number of clusters. "
            "Default: ward."
        ),
    ] = None,
    eps: Annotated[
        float | None, typer.Option(min=0, help="Neighbourhood radius of --clusterer dbscan. Default: 0.5.")
    ] = None,
    smoothing: Annotated[
        float | None,
        typer.Option(
            help="Added to A[h,r]·B[t,r] (method nnmf); above 0, every relation is possible. Default: 0."
        ),
    ] = None,
    relation: Annotated[list[str] | None, typer.Option(help="Only this relation. Repeatable.")] = None,
    head: Annotated[list[str] | None, typer.Option(help="Only this head. Repeatable.")] = None,
    tail: Annotated[list[str] | None, typer.Option(help="Only this tail. Repeatable.")] = None,
    quota: Annotated[
        list[str] | None, typer.Option(help="Number of triples of one relation, as RELATION=N. Repeatable.")
    ] = None,
    exclude: Annotated[Path | None, typer.Option(help="File of triples that are never generated.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed. The same seed gives the same triples.")] = 0,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of processes (method nnmf); the triples do not depend on it. Default: 1."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Generate new triples from train (or the only graph); write them, their scores and a manifest."""
    from nnmfaug.augmenters.output import sample_files, write_sample

    _refuse_pairs({"--quota": quota, "--all": take_all, "--relation": relation, "--amount": amount})
    options = MethodOptions(method, depth, threshold, clusters, components, clusterer, eps, smoothing, workers)
    check_writable(out)
    source = reading.read(graph)
    train = train_of(source)
    conditions = _conditions(train, relation, head, tail, _read_exclude(exclude, reading), quota)
    for read in (source, conditions.exclude):
        protect(read, *sample_files(out))
    n = None if take_all or quota else options.amount(amount, len(train))
    with progress(), notes_of_warnings(), _advice(method, conditions, n if amount is None else None):
        sample, manifest = _generate(options, train, n, conditions, seed, quiet=as_json)
    paths = write_sample(sample, manifest, out, prefix=reading.options.prefix)
    if as_json:
        print_json({**manifest, "method_name": method, "files": [str(path) for path in paths]})
    else:
        say(f"{out}: {_summary(len(sample), manifest, method)}")


def _generate(
    options: MethodOptions,
    train: na.KnowledgeGraph,
    n: int | None,
    conditions: Conditions,
    seed: int,
    *,
    quiet: bool,
) -> tuple[na.Sample, dict[str, Any]]:
    from nnmfaug.augmenters.output import generate

    augmenter = options.augmenter(train)
    if not quiet:
        _announce(augmenter, train)
    at_most = options.method.at_most
    engine = na.Processes(options.workers or 1)
    sample, manifest = generate(
        augmenter, train, n, seed=seed, conditions=conditions, at_most=at_most, engine=engine
    )
    if "selection" in manifest:
        say(f"note: {manifest['selection']['reason']}")
    return sample, manifest


def _refuse_pairs(options: dict[str, object]) -> None:
    """Raise if two options were given that cannot be combined."""
    pairs = [("--quota", "--all"), ("--quota", "--relation"), ("--quota", "--amount"), ("--all", "--amount")]
    for one, other in pairs:
        if options[one] and options[other]:
            msg = f"{one} and {other} cannot be combined: leave out one of them"
            raise ValueError(msg)


def _conditions(
    train: na.KnowledgeGraph,
    relations: list[str] | None,
    heads: list[str] | None,
    tails: list[str] | None,
    exclude: na.KnowledgeGraph | None,
    quotas: list[str] | None,
) -> Conditions:
    from nnmfaug.augmenters.conditions import Conditions

    allowed = [tuple(names) if names else None for names in (relations, heads, tails)]
    conditions = Conditions(allowed[0], allowed[1], allowed[2], exclude, _quotas(quotas))
    conditions.check(train.vocabulary)
    return conditions


def _quotas(texts: list[str] | None) -> dict[str, int] | None:
    quotas = {}
    for text in texts or ():
        relation, equals, number = text.rpartition("=")
        if not equals or not number.isdecimal():
            msg = f"--quota {text}: must be a relation and a number, such as likes=100"
            raise ValueError(msg)
        if relation in quotas:
            msg = f"--quota {text}: {relation!r} is named twice"
            raise ValueError(msg)
        quotas[relation] = int(number)
    return quotas or None


def _read_exclude(path: Path | None, reading: Reading) -> na.KnowledgeGraph | None:
    if path is None:
        return None
    if path.is_dir() or (find(str(path)) is not None and not path.is_file()):
        kind = "a folder" if path.is_dir() else "the name of a data set"
        todo = f"nnmfaug convert {path} known.tsv --split all"
        raise na.DataError(f"--exclude needs a file of triples, this is {kind}; make one: {todo}", path=path)
    if not path.exists():
        raise na.DataError("--exclude: no such file", path=path)
    return na.read_triples(path, reading.options)


def _announce(augmenter: object, train: na.KnowledgeGraph) -> None:
    """Announce the cost of a clustering that is expensive or approximate."""
    if not isinstance(augmenter, na.NNMFAug):
        return
    cost = augmenter.cost(train)
    if cost is None or (cost.seconds < LONG_SECONDS and cost.bytes < LARGE_BYTES and not cost.micro_clusters):
        return
    memory = f"{cost.bytes / 1e9:.1f} GB" if cost.bytes >= LARGE_BYTES else f"{cost.bytes / 1e6:.0f} MB"
    how = f" (approximate: Ward on {cost.micro_clusters:,} micro-clusters)" if cost.micro_clusters else ""
    sizes = getattr(augmenter.cluster, "n_clusters", None), getattr(augmenter.embed, "n_components", None)
    each = " for each setting that auto compares" if "auto" in sizes else ""
    say(f"note: clustering{how} will take about {roughly(cost.seconds)} and {memory}{each}")


@contextmanager
def _advice(method: MethodName, conditions: Conditions, default: int | None) -> Iterator[None]:
    """Add to an error about too few triples what the user can do; ``default`` is the amount nobody asked for."""
    try:
        yield
    except na.SamplingError as error:
        message = _advise(error, method, conditions, default) if error.available else str(error)
        raise na.SamplingError(message, available=error.available) from None


def _advise(error: na.SamplingError, method: MethodName, conditions: Conditions, default: int | None) -> str:
    fewer_clusters = " or use fewer clusters" if method == "nnmf" else ""
    if conditions.quotas is not None:
        return f"{error}: request fewer{fewer_clusters}"
    if default is None:
        return f"{error}: request fewer, pass --all to get them all,{fewer_clusters}".removesuffix(",")
    return (
        f"the default amount is 10% of train, {count(default, 'triple')}, but only {error.available:,} are "
        f"possible: pass --amount, or --all to get them all,{fewer_clusters}"
    ).removesuffix(",")


def _summary(n: int, manifest: dict[str, Any], method: MethodName) -> str:
    """Say how many triples were written, of how many, and how many may be true."""
    n_new = manifest["new_in_support"]
    if "mean_confidence" not in manifest:
        return f"wrote {n:,} of {n_new:,} possible new triples (support: {manifest['support_size']:,})"
    precision = manifest["mean_confidence"]
    estimate = f"; estimated precision {precision:.2f}" if n and method != "rules" else ""
    return f"wrote {n:,} of {n_new:,} candidate triples{estimate}"
