"""Saved documents in the hands of a test: changed, sealed anew, and as nnmfaug 0.1 wrote them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import nnmfaug as na
from nnmfaug.evaluation.metrics import summary
from nnmfaug.evaluation.runs import run_path
from nnmfaug.io.npz import write_arrays

Document = dict[str, Any]


def sealed(document: Document) -> Document:
    """Return a document with the checksum of its content, computed here anew."""
    content = {name: value for name, value in document.items() if name != "checksum"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return {**content, "checksum": hashlib.sha256(text.encode("ascii")).hexdigest()}


def change_json(path: Path, change: Callable[[Document], Document]) -> None:
    """Change a document, and let its checksum be that of the change."""
    document = change(json.loads(path.read_bytes()))
    path.write_text(json.dumps(sealed(document)), encoding="utf-8")


def change_meta(path: Path, change: Callable[[Document], Document]) -> None:
    """Change the document inside a saved distribution."""
    with np.load(path) as entries:
        arrays = {name: entries[name] for name in entries.files}
    meta = change(json.loads(arrays["meta"].tobytes()))
    arrays["meta"] = np.frombuffer(json.dumps(sealed(meta)).encode(), dtype=np.uint8)
    write_arrays(path, arrays)


Place = tuple[str | int, ...]


def places(value: object, place: Place = ()) -> Iterator[Place]:
    """Yield the place of every field of a document; of a list, that of its first item."""
    if place:
        yield place
    if isinstance(value, dict):
        for name, each in value.items():
            yield from places(each, (*place, name))
    if isinstance(value, list) and value:
        yield from places(value[0], (*place, 0))


def replaced(document: Document, place: Place, value: object) -> Document:
    """Return a document with another value at a place."""
    copy, home = _copy(document, place)
    home[place[-1]] = value
    return copy


def deleted(document: Document, place: Place) -> Document:
    """Return a document without the field at a place."""
    copy, home = _copy(document, place)
    del home[place[-1]]
    return copy


def _copy(document: Document, place: Place) -> tuple[Document, Any]:
    copy = json.loads(json.dumps(document))
    home = copy
    for step in place[:-1]:
        home = home[step]
    return copy, home


# What nnmfaug 0.1 wrote.


def write_run_0_1(run: na.Run, folder: Path) -> Path:
    path = run_path(folder, run.arm, run.seed)
    ranks = path.with_suffix(".npz")
    write_arrays(ranks, {"filtered": run.ranks.filtered, "raw": run.ranks.raw})
    document = {
        "format": "nnmfaug run",
        "version": 1,
        "arm": run.arm,
        "seed": run.seed,
        "n_extra": run.n_extra,
        "metrics": {"filtered": summary(run.ranks.filtered), "raw": summary(run.ranks.raw)},
        "settings": run.settings,
        "losses": run.losses,
        "curve": run.curve,
        "seconds": run.seconds,
        "ranks_sha256": hashlib.sha256(ranks.read_bytes()).hexdigest(),
    }
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return path


def write_model_0_1(trained: na.Trained, folder: Path) -> None:
    import torch
    from safetensors.torch import save

    tensors = {f"weights.{name}": x.contiguous() for name, x in trained.model.state_dict().items()}
    tensors["known"] = torch.from_numpy(trained.known.triples.copy())
    names = trained.known.vocabulary
    meta = {"format": "nnmfaug model", "version": 1, "settings": asdict(trained.settings)}
    meta |= {"entities": names.entities, "relations": names.relations, "hidden": trained.hidden}
    (folder / "model.safetensors").write_bytes(save(tensors))
    (folder / "model.json").write_text(json.dumps(meta, ensure_ascii=False) + "\n", encoding="utf-8")


def write_distribution_0_1(dist: na.TripleDistribution, path: Path) -> None:
    na.save_distribution(dist, path)
    with np.load(path) as entries:
        arrays = {name: entries[name] for name in entries.files}
    meta = json.loads(arrays["meta"].tobytes()) | {"version": 1}
    del meta["checksum"], meta["arrays_sha256"]
    text = json.dumps(meta, ensure_ascii=False, sort_keys=True)
    arrays["meta"] = np.frombuffer(text.encode(), dtype=np.uint8)
    write_arrays(path, arrays)


def write_pilot_0_1(path: Path) -> None:
    """Write the pilot of a file as 0.1 did: without format, version and checksum."""
    document = json.loads(path.read_text())
    old = {name: document[name] for name in ("settings", "scores", "errors")}
    path.write_text(json.dumps(old, indent=1) + "\n", encoding="utf-8")
