"""Graphs and splits to files that other tools read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Literal, get_args

from nnmfaug.core.errors import DataError
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.splits import Splits
from nnmfaug.graph.vocabulary import LabelledTriple
from nnmfaug.io.detect import opens_a_table, plain_suffix
from nnmfaug.io.files import open_text, replacing
from nnmfaug.io.formats.ids import LIBKGE, OPENKE, IdLayout
from nnmfaug.io.formats.n_triples import n_triples
from nnmfaug.io.formats.quoted import MAX_RECORD_LINES

Layout = Literal["pykeen", "dglke", "libkge", "openke"]
HEADER: LabelledTriple = ("head", "relation", "tail")
LINE_BREAKERS = re.compile(r"[\t\n\r]")
NEEDS_QUOTES = re.compile(r'[",\r\n#\ufeff]|^ | $')


def write_triples(graph: KnowledgeGraph, path: str | Path, *, prefix: str | None = None) -> None:
    """Write the triples in order, as TSV, CSV, N-Triples or Parquet by the suffix, packed by .gz, .bz2, .zst.

    The file appears whole or not at all. A name that the format cannot hold is a :class:`DataError`; for
    N-Triples, ``prefix`` makes IRIs of names that are none, and reading with the same prefix undoes that.
    """
    path = Path(path)
    check_writable(path)
    with replacing(path) as draft:
        write_draft(graph, draft, path, prefix=prefix)


def write_draft(graph: KnowledgeGraph, draft: Path, path: Path, *, prefix: str | None) -> None:
    """Write to ``draft`` what is to become ``path``."""
    suffix = plain_suffix(path)
    if suffix == ".parquet":
        from nnmfaug.io.formats.duckdb import write_parquet

        write_parquet(graph, draft)
        return
    with open_text(draft, path) as file:
        file.writelines(WRITERS[suffix](graph.labels(), path, prefix))


def check_writable(path: Path) -> None:
    """Raise if the name of a file does not say in which format it is to be written."""
    if plain_suffix(path) not in WRITERS and path.suffix.lower() != ".parquet":
        raise DataError(
            "name the file .tsv, .txt, .csv, .nt (these also with .gz, .bz2, .zst) or .parquet", path=path
        )


def write_splits(splits: Splits, folder: str | Path, layout: Layout = "pykeen") -> None:
    """Write train, valid and test into a folder that PyKEEN, DGL-KE, LibKGE or OpenKE reads without code.

    The folder may hold the same files from before, which are replaced, but no others.
    """
    folder = Path(folder)
    if layout in TRAPS:
        trap, why = TRAPS[layout]
        # PyKEEN cannot read an empty file; that a split is empty is said by no file at all.
        parts = {name: _refuse(graph.labels(), folder, trap, why) for name, graph in splits.items() if len(graph)}
        write_files(folder, {f"{name}.txt": _tsv(rows, folder) for name, rows in parts.items()})
    elif layout in ID_LAYOUTS:
        write_files(folder, _id_files(splits, folder, ID_LAYOUTS[layout]))
    else:
        msg = f"layout={layout!r}: must be one of {', '.join(get_args(Layout))}"
        raise ValueError(msg)


def write_files(folder: Path, files: dict[str, Iterator[str]]) -> None:
    """Write several files, all of them or none."""
    found = [path.name for path in folder.iterdir() if not path.name.startswith(".")] if folder.is_dir() else []
    others = sorted(set(found) - set(files))
    if others or (folder.exists() and not folder.is_dir()):
        what = f"the folder holds other files ({', '.join(others[:5])})" if others else "this is a file"
        raise DataError(f"{what}: name a new folder", path=folder)
    with ExitStack() as drafts:
        for name, lines in files.items():
            draft = drafts.enter_context(replacing(folder / name))
            with open_text(draft, folder / name) as file:
                file.writelines(lines)


def _tsv(rows: Iterable[LabelledTriple], path: Path) -> Iterator[str]:
    for row in rows:
        if any(LINE_BREAKERS.search(name) for name in row):
            name = next(name for name in row if LINE_BREAKERS.search(name))
            raise DataError(f"the name {name!r} holds a tab or line end: write .csv or .parquet", path=path)
        yield "\t".join(row) + "\n"


def _tsv_file(rows: Iterable[LabelledTriple], path: Path, _prefix: str | None) -> Iterator[str]:
    """With a header, if the first triple would be taken for one or for another format."""
    lines = _tsv(rows, path)
    first = next(lines, "")
    if first and not opens_a_table(first.encode()):
        yield "\t".join(HEADER) + "\n"
    yield first
    yield from lines


def _csv(rows: Iterable[LabelledTriple], path: Path, _prefix: str | None) -> Iterator[str]:
    for row in (HEADER, *rows):
        line = ",".join(f'"{n.replace(chr(34), chr(34) * 2)}"' if NEEDS_QUOTES.search(n) else n for n in row)
        if len(line.encode().splitlines()) >= MAX_RECORD_LINES:
            raise DataError(f"a name of {row!r} holds too many line ends: write .parquet", path=path)
        yield line + "\n"


WRITERS: dict[str, Callable[[Iterable[LabelledTriple], Path, str | None], Iterator[str]]] = {
    ".tsv": _tsv_file,
    ".txt": _tsv_file,
    ".csv": _csv,
    ".nt": n_triples,
}


TRAPS: dict[str, tuple[re.Pattern[str], str]] = {
    # PyKEEN 1.11 reads TSV with quotes on: a name that opens with one swallows the lines up to the next.
    "pykeen": (
        re.compile(r'^"'),
        "PyKEEN's reader would merge lines; --layout openke keeps it, and so does na.to_pykeen",
    ),
    "dglke": (re.compile(r"^\s|\s$"), "DGL-KE's reader strips white space at the ends of a line"),
}
ID_LAYOUTS = {"libkge": LIBKGE, "openke": OPENKE}


def _refuse(
    rows: Iterable[LabelledTriple], path: Path, trap: re.Pattern[str], why: str
) -> Iterator[LabelledTriple]:
    for i, row in enumerate(rows):
        for name in row:
            if trap.search(name):
                raise DataError(f"the name {name!r} would not survive: {why}", path=path)
        if i == 0 and not opens_a_table("\t".join(row).encode()):
            raise DataError(
                f"the triple {row!r} at the top of a file would be taken for something else", path=path
            )
        yield row


def _id_files(splits: Splits, folder: Path, layout: IdLayout) -> dict[str, Iterator[str]]:
    entities, relations = splits.vocabulary.entities, splits.vocabulary.relations
    files = {
        layout.entities: _id_lines(entities, folder, layout),
        layout.relations: _id_lines(relations, folder, layout),
    }
    for name, graph in splits.items():
        files[layout.split.format(name)] = _id_rows(graph, layout)
    if layout is LIBKGE:
        files["dataset.yaml"] = _libkge_yaml(splits)
    return files


def _id_lines(names: tuple[str, ...], folder: Path, layout: IdLayout) -> Iterator[str]:
    if layout.counted:
        yield f"{len(names)}\n"
    for number, name in enumerate(names):
        if LINE_BREAKERS.search(name):
            raise DataError(f"the name {name!r} holds a tab or line end: no {layout.name} file can", path=folder)
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
