"""KGTK."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from nnmfaug import (
    ReadOptions,
)
from tests.io.files import (
    SKIP,
    lines_and_reasons,
    put,
    read,
    refusal,
)


@pytest.mark.parametrize("order", list(itertools.permutations(range(5)))[::7])
def test_kgtk_columns_come_in_any_order_with_others_between(tmp_path: Path, order: tuple[int, ...]) -> None:
    rows = [("id", "node1", "label", "node2", "rank"), ("E1", "Q1", "P31", "Q5", ""), ("", "Q2", "P31", "Q5", "x")]
    path = put(tmp_path, "".join("\t".join(row[i] for i in order) + "\n" for row in rows), "g.kgtk")
    labels, report = read(path)
    assert labels == [("Q1", "P31", "Q5"), ("Q2", "P31", "Q5")]
    assert report.header == 1


@pytest.mark.parametrize("name", ["g.kgtk", "g.tsv"])
def test_kgtk_may_have_columns_with_words_that_other_files_use_for_relations(tmp_path: Path, name: str) -> None:
    path = put(tmp_path, "node1\tlabel\tnode2\ttype\nQ1\tP31\tQ5\tx\n", name)
    assert read(path)[0] == [("Q1", "P31", "Q5")]


def test_kgtk_escapes_are_undone_and_literals_counted(tmp_path: Path) -> None:
    literals = [
        '"text"',
        "'text'@en",
        "^2020-01-01T00:00:00Z/11",
        "@001.2/003.4",
        "!x",
        "12",
        "-1.5",
        "+.5",
        "007",
    ]
    text = "node1\tlabel\tnode2\n" + "".join(f"Q1\tP1\t{value}\n" for value in literals)
    text += "a\\|b\\\\c\tr\\ts\tx\\ny\n# a comment\n\nQ1\tP1\n\tP1\tQ2\n"
    labels, report = read(put(tmp_path, text, "g.kgtk"), SKIP)
    assert labels == [("a|b\\c", "r\ts", "x\ny")]
    assert report.literals == len(literals)
    assert (report.accepted, report.comment, report.blank, report.header) == (len(literals) + 1, 1, 1, 1)
    assert lines_and_reasons(report) == [(14, "2 columns, expected 3"), (15, "the head is empty")]


def test_kgtk_without_its_header_is_refused_with_the_cure(tmp_path: Path) -> None:
    error = refusal(put(tmp_path, "Q1\tP31\tQ5\n", "g.kgtk"))
    assert "node1, label and node2" in str(error)


def test_a_format_that_was_named_is_not_taken_for_kgtk(tmp_path: Path) -> None:
    path = put(tmp_path, "node1\tlabel\tnode2\n00260881\tr\ta\\tb\n")
    assert read(path, ReadOptions(format="tsv"))[0] == [("00260881", "r", "a\\tb")]


def test_a_csv_with_kgtk_words_is_still_a_csv(tmp_path: Path) -> None:
    path = put(tmp_path, 'node1,label,node2\n"a, b",r,00260881\n', "g.csv")
    assert read(path)[0] == [("a, b", "r", "00260881")]
