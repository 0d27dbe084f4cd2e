"""Triples from elsewhere, such as a file, as an augmenter."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nnmfaug.augmenters.listed import Listed
from nnmfaug.core.errors import DataError
from nnmfaug.graph.knowledge_graph import KnowledgeGraph, check_graph


@dataclass(frozen=True)
class Given:
    """Triples from elsewhere, in their order.

    Parameters
    ----------
    triples
        The triples; their names must be names of the train graph.
    source
        Where they come from, for messages.

    Examples
    --------
    >>> import nnmfaug as na
    >>> train = na.KnowledgeGraph.from_labels([("a", "likes", "b"), ("b", "likes", "c")])
    >>> extra = na.KnowledgeGraph.from_labels([("a", "likes", "c")])
    >>> Given(extra).fit(train).top(1).labels
    [('a', 'likes', 'c')]
    """

    triples: KnowledgeGraph = field(repr=False)
    source: str = ""

    def fit(self, graph: KnowledgeGraph, *, seed: int = 0) -> Listed:  # noqa: ARG002  (as every augmenter)
        """Check that none of the triples is in train, and list them."""
        check_graph(graph)
        ids = self.triples.with_vocabulary(graph.vocabulary).triples
        known = graph.contains(ids)
        if known.any():
            first = ", ".join(self.triples.labels()[int(known.argmax())])
            msg = f"{known.sum()} of these triples are in train, the first is ({first}): remove them"
            raise DataError(msg, path=self.source or None)
        return Listed(graph, ids, np.ones(len(ids)))
