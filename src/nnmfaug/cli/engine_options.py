"""Options of every command that can share its work among processes or machines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

import typer

from nnmfaug.cli.console import say
from nnmfaug.cli.shared_options import receives
from nnmfaug.core.engines.base import current_engine, n_cores, running_on
from nnmfaug.core.engines.names import check_engine, engine_named


@dataclass(frozen=True)
class Workers:
    """Where a command runs its work.

    Parameters
    ----------
    engine
        Name of an engine.
    insecure
        Whether its scheduler may be on another machine without TLS.
    """

    engine: str = "serial"
    insecure: bool = False

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Start the engine, run everything inside the ``with`` block on it, and end it."""
        with engine_named(self.engine, insecure=self.insecure) as engine, running_on(engine):
            yield

    def note_if_crowded(self, threads: int) -> None:
        """Say so if workers on this machine, with this many threads each, have to share its cores."""
        n_workers = current_engine().n_workers
        is_here = "//" not in self.engine
        if is_here and n_workers > 1 and n_workers * threads > n_cores():
            say(
                f"note: {n_workers} workers with {threads} torch threads each share {n_cores()} cores; "
                "--threads 1 is faster. The number of threads may change the last digits of results"
            )


def _workers(
    *,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="ENGINE",
            help="Where the runs of compare and reproduce are made (other commands run here so far): serial; "
            "processes or processes:N, on this machine; dask or dask:N, a Dask cluster on this machine; or the "
            "address of a Dask scheduler, tls://HOST:8786 or tcp://HOST:8786. The results do not depend on it. "
            "Default: serial.",
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Short for --engine processes:N.")
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Accept a Dask scheduler on another machine without TLS.")
    ] = False,
) -> Workers:
    if engine is not None and workers is not None:
        msg = "--engine and --workers cannot be combined: leave out one of them"
        raise ValueError(msg)
    name = engine or ("serial" if workers is None else f"processes:{workers}")
    check_engine(name, insecure=insecure)
    return Workers(name, insecure)


uses_workers = receives("workers", _workers)
"""Adds ``--engine``, ``--workers`` and ``--insecure`` to a command."""
