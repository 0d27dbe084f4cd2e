"""What everything else stands on: names, triples of ids, and the three splits of a data set.

Ids follow the sorted names, so two files with the same triples are the same graph, whatever the order of
their lines. A graph that was read holds its triples sorted; a graph that was generated keeps the order in
which its triples were drawn.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nnmfaug.core.arrays import IntArray
from nnmfaug.graph.keys import SortedKeys, sorted_unique, unique_triples
from nnmfaug.graph.read_report import ReadReport
from nnmfaug.graph.vocabulary import LabelledTriple, Vocabulary

if TYPE_CHECKING:
    from nnmfaug.graph.counts import Counts


@dataclass(frozen=True, eq=False)
class KnowledgeGraph:
    """A set of triples (head, relation, tail) over a vocabulary.

    Parameters
    ----------
    vocabulary
        The names; it may hold names that no triple uses.
    triples : ndarray of shape (n_triples, 3)
        Ids of head, relation and tail, without repeats. Kept as a read-only int32 copy, in the order given.
    report
        What became of the lines of the file, if the graph was read from one.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("b", "likes", "a"), ("a", "likes", "b"), ("b", "likes", "a")])
    >>> graph.triples
    array([[0, 0, 1],
           [1, 0, 0]], dtype=int32)
    >>> graph.labels()
    [('a', 'likes', 'b'), ('b', 'likes', 'a')]
    """

    vocabulary: Vocabulary
    triples: IntArray
    report: ReadReport | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.vocabulary.check_ids(np.asarray(self.triples))
        triples = np.array(self.triples, dtype=np.int32, order="C")
        triples.setflags(write=False)
        object.__setattr__(self, "triples", triples)
        steps = np.diff(self.vocabulary.keys(triples))
        if not (steps > 0).all() and len(self._sorted_keys) != len(triples):
            msg = f"{len(triples) - len(self._sorted_keys)} repeated triples: a graph is a set"
            raise ValueError(msg)

    @classmethod
    def from_labels(
        cls, rows: Iterable[LabelledTriple], vocabulary: Vocabulary | None = None, *, sort: bool = True
    ) -> KnowledgeGraph:
        """Make a graph of named triples, without the repeated ones.

        ``sort=False`` keeps the order of the rows. With a vocabulary, an unknown name is a ``KeyError``.
        """
        rows = list(rows)
        if vocabulary is None:
            names = [name for head, _, tail in rows for name in (head, tail)]
            vocabulary = Vocabulary.from_names(names, (relation for _, relation, _ in rows))
        entity, relation = vocabulary.entity_ids, vocabulary.relation_ids
        ids = np.array([(entity[h], relation[r], entity[t]) for h, r, t in rows], np.int32).reshape(-1, 3)
        return cls(vocabulary, unique_triples(ids, vocabulary, sort=sort))

    def __len__(self) -> int:
        return len(self.triples)

    def __repr__(self) -> str:
        return f"<KnowledgeGraph: {len(self)} triples, {self.n_entities} entities, {self.n_relations} relations>"

    def __eq__(self, other: object) -> bool:
        """Same names, same triples, same order; where they came from does not count."""
        if not isinstance(other, KnowledgeGraph):
            return NotImplemented
        return self.vocabulary == other.vocabulary and np.array_equal(self.triples, other.triples)

    __hash__ = None  # type: ignore[assignment]  # arrays are compared, not hashed; see digest()

    @property
    def n_entities(self) -> int:
        """Number of entities of the vocabulary."""
        return len(self.vocabulary.entities)

    @property
    def n_relations(self) -> int:
        """Number of relations of the vocabulary."""
        return len(self.vocabulary.relations)

    @cached_property
    def _sorted_keys(self) -> SortedKeys:
        return SortedKeys(sorted_unique(self.vocabulary.keys(self.triples)))

    @cached_property
    def counts(self) -> Counts:
        """A and B of the paper: how often each entity is head and tail of each relation, counted once."""
        from nnmfaug.graph.counts import Counts

        return Counts.of(self)

    def contains(self, triples: ArrayLike) -> NDArray[np.bool_]:
        """Say for each row of ids, shape (n, 3), whether it is a triple of this graph."""
        self.vocabulary.check_ids(np.asarray(triples))
        return self.contains_keys(self.vocabulary.keys(triples))

    def contains_keys(self, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say for each key of a triple whether it is a triple of this graph."""
        return self._sorted_keys.contain(keys)

    def labels(self) -> list[LabelledTriple]:
        """Return the triples as names, in the order of the graph."""
        entities, relations = self.vocabulary.entities, self.vocabulary.relations
        return [(entities[h], relations[r], entities[t]) for h, r, t in self.triples.tolist()]

    def with_vocabulary(self, vocabulary: Vocabulary) -> KnowledgeGraph:
        """Return the same triples, in the same order, with the ids of a vocabulary that has all the names."""
        if vocabulary == self.vocabulary:
            return self
        entities = _translate(self.vocabulary.entities, vocabulary.entity_ids)
        relations = _translate(self.vocabulary.relations, vocabulary.relation_ids)
        h, r, t = self.triples.T
        return replace(
            self, vocabulary=vocabulary, triples=np.stack([entities[h], relations[r], entities[t]], axis=1)
        )

    def digest(self) -> str:
        """SHA-256 of the set of named triples: independent of ids, order and unused names."""
        ordered = KnowledgeGraph(self.vocabulary, self.vocabulary.from_keys(self._sorted_keys.keys))
        sha = hashlib.sha256()
        for row in ordered.labels():
            sha.update(json.dumps(row).encode())
        return sha.hexdigest()


def check_graph(graph: object) -> None:
    """Raise unless it is a graph, and say where the graph is to be found."""
    if not isinstance(graph, KnowledgeGraph):
        found = next((name for name in ("train", "graph", "given") if hasattr(graph, name)), None)
        hint = f": its .{found} is one" if found else ""
        msg = f"a KnowledgeGraph is needed, not {type(graph).__name__}{hint}"
        raise TypeError(msg)


def _translate(names: Sequence[str], ids: dict[str, int]) -> IntArray:
    try:
        return np.fromiter((ids[name] for name in names), dtype=np.int32, count=len(names))
    except KeyError as error:
        msg = f"{error} is no name of the other vocabulary"
        raise ValueError(msg) from None
