"""TSV and CSV without quotes: which lines are triples, and what is reported about the others."""

from __future__ import annotations

import gzip
import random
import string
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

import pytest

from nnmfaug import (
    Limits,
    ReadOptions,
)
from nnmfaug.io import stream
from tests.io.files import (
    BOM,
    SKIP,
    lines_and_reasons,
    put,
    read,
    refusal,
    tsv,
)

LOOKALIKES = ["NA", "null", "nan", "None", "N/A", "00260881", "1e5", "True", "-inf", "NULL", "\\N", "1,5", "0x10"]


@pytest.mark.parametrize("suffix", [".tsv", ".csv"])
def test_what_looks_like_a_number_or_a_null_stays_text(tmp_path: Path, suffix: str) -> None:
    separator = "," if suffix == ".csv" else "\t"
    rows = [row for name in LOOKALIKES for row in ((name, "r", "b"), ("a", name, "b"), ("a", "r", name))]
    cells = [[f'"{name}"' if separator in name else name for name in row] for row in rows]
    data = "".join(separator.join(row) + "\n" for row in cells)
    assert set(read(put(tmp_path, data, f"graph{suffix}"))[0]) == set(rows)


def test_quotes_in_tsv_are_letters(tmp_path: Path) -> None:
    assert read(put(tmp_path, '"a"\t"r"\t"b"\n'))[0] == [('"a"', '"r"', '"b"')]


def test_white_space_and_unicode_forms_are_kept_and_noted(tmp_path: Path) -> None:
    rows = {
        (" a", "r", "a"),
        ("a ", "r", "caf\u00e9"),
        ("x\u2028y", "r", "cafe\u0301"),
        ("n\u0085", "r\x0b", "\x1c"),
    }
    labels, report = read(put(tmp_path, tsv(sorted(rows))))
    assert set(labels) == rows
    notes = " ".join(report.notes)
    assert "names that contain control characters or line separators, kept unchanged: 4" in notes
    assert "NFC" in notes
    assert "white space" in notes


BAD_ROWS = [
    ("a\tb", "2 columns, expected 3"),
    ("a", "1 column, expected 3"),
    ("a\tb\tc\td", "4 columns, expected 3"),
    ("a\tb\tc\t", "4 columns, expected 3"),
    ("\tb\tc", "the head is empty"),
    ("a\t\tc", "the relation is empty"),
    ("a\tb\t", "the tail is empty"),
    ("\t\t", "the head is empty"),
    ("\t", "2 columns, expected 3"),
    ("#torn\tb", "2 columns, expected 3"),
    ("#\tb", "2 columns, expected 3"),
]


@pytest.mark.parametrize(("text", "reason"), BAD_ROWS)
def test_a_bad_row_is_rejected_with_its_line_and_reason(tmp_path: Path, text: str, reason: str) -> None:
    path = put(tmp_path, f"h\tr\tt\n\nh\tr\tu\n{text}\nh\tr\tv\n")
    error = refusal(path)
    assert error.line == 4
    assert str(error).startswith(f"{path}:4: {reason}\n1 bad line. ")
    assert "--bad-lines skip" in str(error)
    labels, report = read(path, SKIP)
    assert len(labels) == 3
    assert lines_and_reasons(report) == [(4, reason)]
    assert report.rejects[0].text == text
    assert (report.accepted, report.rejected, report.blank, report.lines) == (3, 1, 1, 5)


def test_the_first_ten_bad_lines_are_shown_and_all_are_counted(tmp_path: Path) -> None:
    path = put(tmp_path, "a\tr\tb\n" + "short\n" * 25)
    message = str(refusal(path))
    shown = [line for line in message.splitlines() if line.startswith(f"{path}:")]
    assert shown == [f"{path}:{n}: 1 column, expected 3" for n in range(2, 12)]
    assert "25 bad lines, the first ten shown" in message


def test_skipping_goes_on_and_lists_every_reject(tmp_path: Path) -> None:
    path = put(tmp_path, "".join(f"a{i}\tr\tb\nshort{i}\n" for i in range(25)))
    labels, report = read(path, SKIP)
    assert len(labels) == 25
    assert [reject.line for reject in report.rejects] == list(range(2, 51, 2))
    assert [reject.text for reject in report.rejects] == [f"short{i}" for i in range(25)]


