"""What becomes of the files that people really have."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import itertools
import random
import re
import string
import subprocess
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal
from unittest import mock

import duckdb
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from nnmfaug import (
    DataError,
    KnowledgeGraph,
    Limits,
    ReadOptions,
    ReadReport,
    Vocabulary,
    read_generated,
    read_triples,
)
from nnmfaug.io import stream

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Triple = tuple[str, str, str]
SKIP = ReadOptions(bad_lines="skip")
BOM = b"\xef\xbb\xbf"
THOROUGH = settings(
    max_examples=1000, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)
QUICK = settings(THOROUGH, max_examples=200)


def pack_zst(data: bytes) -> bytes:
    return bytes(zstd.compress(data))


PACKERS: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "bz2": bz2.compress, "zst": pack_zst}


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scratch")


def put(folder: Path, data: bytes | str, name: str = "graph.tsv") -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def read(path: Path, options: ReadOptions | None = None) -> tuple[list[Triple], ReadReport]:
    graph = read_triples(path, options)
    assert graph.report is not None
    return graph.labels(), graph.report


def refusal(path: Path, options: ReadOptions | None = None) -> DataError:
    with pytest.raises(DataError) as caught:
        read_triples(path, options)
    error = caught.value
    assert error.path == str(path)
    place = str(path) if error.line is None else f"{path}:{error.line}"
    assert str(error).startswith(f"{place}: ")
    return error


def lines_and_reasons(report: ReadReport) -> list[tuple[int, str]]:
    return [(reject.line, reject.reason) for reject in report.rejects]


def physical_lines(data: bytes) -> list[bytes]:
    lines = re.split(rb"\r\n|\r|\n", data.removeprefix(BOM))
    return lines if lines[-1] else lines[:-1]


# --- one graph, twelve disguises -----------------------------------------------------------------------------


def ten_thousand() -> list[Triple]:
    rng = random.Random(1)
    rows = {(f"e{rng.randrange(2000)}", f"r{rng.randrange(30)}", f"é {rng.randrange(2000)}") for _ in range(11000)}
    return sorted(rows)[:10_000]


def tsv(rows: list[Triple], end: str = "\n") -> bytes:
    return "".join("\t".join(row) + end for row in rows).encode()


def test_twelve_disguises_are_one_graph(tmp_path: Path) -> None:
    rows = ten_thousand()
    shuffled = random.Random(2).sample(rows, len(rows))
    plain = tsv(rows)
    disguises = {
        "bom.tsv": BOM + plain,
        "crlf.tsv": tsv(rows, "\r\n"),
        "cr.tsv": tsv(rows, "\r"),
        "packed.tsv.gz": gzip.compress(plain),
        "packed.tsv.zst": pack_zst(plain),
        "packed.tsv.bz2": bz2.compress(plain),
        "packed": gzip.compress(plain),
        "no-final-newline.tsv": plain[:-1],
        "shuffled.tsv": tsv(shuffled),
        "duplicated.tsv": plain + tsv(shuffled[:777]),
        "header.tsv": b"head\trelation\ttail\n" + plain,
        "comment.tsv": b"# made by hand\n" + plain[:2000].rsplit(b"\n", 1)[0] + b"\n#\n" + plain,
    }
    expected = KnowledgeGraph.from_labels(rows)
    assert len(disguises) == 12
    for name, data in disguises.items():
        graph = read_triples(put(tmp_path, data, name))
        assert graph == expected, name
        assert graph.digest() == expected.digest(), name
        report = graph.report
        assert report is not None
        unpacked = plain if name.startswith("packed") else data
        assert report.lines == len(physical_lines(unpacked)), name
        assert report.accepted - report.duplicates == 10_000, name
        assert report.rejected == report.blank == 0, name
        assert report.header == (name == "header.tsv"), name
        assert report.comment == 2 * (name == "comment.tsv"), name
        if name == "duplicated.tsv":
            assert report.duplicates == 777


def test_a_changed_triple_changes_the_digest(tmp_path: Path) -> None:
    rows = ten_thousand()
    one = read_triples(put(tmp_path, tsv(rows)))
    other = read_triples(put(tmp_path, tsv([("e1", "r1", "x"), *rows[1:]])))
    assert one.digest() != other.digest()
    assert one != other


def test_a_name_cannot_slip_over_a_column_without_changing_the_digest(tmp_path: Path) -> None:
    one = read_triples(put(tmp_path, "a b\tc\td\n"))
    other = read_triples(put(tmp_path, "a\tb c\td\n"))
    assert one.digest() != other.digest()


# --- names stay text -----------------------------------------------------------------------------------------

LOOKALIKES = ["NA", "null", "nan", "None", "N/A", "00260881", "1e5", "True", "-inf", "NULL", "\\N", "1,5", "0x10"]


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".txt", ".tsv.gz"])
@pytest.mark.parametrize("name", LOOKALIKES)
def test_what_looks_like_a_number_or_a_null_stays_text(tmp_path: Path, name: str, suffix: str) -> None:
    separator = "," if suffix == ".csv" else "\t"
    if separator in name:
        name = f'"{name}"'
    data = "".join(separator.join(row) + "\n" for row in [(name, "r", "b"), ("a", name, "b"), ("a", "r", name)])
    path = put(tmp_path, gzip.compress(data.encode()) if suffix.endswith("gz") else data, f"graph{suffix}")
    plain = name.strip('"')
    assert set(read(path)[0]) == {(plain, "r", "b"), ("a", plain, "b"), ("a", "r", plain)}


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


def test_quotes_in_tsv_are_letters(tmp_path: Path) -> None:
    assert read(put(tmp_path, '"a"\t"r"\t"b"\n'))[0] == [('"a"', '"r"', '"b"')]


def test_quotes_in_csv_are_taken_off(tmp_path: Path) -> None:
    data = '"Beijing","is_capital_of","China"\n"a, b","r ""s""","c\nd"\n'
    labels, report = read(put(tmp_path, data, "q.csv"))
    assert set(labels) == {("Beijing", "is_capital_of", "China"), ("a, b", 'r "s"', "c\nd")}
    assert report.accepted == 3, "a row over two lines is two physical lines"


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


