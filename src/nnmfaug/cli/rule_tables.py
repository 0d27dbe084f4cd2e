"""Rules for people: a table, or with examples a block of lines for each rule."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from nnmfaug.cli.console import Justify, table

if TYPE_CHECKING:
    from rich.table import Table

RuleRow = dict[str, Any]
COLUMNS = ("confidence", "support", "pairs", "kind", "rule")
N_NUMBERS = 3
"""Number of columns with numbers, which are the first."""
INDENT = 4
"""Number of spaces before an example; the lines that continue it have so many more."""


def rule_table(rows: list[RuleRow]) -> Table:
    """Make a table of rules."""
    columns: list[tuple[str, Justify]] = [
        (name, "right" if place < N_NUMBERS else "left") for place, name in enumerate(COLUMNS)
    ]
    return table("rules", columns, [_cells(row) for row in rows])


def explained_lines(rows: list[RuleRow], width: int) -> Iterator[str]:
    """Yield each rule, and below it its examples, indented; a line is longer than the width if a word is."""
    lines = [list(COLUMNS), *map(_cells, rows)]
    widths = [max(len(cells[place]) for cells in lines) for place in range(len(COLUMNS))]
    yield _aligned(lines[0], widths)
    for row, cells in zip(rows, lines[1:], strict=True):
        text = _aligned(cells, widths)
        yield from _wrapped(text, width, "", len(text) - len(cells[-1]) + INDENT)
        for name, place in (("examples", "in train"), ("counter_examples", "not in train")):
            for example in row[name]:
                yield from _wrapped(f"{place}: {_atoms(example)}", width, " " * INDENT, 2 * INDENT)


def _cells(row: RuleRow) -> list[str]:
    return [f"{row['confidence']:.3f}", f"{row['support']:,}", f"{row['pairs']:,}", row["kind"], row["rule"]]


def _aligned(cells: list[str], widths: list[int]) -> str:
    """Join cells, numbers on the right of their columns."""
    parts = [
        cell.rjust(width) if place < N_NUMBERS else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return f" {'  '.join(parts)}".rstrip()


def _wrapped(text: str, width: int, indent: str, indent_below: int) -> list[str]:
    """Break a text at spaces; the lines below the first have their own indent."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=" " * indent_below,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
        expand_tabs=False,
    )


def _atoms(example: dict[str, Any]) -> str:
    """Spell an example as a rule without variables."""
    head, *body = [f"{relation}({h}, {t})" for h, relation, t in (example["triple"], *example["body"])]
    return f"{head} ← {', '.join(body) or 'true'}"
