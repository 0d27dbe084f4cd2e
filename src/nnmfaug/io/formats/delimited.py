"""Triples in columns: TSV, CSV and KGTK.

Every physical line is exactly one of: accepted, rejected, blank, comment, header. Lines are judged one by one
in plain Python (:meth:`Dialect.judge`); a block in which every line is plainly a triple is recognised as a whole
with numpy and goes to DuckDB as it is, which is what makes large files fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from nnmfaug.io.options import ReadOptions
from nnmfaug.io.table import Kind, Tally

HEADER: tuple[Kind, str] = ("header", "")

KGTK_WORDS = frozenset({"node1", "label", "node2"})
SplitLine = Callable[[bytes], list[bytes]]
TakeRow = Callable[[list[bytes], int], None]
"""Called with head, relation and tail of an accepted row, and its line."""

ROLES = ("head", "relation", "tail")

HEADER_WORDS = tuple(
    frozenset(words.split())
    for words in (
        ":start_id head subject source from node1 src subj head_id head_label source_id entity1",
        ":type relation predicate label rel property edge edge_type relation_label pred type",
        ":end_id tail object target to node2 dst obj tail_id tail_label target_id entity2",
    )
)
"""What columns of heads, relations and tails are called."""


@dataclass(frozen=True)
class Dialect:
    """How many columns a file has, what separates them, and which hold head, relation and tail.

    ``header_line`` is the number of the line that names the columns, 0 if there is none; ``header`` its words.
    ``maybe_header`` is the number of a line that is read as a triple but says h, r, t or s, p, o.
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
        """Whether there are just three columns, in the usual order."""
        return self.columns == (0, 1, 2) and self.n_columns == 3

    def judge(self, line: bytes, fields: list[bytes] | None = None) -> tuple[Kind, str]:
        """Say what a line without its end is, and why if it is rejected."""
        fields = line.split(self.delimiter) if fields is None else fields
        if not line.strip(b" "):
            return "blank", ""
        if len(line) > self.max_line:
            return "rejected", f"longer than {self.max_line:,} bytes"
        if len(fields) != self.n_columns and is_comment(line, len(fields)):
            return "comment", ""
        if (reason := not_utf8(line)) is not None:
            return "rejected", reason
        if len(fields) != self.n_columns:
            columns = "1 column" if len(fields) == 1 else f"{len(fields)} columns"
            return "rejected", f"{columns}, expected {self.n_columns}"
        for role, column in zip(ROLES, self.columns, strict=True):
            if not fields[column]:
                return "rejected", f"the {role} is empty"
        return "accepted", ""

    def all_accepted(self, block: bytes) -> bool:
        """Whether every line of a block is plainly a triple; if not sure, no."""
        data = np.frombuffer(block, dtype=np.uint8)
        marks = np.flatnonzero((data == self.delimiter[0]) | (data == 10))
        if len(marks) % self.n_columns:
            return False
        gaps = np.diff(marks, prepend=-1).reshape(-1, self.n_columns)
        pattern = np.frombuffer(self.delimiter * (self.n_columns - 1) + b"\n", dtype=np.uint8)
        ends = marks[self.n_columns - 1 :: self.n_columns]
        starts = ends[:-1] + 1
        return bool(
            (data[marks].reshape(-1, self.n_columns) == pattern).all()
            and (gaps[:, self.columns] > 1).all()
            and np.diff(ends, prepend=-1).max(initial=0) <= self.max_line
            and data[0] != ord("#")
            and not (data[starts] == ord("#")).any()
            and not_utf8(block) is None
        )


def is_comment(line: bytes, n_fields: int) -> bool:
    """A line that opens with # and does not have the shape of a triple; ``#name`` may be a torn row."""
    return line.startswith(b"#") and (n_fields == 1 or line[1:2] in (b" ", b"#", b"!"))


def find_dialect(blocks: Iterator[bytes], options: ReadOptions, split: SplitLine, delimiter: bytes) -> Dialect:
    """Look whether the first line that says something names the columns."""
    dialect = Dialect(delimiter, max_line=options.limits.max_line)
    lines = (line for block in blocks for line in block[:-1].split(b"\n"))
    for number, line in enumerate(lines if options.header is not False else (), start=1):
        fields = split(line)
        columns = read_header(fields)
        if columns is not None or (options.header and len(fields) >= 3 and not is_comment(line, len(fields))):
            words = frozenset(_word(field) for field in fields)
            columns = columns or (0, 1, 2)
            return replace(dialect, n_columns=len(fields), columns=columns, header_line=number, header=words)
        if line.strip(b" ") and not (is_comment(line, len(fields)) and len(fields) != 3):
            maybe = tuple(_word(field) for field in fields) in (("h", "r", "t"), ("s", "p", "o"))
            return replace(dialect, maybe_header=number) if maybe else dialect
    return dialect


def read_header(fields: list[bytes]) -> tuple[int, int, int] | None:
    """Return the columns of head, relation and tail if the words say so.

    Examples
    --------
    >>> read_header([b"subject", b"object", b"predicate"])
    (0, 2, 1)
    >>> read_header([b"alice", b"likes", b"bob"])
    """
    words = [_word(field) for field in fields]
    if set(words) >= KGTK_WORDS:  # which may stand among columns called type, source and so on
        return words.index("node1"), words.index("label"), words.index("node2")
    found = [[i for i, word in enumerate(words) if word in known] for known in HEADER_WORDS]
    if any(len(columns) != 1 for columns in found):
        return None
    head, relation, tail = (columns[0] for columns in found)
    return head, relation, tail


def scan_lines(
    blocks: Iterator[bytes],
    dialect: Dialect,
    tally: Tally,
    take_block: Callable[[bytes], object] | None,
    take_row: TakeRow,
) -> None:
    """Sort the lines of blocks; whole blocks of triples to ``take_block`` if given, other triples one by one."""
    for block in blocks:
        if take_block is not None and tally.line >= dialect.header_line and dialect.all_accepted(block):
            take_block(block)
            tally.take("accepted", n_lines=block.count(b"\n"))
            continue
        for line in block[:-1].split(b"\n"):
            fields = line.split(dialect.delimiter)
            scan_row(line, fields, dialect, tally, take_row)


def scan_row(
    line: bytes,
    fields: list[bytes],
    dialect: Dialect,
    tally: Tally,
    take_row: TakeRow,
    n_lines: int = 1,
) -> None:
    """Judge one row, count it, and hand it on if it is a triple."""
    number = tally.line + 1
    if number < dialect.header_line:  # what stands above a header is no row, whatever its shape
        tally.take("comment" if line.strip(b" ") else "blank", n_lines=n_lines)
        return
    kind, reason = HEADER if number == dialect.header_line else dialect.judge(line, fields)
    if kind == "rejected":
        tally.reject(reason, line, n_lines=n_lines)
        return
    if kind == "accepted":
        tally.hash_names += line.startswith(b"#")
        take_row([fields[column] for column in dialect.columns], number)
    tally.take(kind, n_lines=n_lines)


def _word(field: bytes) -> str:
    return field.decode(errors="replace").strip(' "#').lower()


def not_utf8(text: bytes) -> str | None:
    """Say why bytes are not UTF-8, or None if they are."""
    if text.isascii():
        return None
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return f"byte 0x{text[error.start]:02X} is not UTF-8: pass --encoding, latin-1 perhaps"
    return None
