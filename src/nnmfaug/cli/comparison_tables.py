"""What ``nnmfaug compare`` prints: a table for each kind of ranks, a sentence for each arm, strata, notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nnmfaug as na
from nnmfaug.cli.console import Justify, count, output, print_lines, table

if TYPE_CHECKING:
    from rich.table import Table

    from nnmfaug.evaluation.comparison import Comparison
    from nnmfaug.evaluation.metrics import Kind

MARKS = {"better": " ▲", "worse": " ▼", "no difference shown": "  "}
NO_MARK = "  "
STRATA = {"by_seen": "{}", "by_derivable": "{}", "by_degree": "rarer entity in {} train triples"}
"""The keys of the groups that are shown, and how their names are."""


def show_comparison(
    runs: Sequence[na.Run],
    comparisons: Mapping[Kind, Comparison],
    document: Mapping[str, Any],
    title: str,
    folder: Path,
    *,
    raw: bool,
) -> None:
    """Print a table for each kind of ranks, the verdict on each arm, its MRR by strata, and notes."""
    from nnmfaug.evaluation.sentences import left_out, notes, sentence

    n_seeds = count(len({run.seed for run in runs}), "seed")
    kinds: tuple[Kind, ...] = ("filtered", "raw") if raw else ("filtered",)
    for kind in kinds:
        output().print(_table(runs, comparisons.get(kind), f"{title}, {n_seeds}, {kind}", kind))
    all_notes = [*notes(runs), *left_out(runs, folder)]
    filtered = comparisons.get("filtered")
    if filtered is not None:
        output().print()
        print_lines([*sentence(filtered).splitlines(), "", document["advice"]])
        output().print()
        output().print(_strata_table(document, filtered))
        output().print()
        all_notes = [*filtered.notes, *all_notes]
    print_lines(f"note: {note}" for note in all_notes)


def _table(runs: Sequence[na.Run], comparison: Comparison | None, title: str, kind: Kind) -> Table:
    """Show for each arm the number of added triples, its mean metrics, and a mark where they differ."""
    from nnmfaug.evaluation.metrics import METRICS

    columns: list[tuple[str, Justify]] = [("arm", "left"), ("added", "right")]
    columns += [(metric, "right") for metric in METRICS]
    rows = []
    for arm in dict.fromkeys(run.arm for run in runs):
        runs_of_arm = [run for run in runs if run.arm == arm]
        cells = [_cell(runs_of_arm, comparison, metric, kind) for metric in METRICS]
        rows.append([arm, f"{runs_of_arm[0].n_extra:,}", *cells])
    legend = " (▲ better, ▼ worse than baseline)" if comparison else ""
    return table(title + legend, columns, rows)


def _strata_table(document: Mapping[str, Any], comparison: Comparison) -> Table:
    """Show the MRR of each arm on groups of test triples, by what train contains about them."""
    columns: list[tuple[str, Justify]] = [("test triples", "left"), ("number", "right")]
    columns += [(arm, "right") for arm in (comparison.baseline, *comparison.arms)]
    rows = []
    for name, group in _strata(document):
        differences = group["differences"]
        means = [differences[0]["baseline_mean"], *(each["mean"] for each in differences)]
        rows.append([name, f"{group['n_triples']:,}", *(f"{mean:.4f}" for mean in means)])
    return table("filtered MRR by what train contains about a test triple", columns, rows, wrap=True)


def _strata(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the groups of test triples with the names that they have in the table."""
    for key, words in STRATA.items():
        for group in document.get(key, ()):
            yield words.format(group["name"]), group


def _cell(runs: Sequence[na.Run], comparison: Comparison | None, metric: str, kind: Kind) -> str:
    from nnmfaug.evaluation.metrics import summary

    values = [summary(run.ranks.of_kind(kind))[metric] for run in runs]
    mean = sum(values) / len(values)
    mark = NO_MARK
    if comparison is not None and runs[0].arm in comparison.arms:
        mark = MARKS[comparison.row(runs[0].arm, metric).verdict]
    return f"{mean:.1f}{mark}" if metric == "mr" else f"{mean:.4f}{mark}"
