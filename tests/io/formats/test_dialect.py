"""Headers and comments."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from nnmfaug import (
    ReadOptions,
)
from tests.io.files import (
    SKIP,
    Triple,
    lines_and_reasons,
    put,
    read,
)


@pytest.mark.parametrize(
    "words",
    [
        ("head", "relation", "tail"),
        ("Subject", "PREDICATE", "object"),
        ("source", "type", "target"),
        ("from", "edge", "to"),
    ],
)
def test_a_header_in_any_order_names_the_columns(tmp_path: Path, words: Triple) -> None:
    for order in itertools.permutations(range(3)):
        lines = [[row[i] for i in order] for row in (words, ("a", "r", "b"), ("c", "s", "d"))]
        for name, comma in (("g.tsv", "\t"), ("g.csv", ",")):
            labels, report = read(put(tmp_path, "".join(comma.join(line) + "\n" for line in lines), name))
            assert labels == [("a", "r", "b"), ("c", "s", "d")], (order, name)
            assert (report.header, report.accepted) == (1, 2)


def test_a_header_may_have_more_columns_and_the_others_may_be_empty(tmp_path: Path) -> None:
    path = put(tmp_path, "id\ttail\tscore\thead\trelation\n1\tb\t\ta\tr\n\td\t0.5\tc\ts\n3\tx\n")
    labels, report = read(path, SKIP)
    assert labels == [("a", "r", "b"), ("c", "s", "d")]
    assert lines_and_reasons(report) == [(4, "2 columns, expected 5")]


def test_a_header_is_not_looked_for_when_there_is_none(tmp_path: Path) -> None:
    path = put(tmp_path, "head\trelation\ttail\na\tr\tb\n")
    assert read(path, ReadOptions(header=False))[0] == [("a", "r", "b"), ("head", "relation", "tail")]


def test_a_header_of_unknown_words_is_left_out_when_asked(tmp_path: Path) -> None:
    path = put(tmp_path, "# c\nx\ty\tz\na\tr\tb\n")
    assert len(read(path)[0]) == 2
    labels, report = read(path, ReadOptions(header=True))
    assert labels == [("a", "r", "b")]
    assert (report.comment, report.header, report.accepted) == (1, 1, 1)


def test_only_the_first_line_can_be_a_header(tmp_path: Path) -> None:
    path = put(tmp_path, "a\tr\tb\nhead\trelation\ttail\n")
    labels, report = read(path)
    assert labels == [("a", "r", "b"), ("head", "relation", "tail")]
    assert report.header == 0


def test_a_row_that_opens_with_a_hash_is_before_the_header_then_there_is_none(tmp_path: Path) -> None:
    path = put(tmp_path, "# a\tr\tb\nhead\trelation\ttail\n")
    labels, report = read(path)
    assert labels == [("# a", "r", "b"), ("head", "relation", "tail")]
    assert report.header == 0


@pytest.mark.parametrize("mark", ["#", "# ", '"'])
def test_a_header_behind_a_hash_is_a_header(tmp_path: Path, mark: str) -> None:
    path = put(tmp_path, f"{mark}head\trelation\ttail\na\tr\tb\n")
    labels, report = read(path)
    assert labels == [("a", "r", "b")]
    assert report.header == 1


def test_a_header_after_a_long_preamble_is_still_a_header(tmp_path: Path) -> None:
    path = put(tmp_path, "# licence\n" * 120_000 + "tail\trelation\thead\nb\tr\ta\n")
    labels, report = read(path)
    assert labels == [("a", "r", "b")]
    assert (report.comment, report.header, report.accepted) == (120_000, 1, 1)


def test_comments_are_counted_and_names_with_a_hash_are_kept(tmp_path: Path) -> None:
    text = "# a comment\n#\n#comment\n## a\tb\n#! x\ty\tz\tw\n#name\tr\tb\na\tr\t#x\n"
    labels, report = read(put(tmp_path, text))
    assert labels == [("#name", "r", "b"), ("a", "r", "#x")]
    assert (report.comment, report.accepted) == (5, 2)
    assert any("begin with #" in note for note in report.notes)


def test_a_comment_may_be_in_any_encoding(tmp_path: Path) -> None:
    labels, report = read(put(tmp_path, b"# caf\xe9\na\tr\tb\n"))
    assert (len(labels), report.comment) == (1, 1)


def test_a_line_that_may_be_a_header_is_read_with_a_note(tmp_path: Path) -> None:
    labels, report = read(put(tmp_path, "h\tr\tt\na\tr\tb\n"))
    assert len(labels) == 2
    assert any("--header" in note for note in report.notes)
    _, report = read(put(tmp_path, "head\trelation\ttail\na\tr\tb\n"))
    assert any("--no-header" in note for note in report.notes)
