"""The readers of graphs: a damaged file, folder or archive is a graph or a DataError."""

from __future__ import annotations

import importlib
import json
import random
from pathlib import Path
from typing import Any

import nnmfaug as na
from tests.fuzz.area import Files
from tests.fuzz.hostile import HOSTILE
from tests.fuzz.mutate import MAX_SIZE, mutate
from tests.fuzz.seeds import ARCHIVERS, BINARIES, FOLDERS, PACKERS, TEXTS, TOKENS

for module in ("duckdb", "pyoxigraph", "nnmfaug.io.formats.duckdb", "nnmfaug.io.layouts"):
    importlib.import_module(module)  # here, not anew in each child

PIECES = (*TOKENS, *TEXTS.values())

OPTIONS: tuple[dict[str, Any], ...] = (
    *[{}] * 10,
    *[{"bad_lines": "skip"}] * 40,
    *({"header": True}, {"header": False, "bad_lines": "skip"}, {"prefix": "x:"}),
    *({"delimiter": ";", "bad_lines": "skip"}, {"delimiter": " ", "bad_lines": "skip"}),
    *({"encoding": "latin-1"}, {"encoding": "utf-16"}, {"encoding": "utf-8-sig"}),
    *({"format": name, "bad_lines": "skip"} for name in ("tsv", "csv", "kgtk", "parquet", "nt", "nq", "ttl")),
)


class Readers:
    """Files, folders and archives of triples."""

    name = "readers"
    allowed: tuple[type[Exception], ...] = (na.DataError,)

    def make(self, rng: random.Random) -> Files:
        """Damage a seed: before it is packed, after, or both."""
        make = rng.choice((_text, _text, _text, _binary, _folder, _archive, _archive))
        files = _hostile(rng) if rng.random() < 0.01 else make(rng)
        inputs = {f"input/{name}": data for name, data in files.items()}
        return {"options.json": json.dumps(rng.choice(OPTIONS)).encode(), **inputs}

    def check(self, folder: Path) -> str:
        """Read as a user would; a file also in its order, which takes another way."""
        options = na.ReadOptions(**json.loads((folder / "options.json").read_text()))
        home = folder / "input"
        paths = list(home.iterdir())
        is_one_file = len(paths) == 1 and paths[0].is_file()
        graphs = na.read_any(paths[0] if is_one_file else home, options)
        if isinstance(graphs, na.KnowledgeGraph):
            ordered = na.read_generated(paths[0], graphs.vocabulary, options)
            assert sorted(ordered.labels()) == sorted(graphs.labels()), "two ways to read, two graphs"
            return "graph"
        return "splits"


def _text(rng: random.Random) -> Files:
    name = rng.choice(sorted(TEXTS))
    data = mutate(rng, TEXTS[name], PIECES)
    return _packed(rng, _renamed(rng, name), data)


def _binary(rng: random.Random) -> Files:
    name = rng.choice(sorted(BINARIES))
    return _packed(rng, name, mutate(rng, BINARIES[name], PIECES))


def _packed(rng: random.Random, name: str, data: bytes) -> Files:
    if rng.random() < 0.6:
        return {name: data}
    suffix = rng.choice(sorted(PACKERS))
    packed = PACKERS[suffix](data)
    if rng.random() < 0.7:
        packed = mutate(rng, packed, PIECES)
    return {f"{name}.{suffix}": packed}


def _renamed(rng: random.Random, name: str) -> str:
    """Change the suffix now and then, so that a reader meets what it does not expect."""
    return rng.choice(sorted(TEXTS)) if rng.random() < 0.2 else name


def _folder(rng: random.Random) -> Files:
    """Damage a file of a layout, lose one, or both."""
    files = dict(FOLDERS[rng.choice(sorted(FOLDERS))])
    for name in rng.sample(sorted(files), rng.randint(0, 2)):
        files[name] = mutate(rng, files[name] or b"\n", PIECES)
    if rng.random() < 0.3:
        del files[rng.choice(sorted(files))]
    return files


def _archive(rng: random.Random) -> Files:
    kind = rng.choice(sorted(ARCHIVERS))
    files = _folder(rng) if rng.random() < 0.5 else FOLDERS[rng.choice(sorted(FOLDERS))]
    data = ARCHIVERS[kind](files)
    if rng.random() < 0.8:
        data = mutate(rng, data, (*PIECES, *BINARIES.values()))
    return _packed(rng, f"toy.{kind}", data)


def _hostile(rng: random.Random) -> Files:
    name = rng.choice(sorted(HOSTILE))
    data = HOSTILE[name]()[:MAX_SIZE]
    return {name: mutate(rng, data, PIECES) if rng.random() < 0.5 else data}
