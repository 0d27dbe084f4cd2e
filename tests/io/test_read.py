"""One graph in many files; empty files; generated triples."""

from __future__ import annotations

import bz2
import gzip
import random
import re
from pathlib import Path

import pytest

from nnmfaug import (
    DataError,
    KnowledgeGraph,
    ReadOptions,
    read_any,
    read_generated,
    read_triples,
)
from tests.io.files import (
    BOM,
    SKIP,
    pack_zst,
    physical_lines,
    put,
    refusal,
    ten_thousand,
    tsv,
)


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


@pytest.mark.parametrize("name", ["g.tsv", "g.csv", "g.txt", "g.nt", "g.nq", "g.ttl", "g", "g.tsv.gz"])
def test_an_empty_file_is_an_error_that_says_so(tmp_path: Path, name: str) -> None:
    path = put(tmp_path, gzip.compress(b"") if name.endswith("gz") else b"", name)
    for options in (ReadOptions(), SKIP):
        assert "no triples: the file is empty" in str(refusal(path, options))


@pytest.mark.parametrize("name", ["g.tsv", "g.csv", "g.txt", "g.nt", "g.ttl"])
def test_a_file_of_blanks_and_comments_is_an_error(tmp_path: Path, name: str) -> None:
    for data in (b"\n", b"\n \n\r\n", b"# only a comment\n", BOM, BOM + b"\n"):
        assert "no triples" in str(refusal(put(tmp_path, data, name)))


def test_a_header_alone_is_an_error(tmp_path: Path) -> None:
    assert "no triples" in str(refusal(put(tmp_path, "head\trelation\ttail\n")))


def test_nothing_but_bad_lines_is_an_error_even_when_skipping(tmp_path: Path) -> None:
    assert "no triples" in str(refusal(put(tmp_path, "a\nb\n"), SKIP))


def test_a_folder_and_a_missing_file_are_errors_that_name_the_path(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere.tsv"):
        with pytest.raises((DataError, OSError), match=re.escape(str(path))):
            read_triples(path)


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


def test_a_file_that_the_system_does_not_let_read_is_an_error_that_names_it() -> None:
    path = Path("/proc/self/mem")
    if not path.exists():
        pytest.skip("this system has no /proc/self/mem, which exists and cannot be read")
    with pytest.raises(DataError, match=r"/proc/self/mem: cannot be read"):
        read_any(path)
