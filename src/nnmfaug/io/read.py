"""One file of triples, whatever its format, to a table and a graph."""

from __future__ import annotations

import codecs
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np

from nnmfaug.core.errors import DataError
from nnmfaug.core.progress import report as report_progress
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.read_report import ReadReport
from nnmfaug.graph.vocabulary import Vocabulary
from nnmfaug.io.formats import kgtk, rdf
from nnmfaug.io.formats.delimited import KGTK_WORDS, Dialect, TakeRow, find_dialect, read_header, scan_lines
from nnmfaug.io.formats.quoted import RecordParser, scan_quoted
from nnmfaug.io.options import Format, ReadOptions
from nnmfaug.io.stream import BLOCK, UNPACKERS, is_utf8, line_blocks, open_stream, text_blocks
from nnmfaug.io.table import Interner, Table, Tally

PACKED_SUFFIXES = (".gz", ".bz2", ".zst")
SUFFIXES: dict[str, Format] = {
    **{f".{name}": name for name in get_args(Format)},
    ".ntriples": "nt",
    ".nquads": "nq",
    ".turtle": "ttl",
    ".parq": "parquet",
}
STATEMENT = re.compile(rb"\s*(<[^>]*>|_:\S+)\s*<[^>]*>\s*(<[^>]*>|_:\S+|\".*)(\s*<[^>]*>)?\s*\.\s*(#.*)?")
MAGIC = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, *UNPACKERS)
TURTLE = re.compile(rb"\s*@?(prefix\s+[^\s:]*:|base)\s*<", re.IGNORECASE)
PARQUET = re.compile(rb"PAR1[\x00-\x08\x0e-\x1f]")


def read_triples(path: str | Path, options: ReadOptions | None = None) -> KnowledgeGraph:
    """Read one file of triples: TSV, CSV, KGTK, Parquet, N-Triples, N-Quads or Turtle, packed or not.

    The triples are sorted and repeated lines are dropped, so the order of the file does not matter;
    ``graph.report`` tells what became of every line.

    Raises
    ------
    DataError
        With ``path:line`` and the reason, if a line is not a triple or the file cannot be read.
    """
    return read_table(Path(path), options or ReadOptions()).graph()


def read_generated(path: str | Path, vocabulary: Vocabulary, options: ReadOptions | None = None) -> KnowledgeGraph:
    """Read generated triples in the order of their file; every name must be in the vocabulary."""
    return read_table(Path(path), options or ReadOptions(), ordered=True).ordered_graph(vocabulary)


def plain_suffix(path: Path) -> str:
    """Return the suffix that tells the format, ``.nt`` for ``x.nt.gz``."""
    packed = path.suffix.lower() in PACKED_SUFFIXES
    return (path.with_suffix("") if packed else path).suffix.lower()


def read_table(path: Path, options: ReadOptions, *, ordered: bool = False, shown: str | None = None) -> Table:
    """Read one file; ``shown`` is what messages call it. Without ``ordered`` the order may be lost."""
    source = _Source(path, shown or str(path), options)
    source.check()
    with tempfile.TemporaryDirectory(prefix="nnmfaug-") as folder:
        table = source.table(Path(folder), ordered=ordered)
    if not len(table.ids):
        raise DataError("no triples between entities in this file", path=source.shown)
    return table


