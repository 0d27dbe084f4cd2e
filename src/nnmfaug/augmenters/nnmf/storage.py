"""A fitted distribution as one file: an uncompressed ``.npz`` without pickles.

Equal distributions give equal bytes. The entry ``meta`` is JSON with names and settings. Counts are not stored,
since they follow from the triples.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nnmfaug.augmenters.nnmf.distribution import TripleDistribution
from nnmfaug.augmenters.nnmf.law import ClusterLaw
from nnmfaug.augmenters.nnmf.nmf import Factors
from nnmfaug.augmenters.nnmf.partition import Embedding, Partition
from nnmfaug.augmenters.nnmf.weights import CountProduct
from nnmfaug.core.arrays import Array
from nnmfaug.core.checks import require
from nnmfaug.core.errors import DataError
from nnmfaug.graph.keys import unique_triples
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary
from nnmfaug.io.documents import Schema, encode, parse, refusing, seal, unseal
from nnmfaug.io.files import replacing
from nnmfaug.io.npz import Arrays, read_arrays, write_arrays
from nnmfaug.io.shapes import check_shape

MAX_WEIGHT = 1e100
"""Maximum weight in a file: the product of two sums of such weights is still finite."""
_LAW = ("cluster_weights", "head_weights", "tail_weights", "heads_allowed", "tails_allowed", "relations_allowed")
_TYPES = {"meta": "|u1", "triples": "<i4", "excluded": "<i4", "labels": "<i4"}
_TYPES |= dict(zip(_LAW, ("<f8", "<f8", "<f8", "|b1", "|b1", "|b1"), strict=True))
"""The type of each entry; those of an embedding are floats."""
_PARTS = {None: (), "features": ("features",), "factors": ("head", "tail", "objective")}
"""The arrays of each kind of embedding."""
SCHEMA = Schema(
    "nnmfaug distribution",
    2,
    {
        "entities": [str],
        "relations": [str],
        "smoothing": float,
        "temperature": float,
        "embedding": (None, "features", "factors"),
        "n_iter?": int,
        "converged?": bool,
        "arrays_sha256?": {"*": str},
    },
)
"""The entry ``meta``."""


@dataclass(frozen=True, eq=False)
class StoredFeatures:
    """The stored part of an embedding other than :class:`~nnmfaug.augmenters.nnmf.nmf.Factors`."""

    features: Array


def save_distribution(dist: TripleDistribution, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a distribution to a file. The excluded graphs are joined into one.

    A file that exists is a ``FileExistsError`` unless ``overwrite``.

    Examples
    --------
    >>> import nnmfaug as na
    >>> dist = na.NNMFAug(cluster=na.Agglomerative(n_clusters=3)).fit(na.read_splits("nations").train)
    >>> save_distribution(dist, "nations.npz")
    >>> load_distribution("nations.npz").support_size == dist.support_size
    True
    """
    meta = _meta(dist)
    arrays = _arrays(dist, _PARTS[meta["embedding"]])
    _check_equal(dist, _restore(meta, arrays))
    meta["arrays_sha256"] = {name: _checksum(values) for name, values in arrays.items()}
    text = json.dumps(seal(SCHEMA, meta), ensure_ascii=False, sort_keys=True)
    arrays["meta"] = np.frombuffer(encode(text), dtype=np.uint8)
    with replacing(Path(path), overwrite=overwrite) as draft:
        write_arrays(draft, arrays)


def _meta(dist: TripleDistribution) -> dict[str, Any]:
    """The names and settings of a distribution."""
    names = dist.graph.vocabulary
    embedding = dist.factors
    meta: dict[str, Any] = {"entities": names.entities, "relations": names.relations}
    meta |= {name: float(getattr(dist.law.relation_law, name)) for name in ("smoothing", "temperature")}
    meta["embedding"] = None if embedding is None else "features"
    if isinstance(embedding, Factors):
        meta["embedding"] = "factors"
        meta |= {"n_iter": int(embedding.n_iter), "converged": bool(embedding.converged)}
    return meta


def _arrays(dist: TripleDistribution, embedding_parts: tuple[str, ...]) -> Arrays:
    """The arrays of a distribution, in the types of the file."""
    nothing = np.zeros((0, 3), dtype=np.int32)
    excluded = np.concatenate([nothing, *(graph.triples for graph in dist.excluded)])
    arrays: Arrays = {
        "triples": dist.graph.triples,
        "excluded": unique_triples(excluded, dist.graph.vocabulary, sort=True),
        "labels": dist.partition.labels,
    }
    arrays |= {name: getattr(dist.law, name) for name in _LAW}
    arrays |= {name: getattr(dist.factors, name) for name in embedding_parts}
    return {name: np.ascontiguousarray(x, dtype=_TYPES.get(name, "<f8")) for name, x in arrays.items()}


