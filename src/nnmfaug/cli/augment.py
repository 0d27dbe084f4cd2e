"""The command that generates triples: its options, how they go together, what to do if too few are possible."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import nnmfaug as na
from nnmfaug.cli.console import count, notes_of_warnings, print_json, progress, roughly, say
from nnmfaug.cli.reading import AsJson, Graph, Reading, parse_amount, protect
from nnmfaug.io.datasets import find
from nnmfaug.io.write import check_writable

if TYPE_CHECKING:
    from nnmfaug.augmenters.base import Augmenter
    from nnmfaug.augmenters.nnmf.partition import Clusterer
    from nnmfaug.augmenters.output import Conditions, Generation
    from nnmfaug.core.checks import Size

Strategy = Literal["ward", "average", "complete", "single", "kmeans", "dbscan", "hdbscan"]

Method = Literal["nnmf", "rules", "auto", "mixture"]

METHODS = (
    "auto adds what is more likely true than not; rules, what follows from train by its own rules, the surest "
    "first; nnmf is the paper's method; mixture, all of them by their probability of truth."
)
DEFAULT_AMOUNT = "10%"
LONG, LARGE = 2.0, 1e9
"""Seconds and bytes above which clustering is announced."""


def augment(
    graph: Graph,
    reading: Reading,
    out: Annotated[
        Path,
        typer.Option("-o", "--out", help="The file to write: .tsv .txt .csv .nt (also .gz .bz2 .zst) .parquet."),
    ],
    method: Annotated[Method, typer.Option(help=METHODS)] = "auto",
    amount: Annotated[
        str | None,
        typer.Option(
            help=f"Share of train (5%) or number of triples (5000); else {DEFAULT_AMOUNT}, at least 1; "
            "for auto, as many as are worth adding."
        ),
    ] = None,
    take_all: Annotated[
        bool, typer.Option("--all", help="All new triples there are, in random order (nnmf) or the surest first.")
    ] = False,
    depth: Annotated[
        int | None, typer.Option(min=1, max=3, help="Longest body of rules; else 2, for auto as the graph allows.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="For auto: least probability of truth of a triple; else 0.5.")
    ] = None,
    clusters: Annotated[
        str | None,
        typer.Option(help="Number of clusters, or auto; else one per 20 kinds of entities, at most 50."),
    ] = None,
    components: Annotated[str, typer.Option(help="Number of columns of the factors, or auto.")] = "8",
    clusterer: Annotated[
        Strategy,
        typer.Option(help="How entities are clustered; the last two find the number of clusters themselves."),
    ] = "ward",
    eps: Annotated[
        float | None, typer.Option(min=0, help="For dbscan: how far neighbours may be; else 0.5.")
    ] = None,
    smoothing: Annotated[
        float, typer.Option(help="Added to A[h,r]·B[t,r]; above 0 any relation is possible.")
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
    from nnmfaug.augmenters.output import Conditions, generate, generated_files, list_best, write_generation

    _refuse_idle(
        {"--quota": quota, "--all": take_all, "--relation": relation, "--amount": amount},
        [("--quota", "--all"), ("--quota", "--relation"), ("--quota", "--amount"), ("--all", "--amount")],
    )
    _refuse_idle_clustering(clusterer, clusters, components, eps)
    _refuse_of_other_methods(
        method,
        {
            "nnmf": {
                "--clusters": clusters,
                "--eps": eps,
                "--smoothing": smoothing or None,
                "--clusterer": None if clusterer == "ward" else clusterer,
                "--components": None if components == "8" else components,
                "--workers": None if workers == 1 else workers,
            },
            "rules, mixture, auto": {"--depth": depth},
            "auto": {"--threshold": threshold},
        },
    )
    check_writable(out)
    found = reading.read(graph)
    train = found.train if isinstance(found, na.Splits) else found
    never = None if exclude is None else _read_exclude(exclude, reading)
    relations, heads, tails = (tuple(names) if names else None for names in (relation, head, tail))
    conditions = Conditions(relations, heads, tails, never, _quotas(quota))
    conditions.check(train.vocabulary)
    for source in (found, never):
        if source is not None:
            protect(source, *generated_files(out))
    n = None if take_all or quota or (method == "auto" and amount is None) else _number(amount, len(train))
    try:
        with progress(), notes_of_warnings():
            if method == "nnmf":
                recipe = na.NNMFAug(
                    na.NMF(_size(components, "--components")),
                    _clusterer(clusterer, clusters, eps, train),
                    relations=na.CountProduct(smoothing),
                )
                if not as_json:
                    _announce(recipe, train)
                made = generate(recipe, train, n, seed=seed, conditions=conditions, engine=na.Processes(workers))
            else:
                listing = lister(method, depth, threshold)
                made = list_best(listing, train, n, seed=seed, conditions=conditions, at_most=method == "auto")
    except na.SamplingError as error:
        default = n if amount is None else None
        raise na.SamplingError(_advise(error, method, default, conditions), available=error.available) from None
    paths = write_generation(made, out, prefix=reading.options.prefix)
    _tell(made, method, out, paths, as_json=as_json)


def lister(method: Method, depth: int | None, threshold: float | None) -> Augmenter[na.Listed]:
    """Return the method of a name, with the settings given."""
    if method == "rules":
        return na.Rules(depth=depth or 2)
    if method == "mixture":
        return na.Mixture((na.Rules(depth=depth or 2), na.NNMFAug(cluster=na.Agglomerative("auto"))))
    generators = None if depth is None else (na.Rules(depth=depth),)
    return na.Auto(generators, threshold=0.5 if threshold is None else threshold)


def _refuse_of_other_methods(method: Method, owners: dict[str, dict[str, object]]) -> None:
    """Raise where an option says nothing to the method."""
    for names, options in owners.items():
        for option, value in options.items():
            if value is not None and method not in names.split(", "):
                msg = f"{option} is for --method {' or '.join(names.split(', '))}, not for {method}: leave it out"
                raise ValueError(msg)


def _refuse_idle(given: dict[str, object], pairs: list[tuple[str, str]]) -> None:
    """Raise where two options do not go together."""
    for one, other in pairs:
        if given[one] and given[other]:
            msg = f"{one} and {other} do not go together: leave out one of them"
            raise ValueError(msg)


def _refuse_idle_clustering(clusterer: Strategy, clusters: str | None, components: str, eps: float | None) -> None:
    """Raise where an option says nothing to the clusterer."""
    if eps is not None and clusterer != "dbscan":
        msg = f"--eps is for --clusterer dbscan, not for {clusterer}: leave it out"
        raise ValueError(msg)
    if clusterer not in ("dbscan", "hdbscan"):
        return
    if clusters is not None:
        msg = f"--clusterer {clusterer} finds the number of clusters itself: leave out --clusters"
        raise ValueError(msg)
    if components == "auto":
        msg = f"--components auto does not go with --clusterer {clusterer}: give a number"
        raise ValueError(msg)


def _clusterer(name: Strategy, clusters: str | None, eps: float | None, train: na.KnowledgeGraph) -> Clusterer:
    from nnmfaug.augmenters.nnmf.nnmfaug import default_clusters

    if name == "dbscan":
        return na.DBSCAN(0.5 if eps is None else eps)
    if name == "hdbscan":
        return na.HDBSCAN()
    n_clusters = default_clusters(train) if clusters is None else _size(clusters, "--clusters")
    return na.KMeans(n_clusters) if name == "kmeans" else na.Agglomerative(n_clusters, name)


def _size(text: str, option: str) -> Size:
    """A number from 1, or auto."""
    if text == "auto":
        return "auto"
    if not text.isdecimal() or int(text) < 1:
        msg = f"{option} {text}: must be a number from 1, or auto"
        raise ValueError(msg)
    return int(text)


def _number(amount: str | None, total: int) -> int:
    """How many triples are asked for; the default is at least one."""
    if amount is None:
        return max(parse_amount(DEFAULT_AMOUNT, total, "--amount"), 1)
    n = parse_amount(amount, total, "--amount")
    if not n and amount.endswith("%"):
        msg = f"--amount {amount}: of {count(total, 'triple')} that is less than one: ask for a number, such as 1"
        raise ValueError(msg)
    return n


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


def _read_exclude(path: Path, reading: Reading) -> na.KnowledgeGraph:
    if path.is_dir() or (find(str(path)) is not None and not path.is_file()):
        kind = "a folder" if path.is_dir() else "the name of a data set"
        todo = f"nnmfaug convert {path} known.tsv --split all"
        raise na.DataError(f"--exclude needs a file of triples, this is {kind}; make one: {todo}", path=path)
    if not path.exists():
        raise na.DataError("--exclude: no such file", path=path)
    return na.read_triples(path, reading.options)


def _announce(recipe: na.NNMFAug, train: na.KnowledgeGraph) -> None:
    """Say what clustering will take, if that is much or the result will be approximate."""
    needed = recipe.cost(train)
    if needed is None or (needed.seconds < LONG and needed.bytes < LARGE and not needed.micro_clusters):
        return
    size = f"{needed.bytes / 1e9:.1f} GB" if needed.bytes >= LARGE else f"{needed.bytes / 1e6:.0f} MB"
    how = ""
    if needed.micro_clusters:
        how = f" by the approximate tier (Ward of {needed.micro_clusters:,} micro-clusters instead of entities)"
    say(f"note: clustering{how} will take about {roughly(needed.seconds)} and {size}{_each(recipe)}")


def _each(recipe: na.NNMFAug) -> str:
    numbers = getattr(recipe.cluster, "n_clusters", None), getattr(recipe.embed, "n_components", None)
    return " for each setting that auto compares" if "auto" in numbers else ""


def _advise(error: na.SamplingError, method: Method, default: int | None, conditions: Conditions) -> str:
    """What was asked for, how many there are, and what to do; where none is possible the error says it all."""
    if not error.available:
        return str(error)
    if method != "nnmf":
        return f"{error}: ask for less, or pass --all to get them all"
    if conditions.quotas is not None:
        return f"{error}: ask for less or use fewer clusters"
    if default is None:
        return f"{error}: ask for less, pass --all to get them all, or use fewer clusters"
    return (
        f"{DEFAULT_AMOUNT} of train, {count(default, 'triple')}, is the default amount, but only "
        f"{error.available:,} are possible: pass --amount, or --all to get them all, or use fewer clusters"
    )


def _tell(made: Generation, method: str, out: Path, paths: list[Path], *, as_json: bool) -> None:
    if "selection" in made.manifest:
        say(f"note: {made.manifest['selection']['reason']}")
    if as_json:
        print_json({**made.manifest, "method_name": method, "files": [str(path) for path in paths]})
        return
    new, support = made.manifest["new_in_support"], made.manifest["support_size"]
    if method == "nnmf":
        say(
            f"{out}: {count(len(made.sample), 'new triple')} of {new:,} possible ones ({support:,} with the known)"
        )
        return
    found = f"{out}: {count(len(made.sample), 'new triple')} of {new:,} that were found"
    if len(made.sample) and method != "rules":
        found += f"; a share of about {made.manifest['mean_confidence']:.2f} of them is true"
    say(found)
