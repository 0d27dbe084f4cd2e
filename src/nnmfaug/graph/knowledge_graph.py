"""A knowledge graph: a set of triples of ids over a vocabulary of names.

Ids follow the sorted names, so two files with the same triples give the same graph, whatever the order of their
lines. The triples of a graph that was read are sorted; generated triples keep the order in which they were drawn.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from nnmfaug.core.arrays import Bools, Ids, IntArray
from nnmfaug.core.blocks import blocks
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
        The names; it may contain names that no triple uses.
    triples : ndarray of shape (n_triples, 3)
        Ids of head, relation and tail, without repeats. Stored as a read-only int32 copy, in the same order.
    report
        The report of the lines of the file, if the graph was read from one.

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
        """Return the graph of named triples, without repeats.

        ``sort=False`` keeps the order of the rows. With a vocabulary, an unknown name is a ``KeyError``.
        """
        rows = list(rows)
        if vocabulary is None:
            names = [name for head, _, tail in rows for name in (head, tail)]
            vocabulary = Vocabulary.from_names(names, (relation for _, relation, _ in rows))
        entity_ids = vocabulary.entity_ids
        relation_ids = vocabulary.relation_ids
        rows_of_ids = [(entity_ids[h], relation_ids[r], entity_ids[t]) for h, r, t in rows]
        triples = np.array(rows_of_ids, dtype=np.int32).reshape(-1, 3)
        return cls(vocabulary, unique_triples(triples, vocabulary, sort=sort))

    def __len__(self) -> int:
        return len(self.triples)

    def __repr__(self) -> str:
        return f"<KnowledgeGraph: {len(self)} triples, {self.n_entities} entities, {self.n_relations} relations>"

    def __eq__(self, other: object) -> bool:
        """Whether names, triples and their order are equal; the reports are not compared."""
        if not isinstance(other, KnowledgeGraph):
            return NotImplemented
        return self.vocabulary == other.vocabulary and np.array_equal(self.triples, other.triples)

    __hash__ = None  # type: ignore[assignment]  # arrays are compared, not hashed; see digest()

    @property
    def n_entities(self) -> int:
        """Number of entities in the vocabulary."""
        return len(self.vocabulary.entities)

    @property
    def n_relations(self) -> int:
        """Number of relations in the vocabulary."""
        return len(self.vocabulary.relations)

    @cached_property
    def _sorted_keys(self) -> SortedKeys:
        return SortedKeys(sorted_unique(self.vocabulary.keys(self.triples)))

    @cached_property
    def counts(self) -> Counts:
        """The matrices A and B of the paper, computed once."""
        from nnmfaug.graph.counts import Counts

        return Counts.of(self)

    def contains(self, triples: ArrayLike) -> Bools:
        """Return for each row of ids, shape (n, 3), whether it is a triple of this graph."""
        self.vocabulary.check_ids(np.asarray(triples))
        return self.contains_keys(self.vocabulary.keys(triples))

    def contains_keys(self, keys: Ids) -> Bools:
        """Return for each key whether it is the key of a triple of this graph."""
        return self._sorted_keys.contain(keys)

    def labels(self) -> list[LabelledTriple]:
        """Return the triples as names, in the order of the graph."""
        return self._named(self.triples)

    def _named(self, triples: IntArray) -> list[LabelledTriple]:
        entities = self.vocabulary.entities
        relations = self.vocabulary.relations
        return [(entities[h], relations[r], entities[t]) for h, r, t in triples.tolist()]

    def with_vocabulary(self, vocabulary: Vocabulary) -> KnowledgeGraph:
        """Return the same triples, in the same order, with the ids of a vocabulary that contains all names."""
        if vocabulary == self.vocabulary:
            return self
        entities = _translate(self.vocabulary.entities, vocabulary.entity_ids)
        relations = _translate(self.vocabulary.relations, vocabulary.relation_ids)
        h, r, t = self.triples.T
        triples = np.stack([entities[h], relations[r], entities[t]], axis=1)
        return replace(self, vocabulary=vocabulary, triples=triples)

    def digest(self) -> str:
        """Return the SHA-256 of the set of named triples, which does not depend on ids, order or unused names."""
        keys = self._sorted_keys.keys
        sha = hashlib.sha256()
        for block in blocks(len(keys)):
            rows = self._named(self.vocabulary.from_keys(keys[block]))
            # One list per row. In a name, a quotation mark follows a backslash, so this joins rows alone.
            sha.update(json.dumps(rows)[1:-1].replace('"], ["', '"]["').encode())
        return sha.hexdigest()


def check_graph(graph: object) -> None:
    """Raise unless the argument is a graph, with the attribute that is one, if there is."""
    if isinstance(graph, KnowledgeGraph):
        return
    attribute = next((name for name in ("train", "graph", "given") if hasattr(graph, name)), None)
    advice = f": use its .{attribute}" if attribute else ""
    msg = f"a KnowledgeGraph is needed, not {type(graph).__name__}{advice}"
    raise TypeError(msg)


def _translate(names: Sequence[str], ids: dict[str, int]) -> IntArray:
    """Return the id of each name."""
    try:
        return np.fromiter((ids[name] for name in names), dtype=np.int32, count=len(names))
    except KeyError as error:
        msg = f"{error} is not a name of the other vocabulary"
        raise ValueError(msg) from None
