"""The command that generates triples."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import nnmfaug as na
from nnmfaug.cli.conditions import ConditionOptions, Exclude, Heads, Quotas, Relations, Tails
from nnmfaug.cli.console import count, notes_of_warnings, print_json, progress, roughly, say
from nnmfaug.cli.engine_options import Workers
from nnmfaug.cli.method_options import (
    METHOD_HELP,
    RULE_METHODS,
    Amount,
    Budget,
    Clusters,
    Completeness,
    Depth,
    MethodName,
    MethodOptions,
    RulesFile,
    Strategy,
    Threshold,
)
from nnmfaug.cli.reading import AsJson, Graph, Overwrite, Reading, parse_amount, protect, protect_files, train_of
from nnmfaug.io.preflight import check_files
from nnmfaug.io.write import check_writable

if TYPE_CHECKING:
    from nnmfaug.augmenters.conditions import Conditions
    from nnmfaug.augmenters.output import Manifest

LONG_SECONDS = 2.0
LARGE_BYTES = 1e9
"""A clustering that takes more is announced."""


def augment(
    graph: Graph,
    reading: Reading,
    workers: Workers,
    out: Annotated[
        Path,
        typer.Option(
            "-o", "--out", metavar="FILE", help="Output file: .tsv .txt .csv .nt (also .gz .bz2 .zst) .parquet."
        ),
    ],
    method: Annotated[MethodName, typer.Option(help=METHOD_HELP)] = "auto",
    amount: Amount = None,
    take_all: Annotated[
        bool,
        typer.Option(
            "--all", help="Write all new triples: highest confidence first, or in random order if there is none."
        ),
    ] = False,
    depth: Depth = None,
    budget: Budget = None,
    rules: RulesFile = None,
    threshold: Threshold = None,
    completeness: Completeness = None,
    clusters: Clusters = None,
    components: Annotated[
        str | None,
        typer.Option(metavar="N", help='Number of NMF components, or "auto" (method nnmf). Default: 8.'),
    ] = None,
    clusterer: Annotated[
        Strategy | None,
        typer.Option(
            help="Clustering of entities (method nnmf): ward, average, complete and single are agglomerative; "
            "dbscan and hdbscan choose the number of clusters. Default: ward."
        ),
    ] = None,
    eps: Annotated[
        float | None,
        typer.Option(min=0, metavar="X", help="Neighbourhood radius of --clusterer dbscan. Default: 0.5."),
    ] = None,
    smoothing: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Added to A[h,r]·B[t,r] (method nnmf); above 0, every relation is possible. Default: 0.",
        ),
    ] = None,
    relations: Relations = None,
    heads: Heads = None,
    tails: Tails = None,
    quotas: Quotas = None,
    exclude: Exclude = None,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Random seed. The same seed gives the same triples.")
    ] = 0,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Generate new triples from train, or from a whole file.

    Writes the triples to FILE, their scores to FILE.scores.tsv, and all settings and checksums to FILE.json.
    """
    from nnmfaug.augmenters.output import sample_files, write_sample

    _refuse_pairs({"--quota": quotas, "--all": take_all, "--relation": relations, "--amount": amount})
    options = MethodOptions(
        method,
        depth,
        threshold,
        clusters,
        components,
        clusterer,
        eps,
        smoothing,
        completeness,
        rules,
        budget,
    )
    if amount is not None:
        parse_amount(amount, 0, "--amount")
    check_writable(out)
    check_files(sample_files(out), overwrite=overwrite)
    protect_files([] if rules is None else [rules], *sample_files(out))
    source = reading.read(graph)
    train = train_of(source)
    conditions = ConditionOptions(relations, heads, tails, quotas, exclude).conditions(train, reading)
    _protect_inputs(out, source, conditions.exclude)
    n = None if take_all or quotas else options.amount(amount, len(train))
    with (
        workers.in_use(),
        progress(),
        notes_of_warnings(),
        _advice(options, conditions, n if amount is None else None),
    ):
        sample, manifest = _generate(options, train, n, conditions, seed, quiet=as_json)
    with progress():
        paths = write_sample(sample, manifest, out, prefix=reading.options.prefix, overwrite=overwrite)
    if as_json:
        written = json.loads(paths[-1].read_bytes())
        print_json({**written, "method_name": method, "files": [str(path) for path in paths]})
    else:
        say(f"{out}: {_summary(len(sample), manifest, method)}")


def _refuse_pairs(options: dict[str, object]) -> None:
    """Raise if two options were given that cannot be combined."""
    pairs = [("--quota", "--all"), ("--quota", "--relation"), ("--quota", "--amount"), ("--all", "--amount")]
    for one, other in pairs:
        if options[one] and options[other]:
            msg = f"{one} and {other} cannot be combined: leave out one of them"
            raise ValueError(msg)


