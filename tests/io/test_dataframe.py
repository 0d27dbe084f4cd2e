"""Graphs from and to data frames."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest

import nnmfaug as na
from tests.io.toys import ROWS, TRAIN


class Column:
    def __init__(self, cells: list[Any]) -> None:
        self._cells = cells

    def to_list(self) -> list[Any]:
        return self._cells


class Frame:
    """What polars has and this library needs, and no more."""

    def __init__(self, cells: dict[str, list[Any]]) -> None:
        self._cells = cells

    @property
    def columns(self) -> list[str]:
        return list(self._cells)

    def __getitem__(self, key: str, /) -> Column:
        return Column(self._cells[key])


def test_a_data_frame_gives_back_the_graph(nasty_splits: na.Splits) -> None:
    frame = na.to_dataframe(nasty_splits.train)
    assert list(frame.columns) == ["head", "relation", "tail"]
    assert [tuple(row) for row in frame.itertuples(index=False)] == nasty_splits.train.labels()
    assert na.from_dataframe(frame).digest() == nasty_splits.train.digest()


def test_a_data_frame_keeps_the_order_of_the_graph() -> None:
    unsorted = na.KnowledgeGraph.from_labels(ROWS[::-1], sort=False)
    assert [tuple(row) for row in na.to_dataframe(unsorted).itertuples(index=False)] == ROWS[::-1]


def test_a_frame_like_that_of_polars_is_read() -> None:
    frame = Frame({"id": [1, 2], "t": ["b", "c"], "h": ["a", "b"], "r": ["likes", "likes"]})
    assert na.from_dataframe(frame, columns=["h", "r", "t"]).labels() == TRAIN
    with pytest.raises(ValueError, match=r"id.*three different columns"):
        na.from_dataframe(frame)
    with pytest.raises(ValueError, match="three different columns"):
        na.from_dataframe(frame, columns=["h", "t"])


@pytest.mark.parametrize("cell", [None, float("nan"), "", 7, b"a", pd.NA])
@pytest.mark.parametrize("column", ["h", "r", "t"])
def test_a_cell_that_is_no_name_is_an_error_with_its_row(cell: object, column: str) -> None:
    cells: dict[str, list[Any]] = {"h": ["a", "b"], "r": ["likes", "likes"], "t": ["b", "c"]}
    cells[column][1] = cell
    with pytest.raises(na.DataError, match=r"row 1 .*" + re.escape(repr(cell))):
        na.from_dataframe(Frame(cells))
    with pytest.raises(na.DataError, match=r"row 1 "):
        na.from_dataframe(pd.DataFrame(cells, dtype=object))


def test_columns_of_one_name_are_refused() -> None:
    frame = pd.DataFrame([["a", "likes", "b"]], columns=["x", "r", "x"])
    with pytest.raises(ValueError, match="x"):
        na.from_dataframe(frame)
