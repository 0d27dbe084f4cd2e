"""Names in folders of splits: those that no line can contain, and those that the library would change."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path

from nnmfaug.core.errors import DataError
from nnmfaug.graph.vocabulary import LabelledTriple, Vocabulary
from nnmfaug.io.detect import opens_a_table

LINE_BREAKERS = re.compile(r"[\t\n\r]")


@dataclass(frozen=True)
class Trap:
    """Names that the reader of a library would change, and how."""

    pattern: re.Pattern[str]
    effect: str


TRAPS = {
    # PyKEEN 1.11 reads TSV with quotes: a name that begins with one merges the lines up to the next quote.
    "pykeen": Trap(
        re.compile(r'^"'),
        "PyKEEN's reader would merge lines; for PyKEEN, use na.to_pykeen; for other libraries, --layout openke",
    ),
    "dglke": Trap(
        re.compile(r"^\s|\s$"),
        "DGL-KE's reader would strip white space at the ends of a line; for DGL-KE, rename them",
    ),
}
"""Layout of text files → its trap."""


def check_names(vocabulary: Vocabulary, layout: str, path: Path) -> None:
    """Raise if a name contains a tab or line end; warn of names that the reader of a library would change.

    The reader of this package changes none of them.
    """
    names = (*vocabulary.entities, *vocabulary.relations)
    broken = [name for name in names if LINE_BREAKERS.search(name)]
    if broken:
        msg = f"{_some(broken)}: a tab or line end cannot be in a folder of splits; write .csv or .parquet"
        raise DataError(msg, path=path)
    trap = TRAPS.get(layout)
    trapped = [name for name in names if trap.pattern.search(name)] if trap else []
    if trap and trapped:
        warnings.warn(f"{path}: {_some(trapped)}: {trap.effect}", stacklevel=3)


def _some(names: list[str]) -> str:
    """Spell the first name and the number of the others."""
    others = len(names) - 1
    return f"the name {names[0]!r}" + (f" and {others} more like it" if others else "")


def order_rows(rows: list[LabelledTriple], path: Path) -> list[LabelledTriple]:
    """Return the rows of a split such that a reader does not take the first one for something else.

    Without a header, a first row such as ``from type to`` would be one. Folders are read sorted, so that the order
    of their rows means nothing: another row goes first. A header would be a triple to other libraries.
    """
    if _opens_a_table(rows):
        return rows
    place = next((place for place, row in enumerate(rows) if _is_plain(row)), 0)
    ordered = [rows[place], *rows[:place], *rows[place + 1 :]]
    if not _opens_a_table(ordered):
        msg = f"the triple {rows[0]!r} would not be read as a triple at the top of a file: use --layout openke"
        raise DataError(msg, path=path)
    return ordered


def _opens_a_table(rows: list[LabelledTriple]) -> bool:
    return opens_a_table("\t".join(row) + "\n" for row in rows)


def _is_plain(row: LabelledTriple) -> bool:
    """Whether a row decides alone how a file is read."""
    is_text = bool(row[0].strip()) and not row[0].startswith("#")
    return is_text and _opens_a_table([row])
