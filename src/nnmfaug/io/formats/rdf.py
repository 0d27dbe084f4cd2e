"""N-Triples, N-Quads and Turtle, parsed by pyoxigraph.

The name of an entity is its IRI, or ``_:label`` for a blank node. A statement whose object is a literal or a
triple does not link two entities: it is left out and counted.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from nnmfaug.core.errors import DataError
from nnmfaug.io.input_file import InputFile
from nnmfaug.io.lines import count_gap, separate_gaps
from nnmfaug.io.options import Format
from nnmfaug.io.stream import why_not_utf8
from nnmfaug.io.table import Interner, Kind, Table, Tally

if TYPE_CHECKING:
    import pyoxigraph as ox

# Quantifiers are possessive (*+): a line that does not match must not be tried in all possible ways. Only a label
# before the dot gives back what it matched, because the dot may touch it.
IRI = rb"<[^>]*+>"
LABEL = rb"_:[^\s<]+"
LITERAL = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"(?:@[\w-]++|\^\^' + IRI + rb")?+"
LINK = rb"\s*+(?:" + IRI + rb"|" + LABEL + rb"+)\s*+" + IRI + rb"\s*+"
"""Subject and predicate."""
END = rb"(?P<graph>\s*+" + IRI + rb"|\s++" + LABEL + rb")?\s*+\.\s*+(?:#.*+)?+"

STATEMENT = re.compile(LINK + rb"(?:" + IRI + rb"|" + LABEL + rb"|" + LITERAL + rb")" + END)
"""A line of N-Triples or N-Quads."""
TURTLE = re.compile(rb"\s*+@?(prefix\s++[^\s:]*+:|base)\s*+<", re.IGNORECASE)
"""The beginning of a directive of Turtle."""

MAX_STATEMENT = 1 << 26
"""Longest line in bytes. Literals can be long, and are left out anyway."""
MAX_PARSED = 1 << 23
"""Longest line in bytes that pyoxigraph parses; its buffer is twice this."""
LONG_LITERAL = re.compile(LINK + LITERAL + END)
"""A statement about a text or a number."""
BLANK_OR_COMMENT = re.compile(rb"[ \t]*+(?P<comment>#.*+)?+")
INVENTED_LABEL = re.compile(r"[0-9a-f]{20,32}")
"""Labels that pyoxigraph invents for nodes without one."""


def read_n_triples(file: InputFile) -> Table:
    """Read N-Triples."""
    return _read_statements(file, "nt")


def read_n_quads(file: InputFile) -> Table:
    """Read N-Quads; the names of graphs are left out."""
    return _read_statements(file, "nq")


def read_turtle(file: InputFile) -> Table:
    """Read Turtle. A statement may span lines, so an error ends the read; lines are counted on the way."""
    check_pyoxigraph()
    import pyoxigraph

    collector = _Collector(file.options.prefix)
    tally = file.new_tally()
    with file.lines(MAX_STATEMENT) as blocks:
        stream = io.BufferedReader(_CountingStream(separate_gaps(blocks), tally))
        try:
            collector.take(pyoxigraph.parse(input=stream, format=pyoxigraph.RdfFormat.TURTLE, lenient=True))
        except SyntaxError as error:
            raise DataError(_reason(error), path=file.shown, line=error.lineno) from None
        except MemoryError as error:
            raise DataError(f"a statement is too long: {error}", path=file.shown, line=tally.line) from None
    return collector.table(file, "ttl", tally)


def check_pyoxigraph() -> None:
    """Raise with advice if pyoxigraph is not installed."""
    try:
        import pyoxigraph  # noqa: F401
    except ImportError:
        raise DataError("RDF files need pyoxigraph: pip install 'nnmfaug[rdf]'") from None


class _Collector:
    """Collects the statements between entities, and counts the others."""

    def __init__(self, prefix: str | None) -> None:
        import pyoxigraph

        self.literals = 0
        self._rows = Interner()
        self._prefix = prefix
        self._n_in_named_graphs = 0
        self._has_blank_nodes = False
        self._anonymous: dict[str, str] = {}
        self._iri = pyoxigraph.NamedNode
        self._blank_node = pyoxigraph.BlankNode
        self._default_graph = pyoxigraph.DefaultGraph

    def take(self, quads: Iterable[ox.Quad], line: int = 0, step: int = 0) -> None:
        """Take statements; the first is at ``line``, each other one ``step`` lines further."""
        iri = self._iri
        node = iri | self._blank_node
        default_graph = self._default_graph
        add = self._rows.add
        keeps_iris = self._prefix is None
        for head, relation, tail, graph in quads:
            if keeps_iris and type(head) is iri and type(tail) is iri:  # most statements; the others cost more
                add(head.value, relation.value, tail.value, line)
            elif isinstance(tail, node) and isinstance(head, node):
                add(self._name(head), self._name(relation), self._name(tail), line)
            else:
                self.literals += 1
            self._n_in_named_graphs += type(graph) is not default_graph
            line += step

    def table(self, file: InputFile, format_name: Format, tally: Tally) -> Table:
        """Return the rows with a checked report."""
        report = tally.report(file.shown, format_name, self._notes(), self.literals)
        return self._rows.table(file.options.check(report))

    def _notes(self) -> tuple[str, ...]:
        notes = []
        if self._n_in_named_graphs:
            notes.append(f"statements in named graphs, whose names are left out: {self._n_in_named_graphs}")
        if self._has_blank_nodes:
            notes.append("blank nodes belong to one file, but a label that is in two files is one name here")
        return tuple(notes)

    def _name(self, term: ox.NamedNode | ox.BlankNode) -> str:
        if isinstance(term, self._blank_node):
            self._has_blank_nodes = True
            return f"_:{self._label(term.value)}"
        if not self._prefix or not term.value.startswith(self._prefix):
            return term.value
        encoded = term.value.removeprefix(self._prefix)
        name = unquote(encoded)
        is_ours = bool(name) and quote(name, safe="") == encoded
        return name if is_ours else term.value

    def _label(self, label: str) -> str:
        """Replace an invented label, which differs at every read, by a number in order of occurrence."""
        if not INVENTED_LABEL.fullmatch(label):
            return label
        return self._anonymous.setdefault(label, f"anonymous-{len(self._anonymous) + 1}")


def _read_statements(file: InputFile, format_name: Format) -> Table:
    check_pyoxigraph()
    collector = _Collector(file.options.prefix)
    tally = file.new_tally()
    with file.lines(MAX_STATEMENT) as blocks:
        for block in tally.watch(separate_gaps(blocks)):
            _read_block(block, format_name, collector, tally)
    return collector.table(file, format_name, tally)


def _read_block(block: bytes, format_name: Format, collector: _Collector, tally: Tally) -> None:
    """Parse a block at once if every line is one statement, and line by line if not."""
    n_empty = count_gap(block)
    if n_empty:
        tally.take("blank", n_lines=n_empty)
        return
    quads = _parse(block, format_name) if len(block) <= MAX_PARSED else []
    if isinstance(quads, list) and len(quads) == block.count(b"\n"):
        collector.take(quads, tally.line + 1, step=1)
        tally.take("accepted", n_lines=len(quads))
        return
    for line in block[:-1].split(b"\n"):
        if BLANK_OR_COMMENT.fullmatch(line):
            tally.take(_kind(line))
        elif len(line) > MAX_PARSED:
            _take_long_line(line, collector, tally)
        else:
            _take_line(line, format_name, collector, tally)


def _take_long_line(line: bytes, collector: _Collector, tally: Tally) -> None:
    if LONG_LITERAL.fullmatch(line):
        collector.literals += 1
        tally.take("accepted")
    else:
        tally.reject(f"longer than {MAX_PARSED:,} bytes", line)


def _take_line(line: bytes, format_name: Format, collector: _Collector, tally: Tally) -> None:
    quads = _parse(line, format_name)
    if isinstance(quads, str):
        tally.reject(quads, line)
    elif len(quads) != 1:
        tally.reject(f"{len(quads)} statements in one line", line)
    else:
        collector.take(quads, tally.line + 1)
        tally.take("accepted")


def _parse(text: bytes, format_name: Format) -> list[ox.Quad] | str:
    """Return the statements, or the reason why they cannot be parsed."""
    import pyoxigraph

    reason = why_not_utf8(text)
    if reason:
        return reason
    formats = {"nt": pyoxigraph.RdfFormat.N_TRIPLES, "nq": pyoxigraph.RdfFormat.N_QUADS}
    try:
        return list(pyoxigraph.parse(input=text, format=formats[format_name], lenient=True))
    except SyntaxError as error:
        return _reason(error)


def _reason(error: SyntaxError) -> str:
    """Return the message of an error without its place, which is reported separately."""
    return re.sub(r"^Parser error at line \d+[^:]*: ", "", str(error.msg)).strip()


def _kind(line: bytes) -> Kind:
    match = BLANK_OR_COMMENT.fullmatch(line)
    if match is None:
        return "accepted"
    return "comment" if match["comment"] else "blank"


class _CountingStream(io.RawIOBase):
    """Blocks of lines as a stream of bytes; counts the lines by kind."""

    def __init__(self, blocks: Iterator[bytes], tally: Tally) -> None:
        self._blocks = blocks
        self._tally = tally
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        if not self._rest:
            self._rest = next(self._blocks, b"")
            self._count(self._rest)
        data = self._rest[: len(buffer)]
        self._rest = self._rest[len(data) :]
        buffer[: len(data)] = data
        return len(data)

    def _count(self, block: bytes) -> None:
        n_empty = count_gap(block)
        lines = block[:-1].split(b"\n") if block and not n_empty else []
        for line in lines:
            self._tally.take(_kind(line))
        self._tally.take("blank", n_lines=n_empty)
