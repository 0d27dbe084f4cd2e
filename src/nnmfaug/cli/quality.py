"""The commands that look before they add: the rules of a graph, and how right a generator is."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import typer

import nnmfaug as na
from nnmfaug.cli.console import Justify, count, notes_of_warnings, output, plain, print_json, progress, say, table
from nnmfaug.cli.reading import AsJson, Graph, Reading, parse_amount

if TYPE_CHECKING:
    from nnmfaug.augmenters.base import Augmenter, Law
    from nnmfaug.quality.diagnostics import Diagnostics

Generator = Literal["rules", "nnmf", "typed", "random"]
MANY = 10
Depth = Annotated[int, typer.Option(min=1, max=3, help="Longest body of a rule; 3 is for a few dozen relations.")]


def rules(
    graph: Graph,
    reading: Reading,
    depth: Depth = 2,
    relation: Annotated[list[str] | None, typer.Option(help="Only rules for this; may be repeated.")] = None,
    min_support: Annotated[int, typer.Option(min=1, help="Least number of triples that a rule explains.")] = 3,
    min_confidence: Annotated[float, typer.Option(help="Least confidence.")] = 0.05,
    top: Annotated[int, typer.Option(min=1, help="How many to show, the surest first.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show the rules that hold in train (or the only graph), the surest first."""
    found = reading.read(graph)
    train = found.train if isinstance(found, na.Splits) else found
    with progress():
        mined = na.Rules(depth=depth, min_support=min_support, min_confidence=min_confidence).mine(train)
    order = mined.order()
    if relation:
        ids = [_relation_id(name, train) for name in relation]
        order = order[np.isin(mined.table.heads[order], ids)]
    support, sizes, confidence = mined.table.support, mined.table.sizes, mined.confidence
    rows = [
        (float(confidence[i]), int(support[i]), int(sizes[i]), mined.describe(i)) for i in order[:top].tolist()
    ]
    names = ("confidence", "support", "pairs", "rule")
    if as_json:
        listed = [dict(zip(names, row, strict=True)) for row in rows]
        print_json({"rules": listed, "found": len(order), "skipped_bodies": mined.skipped})
        return
    if rows:
        columns: list[tuple[str, Justify]] = [(name, "left" if name == "rule" else "right") for name in names]
        cells = [[f"{sure:.3f}", f"{hits:,}", f"{pairs:,}", rule] for sure, hits, pairs, rule in rows]
        output().print(table("rules", columns, cells))
    more = f"; the {len(rows)} surest shown" if len(order) > len(rows) else ""
    say(f"{count(len(order), 'rule')}{more}{_skipped(mined.skipped)}")


def estimate(
    graph: Graph,
    reading: Reading,
    method: Annotated[Generator, typer.Option(help="What makes the triples.")] = "rules",
    amount: Annotated[str, typer.Option(help="Share of train (10%) or number of triples.")] = "10%",
    completeness: Annotated[
        float | None, typer.Option(help="Share of all facts that the graph holds, if known; else estimated.")
    ] = None,
    depth: Annotated[int | None, typer.Option(min=1, max=3, help="For rules: longest body; else 2.")] = None,
    clusters: Annotated[int | None, typer.Option(min=1, help="For nnmf: number of clusters.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same estimate.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Estimate from train alone how many generated triples are true; valid and test are only compared with."""
    for option, value, owner in (("--depth", depth, "rules"), ("--clusters", clusters, "nnmf")):
        if value is not None and method != owner:
            msg = f"{option} is for --method {owner}, not for {method}: leave it out"
            raise ValueError(msg)
    found = reading.read(graph)
    train = found.train if isinstance(found, na.Splits) else found
    n = parse_amount(amount, len(train), "--amount")
    if n < 1:
        msg = f"--amount {amount}: of {count(len(train), 'triple')} that is less than one"
        raise ValueError(msg)
    generator = _generator(method, train, depth or 2, clusters)
    with progress(), notes_of_warnings():
        judged = na.estimate_precision(generator, train, n, seed=seed, completeness=completeness)
        checked = _check(generator, found, n, seed) if isinstance(found, na.Splits) else None
    if as_json:
        print_json({"method": method, **asdict(judged), "compared": None if checked is None else asdict(checked)})
        return
    _show(judged, checked, method, given=completeness is not None)


def _relation_id(name: str, train: na.KnowledgeGraph) -> int:
    if name not in train.vocabulary.relation_ids:
        msg = f"--relation {name}: the graph has no such relation"
        raise ValueError(msg)
    return train.vocabulary.relation_ids[name]


def _skipped(bodies: int) -> str:
    return f"; {count(bodies, 'body', 'bodies')} with too many paths left out" if bodies else ""


def _generator(name: Generator, train: na.KnowledgeGraph, depth: int, clusters: int | None) -> Augmenter[Law]:
    from nnmfaug.augmenters.nnmf.nnmfaug import default_clusters

    if name == "nnmf":
        return na.NNMFAug(cluster=na.Agglomerative(clusters or default_clusters(train)))
    others: dict[str, Augmenter[Law]] = {
        "rules": na.Rules(depth=depth),
        "typed": na.TypedTriples(),
        "random": na.RandomTriples(),
    }
    return others[name]


def _check(generator: Augmenter[Law], splits: na.Splits, n: int, seed: int) -> Diagnostics:
    """What valid and test say of the same triples."""
    from nnmfaug.quality.diagnostics import diagnose
    from nnmfaug.quality.precision import as_listed

    listed = as_listed(generator.fit(splits.train, seed=seed), n, seed=seed)
    return diagnose(listed.top(min(n, listed.n_new)).graph, splits)


def _show(judged: na.PrecisionEstimate, checked: Diagnostics | None, method: str, *, given: bool) -> None:
    from nnmfaug.quality.completeness import DEFAULT_COMPLETENESS, MIN_COMPLETENESS

    if not judged.n:
        say(f"{method} finds no new triple in this graph: there is nothing to estimate")
        return
    columns: list[tuple[str, Justify]] = [
        (name, "right") for name in ("confidence", "triples", "recovered", "true")
    ]
    rows = [
        [f"{b.low:.3g} to {b.high:.3g}", f"{b.n:,}", f"{b.recovered:,} of {b.listed:,}", f"{b.precision:.3f}"]
        for b in judged.bands
    ]
    output().print(table(f"{method}, {count(judged.n, 'triple')}", columns, rows))
    how = "as given" if given else "as the surest rules suggest"
    if not given and judged.completeness in (MIN_COMPLETENESS, DEFAULT_COMPLETENESS):
        how = "an assumption; no rule here is sure enough to tell"
    lines = [
        f"About {judged.precision:.1%} of them are true ({judged.low:.1%} to {judged.high:.1%}), if train holds "
        f"{judged.completeness:.1%} of all facts, {how}."
    ]
    if checked is not None:
        lines.append(
            f"In valid or test are {checked.confirmed:.1%} (told, not used; a true fact that is in neither counts "
            f"as false): {_times(checked.lift_over_typed)} as often as typed triples, "
            f"{_times(checked.lift_over_random)} as random ones."
        )
    for line in lines:
        output().print(plain(line), markup=False, soft_wrap=True)


def _times(lift: float | None) -> str:
    if lift is None:
        return "not to be compared"
    return f"{lift:,.0f} times" if lift >= MANY else f"{lift:.2g} times"
