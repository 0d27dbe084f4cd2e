"""Options of every command that reads a graph: its format, and the treatment of lines that are not triples."""

from __future__ import annotations

import csv
import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

import nnmfaug as na
from nnmfaug.cli.console import count, progress, say
from nnmfaug.cli.shared_options import receives
from nnmfaug.core.commands import command
from nnmfaug.io.datasets import find
from nnmfaug.io.files import replacing
from nnmfaug.io.options import Format

Graph = Annotated[str, typer.Argument(metavar="GRAPH", help="Name of a data set, file, folder or archive.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace output that exists.")]
REJECTS_HEADER = ("file", "line", "reason", "text")
NUMBER = re.compile(r"(\d+(?:\.\d+)?)([kmg]?)", re.ASCII | re.IGNORECASE)
FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}


@dataclass(frozen=True)
class Reading:
    """How a command reads its input."""

    options: na.ReadOptions
    rejects: Path | None

    def read(self, source: str) -> na.Splits | na.KnowledgeGraph:
        """Read, note anomalies, and write rejected lines to the rejects file."""
        if find(source) is not None and Path(source).exists():
            say(f"note: {source} is read as the data set of that name; for the local one, write ./{source}")
        with progress():
            graphs = na.read_any(source, self.options)
        reports = reports_of(graphs)
        for report in reports:
            for note in report.notes:
                say(f"note: {report.path}: {note}")
        if any(report.rejects for report in reports):
            path = self.rejects or Path(Path(source).resolve().name + ".rejects.tsv")
            protect(graphs, path)
            _write_rejects(path, reports)
            n_skipped = sum(report.rejected for report in reports)
            say(f"{count(n_skipped, 'line')} skipped; {path} lists each with the reason")
        return graphs

    def read_train(self, source: str) -> na.KnowledgeGraph:
        """Read the train split, or the only graph."""
        return train_of(self.read(source))

    def read_splits(self, source: str) -> na.Splits:
        """Read train, valid and test; raise if there is only one graph, or no test triple."""
        graphs = self.read(source)
        if not isinstance(graphs, na.Splits):
            to_split = command("nnmfaug", "split", source, "-o", "folder")
            raise na.DataError(f"one file has no test triples. To make some, run: {to_split}", path=source)
        if not len(graphs.test):
            to_join = command("nnmfaug", "convert", source, "all.tsv", "--split", "all")
            to_split = command("nnmfaug", "split", "all.tsv", "-o", "folder")
            raise na.DataError(f"no test triples. To make some, run: {to_join} && {to_split}", path=source)
        return graphs


def train_of(graphs: na.Splits | na.KnowledgeGraph) -> na.KnowledgeGraph:
    """Return the train split, or the only graph."""
    return graphs.train if isinstance(graphs, na.Splits) else graphs


def reports_of(graphs: na.Splits | na.KnowledgeGraph) -> list[na.ReadReport]:
    """Return the report of every file that was read."""
    parts = [graph for _, graph in graphs.items()] if isinstance(graphs, na.Splits) else [graphs]
    return [graph.report for graph in parts if graph.report is not None]


def count_dropped(graphs: na.Splits | na.KnowledgeGraph) -> dict[str, int]:
    """Count the lines that were read but are not in the graphs, by reason."""
    reports = reports_of(graphs)
    return {
        "repeated": sum(report.duplicates for report in reports),
        "rejected": sum(report.rejected for report in reports),
        "literals": sum(report.literals for report in reports),
    }


def protect(graphs: na.Splits | na.KnowledgeGraph | None, *targets: Path) -> None:
    """Raise if one of the files to write is one that was read."""
    protect_files(
        [] if graphs is None else [_file_of(Path(report.path)) for report in reports_of(graphs)], *targets
    )


def protect_files(sources: Sequence[Path], *targets: Path) -> None:
    """Raise if one of the files to write is one of those that are read."""
    for source, target in itertools.product(sources, targets):
        if source.is_file() and target.exists() and target.samefile(source):
            raise na.DataError("this file was read as input and would be overwritten: name another", path=target)


def _file_of(path: Path) -> Path:
    """Return the file itself, or the archive of which it is a member."""
    return next((place for place in (path, *path.parents) if place.exists()), path)


def _reading(
    *,
    format_: Annotated[
        Format | None, typer.Option("--format", help="Format of the input file. Default: by suffix and content.")
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Column separator. Default: tab; comma in CSV.")
    ] = None,
    encoding: Annotated[str, typer.Option(metavar="NAME", help="Encoding of text files.")] = "utf-8",
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first line names the columns. Default: detected."),
    ] = None,
    bad_lines: Annotated[
        Literal["error", "skip"],
        typer.Option(
            help="Stop at a line that is not a triple, or skip such lines and write them to a rejects file."
        ),
    ] = "error",
    rejects: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File for the lines that --bad-lines skip skips. Default: <input>.rejects.tsv in the "
            "current folder.",
        ),
    ] = None,
    prefix: Annotated[
        str | None,
        typer.Option(
            metavar="IRI", help="Prefix of IRIs in RDF that is removed from names (and added when writing)."
        ),
    ] = None,
) -> Reading:
    if rejects is not None and bad_lines == "error":
        msg = "--rejects goes with --bad-lines skip"
        raise ValueError(msg)
    return Reading(na.ReadOptions(format_, encoding, header, bad_lines, prefix, delimiter=delimiter), rejects)


reads = receives("reading", _reading)
"""Adds the options of reading to a command."""


def parse_amount(text: str, total: int, option: str) -> int:
    """Return the number that ``5%`` of a total, a plain number, or one such as 20k or 1M stands for."""
    if text.isdecimal():
        return int(text)
    if text[-1:].isalpha() and NUMBER.fullmatch(text):
        return parse_number(text, option)
    try:
        percent = float(text.removesuffix("%"))
    except ValueError:
        percent = -1.0
    if not text.endswith("%") or not 0 <= percent < math.inf:
        msg = f"{option} {text}: must be a fraction such as 5% or a number such as 500 or 1M"
        raise ValueError(msg)
    return int(total * percent / 100)


def parse_number(text: str, option: str) -> int:
    """Return the number from 1 that a text such as 2000, 500M or 2.5G stands for.

    Examples
    --------
    >>> parse_number("2.5k", "--budget"), parse_number("500m", "--budget")
    (2500, 500000000)
    """
    match = NUMBER.fullmatch(text)
    if match is None:
        msg = f"{option} {text}: must be a number such as 2000, 500M or 2G (k, M, G: thousand, million, billion)"
        raise ValueError(msg)
    number = round(float(match[1]) * FACTORS[match[2].lower()])
    if number < 1:
        msg = f"{option} {text}: must be at least 1"
        raise ValueError(msg)
    return number


def _write_rejects(path: Path, reports: list[na.ReadReport]) -> None:
    """Write the rejected lines; only a file that has such lines is replaced."""
    with (
        replacing(path, overwrite=_has_rejects(path)) as draft,
        draft.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file,
    ):
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(REJECTS_HEADER)
        for report in reports:
            writer.writerows((report.path, *reject) for reject in report.rejects)


def _has_rejects(path: Path) -> bool:
    header = "\t".join(REJECTS_HEADER).encode()
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(header)) == header
