"""CSV rows with quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nnmfaug.io.formats.delimited import Dialect, TakeRow, scan_row
from nnmfaug.io.table import Tally


def scan_quoted(blocks: Iterator[bytes], dialect: Dialect, tally: Tally, take_row: TakeRow) -> None:
    """Sort the rows of a CSV with quotes; a quoted field may hold line ends, a stray quote stays in its row."""
    parser = RecordParser(dialect.delimiter)
    lines: list[bytes] = []
    source = physical_lines(blocks, dialect.max_line)
    while True:
        while len(lines) < MAX_RECORD_LINES and (line := next(source, None)) is not None:
            lines.append(line)
        if not lines:
            return
        n_lines, fields = parser.parse(lines, dialect.n_columns)
        text = b"".join(lines[:n_lines]).rstrip(b"\r\n")
        scan_row(text, fields, dialect, tally, take_row, n_lines=n_lines)
        del lines[:n_lines]


MAX_RECORD_LINES = 64
"""A quoted field that is still open after so many lines was never meant to be one."""


class RecordParser:
    """RFC 4180 rows, forgiving where the standard is broken: such quotes are part of the name."""

    def __init__(self, delimiter: bytes) -> None:
        d = re.escape(delimiter)
        end = rb"(?=" + d + rb"|\Z)"
        self._delimiter = delimiter
        self._quoted = re.compile(rb'"([^"]*(?:""[^"]*)*)"' + end)
        self._plain = re.compile(rb"[^\r\n" + d + rb"]*" + end)

    def parse(self, lines: list[bytes], n_columns: int) -> tuple[int, list[bytes]]:
        """Take one row from the front of lines; return how many lines it spans, and its fields."""
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
        return self.parse([line], 1)[1]

    def _fields(self, text: bytes, *, strict: bool) -> list[bytes] | None:
        fields, place = [], 0
        while True:
            if (match := self._quoted.match(text, place)) is not None:
                fields.append(match[1].replace(b'""', b'"'))
            elif strict and text.startswith(b'"', place):
                return None
            elif (match := self._plain.match(text, place)) is not None:
                fields.append(match[0])
            else:
                return None
            place = match.end() + 1
            if place > len(text):
                return fields


def physical_lines(blocks: Iterator[bytes], max_line: int) -> Iterator[bytes]:
    """Yield lines with their ends, which a quoted field may hold."""
    rest = b""
    for block in blocks:
        lines = (rest + block).splitlines(keepends=True)
        rest = lines.pop() if lines else b""
        yield from lines
        if len(rest) > max_line and not rest.endswith((b"\r", b"\n")):
            rest = rest[: max_line + 1]
    yield from rest.splitlines(keepends=True)