@dataclass(frozen=True)
class _Source:
    path: Path
    shown: str
    options: ReadOptions

    def check(self) -> None:
        """Say what a path that is no file is."""
        if self.path.is_dir():
            raise DataError(
                "a folder where one file of triples is needed: read_splits reads folders", path=self.shown
            )
        if not self.path.exists():
            raise DataError("no such file; named data sets are read by read_splits", path=self.shown)
        if not self.path.is_file():
            raise DataError("not a regular file: save what it gives to a file first", path=self.shown)

    @contextmanager
    def text(self) -> Iterator[Iterator[bytes]]:
        with open_stream(self.path, self.options.limits, self.shown) as stream:
            yield text_blocks(stream, self.shown, self.options.encoding)

    @contextmanager
    def lines(self, max_line: int) -> Iterator[Iterator[bytes]]:
        with self.text() as blocks:
            yield line_blocks(blocks, max_line)

    def format(self) -> Format:
        """The first bytes decide what they can, then the option, then the suffix, then the first lines."""
        with open_stream(self.path, self.options.limits, self.shown) as stream:
            head = stream.read(512)
        if PARQUET.match(head):  # PAR1 alone may open a name
            return "parquet"
        if head.startswith(tuple(UNPACKERS)):
            raise DataError("packed twice: unpack it once and try again", path=self.shown)
        if is_archive(head):
            raise DataError("an archive where one file of triples is needed", path=self.shown)
        return self.options.format or SUFFIXES.get(plain_suffix(self.path)) or self._guess()

    def table(self, folder: Path, *, ordered: bool) -> Table:
        """Read with what the format needs; ``folder`` is for temporary files."""
        format_name = self.format()
        if format_name == "parquet":
            return self.parquet(folder)
        if format_name in ("nt", "nq", "ttl"):
            with self.lines(rdf.MAX_STATEMENT) as blocks:
                return rdf.read_rdf(blocks, self.shown, format_name, self.options)
        return self.delimited(format_name, folder, ordered=ordered)

    def _guess(self) -> Format:
        with self.lines(self.options.limits.max_line) as blocks:
            first = next(blocks, b"\n")[:-1].split(b"\n")
        first = [line for line in first[:1000] if line.strip() and not line.startswith(b"#")][:20] or [b""]
        if TURTLE.match(first[0]):
            return "ttl"
        if STATEMENT.fullmatch(first[0]):
            return "nq" if any((match := STATEMENT.fullmatch(line)) and match[3] for line in first) else "nt"
        return "csv" if all(b"\t" not in line and b"," in line for line in first) else "tsv"

    def parquet(self, folder: Path) -> Table:
        from nnmfaug.io.formats.duckdb import read_parquet

        target = folder / "unpacked.parquet"
        with open_stream(self.path, self.options.limits, self.shown) as stream, target.open("wb") as file:
            while block := stream.read(BLOCK):
                file.write(block)
        return read_parquet(target, self.shown, folder, self.options)

    def delimited(self, format_name: Format, folder: Path, *, ordered: bool) -> Table:
        """Judge every line; hand the triples to DuckDB, or gather them here if order or quotes matter."""
        delimiter = (self.options.delimiter or ("," if format_name == "csv" else "\t")).encode()
        quoted = format_name == "csv" and self._has_quotes()
        split = RecordParser(delimiter).split if quoted else lambda line: line.split(delimiter)
        with self.lines(self.options.limits.max_line) as blocks:
            dialect = find_dialect(blocks, self.options, split, delimiter)
        if format_name == "kgtk" and not dialect.header_line:
            raise DataError("KGTK needs a header line with node1, label and node2", path=self.shown, line=1)
        if format_name == "tsv" and self.options.format is None and dialect.header >= KGTK_WORDS:
            format_name = "kgtk"
        if ordered or quoted or format_name == "kgtk":
            return self._gather(format_name, dialect)
        return self._through_duckdb(format_name, dialect, folder)

    def _has_quotes(self) -> bool:
        with self.text() as blocks:
            return any(b'"' in block for block in blocks)

    def _gather(self, format_name: Format, dialect: Dialect) -> Table:
        tally, rows = Tally(), Interner()
        literals = kgtk.LiteralFilter(rows)
        take = literals.take if format_name == "kgtk" else _adder(rows)
        if format_name == "csv":
            with self.text() as blocks:
                scan_quoted(blocks, dialect, tally, take)
        else:
            with self.lines(dialect.max_line) as blocks:
                scan_lines(blocks, dialect, tally, None, take)
        report = tally.report(self.shown, format_name, _header_note(dialect), literals=literals.count)
        return rows.table(self.options.check(report, _hint(tally)))

    def _through_duckdb(self, format_name: Format, dialect: Dialect, folder: Path) -> Table:
        """Let DuckDB number the names: of the file as it is, if every line is a triple, else of the good lines."""
        from nnmfaug.io.formats.duckdb import encode_lines

        n_lines = self._plain_lines(dialect)
        if n_lines:
            as_it_is = folder / "file"  # DuckDB would take a * in the user's own path for a pattern
            as_it_is.symlink_to(self.path.resolve())
            report = ReadReport(self.shown, format_name, accepted=n_lines, notes=_header_note(dialect))
            table = encode_lines(as_it_is, dialect.delimiter, dialect.max_line, report)
            if table is not None:
                return table
        tally, target = Tally(), folder / "lines"
        with self.lines(dialect.max_line) as blocks, target.open("wb") as file:
            file.write(codecs.BOM_UTF8)  # which DuckDB takes off, so that one that opens a name stays

            def take_row(fields: list[bytes], _line: int) -> None:
                file.write(dialect.delimiter.join(fields) + b"\n")

            scan_lines(blocks, dialect, tally, file.write if dialect.is_plain else None, take_row)
        report = self.options.check(tally.report(self.shown, format_name, _header_note(dialect)), _hint(tally))
        table = encode_lines(target, dialect.delimiter, dialect.max_line, report)
        if table is None:
            msg = "DuckDB read other lines than were written; please report this file"
            raise RuntimeError(msg)
        return table

    def _plain_lines(self, dialect: Dialect) -> int:
        """Count the lines of a file in which only rows can be, as far as a glance tells; else 0."""
        if not dialect.is_plain or dialect.header_line or not is_utf8(self.options.encoding):
            return 0
        n_lines, before = 0, b"\n"
        with self.path.open("rb") as file:
            while block := file.read(BLOCK):
                hashes = b"#" in block and b"\n#" in before + block
                if hashes or b"\r" in block or (not n_lines and block.startswith(MAGIC)):
                    return 0
                n_lines += int(np.count_nonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n")))
                before = block[-1:]
                report_progress(f"reading {self.path.name}", file.tell(), os.fstat(file.fileno()).st_size)
        return n_lines + (not before.endswith(b"\n"))


def opens_a_table(line: bytes) -> bool:
    """Whether a row of TSV can be the first of a file and still be read as a row."""
    line = line.rstrip(b"\n")
    others = (STATEMENT.fullmatch(line), TURTLE.match(line), PARQUET.match(line), is_archive(line))
    return not any(others) and not line.startswith(MAGIC) and read_header(line.split(b"\t")) is None


def is_archive(head: bytes) -> bool:
    """Whether the first bytes are those of a tar or zip file."""
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06")) or head[257:262] == b"ustar"


def _adder(rows: Interner) -> TakeRow:
    def take(fields: list[bytes], line: int) -> None:
        head, relation, tail = fields
        rows.add(head.decode(), relation.decode(), tail.decode(), line)

    return take


def _header_note(dialect: Dialect) -> tuple[str, ...]:
    if dialect.header_line:
        return (f"line {dialect.header_line} was taken for a header; --no-header reads it as a triple",)
    if dialect.maybe_header:
        return (f"line {dialect.maybe_header} was read as a triple; if it is a header, pass --header",)
    return ()


def _hint(tally: Tally) -> str:
    """What to do if no line could be read."""
    if tally.counts["accepted"] or not tally.rejects:
        return ""
    text, reason = tally.rejects[0].text, tally.rejects[0].reason
    if "column" not in reason:
        return ""
    if STATEMENT.fullmatch(text.encode()):
        return " This looks like N-Triples: --format nt."
    for count, name, cure in (
        (text.count("\t"), "tabs", "--format tsv"),
        (text.count(","), "commas", "--format csv"),
        (text.count(";"), "semicolons", "--format csv --delimiter ';'"),
        (text.count("|"), "bars", "--delimiter '|'"),
        (text.count(" "), "spaces", "--delimiter ' '"),
    ):
        if count == 2:
            return f" The columns look separated by {name}: {cure}."
    return " Three columns are needed, or a first line that names those of head, relation and tail among others."
