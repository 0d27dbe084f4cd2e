"""Files of ids beside files that say what the ids mean, as OpenKE and LibKGE keep them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nnmfaug.core.errors import DataError
from nnmfaug.io.options import ReadOptions
from nnmfaug.io.stream import line_blocks, open_stream, text_blocks
from nnmfaug.io.table import Interner, Table, Tally


@dataclass(frozen=True)
class IdLayout:
    """How a library spells its files.

    ``order`` says which column holds head, relation and tail; with ``counted`` the first line of every file is
    the number of lines that follow; with ``id_first`` a line of names is ``id name``, else ``name id``.
    """

    name: str
    split: str
    entities: str
    relations: str
    order: tuple[int, int, int]
    counted: bool
    id_first: bool


OPENKE = IdLayout(
    "openke", "{}2id.txt", "entity2id.txt", "relation2id.txt", (0, 2, 1), counted=True, id_first=False
)
LIBKGE = IdLayout(
    "libkge", "{}.del", "entity_ids.del", "relation_ids.del", (0, 1, 2), counted=False, id_first=True
)
DICTS = IdLayout("dicts", "", "entities.dict", "relations.dict", (0, 1, 2), counted=False, id_first=True)
"""The files of names that go with splits of plain triples in the RotatE repository and its heirs."""


def read_names(path: Path, layout: IdLayout, options: ReadOptions) -> list[str]:
    """Return the names in the order of their ids, which must be 0, 1, 2 and so on."""
    names: dict[int, str] = {}
    for line, text in _body(path, layout, options):
        name, number = _name_and_id(text, id_first=layout.id_first)
        if not number.isdecimal() or len(number) > 11 or not name:
            raise DataError("expected a name and an id", path=path, line=line)
        if int(number) in names:
            raise DataError(f"the id {number} is here twice", path=path, line=line)
        names[int(number)] = name
    if sorted(names) != list(range(len(names))):
        raise DataError(f"{len(names)} names: their ids must be 0 to {len(names) - 1}", path=path)
    if len(set(names.values())) != len(names):
        raise DataError("a name is here twice", path=path)
    return [names[i] for i in range(len(names))]


def read_ids(
    path: Path, layout: IdLayout, entities: list[str], relations: list[str], options: ReadOptions
) -> Table:
    """Read triples of ids as triples of names."""
    tally, rows = Tally(), Interner()
    first = True
    for _, text in _lines(path, options):
        fields = text.split()
        if not fields:
            tally.take("blank")
        elif first and layout.counted:
            tally.take("header")
        elif reason := _why_not_ids(fields, layout, len(entities), len(relations)):
            tally.reject(reason, text.encode())
        else:
            h, r, t = (int(fields[column]) for column in layout.order)
            rows.add(entities[h], relations[r], entities[t], tally.line + 1)
            tally.take("accepted")
        first = first and not fields
    report = options.check(tally.report(str(path), layout.name))
    if layout.counted:
        _check_count(path, report.accepted + report.rejected, options)
    return rows.table(report)


def _lines(path: Path, options: ReadOptions) -> Iterator[tuple[int, str]]:
    with open_stream(path, options.limits) as stream:
        blocks = line_blocks(text_blocks(stream, str(path), options.encoding), options.limits.max_line)
        number = 0
        for block in blocks:
            for line in block[:-1].split(b"\n"):
                number += 1
                try:
                    yield number, line.decode()
                except UnicodeDecodeError as error:
                    raise DataError(
                        f"not UTF-8 ({error.reason}): pass --encoding", path=path, line=number
                    ) from None


def _body(path: Path, layout: IdLayout, options: ReadOptions) -> Iterator[tuple[int, str]]:
    """Yield the lines that say something, without the count."""
    lines = [(number, text) for number, text in _lines(path, options) if text.strip()]
    if layout.counted:
        _check_count(path, len(lines) - 1, options)
        lines = lines[1:]
    yield from lines


def _check_count(path: Path, found: int, options: ReadOptions) -> None:
    line, text = next(((n, text) for n, text in _lines(path, options) if text.strip()), (1, ""))
    if text.strip() != str(found):
        msg = f"the first line must be the number of lines that follow, {found}; it is {text.strip()!r}"
        raise DataError(msg, path=path, line=line)


def _name_and_id(text: str, *, id_first: bool) -> tuple[str, str]:
    separator = "\t" if "\t" in text else " "
    if id_first:
        number, _, name = text.partition(separator)
    else:
        name, _, number = text.rpartition(separator)
    return name, number.strip()


def _why_not_ids(fields: list[str], layout: IdLayout, n_entities: int, n_relations: int) -> str:
    if len(fields) != 3:
        return f"{len(fields)} columns, expected 3"
    if not all(field.isdecimal() and len(field) < 12 for field in fields):
        return "an id is not a number"
    h, r, t = (int(fields[column]) for column in layout.order)
    if max(h, t) >= n_entities or r >= n_relations:
        return f"an id is too large: there are {n_entities} entities and {n_relations} relations"
    return ""
