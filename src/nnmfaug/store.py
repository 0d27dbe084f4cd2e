"""A fitted distribution as one file: arrays that numpy reads too, no pickles, the same bytes every time.

The file is an uncompressed ``.npz``. Its entry ``meta`` is JSON: names and settings. Counts are not in it, they
follow from the triples.
"""

from __future__ import annotations

import io
import json
import math
import struct
import tokenize
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from nnmfaug.clustering import Partition
from nnmfaug.counts import Array, Counts
from nnmfaug.embedding import Embedding, Factors
from nnmfaug.errors import DataError
from nnmfaug.graph import KnowledgeGraph, Vocabulary, unique_triples
from nnmfaug.io.files import replacing
from nnmfaug.law import Law
from nnmfaug.sampling import TripleDistribution
from nnmfaug.weights import CountProduct

FORMAT, VERSION = "nnmfaug distribution", 1
LAW = {
    "cluster_weights": "<f8",
    "head_weights": "<f8",
    "tail_weights": "<f8",
    "heads_allowed": "|b1",
    "tails_allowed": "|b1",
    "relations_allowed": "|b1",
}
TYPES = {"meta": "|u1", "triples": "<i4", "excluded": "<i4", "labels": "<i4", **LAW}
EMBEDDINGS: dict[str | None, tuple[str, ...]] = {
    None: (),
    "factors": ("head", "tail", "objective"),
    "features": ("features",),
}
_BROKEN = (
    *(ArithmeticError, EOFError, LookupError, MemoryError, OSError, RuntimeError, SyntaxError, TypeError, ValueError),
    *(struct.error, tokenize.TokenError, zipfile.BadZipFile),
)
"""What zipfile, numpy and json may raise at a file that is not what it says."""


@dataclass(frozen=True, eq=False)
class StoredFeatures:
    """All that a file keeps of an embedding other than :class:`~nnmfaug.embedding.Factors`."""

    features: Array


def save_distribution(dist: TripleDistribution, path: str | Path) -> None:
    """Write a distribution to a file, which is there whole or not at all.

    What was excluded becomes one graph, and of an embedding other than factors only the features are kept.

    Examples
    --------
    >>> import nnmfaug as na
    >>> dist = na.NNMFAug(cluster=na.Agglomerative(n_clusters=3)).fit(na.read_splits("nations").train)
    >>> save_distribution(dist, "nations.npz")
    >>> load_distribution("nations.npz").support_size == dist.support_size
    True
    """
    law, names, found = dist.law, dist.graph.vocabulary, dist.factors
    meta: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "entities": names.entities,
        "relations": names.relations,
        "smoothing": float(law.relation_law.smoothing),
        "temperature": float(law.relation_law.temperature),
        "embedding": None if found is None else "factors" if isinstance(found, Factors) else "features",
    }
    if isinstance(found, Factors):
        meta |= {"n_iter": int(found.n_iter), "converged": bool(found.converged)}
    excluded = np.concatenate([np.zeros((0, 3), dtype=np.int32), *(graph.triples for graph in dist.excluded)])
    given = {name: getattr(law, name) for name in LAW} | {
        "triples": dist.graph.triples,
        "excluded": unique_triples(excluded, names, sort=True),
        "labels": dist.partition.labels,
        **{name: getattr(found, name) for name in EMBEDDINGS[meta["embedding"]]},
    }
    arrays = {name: np.ascontiguousarray(values, dtype=TYPES.get(name, "<f8")) for name, values in given.items()}
    _check_same(dist, _restore(meta, arrays))  # what cannot be read back is not written
    text = json.dumps(meta, ensure_ascii=False, sort_keys=True).encode()
    arrays["meta"] = np.frombuffer(text, dtype="|u1")
    with replacing(Path(path)) as draft, zipfile.ZipFile(draft, "w") as archive:
        for name in sorted(arrays):
            member = zipfile.ZipInfo(f"{name}.npy")  # of 1980, and …
            member.create_system = 3  # … of no machine in particular
            content = io.BytesIO()
            npy.write_array(content, arrays[name], version=(1, 0), allow_pickle=False)
            archive.writestr(member, content.getbuffer())


def load_distribution(path: str | Path) -> TripleDistribution:
    """Read what :func:`save_distribution` wrote; nothing in the file is run, and everything in it is checked.

    Raises
    ------
    DataError
        If the file is something else, damaged, or of another version.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError("no such file: make it with save_distribution", path=path)
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            meta = json.loads(_read(archive, "meta", path.stat().st_size).tobytes())
            if meta["format"] == FORMAT and meta["version"] == VERSION:
                expected = {*TYPES, *EMBEDDINGS[meta["embedding"]]}
                if sorted(archive.namelist()) != sorted(f"{name}.npy" for name in expected):
                    raise ValueError("entries are missing, or there are others")
                arrays = {name: _read(archive, name, path.stat().st_size) for name in expected - {"meta"}}
                return _restore(meta, arrays)
            problem = f"it says {meta['format']!r}, version {meta['version']!r}; read is {FORMAT!r}, version {VERSION}"
    except _BROKEN as error:
        problem = str(error) or type(error).__name__
    msg = f"not a whole distribution of this version of nnmfaug: fit it again and save_distribution it ({problem})"
    raise DataError(msg, path=path)


def _read(archive: zipfile.ZipFile, name: str, most: int) -> NDArray[Any]:
    """One entry; of no more bytes than the file has, whatever its headers say."""
    member = archive.getinfo(f"{name}.npy")
    _check(member.compress_type == zipfile.ZIP_STORED and member.file_size == member.compress_size <= most, name)
    content = archive.read(member)
    header = io.BytesIO(content)
    _check(npy.read_magic(header) == (1, 0), name)
    shape, by_column, kind = npy.read_array_header_1_0(header)
    _check(kind == np.dtype(TYPES.get(name, "<f8")) and not by_column and min(shape, default=0) >= 0, name)
    _check(math.prod(shape) * kind.itemsize == len(content) - header.tell(), name)
    values = np.frombuffer(content[header.tell() :], dtype=kind).reshape(shape)
    _check(kind.kind != "b" or bool((values.view(np.uint8) <= 1).all()), name)
    return values.astype(kind.newbyteorder("="), copy=False)


def _restore(meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> TripleDistribution:
    names = Vocabulary(tuple(meta["entities"]), tuple(meta["relations"]))
    graph, excluded = (KnowledgeGraph(names, arrays[name]) for name in ("triples", "excluded"))
    partition, n, weights = Partition(arrays["labels"]), graph.n_entities, [arrays[name] for name in LAW][:3]
    _check(partition.n_clusters > 0 and np.array_equal(partition.labels, arrays["labels"]), "labels")
    lengths = (partition.n_clusters, n, n, n, n, graph.n_relations)
    for name, length in zip(("labels", *LAW), (n, *lengths), strict=True):
        _check(arrays[name].shape == (length,), name)
    for name, values in zip(LAW, weights, strict=False):
        _check(bool(((values >= 0) & (values < 1e150 / length_of(values))).all()), name)
    relation_law = CountProduct(float(meta["smoothing"]), float(meta["temperature"]))
    law = Law(Counts.of(graph), partition.labels.astype(np.int64), relation_law=relation_law, **{n: arrays[n] for n in LAW})
    return TripleDistribution(graph, law, partition, _embedding(meta, arrays, n), (excluded,) if len(excluded) else ())
