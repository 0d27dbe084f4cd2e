"""Files of ids with files of names beside them, as OpenKE and LibKGE write them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nnmfaug.core.errors import DataError
from nnmfaug.graph.vocabulary import Vocabulary
from nnmfaug.io.lines import line_blocks, numbered_lines
from nnmfaug.io.options import ReadOptions
from nnmfaug.io.stream import open_stream, text_blocks
from nnmfaug.io.table import Interner, Table, Tally

NumberedLine = tuple[int, str]


@dataclass(frozen=True)
class IdLayout:
    """The files of a library.

    Parameters
    ----------
    name
        The name of the layout.
    split
        The name of a file of triples; ``{}`` is the split.
    entities, relations
        The names of the files of names.
    order
        The columns of head, relation and tail.
    counted
        Whether the first line of every file is the number of lines that follow.
    id_first
        Whether a line of names is ``id name``, not ``name id``.
    """

    name: str
    split: str
    entities: str
    relations: str
    order: tuple[int, int, int]
    counted: bool
    id_first: bool


OPENKE = IdLayout(
    name="openke",
    split="{}2id.txt",
    entities="entity2id.txt",
    relations="relation2id.txt",
    order=(0, 2, 1),
    counted=True,
    id_first=False,
)
LIBKGE = IdLayout(
    name="libkge",
    split="{}.del",
    entities="entity_ids.del",
    relations="relation_ids.del",
    order=(0, 1, 2),
    counted=False,
    id_first=True,
)
DICTS = IdLayout(
    name="dicts",
    split="",
    entities="entities.dict",
    relations="relations.dict",
    order=(0, 1, 2),
    counted=False,
    id_first=True,
)
"""The files of names beside splits of plain triples, as in the RotatE repository and its successors."""


@dataclass(frozen=True)
class IdNames:
    """The names of a folder of ids; an id is the position of a name."""

    entities: list[str]
    relations: list[str]

    def vocabulary(self) -> Vocabulary:
        """Return the names in sorted order."""
        return Vocabulary.from_names(self.entities, self.relations)


def has_names(folder: Path, layout: IdLayout) -> bool:
    """Whether a folder has files of names of a layout; one of them may be missing, which is an error later."""
    return any((folder / name).is_file() for name in (layout.entities, layout.relations))


def read_id_names(folder: Path, layout: IdLayout, options: ReadOptions) -> IdNames:
    """Read the files of names of a folder."""
    return IdNames(
        entities=read_names(folder / layout.entities, layout, options),
        relations=read_names(folder / layout.relations, layout, options),
    )


def read_names(path: Path, layout: IdLayout, options: ReadOptions) -> list[str]:
    """Return the names in the order of their ids, which must be 0, 1, 2 and so on."""
    if not path.is_file():
        msg = f"no such file, but {layout.entities} and {layout.relations} are both needed"
        raise DataError(msg, path=path)
    names: dict[int, str] = {}
    for line, text in _lines_of_names(path, layout, options):
        name, number = _name_and_id(text, id_first=layout.id_first)
        if not number.isdecimal() or len(number) > 11 or not name:
            raise DataError("expected a name and an id", path=path, line=line)
        if int(number) in names:
            raise DataError(f"the id {number} occurs twice", path=path, line=line)
        names[int(number)] = name
    if sorted(names) != list(range(len(names))):
        raise DataError(f"{len(names)} names: their ids must be 0 to {len(names) - 1}", path=path)
    if len(set(names.values())) != len(names):
        raise DataError("a name occurs twice", path=path)
    return [names[i] for i in range(len(names))]


def read_ids(path: Path, layout: IdLayout, names: IdNames, options: ReadOptions) -> Table:
    """Read triples of ids as triples of names."""
    tally = Tally(options.max_rejects)
    rows = Interner()
    may_be_count = layout.counted
    for number, text in tally.watch(_lines(path, options)):
        fields = text.split()
        if not fields:
            tally.take("blank", n_lines=number - tally.line)
        elif may_be_count:
            tally.take("header")
            may_be_count = False
        elif reason := _why_not_ids(fields, layout, names):
            tally.reject(reason, text.encode())
        else:
            h, r, t = (int(fields[column]) for column in layout.order)
            rows.add(names.entities[h], names.relations[r], names.entities[t], tally.line + 1)
            tally.take("accepted")
    report = options.check(tally.report(str(path), layout.name))
    if layout.counted:
        _check_count(path, report.accepted + report.rejected, options)
    return rows.table(report)


def _lines(path: Path, options: ReadOptions) -> Iterator[NumberedLine]:
    """Yield the number and text of each line; of many empty lines in a row, only the last."""
    with open_stream(path, options.limits) as stream:
        text = text_blocks(stream, str(path), options.encoding)
        for number, line in numbered_lines(line_blocks(text, options.limits.max_line)):
            yield number, _decode(line, path, number)


def _decode(line: bytes, path: Path, number: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 ({error.reason}): pass --encoding", path=path, line=number) from None


def _lines_of_names(path: Path, layout: IdLayout, options: ReadOptions) -> list[NumberedLine]:
    """Return the lines that are neither blank nor the count."""
    lines = [(number, text) for number, text in _lines(path, options) if text.strip()]
    if not layout.counted:
        return lines
    _check_count(path, len(lines) - 1, options)
    return lines[1:]


def _check_count(path: Path, n_lines: int, options: ReadOptions) -> None:
    """Raise unless the first line that is not blank is the number of lines that follow."""
    texts = ((number, text.strip()) for number, text in _lines(path, options) if text.strip())
    line, count = next(texts, (1, ""))
    if count != str(n_lines):
        msg = f"the first line must be the number of lines that follow, {n_lines}; it is {count!r}"
        raise DataError(msg, path=path, line=line)


def _name_and_id(text: str, *, id_first: bool) -> tuple[str, str]:
    separator = "\t" if "\t" in text else " "
    if id_first:
        number, _, name = text.partition(separator)
    else:
        name, _, number = text.rpartition(separator)
    return name, number.strip()


def _why_not_ids(fields: list[str], layout: IdLayout, names: IdNames) -> str:
    """Return the reason why fields are not a triple of ids; empty if they are."""
    if len(fields) != 3:
        return f"{len(fields)} columns, expected 3"
    if not all(field.isdecimal() and len(field) < 12 for field in fields):
        return "an id is not a number"
    h, r, t = (int(fields[column]) for column in layout.order)
    n_entities = len(names.entities)
    n_relations = len(names.relations)
    if max(h, t) >= n_entities or r >= n_relations:
        return f"an id is too large: there are {n_entities} entities and {n_relations} relations"
    return ""
