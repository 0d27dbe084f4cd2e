"""What became of every line of a file that was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Reject(NamedTuple):
    """A line that is not a triple: its number, why, and what it says."""

    line: int
    reason: str
    text: str


@dataclass(frozen=True)
class ReadReport:
    """What became of every line of a file.

    ``accepted + rejected + blank + comment + header == lines``. Of the accepted lines, ``duplicates``
    repeated an earlier triple; ``literals`` is the number of statements with a text or a number where a triple
    needs an entity. Neither is in the graph. (In Parquet a row counts as a line.)
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
