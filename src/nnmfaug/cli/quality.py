"""Commands that inspect before they add: the rules of a graph, and the estimated precision of a method."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

import nnmfaug as na
from nnmfaug.cli.console import Justify, count, notes_of_warnings, output, plain, print_json, progress, say, table
from nnmfaug.cli.method_options import METHOD_HELP, Amount, Clusters, Depth, MethodName, MethodOptions, Threshold
from nnmfaug.cli.reading import AsJson, Graph, Reading, train_of

if TYPE_CHECKING:
    from nnmfaug.quality.diagnostics import Diagnostics
    from nnmfaug.quality.precision import Band

MANY = 10
"""Ratios from here on are shown without decimals."""
RuleDepth = Annotated[
    int, typer.Option(min=1, max=3, help="Longest rule body; 3 suits graphs with a few dozen relations.")
]


def rules(
    graph: Graph,
    reading: Reading,
    depth: RuleDepth = 2,
    relation: Annotated[list[str] | None, typer.Option(help="Only rules for this relation. Repeatable.")] = None,
    min_support: Annotated[
        int, typer.Option(min=1, help="Minimum support: number of train triples that a rule explains.")
    ] = 3,
    min_confidence: Annotated[float, typer.Option(help="Minimum confidence.")] = 0.05,
    top: Annotated[int, typer.Option(min=1, help="Number of rules to show.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show the rules that hold in train (or the only graph), highest confidence first."""
    train = reading.read_train(graph)
    with progress():
        mined = na.Rules(depth=depth, min_support=min_support, min_confidence=min_confidence).mine(train)
    order = mined.order()
    if relation:
        ids = [_relation_id(name, train) for name in relation]
        order = order[np.isin(mined.table.heads[order], ids)]
    rows = [_rule_row(mined, i) for i in order[:top].tolist()]
    if as_json:
        print_json({"rules": rows, "found": len(order), "skipped_bodies": mined.skipped})
        return
    if rows:
        output().print(_rule_table(rows))
    more = f"; showing the {len(rows)} with the highest confidence" if len(order) > len(rows) else ""
    say(f"{count(len(order), 'rule')}{more}{_skipped(mined.skipped)}")


def estimate(
    graph: Graph,
    reading: Reading,
    method: Annotated[MethodName, typer.Option(help=METHOD_HELP)] = "auto",
    amount: Amount = None,
    completeness: Annotated[
        float | None,
        typer.Option(help="Fraction of all true facts that the graph holds, if known. Default: estimated."),
    ] = None,
    depth: Depth = None,
    threshold: Threshold = None,
    clusters: Clusters = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed. The same seed gives the same estimate.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Estimate from train alone how many generated triples are true; valid and test are reported only."""
    options = MethodOptions(method, depth, threshold, clusters)
    source = reading.read(graph)
    train = train_of(source)
    n = options.amount(amount, len(train))
    with progress(), notes_of_warnings():
        augmenter = options.augmenter(train)
        judged = na.estimate_precision(augmenter, train, n, seed=seed, completeness=completeness)
        checked = _check(augmenter, source, judged.n, seed) if isinstance(source, na.Splits) else None
    if as_json:
        compared = None if checked is None else asdict(checked)
        print_json({"method": method, **asdict(judged), "compared": compared})
    elif not judged.n:
        say(f"{method} gives no new triple for this graph: there is nothing to estimate")
    else:
        _show(judged, checked, method, is_given=completeness is not None)


def _relation_id(name: str, train: na.KnowledgeGraph) -> int:
    from nnmfaug.core.checks import unknown_name

    ids = train.vocabulary.relation_ids
    if name not in ids:
        raise ValueError(f"--relation: {unknown_name('relation', name, ids)}")
    return ids[name]


def _rule_row(mined: na.RuleSet, i: int) -> dict[str, float | int | str]:
    return {
        "confidence": float(mined.confidence[i]),
        "support": int(mined.table.support[i]),
        "pairs": int(mined.table.sizes[i]),
        "rule": mined.describe(i),
    }


def _rule_table(rows: list[dict[str, float | int | str]]) -> object:
    columns: list[tuple[str, Justify]] = [(name, "left" if name == "rule" else "right") for name in rows[0]]
    cells = [[f"{r['confidence']:.3f}", f"{r['support']:,}", f"{r['pairs']:,}", str(r["rule"])] for r in rows]
    return table("rules", columns, cells)


def _skipped(bodies: int) -> str:
    return f"; skipped {count(bodies, 'body', 'bodies')} with too many paths" if bodies else ""


def _check(augmenter: object, splits: na.Splits, n: int, seed: int) -> Diagnostics | None:
    """Compare the same triples with valid and test."""
    listed = na.Listed.of(augmenter.fit(splits.train, seed=seed), n, seed=seed)  # type: ignore[attr-defined]
    return na.diagnose(listed.top(min(n, listed.n_new)).graph, splits)


def _show(judged: na.PrecisionEstimate, checked: Diagnostics | None, method: str, *, is_given: bool) -> None:
    columns: list[tuple[str, Justify]] = [
        (name, "right") for name in ("confidence", "triples", "recovered", "precision")
    ]
    title = f"{method}, {count(judged.n, 'triple')}"
    output().print(table(title, columns, [_band_row(band) for band in judged.bands]))
    origin = _origin(judged.completeness, is_given=is_given)
    lines = [
        f"Estimated precision {judged.precision:.1%} (95% interval {judged.low:.1%} to {judged.high:.1%}), if "
        f"train holds {judged.completeness:.1%} of all true facts ({origin})."
    ]
    if checked is not None:
        lines.append(
            f"{checked.confirmed:.1%} occur in valid or test (reported only, not used in the estimate): "
            f"{_times(checked.lift_over_typed)} the rate of typed random triples, "
            f"{_times(checked.lift_over_random)} that of uniform random triples."
        )
    for line in lines:
        output().print(plain(line), markup=False, soft_wrap=True)


def _band_row(band: Band) -> list[str]:
    confidence = f"{band.low:.3g} to {band.high:.3g}"
    recovered = f"{band.recovered:,} of {band.listed:,}"
    return [confidence, f"{band.n:,}", recovered, f"{band.precision:.3f}"]


def _origin(completeness: float, *, is_given: bool) -> str:
    from nnmfaug.quality.completeness import DEFAULT_COMPLETENESS, MIN_COMPLETENESS

    if is_given:
        return "as given"
    if completeness in (MIN_COMPLETENESS, DEFAULT_COMPLETENESS):
        return "an assumption: no rule has enough confidence to estimate it"
    return "estimated from the highest-confidence rules"


def _times(lift: float | None) -> str:
    if lift is None:
        return "incomparable with"
    return f"{lift:,.0f}×" if lift >= MANY else f"{lift:.2g}×"
