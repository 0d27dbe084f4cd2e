"""Tables of text, and how they are written: Markdown, LaTeX, CSV, and JSON with the full numbers."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nnmfaug.core.checks import check_argument, require
from nnmfaug.io.documents import encode
from nnmfaug.reports.output import Write, one_line, write_together

MARKDOWN_SPECIAL = re.compile(r"[\\`*_\[\]<>|~&$]")
MARKDOWN_START = re.compile(r"^([0-9]*)([#+.)-])(?=[ #-]|$)")
"""The start of a line that would be a heading or a list."""
LATEX_SPECIAL = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "\ufffd": "?",
    "…": r"\dots{}",
}
LATEX_SYMBOLS = {
    "−": "-",
    "±": r"\pm",
    "×": r"\times",
    "·": r"\cdot",
    "≈": r"\approx",
    "≤": r"\le",
    "≥": r"\ge",
    "≠": r"\ne",
    "∞": r"\infty",
    "→": r"\rightarrow",
    "←": r"\leftarrow",
    "↔": r"\leftrightarrow",
    "↑": r"\uparrow",
    "↓": r"\downarrow",
    "⇒": r"\Rightarrow",
    "▲": r"\bigtriangleup",
    "▼": r"\bigtriangledown",
    "Δ": r"\Delta",
    "α": r"\alpha",
    "ε": r"\varepsilon",
    "σ": r"\sigma",
    "τ": r"\tau",
}
"""Characters that the fonts of LaTeX have in formulas only."""
LATEX_CHARACTERS = str.maketrans({**LATEX_SPECIAL, **{c: f"${name}$" for c, name in LATEX_SYMBOLS.items()}})
DOUBLE_HYPHEN = re.compile("-(?=-)")
"""LaTeX would make a dash of it."""
HYPHEN_AS_MINUS = re.compile(r"(?<![\w.-])-(?=\.?[0-9])")
FORMULA_STARTS = tuple("=+-@＝＋－＠")
"""With one of these a spreadsheet takes a cell for a formula; it runs what is in there."""
NUMBER = re.compile(r"[+−-]?([0-9]+(,[0-9]{3})*(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?( ?%)?")

Escape = Callable[[str], str]
"""Text → the same text in the words of a format."""


@dataclass(frozen=True)
class Table:
    """A table of text.

    Parameters
    ----------
    title
        Caption of the table; may be empty.
    header
        Names of the columns.
    rows
        Cells, as they are shown; as many in each row as there are columns.
    notes
        Sentences below the table.
    n_label_columns
        So many columns, from the left, name what is in the row: they are aligned to the left, others to the right.
    bold
        (row, column) of each cell that stands out; both start at 0, and the header is no row.

    Examples
    --------
    >>> table = Table("MRR", ("arm", "UMLS"), (("baseline", ".71"), ("auto", ".74")), bold=frozenset({(1, 1)}))
    >>> print(as_markdown(table))
    **MRR**
    <BLANKLINE>
    | arm      |    UMLS |
    | :------- | ------: |
    | baseline |     .71 |
    | auto     | **.74** |
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    n_label_columns: int = 1
    bold: frozenset[tuple[int, int]] = frozenset()

    def __post_init__(self) -> None:
        n_columns = len(self.header)
        require(n_columns > 0, "header=(): must name at least one column")
        for place, cells in enumerate(self.rows):
            require(len(cells) == n_columns, f"row {place}: {len(cells)} cells, but the header has {n_columns}")
        is_good = 0 <= self.n_label_columns <= n_columns
        check_argument("n_label_columns", self.n_label_columns, is_good, f"from 0 to {n_columns}")
        for row, column in sorted(self.bold):
            is_there = 0 <= row < len(self.rows) and 0 <= column < n_columns
            require(is_there, f"bold: there is no cell ({row}, {column})")


def as_markdown(table: Table) -> str:
    r"""Return the table in Markdown, as GitHub shows it; names appear as they are, whatever they contain.

    Examples
    --------
    >>> print(as_markdown(Table("", ("a|b",), (("_x_",),), notes=("All seeds.",))))
    | a\|b  |
    | :---- |
    | \_x\_ |
    <BLANKLINE>
    - All seeds.
    """
    header, *rows = _shown_cells(table, _markdown, "**{}**".format)
    widths = [max(3, *(len(cell) for cell in column)) for column in zip(header, *rows, strict=True)]
    n_labels = table.n_label_columns
    rule = [f":{'-' * (w - 1)}" if i < n_labels else f"{'-' * (w - 1)}:" for i, w in enumerate(widths)]
    lines = [_markdown_line(cells, widths, n_labels) for cells in (header, rule, *rows)]
    title = [f"**{_markdown(table.title)}**", ""] if one_line(table.title) else []
    notes = ["- " + MARKDOWN_START.sub(r"\1\\\2", _markdown(note)) for note in table.notes]
    return "\n".join([*title, *lines, *([""] if notes else []), *notes, ""])


