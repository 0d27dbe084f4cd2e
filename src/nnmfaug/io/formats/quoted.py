"""CSV with quotes, as in RFC 4180; quotes that break the standard are part of the name."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from nnmfaug.io.formats.dialect import find_dialect
from nnmfaug.io.formats.scan import Scanner, row_adder
from nnmfaug.io.input_file import InputFile
from nnmfaug.io.table import Interner, Table

MAX_RECORD_LINES = 64
"""A quote that is not closed within this number of lines does not open a quoted field."""


def read_quoted(file: InputFile, delimiter: bytes) -> Table:
    """Read CSV with quotes, in the order of the file."""
    parser = RecordParser(delimiter)
    dialect = find_dialect(file, delimiter, parser.split)
    rows = Interner()
    scanner = Scanner(dialect, row_adder(rows), file.new_tally())
    with file.text() as blocks:
        scan_quoted(blocks, parser, scanner)
    return rows.table(scanner.report(file, "csv"))


def scan_quoted(blocks: Iterator[bytes], parser: RecordParser, scanner: Scanner) -> None:
    """Scan rows that may span lines, since a quoted field may contain line ends."""
    source = scanner.tally.watch(physical_lines(blocks, scanner.dialect.max_line))
    lines: list[bytes] = []
    while True:
        if len(lines) < MAX_RECORD_LINES:
            lines += itertools.islice(source, 2 * MAX_RECORD_LINES)
        if not lines:
            return
        n_lines = _count_empty(lines)
        if n_lines:
            scanner.tally.take("blank", n_lines=n_lines)
        else:
            n_lines, fields = parser.parse(lines, scanner.dialect.n_columns)
            text = b"".join(lines[:n_lines]).rstrip(b"\r\n")
            scanner.scan_row(text, fields, n_lines)
        del lines[:n_lines]


def _count_empty(lines: list[bytes]) -> int:
    """Count the empty lines at the front."""
    if lines[0].strip(b"\r\n"):
        return 0
    first_text = (number for number, line in enumerate(lines) if line.strip(b"\r\n"))
    return next(first_text, len(lines))


@dataclass
class _Row:
    """The fields of a row so far, and the lines of the quoted field that is still open."""

    fields: list[bytes] = field(default_factory=list)
    open_lines: list[bytes] = field(default_factory=list)

    def close(self, text: bytes) -> None:
        """Add a quoted field that ends with ``text``."""
        if self.open_lines:
            text = b"".join((*self.open_lines, text))
            self.open_lines.clear()
        self.fields.append(text.replace(b'""', b'"'))


class RecordParser:
    """Splits lines into the fields of RFC 4180; a stray quote stays in its row."""

    def __init__(self, delimiter: bytes) -> None:
        escaped = re.escape(delimiter)
        end_of_field = rb"(?=" + escaped + rb"|[\r\n]*\Z)"
        inside_quotes = rb'"([^"]*+(?:""[^"]*+)*+)'
        self._quoted = re.compile(inside_quotes + rb'"' + end_of_field)
        self._open = re.compile(inside_quotes + rb"\Z")
        self._delimiter = delimiter

    def parse(self, lines: list[bytes], n_columns: int) -> tuple[int, list[bytes]]:
        """Take one row from the front of lines; return the number of lines it spans, and its fields.

        A row spans lines only if it then has ``n_columns``. Each line is looked at once: a row with too many
        fields, or with a quote inside a field, is given up at that line.
        """
        row = _Row()
        for n_lines, line in enumerate(itertools.islice(lines, MAX_RECORD_LINES), start=1):
            if not self._extend(row, line):
                break
            if not row.open_lines:
                if n_lines == 1 or len(row.fields) == n_columns:
                    return n_lines, row.fields
                break
            if len(row.fields) >= n_columns:
                break
        return 1, self._split_loosely(lines[0].rstrip(b"\r\n"))

    def split(self, line: bytes) -> list[bytes]:
        """Split one line into its fields."""
        _, fields = self.parse([line], 1)
        return fields

    def _extend(self, row: _Row, line: bytes) -> bool:
        """Add the fields of the next line to a row; False if a quote in it breaks the standard."""
        text = b'"' + line if row.open_lines else line
        end = len(text.rstrip(b"\r\n"))
        place = 0
        while place <= end:
            if not text.startswith(b'"', place):
                stop = self._end_of_plain(text, place, end)
                row.fields.append(text[place:stop])
            elif match := self._quoted.match(text, place):
                row.close(match[1])
                stop = match.end()
            elif match := self._open.match(text, place):
                row.open_lines.append(match[1])
                return True
            else:
                return False
            place = stop + 1
        return True

    def _split_loosely(self, line: bytes) -> list[bytes]:
        """Split one line; a quote that breaks the standard is part of its field."""
        fields = []
        place = 0
        while place <= len(line):
            match = self._quoted.match(line, place)
            stop = match.end() if match else self._end_of_plain(line, place, len(line))
            fields.append(match[1].replace(b'""', b'"') if match else line[place:stop])
            place = stop + 1
        return fields

    def _end_of_plain(self, text: bytes, place: int, end: int) -> int:
        """Return the place of the next delimiter, or the end."""
        stop = text.find(self._delimiter, place, end)
        return end if stop < 0 else stop


def physical_lines(blocks: Iterator[bytes], max_line: int) -> Iterator[bytes]:
    """Yield lines with their line ends, which may belong to a quoted field."""
    rest = b""
    for block in blocks:
        lines = (rest + block).splitlines(keepends=True)
        rest = lines.pop() if lines else b""
        yield from lines
        if len(rest) > max_line and not rest.endswith((b"\r", b"\n")):
            rest = rest[: max_line + 1]
    yield from rest.splitlines(keepends=True)
