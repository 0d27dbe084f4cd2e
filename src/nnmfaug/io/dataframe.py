"""Graphs from data frames of pandas or polars, and to data frames of pandas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from nnmfaug.core.checks import check_argument
from nnmfaug.core.errors import DataError
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.io.formats.dialect import read_header

if TYPE_CHECKING:
    import pandas


class DataFrame(Protocol):
    """The methods of pandas and polars data frames that are used here."""

    @property
    def columns(self) -> Any: ...  # noqa: ANN401, D102
    def __getitem__(self, key: str, /) -> Any: ...  # noqa: ANN401


def from_dataframe(frame: DataFrame, columns: Sequence[str] | None = None) -> KnowledgeGraph:
    """Make a graph of a pandas or polars data frame of names.

    Parameters
    ----------
    columns
        The columns of heads, relations and tails. Default: the columns called head, relation and tail (or
        subject, predicate, object and so on), or all columns if there are three.

    Examples
    --------
    >>> import pandas
    >>> frame = pandas.DataFrame({"who": ["a", "a"], "does": ["likes", "likes"], "whom": ["b", "b"]})
    >>> from_dataframe(frame).labels()
    [('a', 'likes', 'b')]
    """
    columns = _default_columns(frame) if columns is None else list(columns)
    are_three = len(columns) == 3 and len(set(columns)) == 3
    check_argument("columns", columns, are_three, "three different columns: heads, relations and tails")
    cells = [frame[column].to_list() for column in columns]
    rows = list(zip(*cells, strict=True))
    for number, names in enumerate(rows):
        if not all(isinstance(name, str) and name for name in names):
            raise DataError(f"row {number} of the data frame: {names!r} must be three names, text and not empty")
    return KnowledgeGraph.from_labels(rows)


def _default_columns(frame: DataFrame) -> list[str]:
    columns = list(frame.columns)
    places = read_header([str(name).encode() for name in columns])
    return columns if places is None else [columns[place] for place in places]


def to_dataframe(graph: KnowledgeGraph) -> pandas.DataFrame:
    """Return the named triples as a pandas data frame with columns head, relation and tail, in order."""
    import pandas

    return pandas.DataFrame(graph.labels(), columns=["head", "relation", "tail"])
