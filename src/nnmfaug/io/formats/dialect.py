"""The columns of a file: how many, what separates them, and which contain head, relation and tail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from nnmfaug.io.input_file import InputFile
from nnmfaug.io.lines import numbered_lines
from nnmfaug.io.stream import why_not_utf8
from nnmfaug.io.table import Kind

SplitLine = Callable[[bytes], list[bytes]]

ROLES = ("head", "relation", "tail")

HEADER_WORDS = tuple(
    frozenset(words.split())
    for words in (
        ":start_id head subject source from node1 src subj head_id head_label source_id entity1",
        ":type relation predicate label rel property edge edge_type relation_label pred type",
        ":end_id tail object target to node2 dst obj tail_id tail_label target_id entity2",
    )
)
"""Names of the columns of heads, relations and tails."""

MAYBE_HEADERS = (("h", "r", "t"), ("s", "p", "o"))
"""First rows that are read as triples, with a note that they may be headers."""

KGTK_WORDS = frozenset({"node1", "label", "node2"})


@dataclass(frozen=True)
class Dialect:
    """The columns of one file.

    Parameters
    ----------
    delimiter
        The byte between columns.
    n_columns
        Number of columns.
    columns
        Columns of head, relation and tail.
    header_line
        Number of the line that names the columns; 0 if there is none.
    header
        The words of that line.
    maybe_header
        Number of a line that is read as a triple but may be a header, such as ``h r t``; 0 if there is none.
    max_line
        Longest line in bytes that is accepted.
    """

    delimiter: bytes
    n_columns: int = 3
    columns: tuple[int, int, int] = (0, 1, 2)
    header_line: int = 0
    header: frozenset[str] = frozenset()
    maybe_header: int = 0
    max_line: int = 1 << 20

    @property
    def is_plain(self) -> bool:
        """Whether there are three columns, in the usual order."""
        return self.columns == (0, 1, 2) and self.n_columns == 3

    def classify(self, line: bytes, fields: list[bytes]) -> tuple[Kind, str]:
        """Return the kind of a line without its end, and the reason if it is rejected."""
        n_fields = len(fields)
        if not line.strip(b" "):
            return "blank", ""
        if len(line) > self.max_line:
            return "rejected", f"longer than {self.max_line:,} bytes"
        if n_fields != self.n_columns and is_comment(line, n_fields):
            return "comment", ""
        reason = why_not_utf8(line) or self._why_not_a_row(fields)
        return ("rejected", reason) if reason else ("accepted", "")

    def _why_not_a_row(self, fields: list[bytes]) -> str:
        if len(fields) != self.n_columns:
            noun = "column" if len(fields) == 1 else "columns"
            return f"{len(fields)} {noun}, expected {self.n_columns}"
        for role, column in zip(ROLES, self.columns, strict=True):
            if not fields[column]:
                return f"the {role} is empty"
        return ""

    def all_accepted(self, block: bytes) -> bool:
        """Whether every line of a block is plainly a triple; False if in doubt."""
        data = np.frombuffer(block, dtype=np.uint8)
        separators = np.flatnonzero((data == self.delimiter[0]) | (data == ord("\n")))
        if len(separators) % self.n_columns:
            return False
        row_of_separators = np.frombuffer(self.delimiter * (self.n_columns - 1) + b"\n", dtype=np.uint8)
        if not (data[separators].reshape(-1, self.n_columns) == row_of_separators).all():
            return False
        gaps = np.diff(separators, prepend=-1).reshape(-1, self.n_columns)
        line_ends = separators[self.n_columns - 1 :: self.n_columns]
        line_starts = np.append(0, line_ends[:-1] + 1)
        return bool(
            (gaps[:, self.columns] > 1).all()
            and np.diff(line_ends, prepend=-1).max(initial=0) <= self.max_line
            and not (data[line_starts] == ord("#")).any()
            and not why_not_utf8(block)
        )


def is_comment(line: bytes, n_fields: int) -> bool:
    """Whether a line that does not have the shape of a triple is a comment; ``#name`` may be a torn row."""
    return line.startswith(b"#") and (n_fields == 1 or line[1:2] in (b" ", b"#", b"!"))


def find_dialect(file: InputFile, delimiter: bytes, split: SplitLine | None = None) -> Dialect:
    """Return the columns of a file, from its header line if it has one.

    ``split`` cuts a line into fields; by default at each delimiter.
    """
    dialect = Dialect(delimiter, max_line=file.options.limits.max_line)
    if file.options.header is False:
        return dialect
    with file.lines() as blocks:
        return _read_dialect(blocks, dialect, split or (lambda line: line.split(delimiter)), file.options.header)


def _read_dialect(blocks: Iterator[bytes], dialect: Dialect, split: SplitLine, has_header: bool | None) -> Dialect:
    """Inspect the first line that is neither blank nor a comment; with ``has_header`` it is the header."""
    for number, line in numbered_lines(blocks):
        fields = split(line)
        n_fields = len(fields)
        if not line or (n_fields < 3 and is_comment(line, n_fields)):
            continue
        words = tuple(_word(field) for field in fields)
        columns = read_header(fields)
        if columns is None and has_header and n_fields >= 3 and not is_comment(line, n_fields):
            columns = (0, 1, 2)
        if columns is not None:
            return replace(
                dialect, n_columns=n_fields, columns=columns, header_line=number, header=frozenset(words)
            )
        is_row = line.strip(b" ") and not (is_comment(line, n_fields) and n_fields != 3)
        if is_row:
            return replace(dialect, maybe_header=number) if words in MAYBE_HEADERS else dialect
    return dialect


def read_header(fields: list[bytes]) -> tuple[int, int, int] | None:
    """Return the columns of head, relation and tail if the fields are names of columns.

    Examples
    --------
    >>> read_header([b"subject", b"object", b"predicate"])
    (0, 2, 1)
    >>> read_header([b"alice", b"likes", b"bob"])
    """
    words = [_word(field) for field in fields]
    if set(words) >= KGTK_WORDS:  # KGTK may have other columns called type, source and so on
        return words.index("node1"), words.index("label"), words.index("node2")
    candidates = [[i for i, word in enumerate(words) if word in names] for names in HEADER_WORDS]
    if any(len(columns) != 1 for columns in candidates):
        return None
    head, relation, tail = (columns[0] for columns in candidates)
    return head, relation, tail


def _word(field: bytes) -> str:
    return field.decode(errors="replace").strip(' "#').lower()
