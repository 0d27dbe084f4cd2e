"""Rules as text: what is written is read again with the same counts, and what cannot be read is named by line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.augmenters.rules.anyburl import rule_text

EVERYTHING = na.Rules(depth=3, min_support=1, min_confidence=1e-9, prior=0.0, atoms=2)
ROWS = [
    *[(f"p{i}", "lives in", "Paris, Texas") for i in range(6)],
    *[(f"p{i}", "speaks (well)", "English (US)") for i in range(5)],
    *[(f"p{i}", "likes", "Rome") for i in range(1, 4)],
    *[(f"p{i}", "knows", f"p{i + 1}") for i in range(5)],
    *[(f"p{i + 1}", "known by", f"p{i}") for i in range(4)],
]
COUNTS = "9\t8\t0.89\t"
UNSUPPORTED = "1 of a form that is not supported (line 2: "


def graph() -> na.KnowledgeGraph:
    return na.KnowledgeGraph.from_labels(ROWS)


def counts(rules: na.RuleSet) -> dict[str, tuple[int, int]]:
    """Support and size of each rule by its text."""
    numbers = zip(rules.support.tolist(), rules.sizes.tolist(), strict=True)
    return {str(rule_text(rules, i)): pair for i, pair in enumerate(numbers)}


def write(path: Path, *rules: str) -> Path:
    path.write_text("".join(f"{COUNTS}{rule}\n" for rule in rules))
    return path


def test_every_kind_of_rule_is_written_and_read_with_the_same_counts(tmp_path: Path) -> None:
    mined = EVERYTHING.mine(graph())
    assert {mined.kind(i) for i in range(len(mined))} == {"path", "head", "tail"}
    n_atoms = {(mined.kind(i) == "path", len(rule_text(mined, i).body)) for i in range(len(mined))}
    assert n_atoms == {(True, 1), (True, 2), (True, 3), (False, 0), (False, 1), (False, 2)}
    na.write_rules(mined, tmp_path / "rules.txt")
    assert counts(na.read_rules(tmp_path / "rules.txt", graph(), EVERYTHING)) == counts(mined)


@pytest.mark.parametrize("name", ["umls", "nations"])
def test_rules_of_a_real_graph_are_counted_as_they_were_mined(tmp_path: Path, name: str) -> None:
    train = na.read_splits(name).train
    mined = na.Rules().mine(train)
    na.write_rules(mined, tmp_path / "rules.txt.gz")
    read = na.read_rules(tmp_path / "rules.txt.gz", train)
    assert counts(read) == counts(mined)
    np.testing.assert_array_equal(read.confidence, mined.confidence)
    np.testing.assert_array_equal(read.left_out_confidence, mined.left_out_confidence)


def test_a_line_has_size_support_and_their_ratio(tmp_path: Path) -> None:
    mined = na.Rules(depth=1, constants=False).mine(graph())
    na.write_rules(mined, tmp_path / "rules.txt")
    lines = (tmp_path / "rules.txt").read_text().splitlines()
    assert lines[0] == "4\t4\t1.0\tknows(X,Y) <= known by(Y,X)"
    assert "5\t4\t0.8\tknown by(X,Y) <= knows(Y,X)" in lines


def test_chosen_rules_are_written_in_their_order(tmp_path: Path) -> None:
    mined = EVERYTHING.mine(graph())
    chosen = np.array([3, 0])
    na.write_rules(mined, tmp_path / "two.txt", chosen=chosen)
    lines = (tmp_path / "two.txt").read_text().splitlines()
    assert [line.split("\t")[3] for line in lines] == [str(rule_text(mined, i)) for i in (3, 0)]
    with pytest.raises(FileExistsError):
        na.write_rules(mined, tmp_path / "two.txt")


def test_the_order_of_atoms_and_the_letters_of_variables_do_not_matter(tmp_path: Path) -> None:
    rule = "knows(P,Q) <= knows(B,Q), known by(B,A), knows(A,P), known by(A,P)"
    same = ["likes(X,Y) <= likes(A,Y), knows(A,X)", "likes(V,W) <= knows(Z,V), likes(Z,W)"]
    with pytest.warns(UserWarning, match="left out 1 line: 1 of a form that is not supported"):
        read = na.read_rules(write(tmp_path / "r.txt", rule, *same), graph(), EVERYTHING)
    assert list(counts(read)) == ["likes(X,Y) <= knows(A,X), likes(A,Y)"]


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("likes(X,London) <= likes(X,Rome)", "1 with unknown names (line 2: unknown entity 'London')"),
        ("hates(X,Y) <= likes(X,Y)", "1 with unknown names (line 2: unknown relation 'hates')"),
        ("knows(X,Y) <= " + ", ".join(["knows(X,Y)"] * 5), "(line 2: a body of 5 atoms: 4 are the most)"),
        ("knows(X,Y) = knows(Y,X)", "1 malformed (line 2: not a rule such as r(X,Y) <= s(X,A), t(A,Y)"),
        ("knows(X,Y <= knows(Y,X)", "1 malformed (line 2: not a rule such as"),
        ("knows(X,Y) <= knows(X,Y)", UNSUPPORTED),
        ("knows(X,Y) <= knows(A,B)", UNSUPPORTED),
        ("knows(X,X) <= knows(X,A)", UNSUPPORTED),
        ("knows(X,Y) <= knows(X,p1), knows(p1,Y)", UNSUPPORTED),
        ("likes(X,Rome) <= knows(X,A), knows(A,p1)", UNSUPPORTED),
        ("likes(X,Rome) <= knows(X,A), likes(X,A)", UNSUPPORTED),
        ("likes(X,Rome) <= likes(X,Rome)", UNSUPPORTED),
        ("likes(p1,Rome) <= ", UNSUPPORTED),
    ],
)
def test_rules_that_cannot_be_used_are_left_out_with_the_reason(tmp_path: Path, rule: str, reason: str) -> None:
    path = write(tmp_path / "r.txt", "knows(X,Y) <= known by(Y,X)", rule)
    with pytest.warns(UserWarning, match=r"r.txt: left out 1 line: 1 ") as caught:
        read = na.read_rules(path, graph())
    assert reason in str(caught[0].message)
    assert list(counts(read)) == ["knows(X,Y) <= known by(Y,X)"]


def test_lines_are_left_out_with_a_count_and_the_first_line_for_each_reason(tmp_path: Path) -> None:
    path = tmp_path / "r.txt"
    good = f"{COUNTS}knows(X,Y) <= known by(Y,X)\n"
    path.write_text(f"nine\n{good}{COUNTS}knows(X,Ann) <= \n{COUNTS}knows(X,Bob) <= \n\n8\t9\n{good}")
    with pytest.warns(UserWarning, match="left out 4 lines") as caught:
        assert len(na.read_rules(path, graph())) == 1
    malformed, unknown = str(caught[0].message).partition("lines: ")[2].split("; ")
    assert malformed.startswith("2 malformed (the first is line 1: not a rule of AnyBURL")
    assert unknown == "2 with unknown names (the first is line 3: unknown entity 'Ann')"


def test_where_no_line_can_be_used_the_first_reason_is_the_error(tmp_path: Path) -> None:
    path = write(tmp_path / "r.txt", "knows(X,Ann) <= ", "knows(X,Y)", "hates(X,Y) <= knows(X,Y)")
    with pytest.raises(na.DataError) as caught:
        na.read_rules(path, graph())
    assert (caught.value.path, caught.value.line) == (str(path), 1)
    assert str(caught.value).endswith("unknown entity 'Ann'; none of its 3 lines is a rule that can be used")


@pytest.mark.parametrize(
    "text",
    [
        "likes(X,Y)<=knows(A,X),likes(A,Y)",
        "likes(X, Y) <= knows(A, X), likes(A, Y)",
        "  likes ( X , Y )  <=  knows( A ,X) ,  likes(A,  Y ) ",
        "likes(X,Y) <= knows(A,X),likes(A,Y)\r",
    ],
)
def test_spaces_between_names_do_not_matter(tmp_path: Path, text: str) -> None:
    read = na.read_rules(write(tmp_path / "r.txt", text), graph(), EVERYTHING)
    assert list(counts(read)) == ["likes(X,Y) <= knows(A,X), likes(A,Y)"]


def test_spaces_in_names_stay_where_spaces_between_names_are_ignored(tmp_path: Path) -> None:
    text = "speaks (well)( X, English (US) )<=lives in(X, Paris, Texas),likes( X,A )"
    read = na.read_rules(write(tmp_path / "r.txt", text), graph(), EVERYTHING)
    assert list(counts(read)) == ["speaks (well)(X,English (US)) <= likes(X,A), lives in(X,Paris, Texas)"]


def test_a_rule_that_reads_in_two_ways_is_an_error_with_its_line(tmp_path: Path) -> None:
    rows = [("a", "r", "b,c"), ("a,b", "r", "c"), ("a,b", "s", "c")]
    names = na.KnowledgeGraph.from_labels(rows)
    path = write(tmp_path / "r.txt", "s(X,c) <= r(X,c)", "r(X,Y) <= r(a,b,c)")
    with pytest.raises(na.DataError, match="reads in two ways") as caught:
        na.read_rules(path, names)
    assert (caught.value.path, caught.value.line) == (str(path), 2)


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"\n1\t1\t1\tknows(X,Y)\n", 2, "not a rule such as"),
        (b"knows(X,Y) <= knows(Y,X)\n", 1, "three numbers and the rule"),
        (b"a\tb\tc\tknows(X,Y) <= knows(Y,X)\n", 1, "three numbers and the rule"),
        (b"\x7fELF\x00\x00\x00\n", 1, "three numbers and the rule"),
        (b"1\t1\t1\t\xff\xfe(X,Y) <= knows(Y,X)\n", 1, "0xFF is not UTF-8"),
        (b"1\t1\t1\t" + b"(" * (1 << 21), 1, "is not a rule"),
    ],
    ids=["no arrow", "no numbers", "words", "binary", "latin", "a line of 2 MB"],
)
def test_a_broken_file_is_an_error_with_its_line(tmp_path: Path, content: bytes, line: int, message: str) -> None:
    path = tmp_path / "broken.txt"
    path.write_bytes(content)
    with pytest.raises(na.DataError, match=message) as caught:
        na.read_rules(path, graph())
    assert (caught.value.path, caught.value.line) == (str(path), line)


def test_an_empty_file_and_a_missing_one_are_errors(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n \n")
    with pytest.raises(na.DataError, match=r"empty.txt: contains no rule"):
        na.read_rules(tmp_path / "empty.txt", graph())
    with pytest.raises(na.DataError, match="no such file of rules"):
        na.read_rules(tmp_path / "none.txt", graph())


@pytest.mark.parametrize(
    ("entity", "message"),
    [
        ("K", "one capital letter is a variable"),
        ("a\nb", "a name contains a line end"),
        ("c), s(X,d", "could be read in two ways"),
    ],
)
def test_rules_that_could_not_be_read_again_are_not_written(tmp_path: Path, entity: str, message: str) -> None:
    rows = [(f"p{i}", r, t) for i in range(4) for r, t in (("r", "b"), ("s", entity), ("s", "c"), ("s", "d"))]
    others = [(f"q{i}", "r", "e") for i in range(4)] + [(f"q{i}", "s", "e") for i in range(4)]
    others += [("q0", "s", "c")]  # so that c says something else
    mined = EVERYTHING.mine(na.KnowledgeGraph.from_labels(rows + others))
    with pytest.raises(na.DataError, match=message):
        na.write_rules(mined, tmp_path / "x.txt")
    assert not list(tmp_path.iterdir())
