"""Read and write triples: files, folders, archives, data frames and PyKEEN."""

from nnmfaug.io.dataframe import from_dataframe, to_dataframe
from nnmfaug.io.layouts import read_any, read_splits
from nnmfaug.io.options import ReadOptions
from nnmfaug.io.pykeen_factory import from_pykeen, to_pykeen
from nnmfaug.io.read import read_generated, read_triples
from nnmfaug.io.stream import Limits
from nnmfaug.io.write import write_splits, write_triples

__all__ = [
    "Limits",
    "ReadOptions",
    "from_dataframe",
    "from_pykeen",
    "read_any",
    "read_generated",
    "read_splits",
    "read_triples",
    "to_dataframe",
    "to_pykeen",
    "write_splits",
    "write_triples",
]
