"""What a person sees: tables, notes, progress. Control characters in names from files are spelled out."""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, NoReturn

from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from nnmfaug.core.progress import reporting_to

if TYPE_CHECKING:
    from rich.progress import TaskID

    from nnmfaug.graph.describe import GraphStats, SplitStats

Justify = Literal["left", "right"]


def plain(text: str) -> str:
    r"""Spell out characters that a terminal would obey or hide.

    Examples
    --------
    >>> plain("a\x1b[31mb\u202ec é")
    'a\\x1b[31mb\\u202ec é'
    """
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Spell a number with its noun.

    Examples
    --------
    >>> count(1, "entity", "entities"), count(2_000, "triple")
    ('1 entity', '2,000 triples')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def say(message: str) -> None:
    """Write a message for people, beside the output that machines may read."""
    print(plain(message), file=sys.stderr)  # noqa: T201


def fail(message: str, code: int) -> NoReturn:
    """Write an error message and exit: 1 when something could not be done, 2 when the input was bad."""
    say(f"error: {message}")
    sys.exit(code)


def print_json(value: object) -> None:
    """Write a value for machines."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def roughly(seconds: float) -> str:
    """Spell a time with one unit.

    Examples
    --------
    >>> roughly(3.44), roughly(200), roughly(9000)
    ('3 s', '3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def output() -> Console:
    """Make a console for standard output; when that is not a terminal, wide enough for names."""
    console = Console(highlight=False)
    return console if console.is_terminal or "COLUMNS" in os.environ else Console(highlight=False, width=160)


def table(title: str, columns: Sequence[tuple[str, Justify]], rows: Sequence[Sequence[str]]) -> Table:
    """Make a table; cells are text, never markup."""
    made = Table(title=Text(plain(title), style="bold"), title_justify="left", header_style="bold", box=None)
    for name, justify in columns:
        made.add_column(name, justify=justify, overflow="ellipsis", no_wrap=True, min_width=len(name))
    for row in rows:
        made.add_row(*(Text(plain(cell)) for cell in row))
    return made


def show_stats(stats: GraphStats, console: Console, n_relations: int) -> None:
    """Print sizes, warnings, and the largest relations."""
    console.print(
        Text.assemble(
            (plain(stats.name), "bold"),
            f": {count(stats.n_entities, 'entity', 'entities')}, {count(stats.n_relations, 'relation')}, "
            f"{count(stats.distinct_rows, 'distinct (A, B) row')}, {count(stats.support, 'reachable triple')}\n",
        )
    )
    columns: list[tuple[str, Justify]] = [("split", "left")]
    columns += [(name, "right") for name in ("lines", "triples", "repeats", "loops", "unseen")]
    columns += [("with unseen", "right"), ("reachable", "right"), ("also in", "left")]
    console.print(table("splits", columns, [_split_row(split) for split in stats.splits]))
    if n_relations and stats.relations:
        console.print()
        console.print(_relation_table(stats, n_relations))


def _split_row(split: SplitStats) -> list[str]:
    numbers = (
        split.lines,
        split.triples,
        split.duplicates,
        split.self_loops,
        split.unseen_entities,
        split.with_unseen,
    )
    leaks = ", ".join(f"{other}: {count:,}" for other, count in split.leaked.items() if count)
    reachable = f"{split.reachable:,} of {split.new:,}" if split.new else ""
    return [split.name, *(f"{number:,}" for number in numbers), reachable, leaks]


def _relation_table(stats: GraphStats, limit: int) -> Table:
    shown = stats.relations[:limit]
    title = (
        "relations of train"
        if len(shown) == len(stats.relations)
        else (f"relations of train, the largest {len(shown)} of {len(stats.relations)} (--relations shows more)")
    )
    columns: list[tuple[str, Justify]] = [("relation", "left")]
    columns += [(name, "right") for name in ("triples", "heads", "tails", "tails/head", "heads/tail", "symmetric")]
    columns += [("inverse", "left")]
    rows = [
        [
            r.name,
            *(f"{number:,}" for number in (r.triples, r.heads, r.tails)),
            f"{r.tails_per_head:.2f}",
            f"{r.heads_per_tail:.2f}",
            f"{r.symmetric:.0%}",
            f"{r.inverse} {r.inverse_fraction:.0%}" if r.inverse and r.inverse_fraction >= 0.1 else "",
        ]
        for r in shown
    ]
    return table(title, columns, rows)


@contextmanager
def notes_of_warnings() -> Iterator[None]:
    """Say what Python would show as a warning with a line of code, once each, as a note."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        say(f"note: {message}")


@contextmanager
def progress() -> Iterator[None]:
    """Show progress of anything that takes longer than two seconds: a bar on a terminal, lines elsewhere."""
    bar = Progress(console=Console(stderr=True), transient=True)
    started = time.monotonic()
    spoken = started - 8.0  # the first line after two seconds, then one every ten
    tasks: dict[str, TaskID] = {}
    first: dict[str, tuple[float, int]] = {}

    def show(task: str, done: int, total: int) -> None:
        nonlocal spoken
        now = time.monotonic()
        if task not in first or done <= first[task][1]:  # it begins, or begins again
            first[task] = (now, done)
        if now - started < 2:
            return
        if not bar.console.is_terminal:
            if now - spoken >= 10:
                spoken = now
                say(f"{task}: {done / max(total, 1):.0%}{_left(*first[task], now, done, total)}")
            return
        bar.start()
        if task not in tasks:
            tasks[task] = bar.add_task(plain(task).replace("[", r"\["), total=total)
        bar.update(tasks[task], completed=done, total=total)

    try:
        with reporting_to(show):
            yield
    finally:
        if tasks:
            bar.stop()


def _left(since: float, before: int, now: float, done: int, total: int) -> str:
    """How long a task will take, judged by how long it took so far."""
    if done <= before or now - since < 1:
        return ""
    return f", {roughly((now - since) / (done - before) * (total - done))} left"