# --- rows that are not triples -------------------------------------------------------------------------------

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
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_bad_row_is_rejected_with_its_line_and_reason(tmp_path: Path, text: str, reason: str, end: str) -> None:
    path = put(tmp_path, end.join(["h\tr\tt", "", "h\tr\tu", text, "h\tr\tv", ""]))
    error = refusal(path)
    assert error.line == 4
    assert str(error).startswith(f"{path}:4: {reason}\n1 bad line. ")
    assert "--bad-lines skip" in str(error)
    labels, report = read(path, SKIP)
    assert len(labels) == 3
    assert lines_and_reasons(report) == [(4, reason)]
    assert report.rejects[0].text == text
    assert (report.accepted, report.rejected, report.blank, report.lines) == (3, 1, 1, 5)


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


@pytest.mark.parametrize("separator", ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\u0085", "\u2028", "\u2029"])
@pytest.mark.parametrize("name", ["graph.tsv", "graph.csv"])
def test_only_cr_and_lf_end_a_line(tmp_path: Path, separator: str, name: str) -> None:
    comma = "," if name.endswith("csv") else "\t"
    row = (f"a{separator}b", f"r{separator}", f"{separator}c")
    quoted = f'"x"{comma}y{comma}z\n'
    labels, report = read(put(tmp_path, comma.join(row) + "\n" + quoted, name))
    assert row in labels
    assert report.lines == 2


# --- encodings -----------------------------------------------------------------------------------------------


def test_latin_1_is_refused_with_the_byte_the_line_and_the_cure(tmp_path: Path) -> None:
    path = put(tmp_path, "a\tr\tb\ncafé\tr\tb\n".encode("latin-1"))
    error = refusal(path)
    assert error.line == 2
    assert "0xE9" in str(error)
    assert "--encoding" in str(error)
    assert "latin-1" in str(error)
    assert read(path, ReadOptions(encoding="latin-1"))[0] == [("a", "r", "b"), ("café", "r", "b")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
def test_utf_16_is_refused_with_the_cure_and_read_when_named(tmp_path: Path, encoding: str) -> None:
    text = "a\tr\tb\nkäse 🧀\tr\tb\n"
    mark = "" if encoding == "utf-16" else "\ufeff"
    path = put(tmp_path, (mark + text).encode(encoding))
    assert "pass --encoding utf-16" in str(refusal(path))
    assert read(path, ReadOptions(encoding="utf-16"))[0] == [("a", "r", "b"), ("käse 🧀", "r", "b")]


@pytest.mark.parametrize("encoding", ["utf-16-be", "utf-16-le"])
def test_utf_16_without_a_mark_is_refused_with_the_cure(tmp_path: Path, encoding: str) -> None:
    path = put(tmp_path, "a\tr\tb\nc\tr\td".encode(encoding))
    assert "--encoding utf-16" in str(refusal(path))
    assert read(path, ReadOptions(encoding=encoding))[0] == [("a", "r", "b"), ("c", "r", "d")]


def test_the_wrong_named_encoding_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path, "a\tr\tbé\n")
    assert "pass another --encoding" in str(refusal(path, ReadOptions(encoding="ascii")))


@pytest.mark.parametrize("encoding", ["UTF-8", "utf_8", "utf8", "U8", "utf-8-sig", "cp65001"])
def test_every_spelling_of_utf_8_takes_off_the_mark_and_names_the_bad_line(tmp_path: Path, encoding: str) -> None:
    options = ReadOptions(encoding=encoding)
    graph = KnowledgeGraph.from_labels([("é", "r", "b"), ("c", "r", "d")])
    good = put(tmp_path, BOM + "é\tr\tb\nc\tr\td\n".encode(), "good.tsv")
    assert read_triples(good, options) == graph
    assert set(read_generated(good, graph.vocabulary, options).labels()) == set(graph.labels())


@pytest.mark.parametrize("encoding", ["hex", "rot13", "zlib"])
def test_a_codec_that_is_no_text_encoding_is_refused_as_an_argument(tmp_path: Path, encoding: str) -> None:
    path = put(tmp_path, "a\tr\tb\n")
    with pytest.raises(ValueError, match="encoding"):
        read_triples(path, ReadOptions(encoding=encoding))


def test_a_character_cut_by_a_block_is_not_a_bad_one(scratch: Path) -> None:
    path = put(scratch, "é🧀\tr\tü\n" * 50)
    for block in range(1, 12):
        with mock.patch.object(stream, "BLOCK", block):
            assert read(path)[1].accepted == 50
            assert read(path, ReadOptions(encoding="utf-8-sig"))[1].accepted == 50


def test_a_second_byte_order_mark_belongs_to_the_name(tmp_path: Path) -> None:
    path = put(tmp_path, BOM + BOM + b"a\tr\tb\n")
    assert read(path)[0] == [("\ufeffa", "r", "b")]


def test_a_mark_after_the_header_belongs_to_the_name(tmp_path: Path) -> None:
    path = put(tmp_path, b"head\trelation\ttail\n" + BOM + b"a\tr\tb\n")
    assert read(path)[0] == [("\ufeffa", "r", "b")]


# --- files that hold nothing, or something else --------------------------------------------------------------


@pytest.mark.parametrize("name", ["g.tsv", "g.csv", "g.txt", "g.nt", "g.nq", "g.ttl", "g", "g.tsv.gz"])
@pytest.mark.parametrize("options", [ReadOptions(), SKIP])
def test_an_empty_file_is_an_error_that_says_so(tmp_path: Path, name: str, options: ReadOptions) -> None:
    data = gzip.compress(b"") if name.endswith("gz") else b""
    assert "no triples: the file is empty" in str(refusal(put(tmp_path, data, name), options))


@pytest.mark.parametrize("name", ["g.tsv", "g.csv", "g.txt", "g.nt", "g.ttl"])
@pytest.mark.parametrize("data", [b"\n", b"\n \n\r\n", b"# only a comment\n", BOM, BOM + b"\n"])
def test_a_file_of_blanks_and_comments_is_an_error(tmp_path: Path, name: str, data: bytes) -> None:
    assert "no triples" in str(refusal(put(tmp_path, data, name)))


def test_a_header_alone_is_an_error(tmp_path: Path) -> None:
    assert "no triples" in str(refusal(put(tmp_path, "head\trelation\ttail\n")))


def test_nothing_but_bad_lines_is_an_error_even_when_skipping(tmp_path: Path) -> None:
    assert "no triples" in str(refusal(put(tmp_path, "a\nb\n"), SKIP))


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
@pytest.mark.parametrize("options", [ReadOptions(), SKIP])
def test_a_wrong_delimiter_is_an_error_that_names_the_cure(
    tmp_path: Path, name: str, row: str, cure: str, options: ReadOptions
) -> None:
    message = str(refusal(put(tmp_path, row * 20, name), options))
    assert cure in message
    if options.bad_lines == "error":
        assert "1 column, expected 3" in message


def test_the_cure_for_a_wrong_delimiter_works(tmp_path: Path) -> None:
    assert read(put(tmp_path, "a,r,b\n"), ReadOptions(format="csv"))[0] == [("a", "r", "b")]
    assert read(put(tmp_path, "a\tr\tb\n", "g.csv"), ReadOptions(format="tsv"))[0] == [("a", "r", "b")]


@pytest.mark.parametrize(("name", "data"), [("g.tsv", "a\tr\t\n"), ("g.csv", "a,r,\n")])
def test_the_cure_is_not_the_format_that_was_used(tmp_path: Path, name: str, data: str) -> None:
    message = str(refusal(put(tmp_path, data, name)))
    assert "the tail is empty" in message
    assert f"--format {name[2:]}" not in message


def test_a_folder_and_a_missing_file_are_errors_that_name_the_path(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere.tsv"):
        with pytest.raises((DataError, OSError), match=re.escape(str(path))):
            read_triples(path)


@pytest.mark.parametrize("packer", PACKERS)
def test_a_file_packed_twice_is_refused_with_the_cure(tmp_path: Path, packer: str) -> None:
    data = PACKERS[packer](gzip.compress(b"a\tr\tb\n"))
    assert "packed twice" in str(refusal(put(tmp_path, data, f"g.tsv.{packer}")))


def test_an_archive_is_refused_where_one_file_is_needed(tmp_path: Path) -> None:
    import tarfile
    import zipfile

    with zipfile.ZipFile(tmp_path / "g.zip", "w") as archive:
        archive.writestr("train.tsv", "a\tr\tb\n")
    with tarfile.open(tmp_path / "g.tar.gz", "w:gz") as tar:
        tar.add(put(tmp_path, "a\tr\tb\n"), "train.tsv")
    for name in ("g.zip", "g.tar.gz"):
        assert "archive" in str(refusal(tmp_path / name))


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("options", [ReadOptions(), SKIP])
def test_a_small_packed_file_cut_anywhere_is_an_error(tmp_path: Path, packer: str, options: ReadOptions) -> None:
    whole = PACKERS[packer](tsv(ten_thousand()[:25]))
    path = put(tmp_path, whole, f"g.tsv.{packer}")
    assert len(read(path, options)[0]) == 25
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        refusal(path, options)


@pytest.mark.parametrize("packer", PACKERS)
def test_a_large_packed_file_cut_anywhere_is_an_error(tmp_path: Path, packer: str) -> None:
    rng = random.Random(3)
    text = "".join(f"{rng.getrandbits(64):x}\tr{i % 7}\t{rng.getrandbits(32):x}\n" for i in range(50_000))
    whole = PACKERS[packer](text.encode())
    path = tmp_path / f"g.tsv.{packer}"
    for size in [len(whole) - 1, len(whole) - 4, len(whole) - 8, *(rng.randrange(len(whole)) for _ in range(10))]:
        path.write_bytes(whole[:size])
        message = str(refusal(path, SKIP))
        if size > 4:
            assert "truncated or damaged" in message


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path, gzip.compress(b"a\tr\tb\n" * 6_000_000, 9), "g.tsv.gz")
    assert "times its size" in str(refusal(path))


def test_a_protein_called_par1_is_not_a_parquet_file(tmp_path: Path) -> None:
    path = put(tmp_path, "PAR1\tactivates\tF2R\n")
    assert read(path)[0] == [("PAR1", "activates", "F2R")]


def test_a_name_that_opens_like_bzip2_is_not_packed(tmp_path: Path) -> None:
    path = put(tmp_path, "BZh\tr\tb\n")
    assert read(path)[0] == [("BZh", "r", "b")]


@pytest.mark.parametrize("name", ["prefix", "base", "base pair", "Prefix", "BASE"])
def test_a_name_like_a_turtle_keyword_does_not_make_a_turtle_file(tmp_path: Path, name: str) -> None:
    path = put(tmp_path, f"{name}\tr\tb\n", "g.txt")
    assert read(path)[0] == [(name, "r", "b")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\tr\tb\n", "tsv"),
        ("a,r,b\n", "csv"),
        ("<x:a> <x:r> <x:b> .\n", "nt"),
        ("# c\n\n<x:a>\t<x:r>\t<x:b>\t.\n", "nt"),
        ("<x:a> <x:r> <x:b> <x:g> .\n", "nq"),
        ("@prefix x: <x:> .\nx:a x:r x:b .\n", "ttl"),
        ("PREFIX x: <x:>\nx:a x:r x:b .\n", "ttl"),
        ("<x:a>\t<x:r>\t<x:b>\n", "tsv"),
        ("a, b\tr, s\tc\n", "tsv"),
    ],
)
def test_a_file_without_a_known_suffix_is_told_by_its_first_lines(
    tmp_path: Path, text: str, expected: str
) -> None:
    assert read(put(tmp_path, text, "g.txt"))[1].format == expected


