"""For people who already hold the triples: data frames and PyKEEN's triples factories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from nnmfaug.core.errors import DataError
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary, unique_triples
from nnmfaug.io.formats.delimited import read_header

if TYPE_CHECKING:
    import pandas
    from pykeen.triples import CoreTriplesFactory, TriplesFactory


class DataFrame(Protocol):
    """What pandas and polars have in common here."""

    @property
    def columns(self) -> Any: ...  # noqa: ANN401, D102
    def __getitem__(self, key: str, /) -> Any: ...  # noqa: ANN401


def from_dataframe(frame: DataFrame, columns: Sequence[str] | None = None) -> KnowledgeGraph:
    """Make a graph of a pandas or polars data frame of names.

    Parameters
    ----------
    columns
        The columns of heads, relations and tails; by default those called head, relation and tail (or subject,
        predicate, object and so on), else the only three.

    Examples
    --------
    >>> import pandas
    >>> frame = pandas.DataFrame({"who": ["a", "a"], "does": ["likes", "likes"], "whom": ["b", "b"]})
    >>> from_dataframe(frame).labels()
    [('a', 'likes', 'b')]
    """
    if columns is None:
        given = list(frame.columns)
        named = read_header([str(name).encode() for name in given])
        columns = [given[i] for i in named] if named else given
    columns = list(columns)
    if len(columns) != 3 or len(set(columns)) != 3:
        msg = f"columns={columns}: three different ones are needed, of heads, relations and tails"
        raise ValueError(msg)
    cells = [frame[column].to_list() for column in columns]
    for row, names in enumerate(zip(*cells, strict=True)):
        wrong = next((name for name in names if not isinstance(name, str) or not name), None)
        if wrong is not None or None in names:
            raise DataError(f"row {row} of the data frame: {names!r} must be three names, text and not empty")
    return KnowledgeGraph.from_labels(zip(*cells, strict=True))


def to_dataframe(graph: KnowledgeGraph) -> pandas.DataFrame:
    """Return the named triples as a pandas data frame with columns head, relation, tail, in order."""
    import pandas

    return pandas.DataFrame(graph.labels(), columns=["head", "relation", "tail"])


def from_pykeen(factory: CoreTriplesFactory) -> KnowledgeGraph:
    """Make a graph of a PyKEEN triples factory; without labels, the ids become the names."""
    entities = _labels(getattr(factory, "entity_id_to_label", None), factory.num_entities)
    relations = _labels(getattr(factory, "relation_id_to_label", None), factory.real_num_relations)
    vocabulary = Vocabulary.from_names(entities, relations)
    h, r, t = np.asarray(factory.mapped_triples.cpu()).T
    entity_ids = np.array([vocabulary.entity_ids[name] for name in entities], dtype=np.int32)
    relation_ids = np.array([vocabulary.relation_ids[name] for name in relations], dtype=np.int32)
    ids = np.stack([entity_ids[h], relation_ids[r], entity_ids[t]], axis=1)
    return KnowledgeGraph(vocabulary, unique_triples(ids, vocabulary, sort=True))


def to_pykeen(graph: KnowledgeGraph, *, reciprocal: bool = False) -> TriplesFactory:
    """Return a PyKEEN triples factory over the whole vocabulary, with the same ids and the same order.

    So no test triple is dropped, as PyKEEN's own data sets do (pykeen #910). ``reciprocal`` lets it make inverse
    triples.
    """
    import torch
    from pykeen.triples import TriplesFactory

    return TriplesFactory(
        mapped_triples=torch.from_numpy(graph.triples.astype(np.int64)),
        entity_to_id=dict(graph.vocabulary.entity_ids),
        relation_to_id=dict(graph.vocabulary.relation_ids),
        create_inverse_triples=reciprocal,
    )


def _labels(labels: dict[int, str] | None, count: int) -> Iterable[str]:
    return [str(i) if labels is None else labels[i] for i in range(count)]
