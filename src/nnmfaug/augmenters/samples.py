"""What every law over triples gives: triples in an order, under conditions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nnmfaug.core.arrays import Array, IntArray
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import LabelledTriple, Vocabulary


class Source(Protocol):
    """A law over triples."""

    def log_prob(self, triples: ArrayLike) -> Array:
        """Logarithm of the probability of each row of ids, shape (n, 3)."""
        ...


@dataclass(frozen=True)
class Sample:
    """Generated triples in the order they were drawn or ranked, S in the paper, and the law they are from."""

    graph: KnowledgeGraph
    source: Source = field(repr=False)

    @cached_property
    def log_prob(self) -> Array:
        """Logarithm of each triple's probability under the law it was drawn from."""
        return self.source.log_prob(self.triples)

    @property
    def clusters(self) -> NDArray[np.int32]:
        """The cluster that both entities of each triple belong to, if the law has clusters."""
        partition = getattr(self.source, "partition", None)
        if partition is None:
            msg = f"a sample of {type(self.source).__name__} has no clusters"
            raise AttributeError(msg)
        labels: NDArray[np.int32] = partition.labels
        return labels[self.triples[:, 0]]

    @property
    def triples(self) -> IntArray:
        """Ids of head, relation and tail, shape (n, 3)."""
        return self.graph.triples

    @property
    def labels(self) -> list[LabelledTriple]:
        """The triples as names."""
        return self.graph.labels()

    def __len__(self) -> int:
        return len(self.graph)


def known_part(graph: KnowledgeGraph, names: Vocabulary) -> KnowledgeGraph:
    """The triples of a graph whose names are all known; the others cannot be generated anyway."""
    entities, relations = names.entity_ids, names.relation_ids
    rows = [(h, r, t) for h, r, t in graph.labels() if h in entities and r in relations and t in entities]
    return KnowledgeGraph.from_labels(rows, names)


def name_mask(what: str, names: Iterable[str] | None, ids: dict[str, int]) -> NDArray[np.bool_]:
    """Which ids have one of the names, of ``what`` there is."""
    if isinstance(names, str):
        msg = f"{what}={names!r}: a list of names is needed, did you mean [{names!r}]?"
        raise ValueError(msg)
    mask = np.full(len(ids), names is None)
    for name in names or ():
        if name not in ids:
            msg = f"{name!r} is not the name of a known {'relation' if what == 'relations' else 'entity'}"
            raise ValueError(msg)
        mask[ids[name]] = True
    return mask
