"""The command that shows the rules of a graph, with examples, and writes them as text."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

import nnmfaug as na
from nnmfaug.cli.console import count, output, print_json, print_lines, progress, say
from nnmfaug.cli.engine_options import Workers
from nnmfaug.cli.method_options import BUDGET_HELP, DEFAULT_BUDGET
from nnmfaug.cli.reading import AsJson, Graph, Overwrite, Reading, parse_number, protect, train_of
from nnmfaug.cli.rule_tables import RuleRow, explained_lines, rule_table
from nnmfaug.cli.skipped import Skipped
from nnmfaug.core.checks import unknown_name
from nnmfaug.io.preflight import check_files

if TYPE_CHECKING:
    from nnmfaug.augmenters.rules.constant_rules import ConstantRules
    from nnmfaug.augmenters.rules.path_rules import PathRules
    from nnmfaug.core.arrays import Bools, Places

USUAL = "usual"
"""The kind of rules without a body; they conclude the usual end of a relation, but only in answers to queries."""

Depth = Annotated[
    int,
    typer.Option(
        min=1,
        max=4,
        metavar="N",
        help="Length of the longest rule body; 3 suits graphs with a few dozen relations, 4 is for tiny graphs.",
    ),
]
Budget = Annotated[
    str,
    typer.Option(metavar="N", help=BUDGET_HELP),
]
MaxRules = Annotated[
    str,
    typer.Option(
        metavar="N",
        help="Maximum number of paths, and of rules with constants; those of the highest confidence are kept.",
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="Only rules of this kind: path, r(x, y) ← b(x, y); head, r(x, c) ← b(x); tail, r(c, x) ← b(x); "
        "usual, r(x, c) ← true, the usual end of a relation, which only answers queries that no other rule "
        "answers and concludes no triple. Repeatable. Default: all but usual.",
    ),
]
Relations = Annotated[
    list[str] | None,
    typer.Option("--relation", metavar="NAME", help="Only rules for this relation. Repeatable."),
]
Constants = Annotated[
    list[str] | None,
    typer.Option("--constant", metavar="NAME", help="Only rules in which this entity occurs. Repeatable."),
]
MinSupport = Annotated[
    int,
    typer.Option(min=1, metavar="N", help="Minimum support: number of train triples that a rule explains."),
]
Explain = Annotated[
    bool,
    typer.Option(
        "--explain",
        help="Show three conclusions of each rule that are in train, and three that are not, with the train "
        "triples they follow from.",
    ),
]
Export = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Also write all these rules to a file, in the format of AnyBURL."),
]


def rules(
    graph: Graph,
    reading: Reading,
    workers: Workers,
    depth: Depth = 2,
    budget: Budget = DEFAULT_BUDGET,
    max_rules: MaxRules = "1M",
    no_constants: Annotated[bool, typer.Option("--no-constants", help="Mine no rules with constants.")] = False,
    kinds: Kinds = None,
    relations: Relations = None,
    constants: Constants = None,
    min_support: MinSupport = 3,
    min_confidence: Annotated[float, typer.Option(metavar="X", help="Minimum confidence.")] = 0.05,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Number of rules to show.")] = 20,
    explain: Explain = False,
    export: Export = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Show the rules of train, highest confidence first.

    Of paths between the same pairs only the shortest is shown; of rules with constants whose bodies hold for the
    same entities, only one.
    """
    if not 0 < min_confidence <= 1:
        msg = f"--min-confidence {min_confidence:g}: must be above 0 and at most 1"
        raise ValueError(msg)
    most = parse_number(max_rules, "--max-rules")
    method = na.Rules(
        depth=depth,
        budget=parse_number(budget, "--budget"),
        max_rules=most,
        constants=not no_constants,
        max_constant_rules=most,
        min_support=min_support,
        min_confidence=min_confidence,
    )
    rule_kinds = _kinds(kinds)
    if no_constants:
        _refuse_constants(kinds, constants)
    if export is not None:
        check_files([export], overwrite=overwrite)
    source = reading.read(graph)
    train = train_of(source)
    relation_ids = _ids("relation", "--relation", relations, train.vocabulary.relation_ids)
    constant_ids = _ids("entity", "--constant", constants, train.vocabulary.entity_ids)
    with workers.in_use(), progress():
        rule_set = method.mine(train)
        chosen = _choose(rule_set, rule_kinds, relation_ids, constant_ids)
        if export is not None:
            protect(source, export)
            na.write_rules(rule_set, export, chosen=chosen, overwrite=overwrite)
    rows = [_rule_row(rule_set, rule, explain=explain) for rule in chosen[:top].tolist()]
    if as_json:
        file = {} if export is None else {"file": str(export)}
        print_json({"rules": rows, "found": len(chosen), **_left_out(rule_set), **file})
        return
    if rows and explain:
        print_lines(explained_lines(rows, output().width))
    elif rows:
        output().print(rule_table(rows))
    if export is not None:
        say(f"{export}: wrote {count(len(chosen), 'rule')}")
    is_filtered = bool(kinds or relations or constants)
    say(_summary(rule_set, len(chosen), len(rows), budget, is_filtered=is_filtered))


