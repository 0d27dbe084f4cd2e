"""Read train, valid and test: a named data set, a folder, an archive of a folder, or three files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from nnmfaug.core.commands import command
from nnmfaug.core.errors import DataError
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.splits import Splits
from nnmfaug.graph.vocabulary import Vocabulary
from nnmfaug.io import datasets
from nnmfaug.io.archive import unpack
from nnmfaug.io.detect import is_archive
from nnmfaug.io.formats.ids import DICTS, LIBKGE, OPENKE, has_names, read_id_names, read_ids
from nnmfaug.io.options import ReadOptions
from nnmfaug.io.read import read_triples
from nnmfaug.io.resources import memory_errors
from nnmfaug.io.split_files import SplitFiles, find_split_files
from nnmfaug.io.stream import Limits, open_stream
from nnmfaug.io.temporary import scratch_folder

Source = str | Path | Sequence[str | Path]


def read_splits(source: Source, options: ReadOptions | None = None) -> Splits:
    """Read train, valid and test over one vocabulary.

    Parameters
    ----------
    source
        A known name (see :data:`nnmfaug.io.datasets.DATASETS`), a folder or an archive of one, or the paths of
        train, valid and test. Folders may follow PyKEEN, pykg2vec, RotatE, OpenKE or LibKGE. A known name takes
        precedence over a folder of that name: write ``./umls`` for the folder.
    """
    graph_or_splits = read_any(source, options)
    if isinstance(graph_or_splits, Splits):
        return graph_or_splits
    advice = split_command(source, "folder")
    raise DataError(f"one file, but train, valid and test are needed: {advice}", path=str(source))


def split_command(source: object, folder: object) -> str:
    """Return the command that splits a file into a folder."""
    return command("nnmfaug", "split", source, "--valid", "5%", "--test", "10%", "--seed", "0", "-o", folder)


def read_any(source: Source, options: ReadOptions | None = None) -> Splits | KnowledgeGraph:
    """Read splits from a data set, a folder or three files, and a graph from one file."""
    options = options or ReadOptions()
    if isinstance(source, list | tuple):
        with memory_errors(", ".join(map(str, source))):
            return _read_three_files(source, options)
    if not isinstance(source, str | Path):
        msg = f"source={source!r}: must be a name, a path, or three paths"
        raise TypeError(msg)
    dataset = datasets.find(source) if isinstance(source, str) else None
    if dataset is not None:
        graph_or_splits = _read_path(datasets.locate(dataset), options)
        if isinstance(graph_or_splits, Splits):
            return replace(graph_or_splits, name=dataset.name)
        return graph_or_splits
    path = Path(source)
    if not path.exists():
        known_names = ", ".join(datasets.DATASETS)
        raise DataError(f"no such file or folder, and not a known data set ({known_names})", path=path)
    return _read_path(path, options)


def _read_three_files(paths: Sequence[str | Path], options: ReadOptions) -> Splits:
    if len(paths) != 3:
        msg = f"{len(paths)} paths: must be three, for train, valid and test"
        raise ValueError(msg)
    train, valid, test = (_read_file(Path(path), options) for path in paths)
    name = Path(paths[0]).parent.name or "splits"
    return Splits.merge(name, train=train, valid=valid, test=test)


def _read_path(path: Path, options: ReadOptions) -> Splits | KnowledgeGraph:
    with memory_errors(path):
        if path.is_dir():
            return _read_folder(path, options)
        if not path.is_file():
            return read_triples(path, options)  # raises with advice
        with open_stream(path, options.limits) as stream:
            head = stream.read(512)
        return _read_archive(path, options) if is_archive(head) else _read_file(path, options)


def _read_archive(path: Path, options: ReadOptions) -> Splits:
    with scratch_folder() as folder:
        root = folder / path.name  # messages name the archive, then the member
        root.mkdir()
        unpack(path, root, options.limits)
        try:
            splits = _read_folder(root, options)
        except DataError as error:
            raise error.with_text(str(root), str(path)) from error
    graphs = {split: _rename_source(graph, str(root), str(path)) for split, graph in splits.items()}
    return Splits(path.name.split(".")[0], **graphs)


def _rename_source(graph: KnowledgeGraph, root: str, archive: str) -> KnowledgeGraph:
    """Let the report name the archive, not the temporary folder."""
    if graph.report is None:
        return graph
    path = graph.report.path.replace(root, archive)
    return replace(graph, report=replace(graph.report, path=path))


def _read_file(path: Path, options: ReadOptions) -> KnowledgeGraph:
    """Read one file of triples, which are ids if there is a file of names beside it."""
    for layout in (OPENKE, LIBKGE):
        if has_names(path.parent, layout) and path.name.endswith(layout.split.format("")):
            names = read_id_names(path.parent, layout, options)
            return read_ids(path, layout, names, options).graph()
    return read_triples(path, options)


def _read_folder(folder: Path, options: ReadOptions) -> Splits:
    candidates = {home: find_split_files(home) for home in (folder, *_subfolders(folder, options.limits))}
    homes = {home: split_files for home, split_files in candidates.items() if split_files.files}
    if len(homes) != 1:
        where = ", ".join(map(str, homes)) or "none"
        msg = f"needs one folder with train.txt, train.tsv, <name>-train.txt or train2id.txt; found {where}"
        raise DataError(msg, path=folder)
    ((home, split_files),) = homes.items()
    return _read_split_files(home, split_files, options)


def _read_split_files(home: Path, split_files: SplitFiles, options: ReadOptions) -> Splits:
    # An empty file is an empty split, but train must contain triples.
    paths = {split: path for split, path in split_files.files.items() if split == "train" or not _is_empty(path)}
    layout = split_files.layout
    vocabulary: Vocabulary | None
    if layout is None:
        vocabulary = _vocabulary_of_dicts(home, options)
        graphs = {split: read_triples(path, options) for split, path in paths.items()}
    else:
        names = read_id_names(home, layout, options)
        vocabulary = names.vocabulary()
        graphs = {split: read_ids(path, layout, names, options).graph() for split, path in paths.items()}
    return Splits.merge(home.resolve().name, **graphs, names=vocabulary)


def _vocabulary_of_dicts(home: Path, options: ReadOptions) -> Vocabulary | None:
    """Return the names in ``entities.dict`` and ``relations.dict``, if both are there."""
    if not ((home / DICTS.entities).is_file() and (home / DICTS.relations).is_file()):
        return None
    return read_id_names(home, DICTS, options).vocabulary()


def _is_empty(path: Path) -> bool:
    """Whether a file contains nothing, or only the count 0."""
    with open_stream(path, Limits()) as stream:
        data = stream.read(4)
    return len(data) < 4 and data.strip(b" \r\n") in (b"", b"0")


def _subfolders(folder: Path, limits: Limits) -> list[Path]:
    """Return the folders below a folder that are not hidden, sorted."""
    paths = _folders_below(folder, limits)
    return sorted(path for path in paths if not path.name.startswith((".", "__")))


def _folders_below(folder: Path, limits: Limits) -> Iterator[Path]:
    """Yield all folders below a folder; links are not followed. Unlike rglob, this does not recurse."""
    pending = [folder]
    while pending:
        parent = pending.pop()
        for path in _folders_in(parent):
            yield path
            if not path.is_symlink():
                pending.append(path)
        depth = len(parent.parts) - len(folder.parts)
        if depth > limits.max_depth:
            raise DataError(
                f"folders are more than {limits.max_depth} deep: name the one with the data", path=folder
            )


def _folders_in(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [folder / entry.name for entry in entries if entry.is_dir()]
    except PermissionError:
        return []