def _check_equal(dist: TripleDistribution, restored: TripleDistribution) -> None:
    """Raise unless a distribution can be restored from its graph and partition."""
    counts = dist.law.counts
    restored_counts = restored.law.counts
    differences = (counts.heads - restored_counts.heads, counts.tails - restored_counts.tails)
    same_counts = not any(matrix.count_nonzero() for matrix in differences)
    require(
        same_counts and np.array_equal(dist.law.labels, restored.law.labels),
        "the distribution has other clusters than its partition, or other counts than its graph",
    )


def load_distribution(path: str | Path) -> TripleDistribution:
    """Read a file of :func:`save_distribution`. All of it is checked; any other file is a ``DataError``."""
    path = Path(path)
    if not path.is_file():
        raise DataError("no such file: save_distribution writes one", path=path)
    todo = "fit and save it again, or use the nnmfaug that wrote it"
    with refusing(path, f"not a distribution that this nnmfaug can read: {todo}"):
        arrays = read_arrays(path, _TYPES)
        meta = unseal(parse(arrays.pop("meta").tobytes()), SCHEMA)
        expected = {*_TYPES, *_PARTS[meta["embedding"]]} - {"meta"}
        require(set(arrays) == expected, "entries are missing, or there are too many for this embedding")
        dist = _restore(meta, arrays)
        _check_intact(arrays, meta.get("arrays_sha256", {}))
    return dist


def _checksum(values: NDArray[Any]) -> str:
    return hashlib.sha256(values.tobytes()).hexdigest()


def _check_intact(arrays: Arrays, checksums: Mapping[str, str]) -> None:
    """Raise if an array has changed since it was written."""
    for name, values in arrays.items():
        is_intact = not checksums or checksums.get(name) == _checksum(values)
        require(is_intact, f"{name} has changed, or arrays_sha256 has")


def _restore(meta: dict[str, Any], arrays: Arrays) -> TripleDistribution:
    """The distribution of these settings and arrays, which are checked."""
    names = Vocabulary(tuple(meta["entities"]), tuple(meta["relations"]))
    graph = KnowledgeGraph(names, arrays["triples"])
    excluded = KnowledgeGraph(names, arrays["excluded"])
    partition = Partition(arrays["labels"])
    _check_arrays(arrays, graph, partition)
    relation_law = CountProduct(float(meta["smoothing"]), float(meta["temperature"]))
    values: dict[str, Any] = {name: arrays[name] for name in _LAW}
    law = ClusterLaw(graph.counts, partition.labels.astype(np.int64), relation_law=relation_law, **values)
    embedding = _embedding(meta, arrays, graph.n_entities)
    return TripleDistribution(graph, law, partition, embedding, (excluded,) if len(excluded) else ())


def _check_arrays(arrays: Arrays, graph: KnowledgeGraph, partition: Partition) -> None:
    is_numbered = partition.n_clusters > 0 and np.array_equal(partition.labels, arrays["labels"])
    require(is_numbered, "labels are not numbered from 0 in order of the entities")
    n = graph.n_entities
    lengths = (n, partition.n_clusters, n, n, n, n, graph.n_relations)
    for name, length in zip(("labels", *_LAW), lengths, strict=True):
        shape = arrays[name].shape
        require(shape == (length,), f"{name} have the wrong length: shape {shape}, not {(length,)}")
    for name in _LAW[:3]:
        weights = arrays[name]
        is_weight = (weights >= 0) & (weights <= MAX_WEIGHT)
        require(bool(is_weight.all()), f"{name} must be from 0 to {MAX_WEIGHT:g}")


def _embedding(meta: dict[str, Any], arrays: Arrays, n: int) -> Embedding | None:
    """The embedding, as far as the file has it; None if the distribution has none."""
    parts = [arrays[name] for name in _PARTS[meta["embedding"]]]
    require(all(x.ndim == 2 and len(x) == n for x in parts[:2]), "an embedding needs one row per entity")
    if len(parts) < 2:
        return StoredFeatures(parts[0]) if parts else None
    check_shape(meta, {"n_iter": int, "converged": bool, "*": object})
    head, tail, objective = parts
    good_shapes = head.shape == tail.shape and objective.shape == (meta["n_iter"] + 1,)
    require(good_shapes, f"factors of different shapes, or n_iter is not {len(objective) - 1}")
    return Factors(head, tail, tuple(objective.tolist()), meta["n_iter"], meta["converged"])
