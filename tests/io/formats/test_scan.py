"""Every line of a TSV file is classified as by an independent, slow reader."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path

from hypothesis import example, given, strategies as st

from nnmfaug import (
    KnowledgeGraph,
    Limits,
    read_generated,
    read_triples,
)
from tests.io.files import (
    BOM,
    FEW,
    FUZZ,
    SKIP,
    Triple,
    check_blocks_agree,
    line_ends,
    physical_lines,
    refusal,
)

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


FRAGMENTS = [
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
names = st.sampled_from([name.encode() for name in FRAGMENTS])
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


@FUZZ
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


@FEW
@given(data=nearly_clean_files())
def test_a_fast_way_takes_nothing_that_the_slow_reader_would_not(scratch: Path, data: bytes) -> None:
    check_against_oracle(scratch / "clean.tsv", data, always=True)


@FUZZ
@given(data=tsv_files(), block=st.integers(4, 40), max_line=st.sampled_from([32, 1 << 20]))
def test_the_size_of_blocks_does_not_matter_to_tsv(scratch: Path, data: bytes, block: int, max_line: int) -> None:
    options = replace(SKIP, limits=Limits(max_line=max_line))
    known = KnowledgeGraph.from_labels(oracle(data).rows).vocabulary
    slow_way = zlib.crc32(data) % 6 == 0
    check_blocks_agree(scratch / "b.tsv", data, block, options, None if slow_way else known)