def test_blank_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    labels, report = read(put(tmp_path, "\n  \na\tr\tb\n\n\r\n\rc\tr\td\n   "))
    assert len(labels) == 2
    assert (report.accepted, report.blank, report.lines) == (2, 6, 8)


@pytest.mark.parametrize("name", ["graph.tsv", "graph.csv"])
def test_only_cr_and_lf_end_a_line(tmp_path: Path, name: str) -> None:
    comma = "," if name.endswith("csv") else "\t"
    separators = ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\u0085", "\u2028", "\u2029"]
    rows = [(f"a{separator}b", f"r{separator}", f"{separator}c") for separator in separators]
    lines = [comma.join(row) for row in [*rows, ('"x"', "y", "z")]]
    labels, report = read(put(tmp_path, "\n".join(lines), name))
    assert set(rows) <= set(labels)
    assert report.lines == len(lines)


@pytest.mark.parametrize(
    ("name", "row", "cure"),
    [
        ("g.tsv", "a,r,b\n", "--format csv"),
        ("g.csv", "a\tr\tb\n", "--format tsv"),
        ("g.tsv", "a;r;b\n", "--delimiter ';'"),
        ("g.txt", "a r b\n", "--delimiter ' '"),
        ("g.tsv", "a|r|b\n", "--delimiter '|'"),
    ],
)
def test_a_wrong_delimiter_is_an_error_that_names_the_cure(tmp_path: Path, name: str, row: str, cure: str) -> None:
    path = put(tmp_path, row * 20, name)
    message = str(refusal(path))
    assert cure in message
    assert "1 column, expected 3" in message
    assert cure in str(refusal(path, SKIP))


def test_the_cure_for_a_wrong_delimiter_works(tmp_path: Path) -> None:
    assert read(put(tmp_path, "a,r,b\n"), ReadOptions(format="csv"))[0] == [("a", "r", "b")]
    assert read(put(tmp_path, "a\tr\tb\n", "g.csv"), ReadOptions(format="tsv"))[0] == [("a", "r", "b")]


@pytest.mark.parametrize(("name", "data"), [("g.tsv", "a\tr\t\n"), ("g.csv", "a,r,\n")])
def test_the_cure_is_not_the_format_that_was_used(tmp_path: Path, name: str, data: str) -> None:
    message = str(refusal(put(tmp_path, data, name)))
    assert "the tail is empty" in message
    assert f"--format {name[2:]}" not in message


@pytest.mark.parametrize("name", ["g.tsv", "g.csv"])
def test_a_line_is_too_long_from_one_byte_above_the_limit(tmp_path: Path, name: str) -> None:
    comma = "," if name.endswith("csv") else "\t"
    for quoted in ("", f'"q"{comma}r{comma}t\n'):
        fits = "x" * ((1 << 20) - 4) + f"{comma}r{comma}t\n"
        assert len(fits) == (1 << 20) + 1
        data = f"a{comma}r{comma}t\n{quoted}"
        n_good = data.count("\n")
        path = put(tmp_path, data + fits + data, name)
        assert read(path)[1].accepted == 2 * n_good + 1
        path = put(tmp_path, data + "x" + fits + data, name)
        error = refusal(path)
        assert error.line == n_good + 1
        assert "longer than 1,048,576 bytes" in str(error)
        _, report = read(path, SKIP)
        assert lines_and_reasons(report) == [(n_good + 1, "longer than 1,048,576 bytes")]
        assert report.lines == 2 * n_good + 1
        assert read(path, ReadOptions(limits=Limits(max_line=1 << 21)))[1].accepted == 2 * n_good + 1


def test_a_file_of_one_endless_line_is_one_reject_not_full_memory(tmp_path: Path) -> None:
    path = put(tmp_path, gzip.compress(b"x" * 15_000_000), "g.tsv.gz")
    error = refusal(path)
    assert error.line == 1
    assert "longer than" in str(error)
    assert len(str(error)) < 1000


