"""Output for people and machines: tables, notes, progress. Control characters in names are spelled out."""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, NoReturn

from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from nnmfaug.core.progress import reporting_to

if TYPE_CHECKING:
    from rich.progress import TaskID

Justify = Literal["left", "right"]
PATIENCE = 2.0
"""Seconds of work before progress is shown."""
INTERVAL = 10.0
"""Seconds between two lines of progress."""


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


def print_lines(lines: Iterable[str]) -> None:
    """Write sentences to standard output, one per line."""
    for line in lines:
        output().print(plain(line), markup=False, soft_wrap=True)


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


def table(
    title: str, columns: Sequence[tuple[str, Justify]], rows: Sequence[Sequence[str]], *, wrap: bool = False
) -> Table:
    """Make a table; cells are text, never markup.

    On a narrow terminal text is cut, or wrapped if so wished; then numbers, which are on the right, stay whole.
    """
    heading = Text(plain(title), style="bold")
    grid = Table(title=heading, title_justify="left", header_style="bold", box=None)
    for place, (name, justify) in enumerate(columns):
        cells = [row[place] for row in rows] if justify == "right" else []
        width = max(map(len, [name, *cells]))
        no_wrap = not wrap or justify == "right"
        grid.add_column(name, justify=justify, overflow="ellipsis", no_wrap=no_wrap, min_width=width)
    for row in rows:
        grid.add_row(*(Text(plain(cell)) for cell in row))
    return grid


@contextmanager
def notes_of_warnings() -> Iterator[None]:
    """Write the warnings of the ``with`` block as notes, each once, also before an error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for message in dict.fromkeys(str(warning.message) for warning in caught):
                say(f"note: {message}")


@contextmanager
def progress() -> Iterator[None]:
    """Show the progress of work that takes longer than two seconds: a bar on a terminal, lines elsewhere."""
    display = _Display()
    try:
        with reporting_to(display.show):
            yield
    finally:
        display.stop()


class _Display:
    """The progress of tasks, each known by its name."""

    def __init__(self) -> None:
        self.bar = Progress(console=Console(stderr=True), transient=True)
        self.rows: dict[str, TaskID] = {}
        self.starts: dict[str, tuple[float, int]] = {}
        self.started = time.monotonic()
        self.last_line = self.started + PATIENCE - INTERVAL  # so that the first line is not delayed further

    def show(self, task: str, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` is done, unless it is too early or too soon after the last line."""
        now = time.monotonic()
        begins = task not in self.starts or done <= self.starts[task][1]
        if begins:
            self.starts[task] = (now, done)
        if now - self.started < PATIENCE:
            return
        if self.bar.console.is_terminal:
            self._draw(task, done, total)
        elif now - self.last_line >= INTERVAL:
            self.last_line = now
            fraction = done / max(total, 1)
            say(f"{task}: {fraction:.0%}{self._time_left(task, now, done, total)}")

    def stop(self) -> None:
        """Remove the bar."""
        if self.rows:
            self.bar.stop()

    def _draw(self, task: str, done: int, total: int) -> None:
        self.bar.start()
        if task not in self.rows:
            text = plain(task).replace("[", r"\[")  # a name is text, never markup
            self.rows[task] = self.bar.add_task(text, total=total)
        self.bar.update(self.rows[task], completed=done, total=total)

    def _time_left(self, task: str, now: float, done: int, total: int) -> str:
        """Estimate the time left from the time per step so far."""
        start, done_at_start = self.starts[task]
        if done <= done_at_start or now - start < 1:
            return ""
        seconds_per_step = (now - start) / (done - done_at_start)
        return f", {roughly(seconds_per_step * (total - done))} left"
