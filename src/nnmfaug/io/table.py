"""What is in one file: a tally of its lines, the accepted rows, and how they become a graph."""

from __future__ import annotations

import unicodedata
from array import array
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nnmfaug.core.arrays import IntArray
from nnmfaug.core.errors import DataError
from nnmfaug.graph.keys import unique_triples
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.read_report import ReadReport, Reject
from nnmfaug.graph.vocabulary import Vocabulary

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


@dataclass(frozen=True)
class Table:
    """Rows of ids into two lists of names, which need not be sorted.

    ``lines`` holds the line of each row, where the reader kept the order of the file.
    """

    entities: list[str]
    relations: list[str]
    ids: IntArray
    report: ReadReport
    lines: NDArray[np.int64] | None = None

    def graph(self) -> KnowledgeGraph:
        """The rows as a graph with its triples sorted."""
        return self._graph(Vocabulary.from_names(self.entities, self.relations), sort=True)

    def ordered_graph(self, vocabulary: Vocabulary) -> KnowledgeGraph:
        """The rows as a graph over a given vocabulary, in the order of the file."""
        return self._graph(vocabulary, sort=False)

    def _graph(self, vocabulary: Vocabulary, *, sort: bool) -> KnowledgeGraph:
        ids = self._ids(vocabulary)
        triples = unique_triples(ids, vocabulary, sort=sort)
        notes = (*self.report.notes, *_oddities(self.entities + self.relations))
        report = replace(self.report, duplicates=len(ids) - len(triples), notes=notes)
        return KnowledgeGraph(vocabulary, triples, report)

    def _ids(self, vocabulary: Vocabulary) -> IntArray:
        if tuple(self.entities) == vocabulary.entities and tuple(self.relations) == vocabulary.relations:
            return self.ids  # as DuckDB made them
        entities = _places(self.entities, vocabulary.entity_ids)
        relations = _places(self.relations, vocabulary.relation_ids)
        h, r, t = self.ids.T
        ids = np.stack([entities[h], relations[r], entities[t]], axis=1)
        self._check_known(ids)
        return ids

    def _check_known(self, ids: IntArray) -> None:
        unknown = np.flatnonzero((ids < 0).any(axis=1))
        if not len(unknown):
            return
        row = int(unknown[0])
        column = int(np.argmin(ids[row]))
        name = (self.relations if column == 1 else self.entities)[self.ids[row, column]]
        msg = f"the {('head', 'relation', 'tail')[column]} {name!r} is not a name of the graph"
        line = int(self.lines[row]) or None if self.lines is not None else None  # Turtle has no lines to name
        raise DataError(f"{msg} ({len(unknown)} such rows)", path=self.report.path, line=line)


class Numbering(dict[str, int]):
    """Numbers names as they are first asked for."""

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self)
        return number


@dataclass
class Interner:
    """Gathers named rows one by one and numbers the names as they come."""

    entities: Numbering = field(default_factory=Numbering)
    relations: Numbering = field(default_factory=Numbering)
    ids: array[int] = field(default_factory=lambda: array("i"))
    lines: array[int] = field(default_factory=lambda: array("q"))

    def add(self, head: str, relation: str, tail: str, line: int = 0) -> None:
        """Take one row."""
        self.ids.extend((self.entities[head], self.relations[relation], self.entities[tail]))
        self.lines.append(line)

    def table(self, report: ReadReport) -> Table:
        """Return all rows taken so far, in order."""
        ids = np.array(self.ids, dtype=np.int32).reshape(-1, 3)
        lines = np.array(self.lines, dtype=np.int64)
        return Table(list(self.entities), list(self.relations), ids, report, lines)


def _places(names: list[str], ids: dict[str, int]) -> IntArray:
    return np.fromiter((ids.get(name, -1) for name in names), dtype=np.int32, count=len(names))


def _oddities(names: list[str]) -> list[str]:
    """What is kept but likely a mistake, with counts."""
    text = "".join(names)
    if text.isascii() and text.isprintable() and " " not in text:
        return []
    odd = [name for name in names if not (name.isascii() and name.isprintable()) or name != name.strip()]
    control = sum(any(unicodedata.category(c) in ("Cc", "Zl", "Zp") for c in name) for name in odd)
    spaced = sum(name != name.strip() for name in odd)
    unnormal = sum(not unicodedata.is_normalized("NFC", name) for name in odd)
    found = {
        "hold control characters or line separators": control,
        "begin or end with white space": spaced,
        "are not in Unicode normal form NFC": unnormal,
    }
    return [f"{count} names {what}; kept as they are" for what, count in found.items() if count]
