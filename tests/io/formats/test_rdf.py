"""N-Triples, N-Quads and Turtle."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from nnmfaug import (
    ReadOptions,
)
from tests.io.files import (
    BOM,
    FUZZ,
    SKIP,
    check_blocks_agree,
    line_ends,
    put,
    read,
    refusal,
)

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


@FUZZ
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
def test_one_line_of_n_triples_harms_no_other(tmp_path: Path, case: str) -> None:
    text, kind = N_TRIPLES[case]
    good = b"<x:1> <x:2> <x:3> ."
    path = put(tmp_path, BOM + b"\n".join([good, text, b"<x:4> <x:5> <x:6> .", b""]), "g.nt")
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
