"""Read one file of triples, whatever its format."""

from __future__ import annotations

from pathlib import Path

from nnmfaug.core.errors import DataError
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary
from nnmfaug.io.detect import detect_format
from nnmfaug.io.formats import FORMATS
from nnmfaug.io.input_file import InputFile
from nnmfaug.io.options import ReadOptions
from nnmfaug.io.resources import memory_errors
from nnmfaug.io.table import Table
from nnmfaug.io.temporary import scratch_folder


def read_triples(path: str | Path, options: ReadOptions | None = None) -> KnowledgeGraph:
    """Read one file of triples: TSV, CSV, KGTK, Parquet, N-Triples, N-Quads or Turtle, packed or not.

    The triples are sorted and repeated lines are dropped, so the order of the file does not matter.
    ``graph.report`` accounts for every line of the file.

    Raises
    ------
    DataError
        With ``path:line`` and the reason, if a line is not a triple or the file cannot be read.
    """
    with memory_errors(path):
        return read_table(Path(path), options or ReadOptions()).graph()


def read_generated(path: str | Path, vocabulary: Vocabulary, options: ReadOptions | None = None) -> KnowledgeGraph:
    """Read generated triples in the order of their file; every name must be in the vocabulary."""
    with memory_errors(path):
        table = read_table(Path(path), options or ReadOptions(), keep_order=True)
        return table.ordered_graph(vocabulary)


def read_table(path: Path, options: ReadOptions, *, keep_order: bool = False) -> Table:
    """Read the rows of one file, in the order of the file if ``keep_order``."""
    with scratch_folder() as scratch:
        file = InputFile(path, str(path), options, scratch, keep_order)
        read = FORMATS[detect_format(file)].read
        table = read(file)
    if not len(table.ids):
        raise DataError("no triples between entities in this file", path=path)
    return table