def _kinds(names: list[str] | None) -> list[str]:
    """Return the kinds of these names; if there are none, all that conclude triples."""
    from nnmfaug.augmenters.rules.rule_set import RULE_KINDS

    known = (*RULE_KINDS, USUAL)
    for name in names or ():
        if name not in known:
            raise ValueError(f"--kind: {unknown_name('kind', name, known)}")
    return names or list(RULE_KINDS)


def _refuse_constants(kinds: list[str] | None, constants: list[str] | None) -> None:
    """Raise if rules with constants are asked for, although none are mined."""
    kinds_of_constants = [f"--kind {kind}" for kind in kinds or () if kind != "path"]
    for option in [*kinds_of_constants, *(["--constant"] if constants else [])]:
        msg = f"--no-constants and {option} cannot be combined: leave out one of them"
        raise ValueError(msg)


def _ids(kind: str, option: str, names: list[str] | None, known: dict[str, int]) -> list[int] | None:
    """Return the ids of names; None if there is no such condition."""
    for name in names or ():
        if name not in known:
            raise ValueError(f"{option}: {unknown_name(kind, name, known)}")
    return [known[name] for name in names] if names else None


def _choose(
    rule_set: na.RuleSet,
    kinds: Collection[str],
    relations: list[int] | None,
    constants: list[int] | None,
) -> Places:
    """Return the numbers of the rules that meet the conditions, highest confidence first."""
    is_chosen = _of_kinds(rule_set, kinds)
    if relations is not None:
        is_chosen &= np.isin(rule_set.relation, relations)
    if constants is not None:
        is_chosen &= rule_set.mention(np.array(constants))
    order = rule_set.order()
    return order[is_chosen[order]]


def _of_kinds(rule_set: na.RuleSet, kinds: Collection[str]) -> Bools:
    """Return whether each rule is of one of some kinds; one without a body is of the kind usual alone."""
    from nnmfaug.augmenters.rules.rule_set import RULE_KINDS

    with_body = rule_set.of_kinds([kind for kind in RULE_KINDS if kind in kinds])
    return np.where(_is_usual(rule_set), USUAL in kinds, with_body)


def _is_usual(rule_set: na.RuleSet) -> Bools:
    """Return whether each rule has no body."""
    return np.append(np.zeros(len(rule_set.paths), dtype=np.bool_), ~rule_set.constants.table.has_body)


def _kind(rule_set: na.RuleSet, rule: int) -> str:
    number = rule - len(rule_set.paths)
    return USUAL if number >= 0 and not rule_set.constants.table.has_body[number] else rule_set.kind(rule)


def _rule_row(rule_set: na.RuleSet, rule: int, *, explain: bool) -> RuleRow:
    row: RuleRow = {
        "confidence": float(rule_set.confidence[rule]),
        "support": int(rule_set.support[rule]),
        "pairs": int(rule_set.sizes[rule]),
        "kind": _kind(rule_set, rule),
        "rule": rule_set.describe(rule),
    }
    return {**row, **_examples(rule_set, rule)} if explain else row


def _examples(rule_set: na.RuleSet, rule: int) -> RuleRow:
    from nnmfaug.augmenters.rules.examples import find_examples

    examples = find_examples(rule_set, rule)
    return {name: [example._asdict() for example in part] for name, part in examples._asdict().items()}


def _left_out(rule_set: na.RuleSet) -> dict[str, Any]:
    """Count what was left out, for machines."""
    parts: dict[str, PathRules | ConstantRules] = {"paths": rule_set.paths, "constants": rule_set.constants}
    return {
        "skipped_bodies": rule_set.skipped,
        "dropped": rule_set.dropped + rule_set.cut,
        "redundant": rule_set.dropped,
        "beyond_limit": rule_set.cut,
        "lowest_kept": {name: _lowest_kept(part) if part.table.cut else None for name, part in parts.items()},
    }


def _summary(rule_set: na.RuleSet, n: int, n_shown: int, budget: str, *, is_filtered: bool) -> str:
    """Report how many rules there are, and what was left out, which is counted before they are filtered."""
    clauses = [count(n, "rule")]
    if n > n_shown:
        clauses.append(f"showing the {n_shown} with the highest confidence")
    left_out = _left_out_clauses(rule_set, budget)
    if left_out and is_filtered:
        left_out[0] = f"before filtering, {left_out[0]}"
    return "; ".join([*clauses, *left_out])


def _left_out_clauses(rule_set: na.RuleSet, budget: str) -> list[str]:
    clauses = Skipped.of(rule_set).clauses(budget)
    if rule_set.dropped:
        verb = "says" if rule_set.dropped == 1 else "say"
        clauses.append(f"left out {count(rule_set.dropped, 'rule')} that {verb} the same as others")
    for name, part in (("path", rule_set.paths), ("rule with constants", rule_set.constants)):
        if part.table.cut:
            clauses.append(_beyond_limit(part, name))
    return clauses


def _beyond_limit(part: PathRules | ConstantRules, name: str) -> str:
    """Report how many rules are beyond the best, and where these end."""
    names = name.replace("path", "paths").replace("rule", "rules")
    n_cut = count(part.table.cut, name, names)
    return (
        f"left out {n_cut} beyond the best {len(part):,}, whose lowest confidence is {_lowest_kept(part):.3f} "
        "(--max-rules)"
    )


def _lowest_kept(part: PathRules | ConstantRules) -> float:
    return float(part.confidence.min())
