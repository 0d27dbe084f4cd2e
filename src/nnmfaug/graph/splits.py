"""The three splits of a data set over one vocabulary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nnmfaug.graph.keys import unique_triples
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary


@dataclass(frozen=True)
class Splits:
    """Train, valid and test over one vocabulary that holds the names of all three.

    Examples
    --------
    >>> train = KnowledgeGraph.from_labels([("a", "likes", "b")])
    >>> test = KnowledgeGraph.from_labels([("b", "likes", "c")])
    >>> splits = Splits.merge("toy", train=train, test=test)
    >>> splits.vocabulary.entities, len(splits.valid)
    (('a', 'b', 'c'), 0)
    """

    name: str
    train: KnowledgeGraph
    valid: KnowledgeGraph
    test: KnowledgeGraph

    def __post_init__(self) -> None:
        if not self.train.vocabulary == self.valid.vocabulary == self.test.vocabulary:
            msg = "the splits have different vocabularies: use Splits.merge"
            raise ValueError(msg)

    @classmethod
    def merge(
        cls,
        name: str,
        *,
        train: KnowledgeGraph,
        valid: KnowledgeGraph | None = None,
        test: KnowledgeGraph | None = None,
        names: Vocabulary | None = None,
    ) -> Splits:
        """Give the graphs one vocabulary: their names, and ``names`` besides. A missing split is empty."""
        present = [graph for graph in (train, valid, test) if graph is not None]
        vocabulary = (names or Vocabulary((), ())).union(*(graph.vocabulary for graph in present))
        empty = KnowledgeGraph(vocabulary, np.empty((0, 3), dtype=np.int32))
        return cls(name, *(empty if g is None else g.with_vocabulary(vocabulary) for g in (train, valid, test)))

    @property
    def vocabulary(self) -> Vocabulary:
        """The names of all three splits."""
        return self.train.vocabulary

    def items(self) -> Iterator[tuple[str, KnowledgeGraph]]:
        """Yield ("train", …), ("valid", …), ("test", …)."""
        yield from (("train", self.train), ("valid", self.valid), ("test", self.test))

    def together(self) -> KnowledgeGraph:
        """Return the triples of all three splits as one graph."""
        triples = np.concatenate([graph.triples for _, graph in self.items()])
        return KnowledgeGraph(self.vocabulary, unique_triples(triples, self.vocabulary, sort=True))
