"""A fitted distribution as one file: an uncompressed ``.npz`` without pickles, the same bytes every time.

Its entry ``meta`` is JSON with the names and settings. Counts are not stored, they follow from the triples.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nnmfaug.augmenters.nnmf.distribution import TripleDistribution
from nnmfaug.augmenters.nnmf.law import ClusterLaw
from nnmfaug.augmenters.nnmf.nmf import Embedding, Factors
from nnmfaug.augmenters.nnmf.partition import Partition
from nnmfaug.augmenters.nnmf.weights import CountProduct
from nnmfaug.core.arrays import Array
from nnmfaug.core.checks import require
from nnmfaug.core.errors import DataError
from nnmfaug.graph.counts import Counts
from nnmfaug.graph.keys import unique_triples
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary
from nnmfaug.io.files import replacing
from nnmfaug.io.npz import BROKEN, Arrays, read_arrays, write_arrays

FORMAT, VERSION = "nnmfaug distribution", 1
MAX_WEIGHT = 1e100  # the product of two sums of such weights is still a number
_LAW = ("cluster_weights", "head_weights", "tail_weights", "heads_allowed", "tails_allowed", "relations_allowed")
_TYPES = {"meta": "|u1", "triples": "<i4", "excluded": "<i4", "labels": "<i4"}
_TYPES |= dict(zip(_LAW, ("<f8", "<f8", "<f8", "|b1", "|b1", "|b1"), strict=True))
_PARTS = {None: (), "features": ("features",), "factors": ("head", "tail", "objective")}


@dataclass(frozen=True, eq=False)
class StoredFeatures:
    """All that a file keeps of an embedding other than :class:`~nnmfaug.augmenters.nnmf.nmf.Factors`."""

    features: Array


def save_distribution(dist: TripleDistribution, path: str | Path) -> None:
    """Write a distribution to a file; what was excluded becomes one graph.

    Examples
    --------
    >>> import nnmfaug as na
    >>> dist = na.NNMFAug(cluster=na.Agglomerative(n_clusters=3)).fit(na.read_splits("nations").train)
    >>> save_distribution(dist, "nations.npz")
    >>> load_distribution("nations.npz").support_size == dist.support_size
    True
    """
    law, names, found = dist.law, dist.graph.vocabulary, dist.factors
    meta: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    meta |= {"entities": names.entities, "relations": names.relations}
    meta |= {name: float(getattr(law.relation_law, name)) for name in ("smoothing", "temperature")}
    meta["embedding"] = None if found is None else "factors" if isinstance(found, Factors) else "features"
    if isinstance(found, Factors):
        meta |= {"n_iter": int(found.n_iter), "converged": bool(found.converged)}
    excluded = np.concatenate([np.zeros((0, 3), dtype=np.int32), *(graph.triples for graph in dist.excluded)])
    given: Arrays = {"triples": dist.graph.triples, "excluded": unique_triples(excluded, names, sort=True)}
    given |= {"labels": dist.partition.labels} | {name: getattr(law, name) for name in _LAW}
    given |= {name: getattr(found, name) for name in _PARTS[meta["embedding"]]}
    arrays: Arrays = {name: np.ascontiguousarray(x, dtype=_TYPES.get(name, "<f8")) for name, x in given.items()}
    again = _restore(meta, arrays).law  # what could not be read back is not written
    counted = (law.counts.heads - again.counts.heads, law.counts.tails - again.counts.tails)
    if not np.array_equal(law.labels, again.labels) or any(m.count_nonzero() for m in counted):
        raise ValueError("the law has other clusters than the partition, or other counts than the graph")
    arrays["meta"] = np.frombuffer(json.dumps(meta, ensure_ascii=False, sort_keys=True).encode(), dtype=np.uint8)
    with replacing(Path(path)) as draft:
        write_arrays(draft, arrays)


def load_distribution(path: str | Path) -> TripleDistribution:
    """Read what :func:`save_distribution` wrote; all of it is checked, anything else is a ``DataError``."""
    path = Path(path)
    if not path.is_file():
        raise DataError("no such file: save_distribution writes one", path=path)
    path.open("rb").close()  # what may not be read is not a broken file
    try:
        arrays = read_arrays(path, _TYPES)
        meta = json.loads(arrays.pop("meta").tobytes())
        require(meta["format"] == FORMAT, "it is something else")
        require(meta["version"] == VERSION, f"it has version {meta['version']!r}, not {VERSION}")
        require(set(arrays) == {*_TYPES, *_PARTS[meta["embedding"]]} - {"meta"}, "entries are missing or too many")
        return _restore(meta, arrays)
    except BROKEN as error:
        why = str(error) or type(error).__name__
    todo = "fit and save it again, or use the nnmfaug that wrote it"
    raise DataError(f"not a distribution that this nnmfaug can read: {todo} ({why})", path=path)


def _restore(meta: dict[str, Any], arrays: Arrays) -> TripleDistribution:
    names = Vocabulary(tuple(meta["entities"]), tuple(meta["relations"]))
    graph, excluded = (KnowledgeGraph(names, arrays[name]) for name in ("triples", "excluded"))
    partition, n = Partition(arrays["labels"]), graph.n_entities
    require(partition.n_clusters > 0 and np.array_equal(partition.labels, arrays["labels"]), "labels in disorder")
    lengths = (n, partition.n_clusters, n, n, n, n, graph.n_relations)
    good = [arrays[name].shape == (length,) for name, length in zip(("labels", *_LAW), lengths, strict=True)]
    require(all(good), "labels, weights or masks of the wrong length")
    for name in _LAW[:3]:
        require(bool(((arrays[name] >= 0) & (arrays[name] <= MAX_WEIGHT)).all()), f"{name} are no weights")
    relation_law = CountProduct(float(meta["smoothing"]), float(meta["temperature"]))
    values: dict[str, Any] = {name: arrays[name] for name in _LAW}
    law = ClusterLaw(Counts.of(graph), partition.labels.astype(np.int64), relation_law=relation_law, **values)
    out = (excluded,) if len(excluded) else ()
    return TripleDistribution(graph, law, partition, _embedding(meta, arrays, n), out)


def _embedding(meta: dict[str, Any], arrays: Arrays, n: int) -> Embedding | None:
    parts = [arrays[name] for name in _PARTS[meta["embedding"]]]
    require(all(x.ndim == 2 and len(x) == n for x in parts[:2]), "an embedding has a row per entity")
    if len(parts) < 2:
        return StoredFeatures(parts[0]) if parts else None
    head, tail, objective = parts
    require(head.shape == tail.shape and objective.shape == (meta["n_iter"] + 1,), "factors of different shapes")
    return Factors(head, tail, tuple(objective.tolist()), len(objective) - 1, bool(meta["converged"]))
