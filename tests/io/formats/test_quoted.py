"""CSV with quotes."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, strategies as st

from nnmfaug import (
    Limits,
)
from tests.io.files import (
    FEW,
    FUZZ,
    SKIP,
    Triple,
    check_blocks_agree,
    facts,
    lines_and_reasons,
    physical_lines,
    put,
    read,
    refusal,
)

QUOTES = [('"a', "r", "b"), ("c", "r", 'd"'), ('e "the" f', "r", "g"), ('"h"i', "r", "j"), ("k", '"', 'l""m')]


@pytest.mark.parametrize(("name", "separator"), [("q.tsv", "\t"), ("q.csv", ","), ("q.txt", "\t"), ("q", ",")])
def test_five_rows_with_stray_quotes_are_five_triples(tmp_path: Path, name: str, separator: str) -> None:
    path = put(tmp_path, "".join(separator.join(row) + "\n" for row in QUOTES), name)
    labels, report = read(path)
    assert sorted(labels) == sorted(QUOTES)
    assert report.accepted == report.lines == 5


def test_a_stray_quote_stays_in_its_row_however_long_the_file(tmp_path: Path) -> None:
    rows = [(f"a{i}", "r", f"b{i}") for i in range(1000)]
    rows[10] = ('"a10', "r", "b10")
    rows[500] = ("a500", "r", '5" disk')
    data = "".join(",".join(row) + "\n" for row in rows)
    assert sorted(read(put(tmp_path, data, "q.csv"))[0]) == sorted(rows)


def test_quotes_in_csv_are_taken_off(tmp_path: Path) -> None:
    data = '"Beijing","is_capital_of","China"\n"a, b","r ""s""","c\nd"\n'
    labels, report = read(put(tmp_path, data, "q.csv"))
    assert set(labels) == {("Beijing", "is_capital_of", "China"), ("a, b", 'r "s"', "c\nd")}
    assert report.accepted == 3, "a row over two lines is two physical lines"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a,b", "2 columns, expected 3"),
        ("a,b,c,d", "4 columns, expected 3"),
        ('"a,b",c', "2 columns, expected 3"),
        ('"",b,c', "the head is empty"),
        ('a,"",c', "the relation is empty"),
        ("a,b,", "the tail is empty"),
        (",,", "the head is empty"),
    ],
)
@pytest.mark.parametrize("quoted", [True, False])
def test_a_bad_csv_row_is_rejected_with_its_line_and_reason(
    tmp_path: Path, text: str, reason: str, *, quoted: bool
) -> None:
    first = '"h, ""x""\ny",r,t' if quoted else "h,r,t\nh,r,t"
    path = put(tmp_path, f"{first}\n\n{text}\nh,r,u\n", "graph.csv")
    error = refusal(path)
    assert (error.line, str(error).splitlines()[0]) == (4, f"{path}:4: {reason}")
    _, report = read(path, SKIP)
    assert lines_and_reasons(report) == [(4, reason)]
    assert (report.accepted, report.blank, report.lines) == (3, 1, 5)


def test_a_quoted_header_may_hold_a_comma(tmp_path: Path) -> None:
    path = put(tmp_path, '"head","relation","tail","note, if any"\n"a, b",r,c,x\n', "g.csv")
    assert read(path)[0] == [("a, b", "r", "c")]


csv_pieces = st.sampled_from(
    [b"a", b"b", b'"', b'"', b'""', b",", b",", b",", b"\n", b"\r\n", b"\r", b" ", b"#", b"\xe9"]
)
csv_soup = st.lists(csv_pieces, max_size=60).map(b"".join)
csv_names = st.text(st.sampled_from(list('ab",\n\r #é\0\ufeff\u2028')), min_size=1, max_size=5)
csv_rows = st.lists(st.tuples(csv_names, csv_names, csv_names), min_size=1, max_size=8)


@FUZZ
@given(data=csv_soup, tail=st.booleans())
def test_every_line_of_a_csv_soup_is_counted_once(scratch: Path, data: bytes, *, tail: bool) -> None:
    data += b'\n"x",y,z\n' if tail else b""
    path = put(scratch, data, "soup.csv")
    n_lines = len(physical_lines(data))
    if not tail and len(facts(path, SKIP)) == 1:
        assert "no triples" in str(refusal(path, SKIP))
        return
    _, report = read(path, SKIP)
    assert report.accepted + report.rejected + report.blank + report.comment + report.header == n_lines
    assert all(1 <= reject.line <= n_lines for reject in report.rejects)
    assert [r.line for r in report.rejects] == sorted({r.line for r in report.rejects})


@FUZZ
@given(
    rows=csv_rows,
    style=st.sampled_from([(csv.QUOTE_ALL, "\n"), (csv.QUOTE_ALL, "\r\n"), (csv.QUOTE_MINIMAL, "\r\n")]),
)
def test_a_csv_that_python_wrote_reads_as_it_was_meant(
    scratch: Path, rows: list[Triple], style: tuple[Literal[0, 1], str]
) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=style[0], lineterminator=style[1])
    writer.writerows([("head", "relation", "tail"), *rows])
    data = text.getvalue().encode()
    labels, report = read(put(scratch, data, "python.csv"))
    assert set(labels) == set(rows)
    assert report.lines == len(physical_lines(data))
    assert report.header == 1


@FEW
@given(data=csv_soup, block=st.integers(4, 20), max_line=st.sampled_from([8, 20, 1 << 20]))
def test_the_size_of_blocks_does_not_matter_to_csv(scratch: Path, data: bytes, block: int, max_line: int) -> None:
    check_blocks_agree(scratch / "b.csv", data, block, replace(SKIP, limits=Limits(max_line=max_line)))
