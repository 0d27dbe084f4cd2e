"""The command that estimates the precision of a method."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

import nnmfaug as na
from nnmfaug.cli.console import (
    Justify,
    count,
    notes_of_warnings,
    output,
    print_json,
    print_lines,
    progress,
    say,
    table,
)
from nnmfaug.cli.engine_options import Workers
from nnmfaug.cli.method_options import (
    CALIBRATED_METHODS,
    METHOD_HELP,
    Amount,
    Budget,
    Clusters,
    Depth,
    MethodName,
    MethodOptions,
    RulesFile,
    Threshold,
)
from nnmfaug.cli.reading import AsJson, Graph, Reading, train_of

if TYPE_CHECKING:
    from nnmfaug.quality.diagnostics import Diagnostics
    from nnmfaug.quality.precision import Band

KNOWN = ("completeness",)
"""What does not depend on the triples."""
MANY = 10
"""Ratios from here on are shown without decimals."""


def estimate(
    graph: Graph,
    reading: Reading,
    workers: Workers,
    method: Annotated[MethodName, typer.Option(help=METHOD_HELP)] = "auto",
    amount: Amount = None,
    completeness: Annotated[
        float | None,
        typer.Option(
            metavar="Q",
            help="Fraction of all true facts that train contains, if known; auto and mixture also use it to rate "
            "triples. Default: estimated.",
        ),
    ] = None,
    depth: Depth = None,
    budget: Budget = None,
    rules: RulesFile = None,
    threshold: Threshold = None,
    clusters: Clusters = None,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Random seed. The same seed gives the same estimate.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Estimate from train how many generated triples are true.

    If there are valid and test triples, the fraction that confirms the generated ones is reported, not used.
    """
    own_completeness = completeness if method in CALIBRATED_METHODS else None
    options = MethodOptions(
        method, depth, threshold, clusters, completeness=own_completeness, rules=rules, budget=budget
    )
    source = reading.read(graph)
    train = train_of(source)
    n = options.amount(amount, len(train), least=1)
    with workers.in_use(), progress(), notes_of_warnings():
        augmenter = options.augmenter(train)
        precision = na.estimate_precision(augmenter, train, n, seed=seed, completeness=completeness)
        diagnostics = _diagnose(augmenter, source, precision.n, seed)
    if as_json:
        compared = None if diagnostics is None else _document(diagnostics)
        print_json({"method": method, **_document(precision), "compared": compared})
    elif not precision.n:
        reason = _reason(options, augmenter, train)
        say(f"{method} generates no triple for this graph{reason}: there is nothing to estimate")
    else:
        _show(precision, diagnostics, method, is_given=completeness is not None)


def _document(result: na.PrecisionEstimate | Diagnostics) -> dict[str, Any]:
    """Return a result for machines; what is a fraction of no triples is null."""
    values = asdict(result)
    if result.n:
        return values
    return {
        name: None if isinstance(value, float) and name not in KNOWN else value for name, value in values.items()
    }


def _reason(options: MethodOptions, augmenter: na.Augmenter[na.Distribution], train: na.KnowledgeGraph) -> str:
    """Say what was skipped when the rules were mined, which are mined again for this."""
    with warnings.catch_warnings(action="ignore"):
        skipped = options.skipped(augmenter.fit(train)) if options.is_by_rules else []
    return f" ({'; '.join(skipped)})" if skipped else ""


def _diagnose(
    augmenter: na.Augmenter[na.Distribution], source: na.Splits | na.KnowledgeGraph, n: int, seed: int
) -> Diagnostics | None:
    """Compare the same triples with valid and test, if there are any."""
    if not isinstance(source, na.Splits):
        return None
    listed = na.Listed.of(augmenter.fit(source.train, seed=seed), n, seed=seed)
    return na.diagnose(listed.top(min(n, listed.n_new)).graph, source)


def _show(
    precision: na.PrecisionEstimate, diagnostics: Diagnostics | None, method: MethodName, *, is_given: bool
) -> None:
    rating = "probability" if method in CALIBRATED_METHODS else "confidence"
    names = (rating, "triples", "recovered", "precision")
    columns: list[tuple[str, Justify]] = [(name, "right") for name in names]
    rows = [_band_row(band) for band in precision.bands]
    output().print(table(f"{method}, {count(precision.n, 'triple')}", columns, rows))
    origin = _origin(precision.completeness, is_given=is_given)
    interval = f"95% interval {precision.low:.1%} to {precision.high:.1%}"
    lines = [
        f"Estimated precision {precision.precision:.1%} ({interval}), if train holds {precision.completeness:.1%} "
        f"of all true facts ({origin})."
    ]
    if diagnostics is not None:
        lines.append(_confirmed(diagnostics))
    print_lines(lines)


def _confirmed(diagnostics: Diagnostics) -> str:
    """Report how many triples occur in valid or test."""
    return (
        f"{diagnostics.confirmed:.1%} occur in valid or test (reported only, not used in the estimate): "
        f"{_times(diagnostics.lift_over_typed)} the rate of typed random triples, "
        f"{_times(diagnostics.lift_over_random)} that of uniform random triples."
    )


def _band_row(band: Band) -> list[str]:
    confidence = f"{band.low:.3g} to {band.high:.3g}"
    recovered = f"{band.recovered:,} of {band.listed:,}"
    return [confidence, f"{band.n:,}", recovered, f"{band.precision:.3f}"]


def _origin(completeness: float, *, is_given: bool) -> str:
    from nnmfaug.quality.completeness import DEFAULT_COMPLETENESS, MIN_COMPLETENESS

    if is_given:
        return "as given"
    if completeness == DEFAULT_COMPLETENESS:
        return "an assumption: rules recover too few triples to estimate it"
    if completeness == MIN_COMPLETENESS:
        return "an assumption: no rule has enough confidence to estimate it"
    return "estimated from the highest-confidence rules"


def _times(lift: float | None) -> str:
    if lift is None:
        return "incomparable with"
    return f"{lift:,.0f}×" if lift >= MANY else f"{lift:.2g}×"
