"""The options of every command with an input: how to read it, and where lines that are no triples go."""

from __future__ import annotations

import csv
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

import nnmfaug as na
from nnmfaug.console import count, progress, say
from nnmfaug.io.options import Format


@dataclass(frozen=True)
class Reading:
    """How a command reads its input."""

    options: na.ReadOptions
    rejects: Path | None

    def read(self, source: str) -> na.Splits | na.KnowledgeGraph:
        """Read, tell what is odd, and write the lines left out to the rejects file."""
        with progress():
            found = na.read_any(source, self.options)
        graphs = [graph for _, graph in found.items()] if isinstance(found, na.Splits) else [found]
        reports = [graph.report for graph in graphs if graph.report is not None]
        for report in reports:
            for note in report.notes:
                say(f"note: {report.path}: {note}")
        if any(report.rejects for report in reports):
            path = self.rejects or Path(Path(source).name + ".rejects.tsv")
            _write_rejects(path, reports)
            left_out = count(sum(report.rejected for report in reports), "line")
            say(f"{left_out} left out; what they say and why is in {path}")
        return found


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
    return Reading(na.ReadOptions(format_, encoding, header, bad_lines, prefix), rejects)


def _write_rejects(path: Path, reports: list[na.ReadReport]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(("file", "line", "reason", "text"))
        for report in reports:
            writer.writerows((report.path, *reject) for reject in report.rejects)
