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
from tests.fuzz.mutate import mutate
from tests.fuzz.seeds import ARCHIVERS, BINARIES, FOLDERS, PACKERS, TEXTS, TOKENS

for module in ("duckdb", "pyoxigraph", "nnmfaug.io.formats.duckdb", "nnmfaug.io.layouts"):
    importlib.import_module(module)  # here, not anew in each child

PIECES = (*TOKENS, *TEXTS.values())

MAX_HOSTILE = 10_000_000
"""Longest file in bytes that once did harm; where more of the same did it, less is enough."""

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
        files = _hostile(rng) if rng.random() < 0.03 else make(rng)
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
    """Damage one or two files of a layout, empty one, let two change places, or lose one."""
    files = dict(FOLDERS[rng.choice(sorted(FOLDERS))])
    first, second = rng.sample(sorted(files), 2)
    kind = rng.choice(("damage", "damage both", "empty", "swap", "lose"))
    if kind in ("damage", "damage both"):
        files[first] = mutate(rng, files[first] or b"\n", PIECES)
    if kind == "damage both":
        files[second] = mutate(rng, files[second] or b"\n", PIECES)
    if kind == "empty":
        files[first] = b""
    if kind == "swap":
        files[first], files[second] = files[second], files[first]
    if kind == "lose":
        del files[first]
    return files


def _archive(rng: random.Random) -> Files:
    kind = rng.choice(sorted(ARCHIVERS))
    name = f"toy.{kind}"
    if rng.random() < 0.5:
        return {name: ARCHIVERS[kind](_folder(rng))}
    files = FOLDERS[rng.choice(sorted(FOLDERS))]
    data = mutate(rng, ARCHIVERS[kind](files), (*PIECES, *BINARIES.values()))
    return _packed(rng, name, data)


def _hostile(rng: random.Random) -> Files:
    """Take a file that once did harm, as it was or damaged."""
    name = rng.choice(sorted(HOSTILE))
    data = HOSTILE[name]()[:MAX_HOSTILE]
    return {name: mutate(rng, data, PIECES) if rng.random() < 0.3 else data}
