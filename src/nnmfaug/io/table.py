"""The content of one file: counts of its lines, its accepted rows, and the graph they make."""

from __future__ import annotations

import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from nnmfaug.core.arrays import IntArray
from nnmfaug.core.errors import DataError
from nnmfaug.graph.keys import unique_triples
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.read_report import ReadReport, Reject
from nnmfaug.graph.vocabulary import Vocabulary

Part = TypeVar("Part")
Kind = Literal["accepted", "rejected", "blank", "comment", "header"]


@dataclass
class Tally:
    """Counts every line of one file and keeps the rejected ones, of which ``max_rejects`` are enough."""

    max_rejects: int | None = None
    counts: Counter[Kind] = field(default_factory=Counter)
    rejects: list[Reject] = field(default_factory=list)
    hash_names: int = 0

    def take(self, kind: Kind, *, n_lines: int = 1) -> None:
        """Count lines of one kind."""
        self.counts[kind] += n_lines

    def reject(self, reason: str, text: bytes, *, n_lines: int = 1) -> None:
        """Count the next lines as one rejected row, and keep its text."""
        shown = text.decode(errors="backslashreplace")
        self.rejects.append(Reject(self.line + 1, reason, shown))
        self.counts["rejected"] += n_lines

    def watch(self, parts: Iterable[Part]) -> Iterator[Part]:
        """Yield parts of the file until there are enough rejected lines."""
        for part in parts:
            yield part
            if self.max_rejects is not None and len(self.rejects) >= self.max_rejects:
                return

    @property
    def line(self) -> int:
        """Number of lines counted so far."""
        return self.counts.total()

    def report(self, path: str, format_name: str, notes: tuple[str, ...] = (), literals: int = 0) -> ReadReport:
        """Return the report of all lines counted so far."""
        if self.hash_names:
            notes += (f"rows that begin with # and have the shape of triples, read as triples: {self.hash_names}",)
        if literals:
            notes += (f"statements with a text or a number in place of an entity, left out: {literals}",)
        return ReadReport(
            path=path,
            format=format_name,
            accepted=self.counts["accepted"],
            rejected=self.counts["rejected"],
            blank=self.counts["blank"],
            comment=self.counts["comment"],
            header=self.counts["header"],
            literals=literals,
            rejects=tuple(self.rejects),
            notes=notes,
        )


@dataclass(frozen=True)
class Table:
    """Rows of ids, and the names they refer to, which need not be sorted.

    Parameters
    ----------
    entities, relations
        The names; an id is the position of a name.
    ids : ndarray of shape (n_rows, 3)
        Ids of head, relation and tail.
    report
        The report of all lines of the file.
    lines : ndarray of shape (n_rows,), optional
        The line of each row, if the reader kept the order of the file; 0 if it is not known.
    """

    entities: list[str]
    relations: list[str]
    ids: IntArray
    report: ReadReport
    lines: NDArray[np.int64] | None = None

    def graph(self) -> KnowledgeGraph:
        """Return the rows as a graph with sorted triples."""
        return self._graph(Vocabulary.from_names(self.entities, self.relations), sort=True)

    def ordered_graph(self, vocabulary: Vocabulary) -> KnowledgeGraph:
        """Return the rows as a graph over a given vocabulary, in the order of the file."""
        return self._graph(vocabulary, sort=False)

    def _graph(self, vocabulary: Vocabulary, *, sort: bool) -> KnowledgeGraph:
        ids = self._ids(vocabulary)
        triples = unique_triples(ids, vocabulary, sort=sort)
        notes = (*self.report.notes, *_oddities(self.entities + self.relations))
        report = replace(self.report, duplicates=len(ids) - len(triples), notes=notes)
        return KnowledgeGraph(vocabulary, triples, report)

    def _ids(self, vocabulary: Vocabulary) -> IntArray:
        if tuple(self.entities) == vocabulary.entities and tuple(self.relations) == vocabulary.relations:
            return self.ids  # DuckDB numbers names in sorted order
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
        role = ("head", "relation", "tail")[column]
        names = self.relations if role == "relation" else self.entities
        name = names[self.ids[row, column]]
        msg = f"the {role} {name!r} is not a name of the graph ({len(unknown)} such rows)"
        raise DataError(msg, path=self.report.path, line=self._line(row))

    def _line(self, row: int) -> int | None:
        """Return the line of a row, if it is known; statements of Turtle have none."""
        if self.lines is None or self.lines[row] == 0:
            return None
        return int(self.lines[row])


class Numbering(dict[str, int]):
    """Numbers names in the order in which they are first looked up."""

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self)
        return number


@dataclass
class Interner:
    """Collects named rows one by one, and numbers the names in order of occurrence."""

    entities: Numbering = field(default_factory=Numbering)
    relations: Numbering = field(default_factory=Numbering)
    ids: array[int] = field(default_factory=lambda: array("i"))
    lines: array[int] = field(default_factory=lambda: array("q"))

    def add(self, head: str, relation: str, tail: str, line: int = 0) -> None:
        """Add one row."""
        self.ids.extend((self.entities[head], self.relations[relation], self.entities[tail]))
        self.lines.append(line)

    def table(self, report: ReadReport) -> Table:
        """Return all rows added so far, in order."""
        ids = np.array(self.ids, dtype=np.int32).reshape(-1, 3)
        lines = np.array(self.lines, dtype=np.int64)
        return Table(list(self.entities), list(self.relations), ids, report, lines)


def _places(names: list[str], ids: dict[str, int]) -> IntArray:
    return np.fromiter((ids.get(name, -1) for name in names), dtype=np.int32, count=len(names))


def _oddities(names: list[str]) -> list[str]:
    """Return notes on names that are kept but are likely to be mistakes, with counts."""
    text = "".join(names)
    if text.isascii() and text.isprintable() and " " not in text:
        return []
    odd_names = [name for name in names if _is_odd(name)]
    counts = {
        "contain control characters or line separators": sum(map(_has_control_character, odd_names)),
        "begin or end with white space": sum(name != name.strip() for name in odd_names),
        "are not in Unicode normal form NFC": sum(not unicodedata.is_normalized("NFC", n) for n in odd_names),
    }
    return [f"names that {oddity}, kept unchanged: {count}" for oddity, count in counts.items() if count]


def _is_odd(name: str) -> bool:
    return not (name.isascii() and name.isprintable()) or name != name.strip()


def _has_control_character(name: str) -> bool:
    return any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in name)
