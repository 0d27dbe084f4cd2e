"""One file of triples to read: where it is, how to read it, and its bytes, text and lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from nnmfaug.io.lines import line_blocks
from nnmfaug.io.options import ReadOptions
from nnmfaug.io.stream import open_stream, text_blocks
from nnmfaug.io.table import Tally


@dataclass(frozen=True)
class InputFile:
    """A file to read.

    Parameters
    ----------
    path
        The file.
    shown
        Its name in messages and in the report.
    options
        How to read it.
    scratch
        A folder for temporary files.
    keep_order
        Whether the rows must keep the order of the file. Readers are faster if they need not.
    """

    path: Path
    shown: str
    options: ReadOptions
    scratch: Path
    keep_order: bool = False

    def new_tally(self) -> Tally:
        """Return a tally for its lines."""
        return Tally(self.options.max_rejects)

    def delimiter(self, default: str) -> bytes:
        """Return the delimiter of the options, or the default of the format."""
        return (self.options.delimiter or default).encode()

    def stream(self) -> AbstractContextManager[BufferedReader]:
        """Open the unpacked bytes."""
        return open_stream(self.path, self.options.limits, self.shown)

    @contextmanager
    def text(self) -> Iterator[Iterator[bytes]]:
        """Open the text as blocks of UTF-8 that end anywhere."""
        with self.stream() as stream:
            yield text_blocks(stream, self.shown, self.options.encoding)

    @contextmanager
    def lines(self, max_line: int | None = None) -> Iterator[Iterator[bytes]]:
        r"""Open the text as blocks of whole lines that end with ``\n``."""
        with self.text() as blocks:
            yield line_blocks(blocks, max_line or self.options.limits.max_line)
