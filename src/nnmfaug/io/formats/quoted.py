"""CSV with quotes, as in RFC 4180; quotes that break the standard are part of the name."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
    scanner = Scanner(dialect, row_adder(rows))
    with file.text() as blocks:
        scan_quoted(blocks, parser, scanner)
    return rows.table(scanner.report(file, "csv"))


def scan_quoted(blocks: Iterator[bytes], parser: RecordParser, scanner: Scanner) -> None:
    """Scan rows that may span lines, since a quoted field may contain line ends."""
    source = physical_lines(blocks, scanner.dialect.max_line)
    lines: list[bytes] = []
    while True:
        while len(lines) < MAX_RECORD_LINES and (line := next(source, None)) is not None:
            lines.append(line)
        if not lines:
            return
        n_lines, fields = parser.parse(lines, scanner.dialect.n_columns)
        text = b"".join(lines[:n_lines]).rstrip(b"\r\n")
        scanner.scan_row(text, fields, n_lines)
        del lines[:n_lines]


class RecordParser:
    """Splits lines into the fields of RFC 4180; a stray quote stays in its row."""

    def __init__(self, delimiter: bytes) -> None:
        escaped = re.escape(delimiter)
        end_of_field = rb"(?=" + escaped + rb"|\Z)"
        self._quoted = re.compile(rb'"([^"]*(?:""[^"]*)*)"' + end_of_field)
        self._plain = re.compile(rb"[^\r\n" + escaped + rb"]*" + end_of_field)

    def parse(self, lines: list[bytes], n_columns: int) -> tuple[int, list[bytes]]:
        """Take one row from the front of lines; return the number of lines it spans, and its fields."""
        first = lines[0].rstrip(b"\r\n")
        fields = self._fields(first, strict=True)
        if fields is not None:
            return 1, fields
        text = lines[0]
        for n_lines, line in enumerate(lines[1:], start=2):
            text += line
            fields = self._fields(text.rstrip(b"\r\n"), strict=True)
            if fields is not None and len(fields) == n_columns:
                return n_lines, fields
        return 1, self._fields(first, strict=False) or [first]

    def split(self, line: bytes) -> list[bytes]:
        """Split one line into its fields."""
        _, fields = self.parse([line], 1)
        return fields

    def _fields(self, text: bytes, *, strict: bool) -> list[bytes] | None:
        """Split a row; None if it cannot be split, or if ``strict`` and a quote opens a field but closes none."""
        fields = []
        place = 0
        while place <= len(text):
            match = self._quoted.match(text, place)
            if match is not None:
                fields.append(match[1].replace(b'""', b'"'))
            elif strict and text.startswith(b'"', place):
                return None
            else:
                match = self._plain.match(text, place)
                if match is None:
                    return None
                fields.append(match[0])
            place = match.end() + 1
        return fields


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
