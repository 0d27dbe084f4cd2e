"""The account of every line of a file that was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Reject(NamedTuple):
    """A line that is not a triple: its number, the reason, and its text."""

    line: int
    reason: str
    text: str


@dataclass(frozen=True)
class ReadReport:
    """The account of every line of a file; in Parquet a row counts as a line.

    Parameters
    ----------
    path, format
        The file, and the format in which it was read.
    accepted, rejected, blank, comment, header
        Numbers of lines of each kind; their sum is ``lines``.
    duplicates
        Number of accepted lines that repeat an earlier triple. They are not in the graph.
    literals
        Number of accepted statements with a text or a number in place of an entity. They are not in the graph.
    rejects
        The rejected lines.
    notes
        Remarks on the file, such as a line that was read as a header.
    """

    path: str
    format: str
    accepted: int
    rejected: int = 0
    blank: int = 0
    comment: int = 0
    header: int = 0
    duplicates: int = 0
    literals: int = 0
    rejects: tuple[Reject, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def lines(self) -> int:
        """Number of physical lines of the file."""
        return self.accepted + self.rejected + self.blank + self.comment + self.header
