"""Tables: what a reader of Markdown, LaTeX, CSV and JSON sees is what was put in."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from nnmfaug.reports.output import one_line
from nnmfaug.reports.tables import Table, as_csv, as_latex, as_markdown, write_table

TABLE = Table(
    title="MRR, 5 seeds",
    header=("data", "arm", "MRR", "gain"),
    rows=(
        ("umls", "baseline", ".710", ""),
        ("umls", "auto", ".744", "+.034"),
        ("nations", "auto", ".601", "−.002"),
    ),
    notes=("Filtered ranks.", "95 % intervals."),
    n_label_columns=2,
    bold=frozenset({(1, 2)}),
)
NASTY = ["a|b", "*x*", "_x_", "`x`", "<b>x</b>", "&lt;", "[a](b)", "~~x~~", "\\", "$x$", "a\nb", "#", "- a", "| |"]
any_text = st.text(st.characters(), max_size=12) | st.sampled_from(NASTY)


def of_one_cell(text: str) -> Table:
    return Table("", ("name",), ((text,),))


def shown(token: Token) -> str:
    """The text of a paragraph or cell as a browser shows it."""
    return "".join(child.content for child in token.children or () if child.type in ("text", "text_special"))


def rendered(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)


def cells_of(text: str) -> list[str]:
    tokens = rendered(text)
    return [shown(after) for token, after in itertools.pairwise(tokens) if token.type in ("th_open", "td_open")]


def test_markdown_shows_title_header_rows_and_notes() -> None:
    inline = [shown(token) for token in rendered(as_markdown(TABLE)) if token.type == "inline"]
    cells = [cell for row in (TABLE.header, *TABLE.rows) for cell in row]
    assert inline == [TABLE.title, *cells, *TABLE.notes]


def test_markdown_aligns_labels_to_the_left_and_numbers_to_the_right() -> None:
    heads = [token.attrs["style"] for token in rendered(as_markdown(TABLE)) if token.type == "th_open"]
    assert heads == ["text-align:left"] * 2 + ["text-align:right"] * 2


def test_markdown_marks_exactly_the_bold_cells() -> None:
    tokens = rendered(as_markdown(replace(TABLE, title="", notes=())))
    strong = [shown(token) for token in tokens if any(c.type == "strong_open" for c in token.children or ())]
    assert strong == [".744"]


@given(any_text)
def test_markdown_shows_a_cell_as_it_is_whatever_it_contains(text: str) -> None:
    assert cells_of(as_markdown(of_one_cell(text))) == ["name", one_line(text)]


@given(any_text)
def test_markdown_shows_a_title_and_a_note_as_they_are(text: str) -> None:
    table = Table(f"t{text}", ("name",), (("cell",),), notes=(f"{text} n", "last"))
    inline = [shown(token) for token in rendered(as_markdown(table)) if token.type == "inline"]
    assert inline == [one_line(f"t{text}"), "name", "cell", one_line(f"{text} n"), "last"]


@pytest.mark.parametrize("note", ["# heading", "- item", "+ item", "1. first", "2) second", "---", "##"])
def test_markdown_makes_no_list_or_heading_of_a_note(note: str) -> None:
    tokens = rendered(as_markdown(Table("", ("a",), (), notes=(note,))))
    assert shown([token for token in tokens if token.type == "inline"][-1]) == note
    assert sum(token.type in ("heading_open", "list_item_open") for token in tokens) == 1


ESCAPES = {
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": "$-$",
    "→": r"$\rightarrow$",
    "±": r"$\pm$",
}


def row_of(text: str) -> str:
    (line,) = re.findall(r"\\midrule\n(.*) \\\\\n\\bottomrule", as_latex(of_one_cell(text)))
    return str(line)


@pytest.mark.parametrize(("character", "escape"), ESCAPES.items())
def test_latex_escapes_each_special_character_everywhere(character: str, escape: str) -> None:
    name = f"a{character}b"
    text = as_latex(Table(name, (name,), ((name,),), notes=(name,)))
    assert text.count(f"a{escape}b") == 4
    assert name not in text


@given(st.text(st.sampled_from("ab&%$#_{}~^\\<>|`-−→ "), max_size=12))
def test_latex_leaves_no_special_character_unescaped(text: str) -> None:
    commands = re.compile(r"\\[a-z]+\{\}|\\[&%$#_{}]|\$(?:\\[a-z]+|-)\$|-\{\}")
    assert not set(commands.sub("", row_of(text))) & set("&%$#_{}~^\\<>|`")


def test_latex_keeps_other_scripts_and_writes_minus_signs_as_such() -> None:
    assert row_of("基线 خط") == "基线 خط"
    assert row_of("-0.5 [-.7, 1e-05], k-means, 2-3") == "$-$0.5 [$-$.7, 1e-05], k-means, 2-3"
    assert row_of("--seed ---") == "-{}-seed -{}-{}-"


@pytest.mark.parametrize(("cell", "guarded"), [("[0.1, 0.2]", "{[}0.1, 0.2]"), ("*best", "{*}best")])
def test_latex_does_not_take_a_cell_for_an_option_of_the_line_before(cell: str, guarded: str) -> None:
    assert row_of(cell) == guarded


def test_latex_has_a_rule_wherever_the_group_changes() -> None:
    body = as_latex(TABLE).partition("\\midrule\n")[2].partition("\\bottomrule")[0]
    first_words = [line.split(" & ")[0] for line in body.splitlines()]
    assert first_words == ["umls", "umls", r"\midrule", "nations"]


def test_latex_has_no_rules_between_rows_that_are_all_different() -> None:
    rows = tuple((name, ".5") for name in "abc")
    assert as_latex(Table("", ("arm", "MRR"), rows)).count(r"\midrule") == 1


def test_latex_has_caption_columns_bold_cells_and_notes() -> None:
    text = as_latex(TABLE)
    assert r"\caption{MRR, 5 seeds}" in text
    assert r"\begin{tabular}{llrr}" in text
    assert re.findall(r"\\textbf\{(.*?)\}", text) == [".744"]
    assert r"{\footnotesize 95 \% intervals.\par}" in text
    assert r"\caption" not in as_latex(replace(TABLE, title=" "))


def read_csv(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text), strict=True))


def test_csv_has_the_header_and_the_rows() -> None:
    assert read_csv(as_csv(replace(TABLE, rows=TABLE.rows[:2]))) == [
        list(TABLE.header),
        *map(list, TABLE.rows[:2]),
    ]


@pytest.mark.parametrize(
    "formula",
    ["=1+1", "=cmd|' /C calc'!A0", "+1+1", "-1+cmd", "@SUM(A1)", "\t=1", " =1", "＝1", "-inf", "+", "-1e"],
)
def test_csv_defuses_what_a_spreadsheet_would_run(formula: str) -> None:
    header, row = read_csv(as_csv(Table("", (formula,), ((formula,),))))
    assert header == row == [f"'{formula.strip()}"]


@pytest.mark.parametrize("number", ["-0.5", "+0.5", "-.5", "+3", "-1,234", "-2.5e-03", "+4.1 %", "-7%", "0.5"])
def test_csv_leaves_numbers_alone(number: str) -> None:
    assert read_csv(as_csv(of_one_cell(number)))[1] == [number]


def test_csv_writes_the_minus_that_spreadsheets_read() -> None:
    assert float(read_csv(as_csv(of_one_cell("−0.5")))[1][0]) == -0.5


@given(st.lists(any_text, min_size=2, max_size=2))
def test_csv_gives_back_every_text(cells: list[str]) -> None:
    (row,) = read_csv(as_csv(Table("", ("a", "b"), (tuple(cells),))))[1:]
    expected = [one_line(cell).removeprefix("'").replace("−", "-") for cell in cells]
    assert [cell.removeprefix("'").replace("−", "-") for cell in row] == expected


def test_all_four_files_are_written_and_json_has_the_full_numbers(tmp_path: Path) -> None:
    data = {"mrr": {"auto": 0.7438123456789, "基线": None}, "seeds": [0, 1]}
    paths = write_table(TABLE, data, tmp_path / "new" / "folder", "table-1")
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == [
        "table-1.csv",
        "table-1.json",
        "table-1.md",
        "table-1.tex",
    ]
    contents = {path.suffix: path.read_bytes().decode("utf-8") for path in paths}
    assert json.loads(contents[".json"]) == data
    assert contents[".md"] == as_markdown(TABLE)
    assert contents[".tex"] == as_latex(TABLE)
    assert contents[".csv"] == as_csv(TABLE)


def test_the_same_table_gives_the_same_bytes_and_replaces_the_earlier_one(tmp_path: Path) -> None:
    first = [path.read_bytes() for path in write_table(TABLE, {"b": 1, "a": 2}, tmp_path, "t")]
    write_table(of_one_cell("other"), {}, tmp_path, "t")
    again = [path.read_bytes() for path in write_table(TABLE, {"b": 1, "a": 2}, tmp_path, "t")]
    assert first == again
    assert all(content.endswith(b"\n") and b"\r" not in content for content in first)


def test_names_that_utf8_does_not_have_are_written_all_the_same(tmp_path: Path) -> None:
    for path in write_table(of_one_cell("a\ud800\x1bb"), {"a\ud800": "\x1b"}, tmp_path, "t"):
        path.read_bytes().decode("utf-8")


def test_a_killed_process_leaves_one_whole_table_or_none(
    tmp_path: Path, stages: Callable[[Path], list[Path]]
) -> None:
    folder = tmp_path / "out"
    write_table(TABLE, {"version": 1}, folder, "t")
    copies = stages(folder)
    write_table(replace(TABLE, title="new"), {"version": 2}, folder, "t")
    assert len(copies) == 8
    for copy in copies:
        if (copy / "t.json").exists():
            assert json.loads((copy / "t.json").read_text()) == {"version": 2}
            assert "new" in (copy / "t.md").read_text()
            assert (copy / "t.tex").exists()
            assert (copy / "t.csv").exists()


def test_numbers_that_json_does_not_have_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_table(TABLE, {"mrr": float("nan")}, tmp_path / "new", "t")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"header": ()}, r"header=\(\): must name at least one column"),
        ({"rows": (("a",),)}, "row 0: 1 cells, but the header has 4"),
        ({"n_label_columns": 5}, "n_label_columns=5: must be from 0 to 4"),
        ({"n_label_columns": -1}, "n_label_columns=-1: must be from 0 to 4"),
        ({"bold": frozenset({(3, 0)})}, r"there is no cell \(3, 0\)"),
        ({"bold": frozenset({(0, -1)})}, r"there is no cell \(0, -1\)"),
    ],
)
def test_what_is_not_a_table_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(TABLE, **change)  # type: ignore[arg-type]
