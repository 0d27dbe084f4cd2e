"""Every line of a file is counted once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from nnmfaug.graph.knowledge_graph import ReadReport, Reject

Kind = Literal["accepted", "rejected", "blank", "comment", "header"]


@dataclass
class Tally:
    """Counts every line of one file and keeps the rejected ones."""

    counts: Counter[Kind] = field(default_factory=Counter)
    rejects: list[Reject] = field(default_factory=list)
    hash_names: int = 0

    def take(self, kind: Kind, *, n_lines: int = 1) -> None:
        """Count lines of one kind."""
        self.counts[kind] += n_lines

    def reject(self, reason: str, text: bytes, *, n_lines: int = 1) -> None:
        """Count rejected lines; they end where the tally stands."""
        self.rejects.append(Reject(self.line + 1, reason, text.decode(errors="backslashreplace")))
        self.counts["rejected"] += n_lines

    @property
    def line(self) -> int:
        """Number of lines counted so far."""
        return self.counts.total()

    def report(self, path: str, format_name: str, notes: tuple[str, ...] = (), literals: int = 0) -> ReadReport:
        """Sum up."""
        if self.hash_names:
            notes += (f"rows that begin with # but have the shape of triples, read as triples: {self.hash_names}",)
        if literals:
            notes += (f"statements with a text or a number in place of an entity, left out: {literals}",)
        counts = {str(kind): count for kind, count in self.counts.items()}
        rejects = tuple(self.rejects)
        return ReadReport(
            path, format_name, **{"accepted": 0, **counts}, rejects=rejects, notes=notes, literals=literals
        )
