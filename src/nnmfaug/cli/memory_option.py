"""The option of every command that reads graphs of any size."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Annotated

import typer

from nnmfaug.cli.shared_options import runs_inside
from nnmfaug.core.memory import within_memory


def _within_memory(
    *,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory for large tables, such as 4GB; the rest of them goes to temporary files. Names, ids and "
            "matrices come on top. Default: 60% of this machine's.",
        ),
    ] = None,
) -> AbstractContextManager[None]:
    return within_memory(memory)


uses_memory = runs_inside(_within_memory)
"""Adds ``--memory`` to a command."""