# --- long lines ----------------------------------------------------------------------------------------------


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


# --- headers and comments ------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize(
    "words",
    [
        ("head", "relation", "tail"),
        ("Subject", "PREDICATE", "object"),
        ("source", "type", "target"),
        ("from", "edge", "to"),
    ],
)
@pytest.mark.parametrize("name", ["g.tsv", "g.csv"])
def test_a_header_in_any_order_tells_the_columns(
    tmp_path: Path, order: tuple[int, int, int], words: Triple, name: str
) -> None:
    comma = "," if name.endswith("csv") else "\t"
    lines = [[row[i] for i in order] for row in (words, ("a", "r", "b"), ("c", "s", "d"))]
    path = put(tmp_path, "".join(comma.join(line) + "\n" for line in lines), name)
    labels, report = read(path)
    assert labels == [("a", "r", "b"), ("c", "s", "d")]
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


def test_a_quoted_header_may_hold_a_comma(tmp_path: Path) -> None:
    path = put(tmp_path, '"head","relation","tail","note, if any"\n"a, b",r,c,x\n', "g.csv")
    assert read(path)[0] == [("a, b", "r", "c")]


def test_comments_are_counted_and_names_with_a_hash_are_kept(tmp_path: Path) -> None:
    text = "# a comment\n#\n#comment\n## a\tb\n#! x\ty\tz\tw\n#name\tr\tb\na\tr\t#x\n"
    labels, report = read(put(tmp_path, text))
    assert labels == [("#name", "r", "b"), ("a", "r", "#x")]
    assert (report.comment, report.accepted) == (5, 2)
    assert any("begin with #" in note for note in report.notes)