def test_a_long_line_is_long_whatever_it_begins_with(scratch: Path) -> None:
    path = put(scratch, b"a\tr\tb\n" + b" " * 300 + b"x\n" + b"c\tr\td\n")
    options = replace(SKIP, limits=Limits(max_line=100))
    for block in (7, 64, 1 << 20):
        with mock.patch.object(stream, "BLOCK", block):
            assert lines_and_reasons(read(path, options)[1]) == [(2, "longer than 100 bytes")]


N_SEEDS = 10
"""Number of files with a fault of each kind."""


@dataclass(frozen=True)
class Fault:
    text: bytes
    reason: str
    suffix: str = ".tsv"
    exact: bool = True


FAULTS = {
    "short row": Fault(b"a\tb", "2 columns, expected 3"),
    "long row": Fault(b"a\tb\tc\td", "4 columns, expected 3"),
    "empty head": Fault(b"\tr\tt", "the head is empty"),
    "empty relation": Fault(b"h\t\tt", "the relation is empty"),
    "empty tail": Fault(b"h\tr\t", "the tail is empty"),
    "not UTF-8": Fault(b"h\tr\tcaf\xe9", "byte 0xE9 is not UTF-8: pass --encoding, for example latin-1"),
    "long line": Fault(b"h\tr\t" + b"x" * 4096, "longer than 4,096 bytes"),
    "one column": Fault(b"lonely", "1 column, expected 3"),
    "all empty": Fault(b"\t\t", "the head is empty"),
    "torn hash": Fault(b"#name\tr", "2 columns, expected 3"),
    "garbage in N-Triples": Fault(b"what is this", "", ".nt", exact=False),
    "incomplete in N-Triples": Fault(b"<x:a> <x:b>", "", ".nt", exact=False),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_anywhere_is_named_with_line_and_reason(tmp_path: Path, kind: str) -> None:
    fault = FAULTS[kind]
    exact = 0
    for seed in range(N_SEEDS):
        rng = random.Random(f"{kind}{seed}")
        n_lines = rng.randrange(1, 400)
        if fault.suffix == ".tsv":
            lines = [f"h{rng.randrange(50)}\tr{i % 5}\tt é {i}".encode() for i in range(n_lines)]
        else:
            lines = [f"<x:h{rng.randrange(50)}> <x:r> <x:t{i}> .".encode() for i in range(n_lines)]
        for _ in range(rng.randrange(3)):
            lines.insert(rng.randrange(len(lines)), rng.choice([b"", b"# c"]))
        at = rng.randrange(len(lines) + 1)
        lines.insert(at, fault.text)
        end = rng.choice([b"\n", b"\r\n", b"\r"])
        path = put(tmp_path, rng.choice([b"", BOM]) + end.join(lines) + rng.choice([b"", end]), f"g{fault.suffix}")
        options = ReadOptions(limits=Limits(max_line=4096))
        error = refusal(path, options)
        place, reason = f"{path}:{at + 1}: ", str(error).splitlines()[0].removeprefix(f"{path}:{at + 1}: ")
        right = reason == fault.reason if fault.exact else len(reason) > 8
        exact += right and error.line == at + 1 and str(error).startswith(place) and "\n1 bad line. " in str(error)
        if seed == 0:
            _, report = read(path, replace(options, bad_lines="skip"))
            assert lines_and_reasons(report) == [(at + 1, reason)]
            assert (report.accepted, report.lines) == (n_lines, len(lines))
    assert exact == N_SEEDS


def test_every_printable_character_survives_in_every_column(tmp_path: Path) -> None:
    letters = [c for c in string.printable if c not in "\t\n\r"]
    rows = [(f"{c}h", f"{c}r", f"{c}t") for c in letters] + [(f"h{c}", f"r{c}", f"t{c}") for c in letters]
    assert set(read(put(tmp_path, tsv(rows)))[0]) == set(rows)


@pytest.mark.parametrize("delimiter", [";", "|", " "])
def test_another_delimiter_can_be_named(tmp_path: Path, delimiter: str) -> None:
    path = put(tmp_path, f"a{delimiter}r{delimiter}b\n", "g.txt")
    assert read(path, ReadOptions(delimiter=delimiter, format="tsv"))[0] == [("a", "r", "b")]
    with pytest.raises(ValueError, match="delimiter="):
        ReadOptions(delimiter="::")
