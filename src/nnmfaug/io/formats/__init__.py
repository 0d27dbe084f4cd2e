"""The file formats that can be read.

A new format is a function ``InputFile → Table`` in a module of this folder, a line in ``FORMATS``, and a name in
:data:`nnmfaug.io.options.Format`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from nnmfaug.io.formats.delimited import read_csv, read_tsv
from nnmfaug.io.formats.kgtk import read_kgtk
from nnmfaug.io.formats.rdf import read_n_quads, read_n_triples, read_turtle
from nnmfaug.io.input_file import InputFile
from nnmfaug.io.options import Format
from nnmfaug.io.table import Table


@dataclass(frozen=True)
class FileFormat:
    """The reader of a format, and the suffixes of its files."""

    read: Callable[[InputFile], Table]
    suffixes: tuple[str, ...]


def _read_parquet(file: InputFile) -> Table:
    from nnmfaug.io.formats.duckdb import read_parquet

    return read_parquet(file)


FORMATS: Mapping[Format, FileFormat] = MappingProxyType(
    {
        "tsv": FileFormat(read_tsv, (".tsv",)),
        "csv": FileFormat(read_csv, (".csv",)),
        "kgtk": FileFormat(read_kgtk, (".kgtk",)),
        "parquet": FileFormat(_read_parquet, (".parquet", ".parq")),
        "nt": FileFormat(read_n_triples, (".nt", ".ntriples")),
        "nq": FileFormat(read_n_quads, (".nq", ".nquads")),
        "ttl": FileFormat(read_turtle, (".ttl", ".turtle")),
    }
)
"""Name of a format → its reader and suffixes."""
