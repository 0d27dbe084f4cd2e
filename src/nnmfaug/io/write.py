"""Write graphs and splits to files that other tools read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from nnmfaug.core.checks import check_argument
from nnmfaug.core.errors import DataError
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.splits import Splits
from nnmfaug.graph.vocabulary import LabelledTriple
from nnmfaug.io.detect import opens_a_table, plain_suffix
from nnmfaug.io.files import open_text, replacing
from nnmfaug.io.folder import write_folder
from nnmfaug.io.formats.ids import LIBKGE, OPENKE, IdLayout
from nnmfaug.io.formats.n_triples import n_triples
from nnmfaug.io.formats.quoted import MAX_RECORD_LINES

Layout = Literal["pykeen", "dglke", "libkge", "openke"]
SPLIT_NAMES = ("train", "valid", "test")
HEADER: LabelledTriple = ("head", "relation", "tail")
LINE_BREAKERS = re.compile(r"[\t\n\r]")
NEEDS_QUOTES = re.compile(r'[",\r\n#\ufeff]|^ | $')


def write_triples(
    graph: KnowledgeGraph, path: str | Path, *, prefix: str | None = None, overwrite: bool = False
) -> None:
    """Write the triples in order, as TSV, CSV, N-Triples or Parquet.

    The suffix of ``path`` selects the format; a second suffix .gz, .bz2 or .zst packs the file. The file is
    written completely or not at all. A name that the format cannot represent is a :class:`DataError`. In
    N-Triples, ``prefix`` turns such a name into an IRI, and reading with the same prefix undoes that.

    Parameters
    ----------
    overwrite
        Whether a file that exists may be replaced; otherwise it is a ``FileExistsError``.
    """
    path = Path(path)
    check_writable(path)
    with replacing(path, overwrite=overwrite) as draft:
        write_draft(graph, draft, path, prefix=prefix)


def write_draft(graph: KnowledgeGraph, draft: Path, path: Path, *, prefix: str | None) -> None:
    """Write to ``draft``, in the format of ``path``."""
    suffix = plain_suffix(path)
    if suffix == ".parquet":
        from nnmfaug.io.formats.duckdb import write_parquet

        write_parquet(graph, draft)
        return
    with open_text(draft, path) as file:
        lines = WRITERS[suffix](graph.labels(), path, prefix)
        file.writelines(lines)


def check_writable(path: Path) -> None:
    """Raise unless the suffix of a file is that of a format that can be written."""
    is_parquet = path.suffix.lower() == ".parquet"
    if plain_suffix(path) not in WRITERS and not is_parquet:
        raise DataError(
            "name the file .tsv, .txt, .csv, .nt (these also with .gz, .bz2, .zst) or .parquet", path=path
        )


def write_splits(
    splits: Splits,
    folder: str | Path,
    layout: Layout = "pykeen",
    *,
    overwrite: bool = False,
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Write train, valid and test into a folder that PyKEEN, DGL-KE, LibKGE or OpenKE reads without code.

    The files appear together or not at all. Besides them, ``manifest.json`` has their checksums.

    Parameters
    ----------
    overwrite
        Whether the files of an earlier call may be replaced; otherwise a folder with files is a
        ``FileExistsError``. Files of others are always an error.
    settings
        Plain data about the origin of the splits, such as the seed, for the manifest.
    """
    check_argument("layout", layout, layout in get_args(Layout), f"one of {', '.join(get_args(Layout))}")
    folder = Path(folder)
    if layout in ID_LAYOUTS:
        files = _id_files(splits, folder, ID_LAYOUTS[layout])
    else:
        files = _text_files(splits, folder, TRAPS[layout])
    sizes = {name: len(graph) for name, graph in splits.items()}
    about = {"name": splits.name, "layout": layout, "triples": sizes, **(settings or {})}
    write_folder(folder, files, about, overwrite=overwrite)


def _tsv(rows: Iterable[LabelledTriple], path: Path) -> Iterator[str]:
    for row in rows:
        for name in row:
            if LINE_BREAKERS.search(name):
                raise DataError(f"the name {name!r} contains a tab or line end: write .csv or .parquet", path=path)
        yield "\t".join(row) + "\n"


def _tsv_file(rows: Iterable[LabelledTriple], path: Path, _prefix: str | None) -> Iterator[str]:
    """Yield the lines of TSV, with a header if the first triple would be read as one, or as another format."""
    lines = _tsv(rows, path)
    first = next(lines, "")
    if first and not opens_a_table(first.encode()):
        yield "\t".join(HEADER) + "\n"
    yield first
    yield from lines


