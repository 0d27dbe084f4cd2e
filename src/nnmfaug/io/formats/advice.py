"""Notes and advice for files with columns that may have been read in the wrong way."""

from __future__ import annotations

from nnmfaug.io.formats.dialect import Dialect
from nnmfaug.io.formats.rdf import STATEMENT
from nnmfaug.io.table import Tally

SEPARATORS = (
    ("\t", "tabs", "--format tsv"),
    (",", "commas", "--format csv"),
    (";", "semicolons", "--format csv --delimiter ';'"),
    ("|", "bars", "--delimiter '|'"),
    (" ", "spaces", "--delimiter ' '"),
)
"""A separator, its name, and the options that read it."""


def header_note(dialect: Dialect) -> tuple[str, ...]:
    """Return a note if a line was read as a header, or may be one."""
    if dialect.header_line:
        return (f"line {dialect.header_line} was read as a header; pass --no-header to read it as a triple",)
    if dialect.maybe_header:
        return (f"line {dialect.maybe_header} was read as a triple; pass --header if it is a header",)
    return ()


def column_advice(tally: Tally) -> str:
    """Return advice on the separator if no line of a file has the right number of columns."""
    if tally.counts["accepted"] or not tally.rejects:
        return ""
    first = tally.rejects[0]
    if "column" not in first.reason:
        return ""
    if STATEMENT.fullmatch(first.text.encode()):
        return " This looks like N-Triples: pass --format nt."
    for separator, name, cure in SEPARATORS:
        if first.text.count(separator) == 2:
            return f" The columns seem to be separated by {name}: pass {cure}."
    return " Three columns are needed, or a header line that names the columns of head, relation and tail."
