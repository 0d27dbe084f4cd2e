"""TSV and CSV: rows of columns between delimiters.

Every physical line is exactly one of: accepted, rejected, blank, comment, header. A line is classified in plain
Python (:meth:`Dialect.classify`). A block in which every line is plainly a triple is recognised as a whole with
numpy and goes to DuckDB unchanged, which makes large files fast.
"""

from __future__ import annotations

import codecs
import os
from pathlib import Path

import numpy as np

from nnmfaug.core.progress import report as report_progress
from nnmfaug.graph.read_report import ReadReport
from nnmfaug.io.formats.advice import header_note
from nnmfaug.io.formats.dialect import Dialect, find_dialect
from nnmfaug.io.formats.kgtk import collect_kgtk, is_kgtk
from nnmfaug.io.formats.quoted import read_quoted
from nnmfaug.io.formats.scan import Scanner, row_adder
from nnmfaug.io.input_file import InputFile
from nnmfaug.io.options import Format
from nnmfaug.io.resources import temporary_file
from nnmfaug.io.stream import BLOCK, BYTE_MARKS, is_utf8
from nnmfaug.io.table import Interner, Table


def read_tsv(file: InputFile) -> Table:
    """Read TSV; a file with the header of KGTK is read as KGTK unless the options name the format."""
    dialect = find_dialect(file, file.delimiter("\t"))
    if file.options.format is None and is_kgtk(dialect):
        return collect_kgtk(file, dialect)
    return _read_rows(file, "tsv", dialect)


def read_csv(file: InputFile) -> Table:
    """Read CSV; files with quotes take a slower way."""
    delimiter = file.delimiter(",")
    if _has_quotes(file):
        return read_quoted(file, delimiter)
    return _read_rows(file, "csv", find_dialect(file, delimiter))


def _has_quotes(file: InputFile) -> bool:
    with file.text() as blocks:
        return any(b'"' in block for block in blocks)


def _read_rows(file: InputFile, format_name: Format, dialect: Dialect) -> Table:
    if file.keep_order:
        return _collect(file, format_name, dialect)
    table = _encode_file(file, format_name, dialect)
    return table if table is not None else _encode_accepted(file, format_name, dialect)


def _collect(file: InputFile, format_name: Format, dialect: Dialect) -> Table:
    """Collect the triples in the order of the file."""
    rows = Interner()
    scanner = Scanner(dialect, row_adder(rows), file.new_tally())
    with file.lines() as blocks:
        scanner.scan(blocks)
    return rows.table(scanner.report(file, format_name))


def _encode_file(file: InputFile, format_name: Format, dialect: Dialect) -> Table | None:
    """Let DuckDB number the names of the file itself; None unless every line is a triple."""
    from nnmfaug.io.formats.duckdb import encode_lines

    n_lines = _count_plain_lines(file, dialect)
    if not n_lines:
        return None
    link = file.scratch / "file"  # DuckDB would read a * in the path of the user as a pattern
    link.symlink_to(file.path.resolve())
    report = ReadReport(file.shown, format_name, accepted=n_lines, notes=header_note(dialect))
    return encode_lines(link, dialect.delimiter, dialect.max_line, report)


def _encode_accepted(file: InputFile, format_name: Format, dialect: Dialect) -> Table:
    """Copy the triples to a temporary file, and let DuckDB number its names."""
    from nnmfaug.io.formats.duckdb import encode_lines

    target = file.scratch / "lines"
    report = _copy_accepted(file, format_name, dialect, target)
    table = encode_lines(target, dialect.delimiter, dialect.max_line, report)
    if table is None:
        msg = "DuckDB did not read the lines that were written; please report this file"
        raise RuntimeError(msg)
    return table


def _copy_accepted(file: InputFile, format_name: Format, dialect: Dialect, target: Path) -> ReadReport:
    with file.lines() as blocks, temporary_file(target) as write:
        write(codecs.BOM_UTF8)  # DuckDB removes one mark, so a mark that opens a name stays

        def take_row(fields: list[bytes], _line: int) -> None:
            write(dialect.delimiter.join(fields) + b"\n")

        scanner = Scanner(dialect, take_row, file.new_tally())
        scanner.scan(blocks, take_block=write if dialect.is_plain else None)
    return scanner.report(file, format_name)


def _count_plain_lines(file: InputFile, dialect: Dialect) -> int:
    """Count the lines of a file that seems to contain rows of three columns only; 0 if it contains more."""
    if not dialect.is_plain or dialect.header_line or not is_utf8(file.options.encoding):
        return 0
    n_lines = 0
    last_byte = b"\n"
    with file.path.open("rb") as raw:
        size = os.fstat(raw.fileno()).st_size
        while block := raw.read(BLOCK):
            is_marked = n_lines == 0 and block.startswith(BYTE_MARKS)
            has_hash = b"#" in block and b"\n#" in last_byte + block
            if is_marked or has_hash or b"\r" in block:
                return 0
            n_lines += _count_newlines(block)
            last_byte = block[-1:]
            report_progress(f"reading {file.path.name}", raw.tell(), size)
    ends_within_line = last_byte != b"\n"
    return n_lines + ends_within_line


def _count_newlines(block: bytes) -> int:
    """Count line feeds; faster than ``bytes.count`` where lines are short."""
    return int(np.count_nonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n")))
