"""The rows of a file with columns: classified, counted, and passed on if they are triples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nnmfaug.graph.read_report import ReadReport
from nnmfaug.io.formats.advice import column_advice, header_note
from nnmfaug.io.formats.dialect import Dialect
from nnmfaug.io.input_file import InputFile
from nnmfaug.io.lines import count_gap, separate_gaps
from nnmfaug.io.options import Format
from nnmfaug.io.table import Interner, Tally

TakeRow = Callable[[list[bytes], int], None]
"""Called with head, relation and tail of an accepted row, and its line number."""


@dataclass(frozen=True)
class Scanner:
    """Classifies and counts the rows of one file; passes head, relation and tail of triples to ``take_row``."""

    dialect: Dialect
    take_row: TakeRow
    tally: Tally

    def scan(self, blocks: Iterator[bytes], take_block: Callable[[bytes], object] | None = None) -> None:
        """Scan blocks of whole lines; a block in which every line is a triple goes to ``take_block`` if given."""
        dialect = self.dialect
        tally = self.tally
        for block in tally.watch(separate_gaps(blocks)):
            n_empty = count_gap(block)
            if n_empty:
                tally.take("blank", n_lines=n_empty)
                continue
            is_below_header = tally.line >= dialect.header_line
            if take_block is not None and is_below_header and dialect.all_accepted(block):
                take_block(block)
                tally.take("accepted", n_lines=block.count(b"\n"))
                continue
            for line in block[:-1].split(b"\n"):
                self.scan_row(line, line.split(dialect.delimiter))

    def scan_row(self, line: bytes, fields: list[bytes], n_lines: int = 1) -> None:
        """Classify one row, which may span lines; count it, and pass it on if it is a triple."""
        dialect = self.dialect
        tally = self.tally
        number = tally.line + 1
        if number < dialect.header_line:  # a line above the header is not a row, whatever its shape
            tally.take("comment" if line.strip(b" ") else "blank", n_lines=n_lines)
            return
        if number == dialect.header_line:
            tally.take("header", n_lines=n_lines)
            return
        kind, reason = dialect.classify(line, fields)
        if kind == "rejected":
            tally.reject(reason, line, n_lines=n_lines)
            return
        if kind == "accepted":
            tally.hash_names += line.startswith(b"#")
            self.take_row([fields[column] for column in dialect.columns], number)
        tally.take(kind, n_lines=n_lines)

    def report(self, file: InputFile, format_name: Format, literals: int = 0) -> ReadReport:
        """Return the report of the lines scanned so far; raise if the options do not tolerate it."""
        report = self.tally.report(file.shown, format_name, header_note(self.dialect), literals)
        return file.options.check(report, column_advice(self.tally))


def row_adder(rows: Interner) -> TakeRow:
    """Return a function that decodes a row and adds it to ``rows``."""

    def take_row(fields: list[bytes], line: int) -> None:
        head, relation, tail = fields
        rows.add(head.decode(), relation.decode(), tail.decode(), line)

    return take_row