def _protect_inputs(out: Path, *sources: na.Splits | na.KnowledgeGraph | None) -> None:
    """Raise if an output file is one that was read."""
    from nnmfaug.augmenters.output import sample_files

    for source in sources:
        protect(source, *sample_files(out))


def _generate(
    options: MethodOptions,
    train: na.KnowledgeGraph,
    n: int | None,
    conditions: Conditions,
    seed: int,
    *,
    quiet: bool,
) -> tuple[na.Sample, Manifest]:
    from nnmfaug.augmenters.output import generate

    augmenter = options.augmenter(train)
    if not quiet:
        _announce(augmenter, train)
    at_most = options.method.at_most
    sample, manifest = generate(augmenter, train, n, seed=seed, conditions=conditions, at_most=at_most)
    if "selection" in manifest:
        say(f"note: {manifest['selection']['reason']}")
    _note_rules(options, sample.source)
    return sample, manifest


def _note_rules(options: MethodOptions, dist: object) -> None:
    """Say which rules conclude nothing, and what was skipped when the rules behind a distribution were mined."""
    skipped = "; ".join(options.skipped(dist, "what rules with them conclude is missing"))
    for note in filter(None, [options.without_body(dist), skipped]):
        say(f"note: {note}")


def _announce(augmenter: object, train: na.KnowledgeGraph) -> None:
    """Announce the cost of a clustering that is expensive or approximate."""
    if not isinstance(augmenter, na.NNMFAug):
        return
    cost = augmenter.cost(train)
    if cost is None or (cost.seconds < LONG_SECONDS and cost.bytes < LARGE_BYTES and not cost.micro_clusters):
        return
    memory = f"{cost.bytes / 1e9:.1f} GB" if cost.bytes >= LARGE_BYTES else f"{cost.bytes / 1e6:.0f} MB"
    approximation = (
        f" (approximate: Ward on {cost.micro_clusters:,} micro-clusters)" if cost.micro_clusters else ""
    )
    n_clusters = getattr(augmenter.cluster, "n_clusters", None)
    n_components = getattr(augmenter.embed, "n_components", None)
    times = " for each setting that auto compares" if "auto" in (n_clusters, n_components) else ""
    say(f"note: clustering{approximation} will take about {roughly(cost.seconds)} and {memory}{times}")


@contextmanager
def _advice(options: MethodOptions, conditions: Conditions, default: int | None) -> Iterator[None]:
    """Add advice to an error about too few triples; ``default`` is the amount if the user requested none."""
    try:
        yield
    except na.SamplingError as error:
        dist = getattr(error.partial, "source", None)
        if not error.available:
            raise _with_reason(error, options, dist) from None
        _note_rules(options, dist)
        problem = str(error)
        if default is not None:
            fraction = f"{options.method.amount:.0%} of train, {count(default, 'triple')}"
            problem = f"the default amount is {fraction}, but only {error.available:,} are possible"
        advice = _either(_remedies(options.name, conditions, default))
        raise na.SamplingError(f"{problem}: {advice}", available=error.available) from None


def _with_reason(error: na.SamplingError, options: MethodOptions, dist: object) -> na.SamplingError:
    """Return the error with the reason if rules conclude no triple at all."""
    if not options.is_by_rules or getattr(dist, "support_size", True):
        return error
    note = options.without_body(dist)
    if note:
        say(f"note: {note}")
    return na.SamplingError(f"no new triple is possible: {options.why_none(dist)}", available=0)


def _remedies(method: MethodName, conditions: Conditions, default: int | None) -> list[str]:
    remedies = ["request fewer" if default is None else "pass --amount"]
    if conditions.quotas is None:
        remedies.append("pass --all to get them all")
    if method == "nnmf":
        remedies.append("use fewer clusters")
    return remedies


def _either(clauses: list[str]) -> str:
    """Join clauses by commas and "or"."""
    *first, last = clauses
    return f"{', '.join(first)} or {last}" if first else last


def _summary(n: int, manifest: dict[str, Any], method: MethodName) -> str:
    """Report how many triples were written, of how many, and their estimated precision."""
    n_new = manifest["new_in_support"]
    if method not in RULE_METHODS:
        return f"wrote {n:,} of {n_new:,} possible new triples (support: {manifest['support_size']:,})"
    precision = manifest.get("estimated_precision")
    estimate = "" if precision is None else f"; estimated precision {precision:.2f}"
    return f"wrote {n:,} of {n_new:,} candidate triples{estimate}"
