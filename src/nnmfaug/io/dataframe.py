"""Graphs from and to data frames of pandas or polars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from nnmfaug.core.errors import DataError
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.io.formats.dialect import read_header

if TYPE_CHECKING:
    import pandas


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
