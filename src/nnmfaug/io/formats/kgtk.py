"""KGTK: TSV with a header line, escapes, and values whose first character is their type."""

from __future__ import annotations

import re

from nnmfaug.core.errors import DataError
from nnmfaug.io.formats.dialect import KGTK_WORDS, Dialect, find_dialect
from nnmfaug.io.formats.scan import Scanner
from nnmfaug.io.input_file import InputFile
from nnmfaug.io.table import Interner, Table

LITERAL = re.compile(r"[\"'^@!]|[+-]?\.?[0-9]")
"""The beginning of a text, a date, a place, a number, or an extension."""
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
ESCAPED = {"t": "\t", "n": "\n", "r": "\r"}


def read_kgtk(file: InputFile) -> Table:
    """Read KGTK; the header line is required."""
    dialect = find_dialect(file, file.delimiter("\t"))
    if not dialect.header_line:
        raise DataError("KGTK needs a header line with node1, label and node2", path=file.shown, line=1)
    return collect_kgtk(file, dialect)


def is_kgtk(dialect: Dialect) -> bool:
    """Whether the header line is one of KGTK."""
    return dialect.header >= KGTK_WORDS


def collect_kgtk(file: InputFile, dialect: Dialect) -> Table:
    """Collect the triples between entities in the order of the file; statements with literals are counted."""
    rows = Interner()
    literal_filter = LiteralFilter(rows)
    scanner = Scanner(dialect, literal_filter.take, file.new_tally())
    with file.lines() as blocks:
        scanner.scan(blocks)
    return rows.table(scanner.report(file, "kgtk", literal_filter.count))


class LiteralFilter:
    """Adds triples between entities to ``rows``, and counts those with a literal."""

    def __init__(self, rows: Interner) -> None:
        self._rows = rows
        self.count = 0

    def take(self, fields: list[bytes], line: int) -> None:
        """Add or count one row."""
        head, relation, tail = (field.decode() for field in fields)
        if LITERAL.match(head) or LITERAL.match(tail):
            self.count += 1
        else:
            self._rows.add(unescape(head), unescape(relation), unescape(tail), line)


def unescape(name: str) -> str:
    r"""Undo KGTK's escapes.

    Examples
    --------
    >>> unescape(r"a\|b\\c")
    'a|b\\c'
    """
    if "\\" not in name:
        return name
    return ESCAPE.sub(lambda match: ESCAPED.get(match[1], match[1]), name)
