"""Train, valid and test together: a named data set, a folder, an archive of a folder, or three files."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from nnmfaug.core.errors import DataError
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.splits import Splits
from nnmfaug.graph.vocabulary import Vocabulary
from nnmfaug.io import datasets
from nnmfaug.io.archive import unpack
from nnmfaug.io.formats.ids import DICTS, LIBKGE, OPENKE, IdLayout, read_ids, read_names
from nnmfaug.io.options import ReadOptions
from nnmfaug.io.read import PACKED_SUFFIXES, SUFFIXES, is_archive, read_table, read_triples
from nnmfaug.io.stream import Limits, open_stream

Source = str | Path | Sequence[str | Path]
SPELLINGS = {"train": "train|training", "valid": "valid|validation|val|dev", "test": "test|testing"}
SPLIT_FILE = re.compile(
    r"(?P<prefix>.*[-_.])?(?:" + "|".join(f"(?P<{k}>{v})" for k, v in SPELLINGS.items()) + ")", re.IGNORECASE
)
SPLIT_ADVICE = "nnmfaug split {} --valid 5% --test 10% --seed 0 -o folder"


def read_splits(source: Source, options: ReadOptions | None = None) -> Splits:
    """Read train, valid and test over one vocabulary.

    Parameters
    ----------
    source
        A known name (see :data:`nnmfaug.io.datasets.DATASETS`), a folder or an archive of one, or the paths of
        train, valid and test. Folders may follow PyKEEN, pykg2vec, RotatE, OpenKE or LibKGE. A known name wins
        over a folder of that name: write ``./umls`` for the folder.
    """
    found = read_any(source, options)
    if isinstance(found, Splits):
        return found
    raise DataError(
        f"one file, but train, valid and test are needed: {SPLIT_ADVICE.format(source)}", path=str(source)
    )


def read_any(source: Source, options: ReadOptions | None = None) -> Splits | KnowledgeGraph:
    """Read splits where there are splits, and a graph where there is one file."""
    options = options or ReadOptions()
    if not isinstance(source, str | Path | list | tuple):
        msg = f"source={source!r}: must be a name, a path, or three paths"
        raise TypeError(msg)
    if not isinstance(source, str | Path):
        return _three_files(source, options)
    dataset = datasets.find(source) if isinstance(source, str) else None
    if dataset is not None:
        found = _read_path(datasets.locate(dataset), options)
        return replace(found, name=dataset.name) if isinstance(found, Splits) else found
    path = Path(source)
    if not path.exists():
        known = ", ".join(datasets.DATASETS)
        raise DataError(f"no such file or folder, and not a known data set ({known})", path=path)
    return _read_path(path, options)


def _three_files(paths: Sequence[str | Path], options: ReadOptions) -> Splits:
    if len(paths) != 3:
        msg = f"{len(paths)} paths: three are needed, train, valid and test"
        raise ValueError(msg)
    train, valid, test = (_read_file(Path(path), options) for path in paths)
    return Splits.merge(Path(paths[0]).parent.name or "splits", train=train, valid=valid, test=test)


def _read_path(path: Path, options: ReadOptions) -> Splits | KnowledgeGraph:
    if path.is_dir():
        return _read_folder(path, options)
    if not path.is_file():
        return read_triples(path, options)  # which says what to do
    with open_stream(path, options.limits) as stream:
        head = stream.read(512)
    if not is_archive(head):
        return _read_file(path, options)
    with tempfile.TemporaryDirectory(prefix="nnmfaug-") as folder:
        root = Path(folder) / path.name  # so that messages name the archive, then the member
        root.mkdir()
        unpack(path, root, options.limits)
        try:
            splits = _read_folder(root, options)
        except DataError as error:
            raise DataError(str(error).replace(str(root), str(path))) from error
    graphs = {split: _came_from(graph, str(root), str(path)) for split, graph in splits.items()}
    return Splits(path.name.split(".")[0], **graphs)


def _came_from(graph: KnowledgeGraph, root: str, archive: str) -> KnowledgeGraph:
    """Let the report name the archive, not the folder it was unpacked to."""
    if graph.report is None:
        return graph
    return replace(graph, report=replace(graph.report, path=graph.report.path.replace(root, archive)))


def _read_file(path: Path, options: ReadOptions) -> KnowledgeGraph:
    for layout in (OPENKE, LIBKGE):
        if (path.parent / layout.entities).is_file() and path.name.endswith(layout.split.format("")):
            return _id_reader(path.parent, layout, options)(path)
    return read_triples(path, options)


def _read_folder(folder: Path, options: ReadOptions) -> Splits:
    homes = [home for home in (folder, *_subfolders(folder)) if _find_layout(home)[1]]
    if len(homes) != 1:
        found = ", ".join(str(home) for home in homes) if homes else "none"
        msg = (
            f"a folder with a file train.txt, train.tsv, <name>-train.txt or train2id.txt is needed; found {found}"
        )
        raise DataError(msg, path=folder)
    home = homes[0]
    layout, files = _find_layout(home)
    read: Callable[[Path], KnowledgeGraph] = lambda path: read_table(path, options).graph()  # noqa: E731
    names = None
    if layout is not None:
        read = _id_reader(home, layout, options)
        names = _names(home, layout, options)
    elif (home / DICTS.entities).is_file() and (home / DICTS.relations).is_file():
        names = _names(home, DICTS, options)
    # An empty file is an empty split, but there must be something to train on.
    graphs = {split: read(path) for split, path in files.items() if split == "train" or not _is_empty(path)}
    return Splits.merge(home.resolve().name, **graphs, names=names)


def _find_layout(folder: Path) -> tuple[IdLayout | None, dict[str, Path]]:
    """Return the files of the splits, and the layout if they are files of ids."""
    for layout in (OPENKE, LIBKGE):
        files = {split: folder / layout.split.format(split) for split in SPELLINGS}
        if files["train"].is_file() and (folder / layout.entities).is_file():
            return layout, {split: path for split, path in files.items() if path.is_file()}
    found: dict[str, dict[str, list[Path]]] = {}
    for path in sorted(folder.iterdir()):
        match = SPLIT_FILE.fullmatch(_stem(path)) if path.is_file() and not path.name.startswith(".") else None
        if match is not None:
            split = next(split for split in SPELLINGS if match[split])
            found.setdefault(match["prefix"] or "", {}).setdefault(split, []).append(path)
    groups = [group for group in found.values() if "train" in group]
    if not groups:
        return None, {}
    group = found[""] if "train" in found.get("", {}) else groups[0]
    strays = [
        path for other in found.values() for split, paths in other.items() for path in paths if split not in group
    ]
    if strays or (len(groups) > 1 and group is not found.get("")):
        names = ", ".join(path.name for other in found.values() for paths in other.values() for path in paths)
        raise DataError(
            f"which of these files belong together? {names}: keep one train, valid and test", path=folder
        )
    return None, {split: _only(paths) for split, paths in group.items()}


def _stem(path: Path) -> str:
    """The name without the suffixes of formats that are read; other files keep theirs and match no split."""
    name = path.name
    for suffixes in (PACKED_SUFFIXES, (".txt", *SUFFIXES)):
        for suffix in suffixes:
            if name.lower().endswith(suffix):
                name = name[: -len(suffix)]
                break
    return name


def _is_empty(path: Path) -> bool:
    with open_stream(path, Limits()) as stream:
        data = stream.read(4)
    return len(data) < 4 and data.strip(b" \r\n") in (b"", b"0")


def _only(paths: list[Path]) -> Path:
    if len(paths) > 1:
        names = " and ".join(path.name for path in paths)
        raise DataError(f"{names} are here, and only one can be meant: remove the other", path=paths[0].parent)
    return paths[0]


def _subfolders(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_dir() and not path.name.startswith((".", "__"))]


def _names(home: Path, layout: IdLayout, options: ReadOptions) -> Vocabulary:
    return Vocabulary.from_names(
        read_names(home / layout.entities, layout, options), read_names(home / layout.relations, layout, options)
    )


def _id_reader(home: Path, layout: IdLayout, options: ReadOptions) -> Callable[[Path], KnowledgeGraph]:
    entities = read_names(home / layout.entities, layout, options)
    relations = read_names(home / layout.relations, layout, options)
    return lambda path: read_ids(path, layout, entities, relations, options).graph()