def test_a_comment_may_be_in_any_encoding(tmp_path: Path) -> None:
    labels, report = read(put(tmp_path, b"# caf\xe9\na\tr\tb\n"))
    assert (len(labels), report.comment) == (1, 1)


# --- an independent oracle -----------------------------------------------------------------------------------

WORDS_OF = {
    "h": ["head", "subject", "source", "from", "node1"],
    "r": ["relation", "predicate", "property"],
    "t": ["tail", "object", "target", "to", "node2"],
}


@dataclass
class Verdicts:
    """What a slow reader in plain Python says of a file."""

    kinds: list[str] = field(default_factory=list)
    rows: list[Triple] = field(default_factory=list)
    bad: list[int] = field(default_factory=list)


def column_of(role: str, cells: list[str]) -> int:
    """The only column of a role, or -1."""
    places = [i for i, cell in enumerate(cells) if cell.strip(' "#').lower() in WORDS_OF[role]]
    return places[0] if len(places) == 1 else -1


def is_remark(text: str, width: int) -> bool:
    n_cells = text.count("\t") + 1
    if text[:1] != "#" or n_cells == width:
        return False
    return n_cells == 1 or text[:2] in ("# ", "##", "#!")


def oracle(data: bytes) -> Verdicts:
    """Bytes as Latin-1 text, so that every byte is one character; cells become names at the very end."""
    text = data.decode("latin-1").removeprefix(BOM.decode("latin-1"))
    lines, line, place = [], "", 0
    while place < len(text):
        if text[place] in "\r\n":
            place += text[place : place + 2] == "\r\n"
            lines.append(line)
            line = ""
        else:
            line += text[place]
        place += 1
    if line:
        lines.append(line)
    verdicts, width, order, fresh = Verdicts(), 3, [0, 1, 2], True
    for number, line in enumerate(lines, start=1):
        cells = line.split("\t")
        if set(line) <= {" "}:
            verdicts.kinds.append("blank")
            continue
        found = [column_of(role, cells) for role in "hrt"]
        if fresh and -1 not in found:
            width, order, fresh = len(cells), found, False
            verdicts.kinds.append("header")
            continue
        if is_remark(line, width):
            verdicts.kinds.append("comment")
            continue
        fresh = False
        try:
            names = [cell.encode("latin-1").decode("utf-8") for cell in cells]
        except UnicodeDecodeError:
            names = []
        if len(names) == width and all(names[i] for i in order):
            verdicts.kinds.append("accepted")
            verdicts.rows.append((names[order[0]], names[order[1]], names[order[2]]))
        else:
            verdicts.kinds.append("rejected")
            verdicts.bad.append(number)
    return verdicts


NASTY = [
    "a",
    "b",
    "NA",
    "null",
    '"',
    '"q',
    'q"',
    " ",
    " x ",
    "#",
    "#x",
    "# x",
    "##",
    "\0",
    "é",
    "\u2028",
    "\u0085",
]
NASTY += [
    "\ufeff",
    "\x0b",
    "\x1c",
    "head",
    "0071",
    "é",
    "e\u0301",
    ",",
    "\\",
    "'",
    "<x:a>",
    ".",
    "PAR",
    "x" * 40,
    "🧀",
    "\x1b[",
]
names = st.sampled_from([name.encode() for name in NASTY])
broken = st.sampled_from([b"\xe9", b"\xff", b"a\xc3", b"\xed\xa0\x80", b"\x80", b"\xf4\x90\x80\x80"])
good_row = st.tuples(names, names, names).map(b"\t".join)
any_row = st.lists(st.one_of(names, names, names, st.just(b""), broken), min_size=1, max_size=5).map(b"\t".join)
remark = st.sampled_from([b"#", b"# c", b"## c\td", b"#!\ta\tb\tc", b"#\xe9", b"#x", b"# x\ty"])
header_line = st.one_of(
    st.permutations(["head", "relation", "tail"]),
    st.permutations(["subject", "predicate", "object", "score"]),
    st.permutations(["#from", "property", "to", "", "x"]),
    st.permutations(["head", "tail", "relation", "target"]),
).map(lambda words: "\t".join(words).encode())
line_texts = st.one_of(good_row, good_row, good_row, any_row, st.sampled_from([b"", b" ", b"   "]), remark)
line_ends = st.sampled_from([b"\n", b"\n", b"\r\n", b"\r"])


@st.composite
def tsv_files(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(line_texts, max_size=3))
    lines += draw(st.lists(header_line, max_size=1))
    lines += draw(st.lists(st.one_of(line_texts, line_texts, header_line), max_size=9))
    end = draw(st.one_of(line_ends, st.none()))
    data = b"".join(line + (draw(line_ends) if end is None else end) for line in lines)
    if draw(st.booleans()):
        data = data.removesuffix(end or b"\n")
    return draw(st.sampled_from([b"", b"", b"", BOM])) + data


def check_against_oracle(path: Path, data: bytes, *, always: bool = False) -> None:
    expected = oracle(data)
    assert len(expected.kinds) == len(physical_lines(data)), "the oracle itself must count every line"
    path.write_bytes(data)
    if not expected.rows:
        assert "no triples" in str(refusal(path, SKIP))
        return
    known = KnowledgeGraph.from_labels(expected.rows)
    generated = read_generated(path, known.vocabulary, SKIP)
    assert generated.labels() == list(dict.fromkeys(expected.rows)), "in the order of the file"
    reports = [generated.report]
    if always or zlib.crc32(data) % 6 == 0:  # the other way through the reader takes its time
        graph = read_triples(path, SKIP)
        assert graph == known
        reports.append(graph.report)
    counts = {kind: expected.kinds.count(kind) for kind in ("accepted", "rejected", "blank", "comment", "header")}
    for report in reports:
        assert report is not None
        assert {kind: getattr(report, kind) for kind in counts} == counts
        assert report.lines == len(physical_lines(data))
        assert report.duplicates == len(expected.rows) - len(set(expected.rows))
        assert [reject.line for reject in report.rejects] == expected.bad
        assert len(report.rejects) == report.rejected
    if expected.bad:
        assert refusal(path).line == expected.bad[0]


