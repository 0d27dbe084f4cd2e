"""The format of a file, from its first bytes, the options, its suffix and its first lines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from nnmfaug.core.errors import DataError
from nnmfaug.io.formats import FORMATS
from nnmfaug.io.formats.dialect import read_header
from nnmfaug.io.formats.rdf import STATEMENT, TURTLE
from nnmfaug.io.input_file import InputFile
from nnmfaug.io.options import Format
from nnmfaug.io.stream import BYTE_MARKS, N_FIRST_BYTES, UNPACKERS, wide_encoding

PACKED_SUFFIXES = (".gz", ".bz2", ".zst")
SUFFIXES: dict[str, Format] = {suffix: name for name, entry in FORMATS.items() for suffix in entry.suffixes}
"""Suffix → format."""

PARQUET = re.compile(rb"PAR1[\x00-\x08\x0e-\x1f]")
"""First bytes of a Parquet file. PAR1 alone may be the beginning of a name."""

N_INSPECTED_LINES = 1000
"""Number of lines among which the first rows are looked for."""
N_GUESSED_LINES = 20
"""Number of rows from which the format is guessed."""


def detect_format(file: InputFile) -> Format:
    """Return the format: decided by the first bytes, else by the option, the suffix, and the first lines."""
    with file.stream() as stream:
        head = stream.read(N_FIRST_BYTES)
    if PARQUET.match(head):
        return "parquet"
    if head.startswith(tuple(UNPACKERS)):
        raise DataError("packed twice: unpack it once and try again", path=file.shown)
    if is_archive(head):
        raise DataError("an archive, but one file of triples is needed", path=file.shown)
    return file.options.format or SUFFIXES.get(plain_suffix(file.path)) or _guess_format(file)


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


def opens_a_table(rows: Iterable[str]) -> bool:
    r"""Whether rows of TSV are read as rows if they are the first lines of a file.

    Examples
    --------
    >>> opens_a_table(["a\tlikes\tb\n"]), opens_a_table(["from\ttype\tto\n"])
    (True, False)
    """
    text = "".join(islice(rows, N_INSPECTED_LINES)).encode()
    head = text[:N_FIRST_BYTES]
    lines = text.removesuffix(b"\n").split(b"\n")
    is_binary = PARQUET.match(head) is not None or is_archive(head) or head.startswith(BYTE_MARKS)
    is_header = read_header(lines[0].split(b"\t")) is not None
    is_table = _guess(lines) == "tsv"
    return is_table and not (is_binary or is_header or wide_encoding(head))


def _guess_format(file: InputFile) -> Format:
    """Guess the format of a text file from its first lines."""
    with file.lines() as blocks:
        first_block = next(blocks, b"\n")
    return _guess(first_block[:-1].split(b"\n")[:N_INSPECTED_LINES])


def _guess(lines: list[bytes]) -> Format:
    texts = [line for line in lines if line.strip() and not line.startswith(b"#")]
    texts = texts[:N_GUESSED_LINES] or [b""]
    if TURTLE.match(texts[0]):
        return "ttl"
    if STATEMENT.fullmatch(texts[0]):
        statements = [STATEMENT.fullmatch(text) for text in texts]
        has_graph_names = any(statement is not None and statement["graph"] for statement in statements)
        return "nq" if has_graph_names else "nt"
    is_csv = all(b"\t" not in text and b"," in text for text in texts)
    return "csv" if is_csv else "tsv"
