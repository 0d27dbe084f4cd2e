"""Synthetic graphs as files, one relation at a time, so that they may be larger than memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nnmfaug.core.arrays import Ids
from nnmfaug.core.progress import report
from nnmfaug.graph.synthetic import Blueprint, Part
from nnmfaug.graph.vocabulary import LabelledTriple
from nnmfaug.io.detect import plain_suffix
from nnmfaug.io.documents import encode
from nnmfaug.io.files import open_text, replacing_all
from nnmfaug.io.write import WRITERS, check_writable

PREFIX = "https://example.org/"
"""In N-Triples, a name is an IRI with this prefix."""
Take = Callable[[Part], Ids]
"""Returns some of the triples of a relation."""


def synthetic_files(path: Path) -> list[Path]:
    """Return the files of a synthetic graph: its triples, those that it lacks, and what is known about both.

    Examples
    --------
    >>> [file.name for file in synthetic_files(Path("big.tsv.gz"))]
    ['big.tsv.gz', 'big.missing.tsv.gz', 'big.tsv.gz.json']
    """
    stem, dot, suffixes = path.name.partition(".")
    return [path, path.with_name(f"{stem}.missing{dot}{suffixes}"), path.with_name(f"{path.name}.json")]


def write_synthetic(blueprint: Blueprint, path: str | Path, *, overwrite: bool = False) -> dict[str, Any]:
    """Write a synthetic graph, the true triples that it lacks, and a manifest with its rules; return the manifest.

    Parameters
    ----------
    path
        Parquet, TSV, CSV or N-Triples, by the suffix. ``big.tsv`` has ``big.missing.tsv`` and ``big.tsv.json``
        beside it. In N-Triples, names have the prefix ``https://example.org/``.
    overwrite
        Whether files that exist may be replaced; otherwise they are a ``FileExistsError``.

    Examples
    --------
    >>> manifest = write_synthetic(Blueprint(300, 2_000, 12, seed=0), "small.tsv")
    >>> manifest["triples"], len(manifest["rules"])
    (1963, 6)
    """
    path = Path(path)
    check_writable(path)
    files = synthetic_files(path)
    with replacing_all(files, overwrite=overwrite) as drafts:
        sizes = [
            _write(blueprint, draft, file, partial(Part.triples, given=given))
            for draft, file, given in zip(drafts[:2], files[:2], (True, False), strict=True)
        ]
        manifest = _manifest(blueprint, *sizes)
        drafts[2].write_bytes(encode(json.dumps(manifest, indent=1) + "\n"))
    return manifest


def _write(blueprint: Blueprint, draft: Path, path: Path, take: Take) -> int:
    """Write a part of the triples; return their number."""
    blocks = _Blocks(blueprint, take, f"writing {path.name}")
    if plain_suffix(path) == ".parquet":
        from nnmfaug.io.formats.duckdb import write_numbered_parquet

        write_numbered_parquet(blocks, blueprint.relation_names, "e", blueprint.entity_width, draft)
    else:
        with open_text(draft, path) as file:
            file.writelines(WRITERS[plain_suffix(path)](_labels(blueprint, blocks), path, PREFIX))
    return blocks.n_triples


class _Blocks:
    """The triples of one relation after the other, which are counted."""

    def __init__(self, blueprint: Blueprint, take: Take, task: str) -> None:
        self.blueprint = blueprint
        self.take = take
        self.task = task
        self.n_triples = 0

    def __iter__(self) -> Iterator[Ids]:
        for relation in range(self.blueprint.n_relations):
            triples = self.take(self.blueprint.part(relation))
            self.n_triples += len(triples)
            yield triples
            report(self.task, relation + 1, self.blueprint.n_relations)


def _labels(blueprint: Blueprint, blocks: _Blocks) -> Iterator[LabelledTriple]:
    names = blueprint.relation_names
    for triples in blocks:
        for h, r, t in triples.tolist():
            yield blueprint.entity_name(h), names[r], blueprint.entity_name(t)


def _manifest(blueprint: Blueprint, n_given: int, n_missing: int) -> dict[str, Any]:
    """Return what is known about a graph, as plain data."""
    rules = [asdict(part.rule) for part in blueprint.parts() if part.rule is not None]
    return {
        "format": "nnmfaug synthetic graph",
        "version": 1,
        "nnmfaug": version("nnmfaug"),
        "settings": asdict(blueprint),
        "triples": n_given,
        "missing": n_missing,
        "rules": rules,
    }