@THOROUGH
@given(data=tsv_files())
@example(data=b"")
@example(data=b"a\tr\tb")
@example(data=BOM)
@example(data=b"\r\r\n\n\r")
def test_every_line_of_a_tsv_is_what_a_slow_reader_says(scratch: Path, data: bytes) -> None:
    check_against_oracle(scratch / "oracle.tsv", data)


@st.composite
def nearly_clean_files(draw: st.DrawFn) -> bytes:
    """Rows that a fast way may take, and at most one line that it must not."""
    lines = draw(st.lists(good_row, min_size=1, max_size=9))
    for line in draw(st.lists(st.one_of(any_row, st.sampled_from([b"", b" "]), remark, header_line), max_size=1)):
        lines.insert(draw(st.integers(0, len(lines))), line)
    data = b"\n".join(lines) + draw(st.sampled_from([b"", b"\n", b"\n\n"]))
    return draw(st.sampled_from([b"", b"", b"", BOM])) + data


@settings(QUICK, max_examples=120)
@given(data=nearly_clean_files())
def test_a_fast_way_takes_nothing_that_the_slow_reader_would_not(scratch: Path, data: bytes) -> None:
    check_against_oracle(scratch / "clean.tsv", data, always=True)


def facts(path: Path, options: ReadOptions, known: Vocabulary | None = None) -> tuple[object, ...]:
    try:
        graph = read_triples(path, options) if known is None else read_generated(path, known, options)
    except DataError as error:
        return (str(error).split(" in this file")[0],)  # the advice behind it may quote more or less
    assert graph.report is not None
    rejects = tuple(r._replace(text="") if "longer" in r.reason else r for r in graph.report.rejects)
    return graph.labels(), replace(graph.report, rejects=rejects)


def check_blocks_agree(
    path: Path, data: bytes, block: int, options: ReadOptions, known: Vocabulary | None = None
) -> None:
    path.write_bytes(data)
    whole = facts(path, options, known)
    with mock.patch.object(stream, "BLOCK", block):
        assert facts(path, options, known) == whole


@QUICK
@given(data=tsv_files(), block=st.integers(4, 40), max_line=st.sampled_from([32, 1 << 20]))
def test_the_size_of_blocks_does_not_matter_to_tsv(scratch: Path, data: bytes, block: int, max_line: int) -> None:
    options = replace(SKIP, limits=Limits(max_line=max_line))
    known = KnowledgeGraph.from_labels(oracle(data).rows).vocabulary
    slow_way = zlib.crc32(data) % 6 == 0
    check_blocks_agree(scratch / "b.tsv", data, block, options, None if slow_way else known)


csv_pieces = st.sampled_from(
    [b"a", b"b", b'"', b'"', b'""', b",", b",", b",", b"\n", b"\r\n", b"\r", b" ", b"#", b"\xe9"]
)
csv_soup = st.lists(csv_pieces, max_size=60).map(b"".join)
csv_names = st.text(st.sampled_from(list('ab",\n\r #é\0\ufeff\u2028')), min_size=1, max_size=5)
csv_rows = st.lists(st.tuples(csv_names, csv_names, csv_names), min_size=1, max_size=8)


@QUICK
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


@QUICK
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


@QUICK
@given(data=csv_soup, block=st.integers(4, 20), max_line=st.sampled_from([8, 20, 1 << 20]))
def test_the_size_of_blocks_does_not_matter_to_csv(scratch: Path, data: bytes, block: int, max_line: int) -> None:
    check_blocks_agree(scratch / "b.csv", data, block, replace(SKIP, limits=Limits(max_line=max_line)))


nt_terms = st.sampled_from(
    [b"<x:a>", b"<x:b>", b"_:c", b'"l"', b'"l"@en', b"<x:a", b"<x:\xc3\xa9>", b"<x:\xe9>", b".", b""]
)
nt_lines = st.one_of(
    st.tuples(nt_terms, nt_terms, nt_terms, st.sampled_from([b".", b".", b". # c", b""])).map(b" ".join),
    st.just(b"<x:a> <x:r> <x:b> ."),
    st.sampled_from(
        [b"", b" \t", b"# c", b" #", b"<x:a> <x:r> <x:b> . <x:a> <x:r> <x:c> .", b"<x:a> <x:r>", b"\0"]
    ),
)


alone: dict[bytes, int] = {}


@QUICK
@given(lines=st.lists(nt_lines, max_size=10), end=line_ends, block=st.integers(1, 60))
def test_every_line_of_n_triples_is_counted_once_in_any_block(
    scratch: Path, lines: list[bytes], end: bytes, block: int
) -> None:
    data = b"".join(line + end for line in [*lines, b"<x:z> <x:z> <x:z> ."])
    path = put(scratch, data, "b.nt")
    _, report = read(path, SKIP)
    assert report.lines == len(lines) + 1
    for line in {*lines} - {*alone}:
        alone[line] = read(put(scratch, line + b"\n<x:z> <x:z> <x:z> .\n", "alone.nt"), SKIP)[1].accepted - 1
    expected = 1 + sum(alone[line] for line in lines)
    assert report.accepted == expected, "a line means the same alone and among others"
    check_blocks_agree(path, data, block, SKIP)


# --- faults put in at random ---------------------------------------------------------------------------------


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
    for seed in range(50):
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
        if seed % 10 == 0:
            _, report = read(path, replace(options, bad_lines="skip"))
            assert lines_and_reasons(report) == [(at + 1, reason)]
            assert (report.accepted, report.lines) == (n_lines, len(lines))
    assert exact == 50


# --- RDF -----------------------------------------------------------------------------------------------------

