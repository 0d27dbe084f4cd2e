"""N-Triples, N-Quads and Turtle through pyoxigraph.

IRIs are names as they stand, blank nodes are ``_:label``. Statements whose object is a literal or a triple hold
no entity to link to: they are left out and counted.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from nnmfaug.core.errors import DataError
from nnmfaug.graph.vocabulary import LabelledTriple
from nnmfaug.io.formats.delimited import not_utf8
from nnmfaug.io.options import Format, ReadOptions
from nnmfaug.io.table import Interner, Table, Tally

if TYPE_CHECKING:
    import pyoxigraph as ox

MAX_STATEMENT = 1 << 26
"""Longest line; literals can be long, and are left out anyway."""
MAX_PARSED = 1 << 23
"""Longest line that is given to pyoxigraph, whose buffer is twice this."""
LONG_LITERAL = re.compile(
    rb"""[ \t]*(?:<[^>]*>|_:\S+)[ \t]*<[^>]*>[ \t]*"[^"\\]*(?:\\.[^"\\]*)*"(?:@[\w-]+|\^\^<[^>]*>)?[ \t]*"""
    rb"""(?:<[^>]*>|_:\S+)?[ \t]*\.[ \t]*(?:#.*)?"""
)
BLANK_OR_COMMENT = re.compile(rb"[ \t]*(#.*)?")
IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*")
MADE_UP = re.compile(r"[0-9a-f]{20,32}")
"""Labels that pyoxigraph invents."""
BLANK_NODE = re.compile(r"_:[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_-])?")


def load_pyoxigraph() -> None:
    """Raise with advice if pyoxigraph is not installed."""
    try:
        import pyoxigraph  # noqa: F401
    except ImportError:
        raise DataError("RDF files need pyoxigraph: pip install 'nnmfaug[rdf]'") from None


def read_rdf(blocks: Iterator[bytes], shown: str, format_name: Format, options: ReadOptions) -> Table:
    """Read blocks of whole lines."""
    load_pyoxigraph()
    collector = _Collector(options.prefix)
    tally = Tally()
    if format_name == "ttl":
        _read_turtle(blocks, shown, collector, tally)
    else:
        for block in blocks:
            _read_lines(block, format_name, collector, tally)
    report = options.check(tally.report(shown, format_name, collector.notes(), collector.literals))
    return collector.rows.table(report)


class _Collector:
    """Takes statements, keeps those between entities."""

    def __init__(self, prefix: str | None) -> None:
        import pyoxigraph

        self.rows = Interner()
        self.literals = 0
        self.named = 0
        self.blank = False
        self._made_up: dict[str, str] = {}
        self._prefix = prefix
        self._iri, self._blank, self._default = pyoxigraph.NamedNode, pyoxigraph.BlankNode, pyoxigraph.DefaultGraph

    def take(self, quads: Iterable[ox.Quad], line: int = 0, step: int = 0) -> None:
        """Take statements that stand at ``line`` and every ``step`` lines after."""
        iri, default, add, name = self._iri, self._default, self.rows.add, self._name
        plain = self._prefix is None
        for head, relation, tail, graph in quads:
            if plain and type(head) is iri and type(tail) is iri:  # most of them; the others cost more
                add(head.value, relation.value, tail.value, line)
            elif isinstance(tail, iri | self._blank) and isinstance(head, iri | self._blank):
                add(name(head), name(relation), name(tail), line)
            else:
                self.literals += 1
            self.named += type(graph) is not default
            line += step

    def notes(self) -> tuple[str, ...]:
        """What a user should know."""
        notes = [f"statements in named graphs, whose names are left out: {self.named}"] if self.named else []
        if self.blank:
            notes.append("blank nodes are entities of this file only, yet one label in two files is one name here")
        return tuple(notes)

    def _name(self, term: ox.NamedNode | ox.BlankNode) -> str:
        if isinstance(term, self._blank):
            self.blank = True
            label = term.value
            if MADE_UP.fullmatch(label):  # for [ ] in Turtle, another one at every read
                label = self._made_up.setdefault(label, f"anonymous-{len(self._made_up) + 1}")
            return f"_:{label}"
        if self._prefix and term.value.startswith(self._prefix):
            name = unquote(term.value[len(self._prefix) :])
            if name and quote(name, safe="") == term.value[len(self._prefix) :]:  # else it was not made by us
                return name
        return term.value


def _read_lines(block: bytes, format_name: Format, collector: _Collector, tally: Tally) -> None:
    """Parse a block at once; unless every line is one statement, line by line, so that each is judged alone."""
    quads = _parse(block, format_name) if len(block) <= MAX_PARSED else []
    if isinstance(quads, list) and len(quads) == block.count(b"\n"):
        collector.take(quads, tally.line + 1, step=1)
        tally.take("accepted", n_lines=len(quads))
        return
    for text in block[:-1].split(b"\n"):
        if (match := BLANK_OR_COMMENT.fullmatch(text)) is not None:
            tally.take("blank" if match[1] is None else "comment")
        elif len(text) > MAX_PARSED and LONG_LITERAL.fullmatch(text):
            collector.literals += 1
            tally.take("accepted")
        elif len(text) > MAX_PARSED:
            tally.reject(f"longer than {MAX_PARSED:,} bytes", text)
        elif isinstance(quads := _parse(text, format_name), list) and len(quads) == 1:
            collector.take(quads, tally.line + 1)
            tally.take("accepted")
        else:
            tally.reject(quads if isinstance(quads, str) else f"{len(quads)} statements in one line", text)


def _parse(text: bytes, format_name: Format) -> list[ox.Quad] | str:
    """Return the statements, or why they cannot be read."""
    import pyoxigraph

    if (reason := not_utf8(text)) is not None:
        return reason

    formats = {"nt": pyoxigraph.RdfFormat.N_TRIPLES, "nq": pyoxigraph.RdfFormat.N_QUADS}
    try:
        return list(pyoxigraph.parse(input=text, format=formats[format_name], lenient=True))
    except SyntaxError as error:
        return _reason(error)


def _read_turtle(blocks: Iterator[bytes], shown: str, collector: _Collector, tally: Tally) -> None:
    """Statements of Turtle span lines, so an error stops the read; lines are counted as they pass."""
    import pyoxigraph

    stream = io.BufferedReader(_Counting(blocks, tally))
    try:
        collector.take(pyoxigraph.parse(input=stream, format=pyoxigraph.RdfFormat.TURTLE, lenient=True))
    except SyntaxError as error:
        raise DataError(_reason(error), path=shown, line=error.lineno) from None
    except MemoryError as error:
        raise DataError(f"a statement is too long: {error}", path=shown, line=tally.line) from None


class _Counting(io.RawIOBase):
    """Blocks as a stream; counts lines by kind."""

    def __init__(self, blocks: Iterator[bytes], tally: Tally) -> None:
        self._blocks, self._tally, self._left = blocks, tally, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        if not self._left:
            self._left = next(self._blocks, b"")
            for line in self._left[:-1].split(b"\n") if self._left else []:
                match = BLANK_OR_COMMENT.fullmatch(line)
                self._tally.take("accepted" if match is None else "blank" if match[1] is None else "comment")
        data = self._left[: len(buffer)]
        self._left = self._left[len(data) :]
        buffer[: len(data)] = data
        return len(data)


def _reason(error: SyntaxError) -> str:
    """Without the place, which is told apart."""
    return re.sub(r"^Parser error at line \d+[^:]*: ", "", str(error.msg)).strip()


def n_triples(rows: Iterable[LabelledTriple], path: Path, prefix: str | None) -> Iterator[str]:
    """Yield a line per triple; names that cannot be IRIs are refused, or percent-encoded behind ``prefix``."""
    if prefix is not None and not IRI.fullmatch(prefix):
        msg = f"prefix={prefix!r}: must be an IRI such as https://example.org/"
        raise ValueError(msg)
    for head, relation, tail in rows:
        terms = (_term(head, prefix), _term(relation, prefix, relation=True), _term(tail, prefix))
        if None in terms:
            name = (head, relation, tail)[terms.index(None)]
            msg = f"the name {name!r} cannot be an IRI: pass --prefix, https://example.org/ for one"
            raise DataError(msg, path=path)
        yield " ".join(str(term) for term in terms) + " .\n"


def _term(name: str, prefix: str | None, *, relation: bool = False) -> str | None:
    if prefix is not None and (name.startswith(prefix) or not _is_term(name, relation=relation)):
        return f"<{prefix}{quote(name, safe='')}>"
    if not _is_term(name, relation=relation):
        return None
    return name if name.startswith("_:") else f"<{name}>"


def _is_term(name: str, *, relation: bool) -> bool:
    return bool(IRI.fullmatch(name)) or (not relation and bool(BLANK_NODE.fullmatch(name)))
