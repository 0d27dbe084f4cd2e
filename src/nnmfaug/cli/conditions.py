"""Options that restrict generated triples: to some names, to a number per relation, to triples not in a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import nnmfaug as na
from nnmfaug.cli.reading import Reading
from nnmfaug.core.commands import command
from nnmfaug.io.datasets import find

if TYPE_CHECKING:
    from nnmfaug.augmenters.conditions import Conditions

Relations = Annotated[
    list[str] | None, typer.Option("--relation", metavar="NAME", help="Only this relation. Repeatable.")
]
Heads = Annotated[list[str] | None, typer.Option("--head", metavar="NAME", help="Only this head. Repeatable.")]
Tails = Annotated[list[str] | None, typer.Option("--tail", metavar="NAME", help="Only this tail. Repeatable.")]
Quotas = Annotated[
    list[str] | None,
    typer.Option("--quota", metavar="RELATION=N", help="Number of triples of one relation. Repeatable."),
]
Exclude = Annotated[Path | None, typer.Option(metavar="FILE", help="File of triples that are never generated.")]


@dataclass(frozen=True)
class ConditionOptions:
    """Conditions as typed; None where an option was left out."""

    relations: list[str] | None
    heads: list[str] | None
    tails: list[str] | None
    quotas: list[str] | None
    exclude: Path | None

    def conditions(self, train: na.KnowledgeGraph, reading: Reading) -> Conditions:
        """Return the conditions; raise if train does not contain a name."""
        from nnmfaug.augmenters.conditions import Conditions

        conditions = Conditions(
            _names(self.relations),
            _names(self.heads),
            _names(self.tails),
            _read_exclude(self.exclude, reading),
            _parse_quotas(self.quotas),
        )
        conditions.check(train.vocabulary)
        return conditions


def _names(options: list[str] | None) -> tuple[str, ...] | None:
    return tuple(options) if options else None


def _parse_quotas(options: list[str] | None) -> dict[str, int] | None:
    quotas = {}
    for text in options or ():
        relation, equals, number = text.rpartition("=")
        if not equals or not number.isdecimal():
            msg = f"--quota {text}: must be a relation and a number, such as likes=100"
            raise ValueError(msg)
        if relation in quotas:
            msg = f"--quota {text}: {relation!r} is named twice"
            raise ValueError(msg)
        quotas[relation] = int(number)
    return quotas or None


def _read_exclude(path: Path | None, reading: Reading) -> na.KnowledgeGraph | None:
    if path is None:
        return None
    if path.is_file():
        return na.read_triples(path, reading.options)
    if not path.is_dir() and find(str(path)) is None:
        raise na.DataError("--exclude: no such file", path=path)
    kind = "a folder" if path.is_dir() else "the name of a data set"
    to_make_one = command("nnmfaug", "convert", path, "known.tsv", "--split", "all")
    raise na.DataError(
        f"--exclude needs a file of triples, this is {kind}. To make one, run: {to_make_one}", path=path
    )