TRIPLE, LITERAL, BAD, COMMENT, BLANK = "triple", "literal", "bad", "comment", "blank"
N_TRIPLES = {
    "plain": (b"<x:a> <x:b> <x:c> .", TRIPLE),
    "tabs": (b"<x:a>\t<x:b>\t<x:c>\t.", TRIPLE),
    "no spaces": (b"<x:a><x:b><x:c>.", TRIPLE),
    "spaces before": (b"   <x:a> <x:b> <x:c> .  ", TRIPLE),
    "comment behind": (b"<x:a> <x:b> <x:c> . # why not", TRIPLE),
    "blank nodes": (b"_:a <x:b> _:c.d .", TRIPLE),
    "escaped IRI": (b"<x:\\u00E9> <x:b> <x:\\U0001F9C0> .", TRIPLE),
    "plain literal": (b'<x:a> <x:b> "c" .', LITERAL),
    "language": (b'<x:a> <x:b> "c"@en-GB .', LITERAL),
    "datatype": (b'<x:a> <x:b> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .', LITERAL),
    "literal like a statement": (b'<x:a> <x:b> "<x:a> <x:b> <x:c> . # \\" \\n" .', LITERAL),
    "empty literal": (b'<x:a> <x:b> "" .', LITERAL),
    "triple term": (b"<x:a> <x:b> <<( <x:a> <x:b> <x:c> )>> .", LITERAL),
    "comment": (b"# <x:a> <x:b> <x:c> .", COMMENT),
    "comment after spaces": (b" \t # c", COMMENT),
    "comment in Latin-1": (b"# caf\xe9", COMMENT),
    "blank": (b"", BLANK),
    "white": (b" \t ", BLANK),
    "garbage": (b"garbage", BAD),
    "no dot": (b"<x:a> <x:b> <x:c>", BAD),
    "two statements": (b"<x:a> <x:b> <x:c> . <x:d> <x:e> <x:f> .", BAD),
    "literal subject": (b'"a" <x:b> <x:c> .', BAD),
    "literal predicate": (b'<x:a> "b" <x:c> .', BAD),
    "blank predicate": (b"<x:a> _:b <x:c> .", BAD),
    "open IRI": (b"<x:a> <x:b> <x:c .", BAD),
    "open literal": (b'<x:a> <x:b> "c .', BAD),
    "bad escape": (b'<x:a> <x:b> "\\q" .', BAD),
    "bad code point": (b"<x:\\uZZZZ> <x:b> <x:c> .", BAD),
    "surrogate": (b'<x:a> <x:b> "\\uD800" .', BAD),
    "incomplete": (b"<x:a> <x:b>", BAD),
    "only a dot": (b".", BAD),
    "a quad": (b"<x:a> <x:b> <x:c> <x:g> .", BAD),
    "old quoted triple": (b"<<<x:a> <x:b> <x:c>>> <x:d> <x:e> .", BAD),
    "no datatype": (b'<x:a> <x:b> "c"^^ .', BAD),
    "prefix line": (b"@prefix x: <x:> .", BAD),
    "Latin-1": (b"<x:caf\xe9> <x:b> <x:c> .", BAD),
    "NUL": (b"\0", BAD),
}


@pytest.mark.parametrize("case", N_TRIPLES)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_one_line_of_n_triples_harms_no_other(tmp_path: Path, case: str, end: bytes) -> None:
    text, kind = N_TRIPLES[case]
    good = b"<x:1> <x:2> <x:3> ."
    path = put(tmp_path, BOM + end.join([good, text, b"<x:4> <x:5> <x:6> .", b""]), "g.nt")
    labels, report = read(path, SKIP)
    assert {("x:1", "x:2", "x:3"), ("x:4", "x:5", "x:6")} <= set(labels)
    assert len(labels) == 2 + (kind == TRIPLE)
    assert report.accepted == 2 + (kind in (TRIPLE, LITERAL))
    assert report.literals == (kind == LITERAL)
    assert report.comment == (kind == COMMENT)
    assert report.blank == (kind == BLANK)
    assert [reject.line for reject in report.rejects] == [2] * (kind == BAD)
    assert report.lines == 3
    if kind == BAD:
        assert refusal(path).line == 2


def test_all_bad_lines_of_n_triples_are_reported_together(tmp_path: Path) -> None:
    path = put(tmp_path, b"\n".join(text for text, _ in N_TRIPLES.values()), "g.nt")
    labels, report = read(path, SKIP)
    kinds = [kind for _, kind in N_TRIPLES.values()]
    assert [reject.line for reject in report.rejects] == [
        i for i, kind in enumerate(kinds, start=1) if kind == BAD
    ]
    assert report.literals == kinds.count(LITERAL)
    assert report.accepted == kinds.count(LITERAL) + kinds.count(TRIPLE)
    assert report.duplicates == 4
    assert set(labels) == {("x:a", "x:b", "x:c"), ("_:a", "x:b", "_:c.d"), ("x:é", "x:b", "x:🧀")}
    assert all(reject.text for reject in report.rejects)


def test_latin_1_in_n_triples_names_the_byte_and_the_cure(tmp_path: Path) -> None:
    path = put(tmp_path, N_TRIPLES["Latin-1"][0] + b"\n", "g.nt")
    message = str(refusal(path))
    assert "0xE9" in message
    assert "--encoding" in message
    assert read(path, ReadOptions(encoding="latin-1"))[0] == [("x:café", "x:b", "x:c")]


def test_statements_torn_over_lines_do_not_balance_two_in_one_line(tmp_path: Path) -> None:
    lines = [b"<x:a> <x:b> <x:c> . <x:d> <x:e> <x:f> .", b"<x:a> <x:b>", b"<x:g> .", b"<x:1> <x:2> <x:3> ."]
    labels, report = read(put(tmp_path, b"\n".join(lines), "g.nt"), SKIP)
    assert labels == [("x:1", "x:2", "x:3")]
    assert [reject.line for reject in report.rejects] == [1, 2, 3]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("g.nt", '<x:a> <x:b> "c" .\n'),
        ("g.ttl", "@prefix x: <x:> .\n"),
        ("g.ttl", '<x:a> <x:b> "c" .\n'),
        ("g.kgtk", "node1\tlabel\tnode2\nQ1\tP1\t12\n"),
    ],
)
def test_a_file_without_a_triple_between_entities_is_an_error(tmp_path: Path, name: str, data: str) -> None:
    assert "no triples" in str(refusal(put(tmp_path, data, name)))