def as_latex(table: Table) -> str:
    r"""Return the table in LaTeX, with the rules of the package booktabs.

    Where neighbouring rows share their first cell, a rule separates them from the rows with another one. Names in
    scripts that LaTeX's own fonts lack are kept: XeLaTeX and LuaLaTeX print them with a font that has them.

    Examples
    --------
    >>> print(as_latex(Table("Gain", ("data", "Δ, %"), (("dL50a_x", "−3"),), notes=("5 seeds.",))))
    % needs \usepackage{booktabs}
    \begin{table}
    \centering
    \caption{Gain}
    \begin{tabular}{lr}
    \toprule
    data & $\Delta$, \% \\
    \midrule
    dL50a\_x & $-$3 \\
    \bottomrule
    \end{tabular}
    <BLANKLINE>
    {\footnotesize 5 seeds.\par}
    \end{table}
    """
    header, *rows = (
        f"{' & '.join(map(_guarded, cells))} \\\\" for cells in _shown_cells(table, _latex, _latex_bold)
    )
    n_labels = table.n_label_columns
    columns = "l" * n_labels + "r" * (len(table.header) - n_labels)
    caption = [f"\\caption{{{_latex(table.title)}}}"] if one_line(table.title) else []
    notes = [f"{{\\footnotesize {_latex(note)}\\par}}" for note in table.notes]
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        *caption,
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        header,
        r"\midrule",
        *_with_rules(table, rows),
        r"\bottomrule",
        r"\end{tabular}",
        *([""] if notes else []),
        *notes,
        r"\end{table}",
    ]
    return "\n".join([*lines, ""])


def as_csv(table: Table) -> str:
    r"""Return header and rows as CSV that is safe to open in a spreadsheet.

    Text that a spreadsheet would take for a formula gets an apostrophe in front. Numbers stay numbers; their minus
    becomes the one of the keyboard.

    Examples
    --------
    >>> as_csv(Table("", ("name", "gain"), (("=1+1", "−0.5"), ("a,b", "-2e-3"))))
    'name,gain\n\'=1+1,-0.5\n"a,b",-2e-3\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_defused(cell) for cell in cells] for cells in (table.header, *table.rows))
    return text.getvalue()


def write_table(table: Table, data: Mapping[str, Any], folder: str | Path, stem: str) -> list[Path]:
    """Write a table to ``stem.json``, ``stem.md``, ``stem.tex`` and ``stem.csv``, all or none of them.

    Parameters
    ----------
    table
    data
        The full numbers, plain data for JSON.
    folder
        Made if it does not exist; an earlier table of the same name is replaced.
    stem
        Name of the files without ending.

    Returns
    -------
    list of Path
        The files.

    Examples
    --------
    >>> table = Table("MRR", ("arm", "UMLS"), (("auto", ".744"),))
    >>> [path.name for path in write_table(table, {"auto": 0.74382}, "tables", "mrr")]
    ['mrr.json', 'mrr.md', 'mrr.tex', 'mrr.csv']
    """
    numbers = json.dumps(dict(data), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    texts = {"json": numbers, "md": as_markdown(table), "tex": as_latex(table), "csv": as_csv(table)}
    contents = {ending: encode(text) for ending, text in texts.items()}
    return write_together(folder, stem, {ending: _writer(content) for ending, content in contents.items()})


def _writer(content: bytes) -> Write:
    return lambda draft: draft.write_bytes(content)


def _shown_cells(table: Table, escape: Escape, embolden: Escape) -> list[list[str]]:
    """The cells of the header and of all rows in the words of a format."""
    shown = [[escape(cell) for cell in cells] for cells in (table.header, *table.rows)]
    for row, column in table.bold:
        cell = shown[row + 1][column]
        shown[row + 1][column] = embolden(cell) if cell else cell
    return shown


def _markdown(text: str) -> str:
    return MARKDOWN_SPECIAL.sub(r"\\\g<0>", one_line(text))


def _markdown_line(cells: Sequence[str], widths: Sequence[int], n_labels: int) -> str:
    padded = [
        cell.ljust(width) if place < n_labels else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return f"| {' | '.join(padded)} |"


def _latex(text: str) -> str:
    escaped = HYPHEN_AS_MINUS.sub("−", one_line(text)).translate(LATEX_CHARACTERS)
    return DOUBLE_HYPHEN.sub("-{}", escaped)


def _latex_bold(escaped: str) -> str:
    return rf"\textbf{{{escaped}}}"


def _guarded(cell: str) -> str:
    r"""A cell that does not become an option of ``\\`` or ``\toprule`` before it."""
    return f"{{{cell[0]}}}{cell[1:]}" if cell.startswith(("[", "*")) else cell


def _with_rules(table: Table, lines: Sequence[str]) -> Iterator[str]:
    """The lines of the rows, with a rule between groups; rows that are all different are not groups."""
    is_new = [before[0] != row[0] for before, row in itertools.pairwise(table.rows)]
    for line, starts_group in zip(lines, [False, *is_new], strict=False):
        if starts_group and not all(is_new):
            yield r"\midrule"
        yield line


def _defused(cell: str) -> str:
    text = one_line(cell)
    if NUMBER.fullmatch(text):
        return text.replace("−", "-")
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
