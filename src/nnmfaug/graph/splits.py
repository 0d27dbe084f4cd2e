"""The three splits of a data set over one vocabulary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nnmfaug.core.checks import require
from nnmfaug.graph.keys import unique_triples
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary


@dataclass(frozen=True)
class Splits:
    """Train, valid and test over one vocabulary that contains the names of all three.

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
        is_same = self.train.vocabulary == self.valid.vocabulary == self.test.vocabulary
        require(is_same, "the splits have different vocabularies: use Splits.merge")

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
        """Return splits over one vocabulary: the names of all graphs, and ``names``. A missing split is empty."""
        present = [graph for graph in (train, valid, test) if graph is not None]
        first = names or Vocabulary((), ())
        vocabulary = first.union(*(graph.vocabulary for graph in present))
        empty = KnowledgeGraph(vocabulary, np.empty((0, 3), dtype=np.int32))

        def over_vocabulary(graph: KnowledgeGraph | None) -> KnowledgeGraph:
            return empty if graph is None else graph.with_vocabulary(vocabulary)

        return cls(name, over_vocabulary(train), over_vocabulary(valid), over_vocabulary(test))

    @property
    def vocabulary(self) -> Vocabulary:
        """The names of all three splits."""
        return self.train.vocabulary

    def items(self) -> Iterator[tuple[str, KnowledgeGraph]]:
        """Yield ("train", …), ("valid", …), ("test", …)."""
        yield "train", self.train
        yield "valid", self.valid
        yield "test", self.test

    def together(self) -> KnowledgeGraph:
        """Return the triples of all three splits as one graph."""
        return self._union(self.train, self.valid, self.test)

    def train_and_valid(self) -> KnowledgeGraph:
        """Return the triples of train and valid as one graph: the filter of ranks on which a choice is based."""
        return self._union(self.train, self.valid)

    def _union(self, *graphs: KnowledgeGraph) -> KnowledgeGraph:
        triples = np.concatenate([graph.triples for graph in graphs])
        return KnowledgeGraph(self.vocabulary, unique_triples(triples, self.vocabulary, sort=True))