def test_a_literal_of_20_mb_is_read_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "g.nt"
    with path.open("wb") as file:
        file.write(b'<x:a> <x:b> <x:c> .\n<x:a> <x:b> "')
        file.write(b"x" * 20_000_000)
        file.write(b'" .\n<x:a> <x:b> <x:d> .\n')
    script = """
import sys
import nnmfaug.io.read, pyoxigraph
graph = nnmfaug.io.read.read_triples(sys.argv[1])
peak = open("/proc/self/status").read().split("VmHWM:")[1].split()[0]  # of this process, not of its parent
print(peak, len(graph), graph.report.literals)
"""
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    kilobytes, n_triples, literals = (int(word) for word in done.stdout.split())
    assert (n_triples, literals) == (2, 1)
    assert kilobytes < 200_000


def test_turtle_with_prefixes_lists_and_comments(tmp_path: Path) -> None:
    text = """@prefix x: <https://x.org/> .
# a comment

x:a x:likes x:b , x:c ;
    a x:Person ;
    x:age 7 .
"""
    labels, report = read(put(tmp_path, text, "g.ttl"))
    x = "https://x.org/"
    rdf_type = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
    assert set(labels) == {
        (f"{x}a", f"{x}likes", f"{x}b"),
        (f"{x}a", f"{x}likes", f"{x}c"),
        (f"{x}a", rdf_type, f"{x}Person"),
    }
    assert (report.literals, report.comment, report.blank, report.lines) == (1, 1, 1, 6)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("options", [ReadOptions(), SKIP])
def test_a_turtle_error_names_its_line(tmp_path: Path, end: str, options: ReadOptions) -> None:
    lines = ["@prefix x: <x:> .", "x:a x:b x:c .", "", "x:a x:b y:c .", "x:a x:b x:d ."]
    error = refusal(put(tmp_path, end.join(lines), "g.ttl"), options)
    assert error.line == 4


def test_n_quads_lose_their_graph_with_a_note(tmp_path: Path) -> None:
    text = "<x:a> <x:b> <x:c> <x:g> .\n<x:a> <x:b> <x:c> _:h .\n<x:a> <x:b> <x:d> .\nnonsense\n"
    labels, report = read(put(tmp_path, text, "g.nq"), SKIP)
    assert labels == [("x:a", "x:b", "x:c"), ("x:a", "x:b", "x:d")]
    assert report.duplicates == 1
    assert [reject.line for reject in report.rejects] == [4]
    assert any("named graphs, whose names are left out: 2" in note for note in report.notes)


def test_the_prefix_is_taken_off_iris_that_have_it(tmp_path: Path) -> None:
    path = put(tmp_path, "<https://x.org/a%20b> <https://x.org/r> <https://y.org/a%20b> .\n", "g.nt")
    assert read(path, ReadOptions(prefix="https://x.org/"))[0] == [("a b", "r", "https://y.org/a%20b")]


# --- KGTK ----------------------------------------------------------------------------------------------------


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


# --- Parquet -------------------------------------------------------------------------------------------------


def put_parquet(path: Path, select: str) -> Path:
    target = str(path).replace("'", "''")
    with duckdb.connect() as db:
        db.execute(f"COPY ({select}) TO '{target}' (FORMAT parquet)")
    return path


def test_parquet_cells_that_are_null_or_empty_are_rejected_with_their_row(tmp_path: Path) -> None:
    rows = "VALUES ('a','r','b'), (NULL,'r','b'), ('a','','b'), ('c','r','d'), ('a','r',NULL), (NULL,NULL,NULL)"
    path = put_parquet(tmp_path / "g.parquet", f"SELECT * FROM ({rows}) AS v(head, relation, tail)")
    error = refusal(path)
    assert error.line == 2
    labels, report = read(path, SKIP)
    assert labels == [("a", "r", "b"), ("c", "r", "d")]
    assert lines_and_reasons(report) == [
        (2, "the head is empty"),
        (3, "the relation is empty"),
        (5, "the tail is empty"),
        (6, "the head is empty"),
    ]
    assert (report.accepted, report.rejected, report.lines) == (2, 4, 6)


def test_parquet_numbers_become_text_and_columns_are_found_by_name(tmp_path: Path) -> None:
    select = "SELECT 1.5 AS score, 12::BIGINT AS tail, 'NA' AS \"relation\", '007' AS head"
    assert read(put_parquet(tmp_path / "g.parquet", select))[0] == [("007", "NA", "12")]


def test_parquet_columns_of_other_names_are_taken_in_order(tmp_path: Path) -> None:
    path = put_parquet(tmp_path / "g.parquet", "SELECT 'a' AS \"x\"\"y\", 'r' AS z, 'b' AS \"select\"")
    assert read(path)[0] == [("a", "r", "b")]
    path = put_parquet(tmp_path / "four.parquet", "SELECT 'a' AS w, 'r' AS x, 'b' AS y, 'c' AS z")
    assert "name three of them head, relation and tail" in str(refusal(path))
    path = put_parquet(tmp_path / "two.parquet", "SELECT 'a' AS w, 'r' AS x")
    assert "name three of them head, relation and tail" in str(refusal(path))


@pytest.mark.parametrize(
    "name", ["a*b.parquet", 'it\'s "x".parquet', "[ab].parquet", "?.parquet", "a,b %{}.parquet"]
)
def test_a_parquet_name_is_no_pattern(tmp_path: Path, name: str) -> None:
    put_parquet(tmp_path / "axb.parquet", "SELECT 'wrong' AS head, 'r' AS relation, 'b' AS tail")
    put_parquet(tmp_path / "a.parquet", "SELECT 'wrong' AS head, 'r' AS relation, 'b' AS tail")
    made = put_parquet(tmp_path / "made", "SELECT 'right' AS head, 'r' AS relation, 'b' AS tail")
    assert read(made.rename(tmp_path / name))[0] == [("right", "r", "b")]


def test_a_parquet_file_is_told_by_its_bytes(tmp_path: Path) -> None:
    made = put_parquet(tmp_path / "made", "SELECT 'a' AS head, 'r' AS relation, 'b' AS tail")
    for name in ("g.tsv", "g", "g.parquet.gz"):
        data = gzip.compress(made.read_bytes()) if name.endswith("gz") else made.read_bytes()
        assert read(put(tmp_path, data, name))[1].format == "parquet"


