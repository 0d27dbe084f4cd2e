"""The format of a file, from its first bytes, the options, its suffix and its first lines."""

from __future__ import annotations

import re
from pathlib import Path

from nnmfaug.core.errors import DataError
from nnmfaug.io.formats import FORMATS
from nnmfaug.io.formats.dialect import read_header
from nnmfaug.io.formats.rdf import STATEMENT, TURTLE
from nnmfaug.io.input_file import InputFile
from nnmfaug.io.options import Format
from nnmfaug.io.stream import BYTE_MARKS, UNPACKERS

PACKED_SUFFIXES = (".gz", ".bz2", ".zst")
SUFFIXES: dict[str, Format] = {suffix: name for name, entry in FORMATS.items() for suffix in entry.suffixes}
"""Suffix → format."""

PARQUET = re.compile(rb"PAR1[\x00-\x08\x0e-\x1f]")
"""First bytes of a Parquet file. PAR1 alone may be the beginning of a name."""

N_GUESSED_LINES = 20


def detect_format(file: InputFile) -> Format:
    """Return the format: decided by the first bytes, else by the option, the suffix, and the first lines."""
    with file.stream() as stream:
        head = stream.read(512)
    if PARQUET.match(head):
        return "parquet"
    if head.startswith(tuple(UNPACKERS)):
        raise DataError("packed twice: unpack it once and try again", path=file.shown)
    if is_archive(head):
        raise DataError("an archive, but one file of triples is needed", path=file.shown)
    return file.options.format or SUFFIXES.get(plain_suffix(file.path)) or _guess(file)


def plain_suffix(path: Path) -> str:
    """Return the suffix without that of the packer.

    Examples
    --------
    >>> plain_suffix(Path("x.nt.gz"))
    '.nt'
    """
    is_packed = path.suffix.lower() in PACKED_SUFFIXES
    unpacked = path.with_suffix("") if is_packed else path
    return unpacked.suffix.lower()


def is_archive(head: bytes) -> bool:
    """Whether the first bytes are those of a tar or zip file."""
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06")) or head[257:262] == b"ustar"


def opens_a_table(line: bytes) -> bool:
    """Whether a row of TSV is still read as a row if it is the first line of a file."""
    line = line.rstrip(b"\n")
    is_rdf = STATEMENT.fullmatch(line) is not None or TURTLE.match(line) is not None
    is_binary = PARQUET.match(line) is not None or is_archive(line) or line.startswith(BYTE_MARKS)
    is_header = read_header(line.split(b"\t")) is not None
    return not (is_rdf or is_binary or is_header)


def _guess(file: InputFile) -> Format:
    """Guess the format of a text file from its first lines."""
    lines = _first_lines(file)
    if TURTLE.match(lines[0]):
        return "ttl"
    if STATEMENT.fullmatch(lines[0]):
        statements = [STATEMENT.fullmatch(line) for line in lines]
        has_graph_names = any(statement is not None and statement["graph"] for statement in statements)
        return "nq" if has_graph_names else "nt"
    is_csv = all(b"\t" not in line and b"," in line for line in lines)
    return "csv" if is_csv else "tsv"


def _first_lines(file: InputFile) -> list[bytes]:
    """Return the first lines that are neither blank nor comments; one empty line if there are none."""
    with file.lines() as blocks:
        first_block = next(blocks, b"\n")
    lines = first_block[:-1].split(b"\n")[:1000]
    texts = [line for line in lines if line.strip() and not line.startswith(b"#")]
    return texts[:N_GUESSED_LINES] or [b""]
