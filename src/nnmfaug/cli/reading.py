"""The options of every command with an input: how to read it, and where lines that are no triples go."""

from __future__ import annotations

import csv
import functools
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

import nnmfaug as na
from nnmfaug.cli.console import count, progress, say
from nnmfaug.io.datasets import find
from nnmfaug.io.files import replacing
from nnmfaug.io.options import Format

Graph = Annotated[str, typer.Argument(metavar="GRAPH", help="A data set's name, a file, a folder or an archive.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@dataclass(frozen=True)
class Reading:
    """How a command reads its input."""

    options: na.ReadOptions
    rejects: Path | None

    def read(self, source: str) -> na.Splits | na.KnowledgeGraph:
        """Read, tell what is odd, and write the lines left out to the rejects file."""
        if find(source) is not None and Path(source).exists():
            say(f"note: {source} is read as the data set of that name; for what is here, write ./{source}")
        with progress():
            found = na.read_any(source, self.options)
        reports = reports_of(found)
        for report in reports:
            for note in report.notes:
                say(f"note: {report.path}: {note}")
        if any(report.rejects for report in reports):
            path = self.rejects or Path(Path(source).resolve().name + ".rejects.tsv")
            protect(found, path)
            _write_rejects(path, reports)
            left_out = count(sum(report.rejected for report in reports), "line")
            say(f"{left_out} left out; see {path} for each and why")
        return found


def reports_of(found: na.Splits | na.KnowledgeGraph) -> list[na.ReadReport]:
    """What became of the lines of every file that was read."""
    graphs = [graph for _, graph in found.items()] if isinstance(found, na.Splits) else [found]
    return [graph.report for graph in graphs if graph.report is not None]


def dropped(found: na.Splits | na.KnowledgeGraph) -> dict[str, int]:
    """What was in the files and is not in the graphs."""
    reports = reports_of(found)
    return {
        "repeated": sum(report.duplicates for report in reports),
        "rejected": sum(report.rejected for report in reports),
        "literals": sum(report.literals for report in reports),
    }


def protect(found: na.Splits | na.KnowledgeGraph, *targets: Path) -> None:
    """Raise if one of the files to write is one that was read."""
    for report in reports_of(found):
        path = Path(report.path)
        source = next((place for place in (path, *path.parents) if place.exists()), path)  # a member of an archive
        for target in targets:
            if target.exists() and source.is_file() and target.samefile(source):
                raise na.DataError("this was read as input and would be overwritten: name another", path=target)


def reads(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of :func:`_reading`, and hand it their sum as ``reading``."""

    @functools.wraps(command)
    def run(**given: object) -> None:
        shared = {name: given.pop(name) for name in inspect.signature(_reading).parameters}
        command(**given, reading=_reading(**shared))  # type: ignore[arg-type]

    own = inspect.signature(command, eval_str=True).parameters.values()
    both = [p for p in own if p.name != "reading"] + [
        *inspect.signature(_reading, eval_str=True).parameters.values()
    ]
    run.__signature__ = inspect.Signature(both)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in both}
    del run.__wrapped__  # Typer must see the signature made here
    return run


def _reading(
    *,
    format_: Annotated[
        Format | None, typer.Option("--format", help="What the file is; else suffix and content tell.")
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option(help="What separates columns, if not a tab or, in CSV, a comma.")
    ] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of text files.")] = "utf-8",
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first line names the columns; else looked for."),
    ] = None,
    bad_lines: Annotated[
        Literal["error", "skip"],
        typer.Option(
            help="Stop at lines that are no triples, or leave them out and write them to a rejects file."
        ),
    ] = "error",
    rejects: Annotated[
        Path | None,
        typer.Option(help="Where --bad-lines skip writes lines left out; else <input>.rejects.tsv here."),
    ] = None,
    prefix: Annotated[
        str | None, typer.Option(help="In RDF, IRIs that start with this stand for plain names.")
    ] = None,
) -> Reading:
    if rejects is not None and bad_lines == "error":
        msg = "--rejects goes with --bad-lines skip"
        raise ValueError(msg)
    return Reading(na.ReadOptions(format_, encoding, header, bad_lines, prefix, delimiter=delimiter), rejects)


def parse_amount(text: str, total: int, option: str) -> int:
    """``5%`` of a total, or a plain number."""
    share, number = text.removesuffix("%"), text.isdecimal()
    if number:
        return int(text)
    try:
        value = float(share)
    except ValueError:
        value = -1.0
    if not text.endswith("%") or not 0 <= value < math.inf:
        msg = f"{option} {text}: must be a share such as 5% or a number such as 500"
        raise ValueError(msg)
    return int(total * value / 100)


def _write_rejects(path: Path, reports: list[na.ReadReport]) -> None:
    with replacing(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(("file", "line", "reason", "text"))
        for report in reports:
            writer.writerows((report.path, *reject) for reject in report.rejects)