def test_a_parquet_file_cut_anywhere_is_an_error(tmp_path: Path) -> None:
    select = "SELECT 'h' || range AS head, 'r' || range % 7 AS relation, 't' || range AS tail FROM range(5000)"
    path = put_parquet(tmp_path / "g.parquet", select)
    whole = path.read_bytes()
    assert len(read(path)[0]) == 5000
    rng = random.Random(4)
    for size in [0, 3, 4, 8, 12, len(whole) - 1, len(whole) - 4, *(rng.randrange(len(whole)) for _ in range(40))]:
        path.write_bytes(whole[:size])
        refusal(path, SKIP)


@pytest.mark.parametrize("data", [b"a\tr\tb\n", b"\0" * 100, b"PAR1" + b"x" * 100 + b"PAR1", b""])
def test_what_is_only_called_parquet_is_an_error(tmp_path: Path, data: bytes) -> None:
    error = refusal(put(tmp_path, data, "g.parquet"))
    assert "not a readable Parquet file" in str(error)
    assert "nnmfaug-" not in str(error), "a message names the user's file, not ours"


def test_an_empty_parquet_table_is_an_error(tmp_path: Path) -> None:
    path = put_parquet(tmp_path / "g.parquet", "SELECT 'a' AS head, 'r' AS relation, 'b' AS tail LIMIT 0")
    assert "no triples" in str(refusal(path))


# --- generated triples ---------------------------------------------------------------------------------------

GENERATED = [("c", "r", "a"), ("a", "r", "b"), ("c", "r", "a"), ("b", "s", "a"), ("a", "r", "b"), ("a", "r", "a")]
GENERATED_FILES = {
    "g.tsv": tsv(GENERATED),
    "g.csv": "".join(",".join(row) + "\n" for row in GENERATED).encode(),
    "quoted.csv": "".join(",".join(f'"{n}"' for n in row) + "\n" for row in GENERATED).encode(),
    "g.tsv.gz": gzip.compress(tsv(GENERATED)),
    "g.kgtk": b"node1\tlabel\tnode2\n" + tsv(GENERATED),
    "g.nt": "".join("<x:{}> <x:{}> <x:{}> .\n".format(*row) for row in GENERATED).encode(),
    "g.ttl": "".join("<x:{}> <x:{}> <x:{}> .\n".format(*row) for row in GENERATED).encode(),
}


@pytest.mark.parametrize("name", GENERATED_FILES)
def test_generated_triples_keep_the_order_of_the_file_and_lose_repeats(tmp_path: Path, name: str) -> None:
    options = ReadOptions(prefix="x:")
    vocabulary = KnowledgeGraph.from_labels([*GENERATED, ("unused", "r", "z")]).vocabulary
    graph = read_generated(put(tmp_path, GENERATED_FILES[name], name), vocabulary, options)
    assert graph.labels() == list(dict.fromkeys(GENERATED))
    assert graph.vocabulary == vocabulary
    assert graph.report is not None
    assert graph.report.duplicates == 2


def test_generated_parquet_keeps_the_order_of_the_file(tmp_path: Path) -> None:
    rows = ", ".join(str(row) for row in GENERATED)
    path = put_parquet(tmp_path / "g.parquet", f"SELECT * FROM (VALUES {rows}) AS v(head, relation, tail)")
    graph = read_generated(path, KnowledgeGraph.from_labels(GENERATED).vocabulary)
    assert graph.labels() == list(dict.fromkeys(GENERATED))


@pytest.mark.parametrize("name", GENERATED_FILES)
@pytest.mark.parametrize(("missing", "role", "row"), [("c", "head", 1), ("b", "tail", 2), ("s", "relation", 4)])
def test_a_generated_name_that_nobody_knows_is_an_error_with_its_line(
    tmp_path: Path, name: str, missing: str, role: str, row: int
) -> None:
    known = [tuple("a" if n == missing and i != 1 else n for i, n in enumerate(row)) for row in GENERATED]
    known = [(h, "r" if r == missing else r, t) for h, r, t in known]
    vocabulary = KnowledgeGraph.from_labels([(h, r, t) for h, r, t in known]).vocabulary
    path = put(tmp_path, GENERATED_FILES[name], name)
    with pytest.raises(DataError, match=f"the {role} '{missing}' is not a name of the graph") as caught:
        read_generated(path, vocabulary, ReadOptions(prefix="x:"))
    line = None if name == "g.ttl" else row + (name == "g.kgtk")
    assert caught.value.line == line, "Turtle has no line for a statement, and then none is named"
    assert str(caught.value).startswith(f"{path}: " if line is None else f"{path}:{line}: ")


def test_an_entity_does_not_pass_for_a_relation(tmp_path: Path) -> None:
    vocabulary = KnowledgeGraph.from_labels([("a", "r", "b")]).vocabulary
    with pytest.raises(DataError, match="the relation 'a' is not a name"):
        read_generated(put(tmp_path, "a\ta\tb\n"), vocabulary)


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


def test_turtle_with_more_literals_than_lines_is_read(tmp_path: Path) -> None:
    path = put(tmp_path, '@prefix e: <http://e/> .\ne:a e:p e:b ; e:n "x","y","z" .\n', "g.ttl")
    labels, report = read(path)
    assert labels == [("http://e/a", "http://e/p", "http://e/b")]
    assert report.literals == 3


def test_nameless_nodes_of_turtle_have_the_same_names_at_every_read(tmp_path: Path) -> None:
    path = put(tmp_path, "@prefix e: <http://e/> .\n[ e:p e:b ] e:q [ e:p e:c ] .\n", "g.ttl")
    first, second = read(path)[0], read(path)[0]
    assert first == second
    assert any("_:anonymous-2" in row for row in first)


def test_a_prefix_never_makes_one_name_of_two_iris(tmp_path: Path) -> None:
    rows = "".join(f"<http://e/{x}> <http://e/r> <http://e/y> .\n" for x in ("%FF", "%FE", "a%62", "ab", ""))
    labels, _ = read(put(tmp_path, rows, "g.nt"), ReadOptions(prefix="http://e/"))
    assert len({head for head, _, _ in labels}) == 5


def test_a_line_that_may_be_a_header_is_read_with_a_note(tmp_path: Path) -> None:
    labels, report = read(put(tmp_path, "h\tr\tt\na\tr\tb\n"))
    assert len(labels) == 2
    assert any("--header" in note for note in report.notes)
    _, report = read(put(tmp_path, "head\trelation\ttail\na\tr\tb\n"))
    assert any("--no-header" in note for note in report.notes)