def _csv(rows: Iterable[LabelledTriple], path: Path, _prefix: str | None) -> Iterator[str]:
    for row in (HEADER, *rows):
        line = ",".join(_quote(name) for name in row)
        if len(line.encode().splitlines()) >= MAX_RECORD_LINES:
            raise DataError(f"a name of {row!r} contains too many line ends: write .parquet", path=path)
        yield line + "\n"


def _quote(name: str) -> str:
    if not NEEDS_QUOTES.search(name):
        return name
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


WRITERS: dict[str, Callable[[Iterable[LabelledTriple], Path, str | None], Iterator[str]]] = {
    ".tsv": _tsv_file,
    ".txt": _tsv_file,
    ".csv": _csv,
    ".nt": n_triples,
}


@dataclass(frozen=True)
class Trap:
    """Names that the reader of a library would change, and how."""

    pattern: re.Pattern[str]
    effect: str


TRAPS = {
    # PyKEEN 1.11 reads TSV with quotes: a name that begins with one merges the lines up to the next quote.
    "pykeen": Trap(re.compile(r'^"'), "PyKEEN's reader would merge lines; use --layout openke or na.to_pykeen"),
    "dglke": Trap(re.compile(r"^\s|\s$"), "DGL-KE's reader strips white space at the ends of a line"),
}
"""Layout of text files → its trap."""
ID_LAYOUTS = {"libkge": LIBKGE, "openke": OPENKE}
"""Layout of files of ids → its files."""


def layout_files(layout: Layout) -> list[str]:
    """Return the names of all files that a layout can have."""
    if layout not in ID_LAYOUTS:
        return [f"{name}.txt" for name in SPLIT_NAMES]
    ids = ID_LAYOUTS[layout]
    return [*map(ids.split.format, SPLIT_NAMES), ids.entities, ids.relations, "dataset.yaml"]


def _text_files(splits: Splits, folder: Path, trap: Trap) -> dict[str, Iterator[str]]:
    # PyKEEN cannot read an empty file, so an empty split has no file.
    rows = {name: _avoid(trap, graph.labels(), folder) for name, graph in splits.items() if len(graph)}
    return {f"{name}.txt": _tsv(labels, folder) for name, labels in rows.items()}


def _avoid(trap: Trap, rows: Iterable[LabelledTriple], path: Path) -> Iterator[LabelledTriple]:
    """Yield the rows; raise at a name that would be changed, or a first row that would not be read as a row."""
    for number, row in enumerate(rows):
        for name in row:
            if trap.pattern.search(name):
                raise DataError(f"the name {name!r} would be changed: {trap.effect}", path=path)
        if number == 0 and not opens_a_table("\t".join(row).encode()):
            raise DataError(f"the triple {row!r} would not be read as a triple at the top of a file", path=path)
        yield row


def _id_files(splits: Splits, folder: Path, layout: IdLayout) -> dict[str, Iterator[str]]:
    files = {layout.split.format(name): _id_rows(graph, layout) for name, graph in splits.items()}
    files[layout.entities] = _id_lines(splits.vocabulary.entities, folder, layout)
    files[layout.relations] = _id_lines(splits.vocabulary.relations, folder, layout)
    if layout is LIBKGE:
        files["dataset.yaml"] = _libkge_yaml(splits)
    return files


def _id_lines(names: tuple[str, ...], folder: Path, layout: IdLayout) -> Iterator[str]:
    if layout.counted:
        yield f"{len(names)}\n"
    for number, name in enumerate(names):
        if LINE_BREAKERS.search(name):
            msg = f"the name {name!r} contains a tab or line end, which {layout.name} files cannot"
            raise DataError(msg, path=folder)
        yield f"{number}\t{name}\n" if layout.id_first else f"{name}\t{number}\n"


def _id_rows(graph: KnowledgeGraph, layout: IdLayout) -> Iterator[str]:
    if layout.counted:
        yield f"{len(graph)}\n"
    separator = " " if layout is OPENKE else "\t"
    for row in graph.triples.tolist():
        fields = [""] * 3
        for column, number in zip(layout.order, row, strict=True):
            fields[column] = str(number)
        yield separator.join(fields) + "\n"


def _libkge_yaml(splits: Splits) -> Iterator[str]:
    yield "dataset:\n"
    for kind, file in (("entity_ids", LIBKGE.entities), ("relation_ids", LIBKGE.relations)):
        yield f"  files.{kind}.filename: {file}\n  files.{kind}.type: map\n"
    for name, graph in splits.items():
        yield f"  files.{name}.filename: {name}.del\n  files.{name}.size: {len(graph)}\n"
        yield f"  files.{name}.split_type: {name}\n  files.{name}.type: triples\n"
    yield f"  name: {json.dumps(splits.name)}\n"
    yield f"  num_entities: {len(splits.vocabulary.entities)}\n"
    yield f"  num_relations: {len(splits.vocabulary.relations)}\n"
