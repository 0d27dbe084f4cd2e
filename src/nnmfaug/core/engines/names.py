"""Engines by name, as they are typed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nnmfaug.core.checks import require
from nnmfaug.core.engines.base import Engine, Serial, n_cores
from nnmfaug.core.engines.dask import Dask
from nnmfaug.core.engines.processes import Processes

FORMS = "serial, processes, processes:N, dask, dask:N, tcp://HOST:PORT or tls://HOST:PORT"


@contextmanager
def engine_named(name: str, *, insecure: bool = False) -> Iterator[Engine]:
    """Start an engine, and end it afterwards.

    Parameters
    ----------
    name
        ``serial``; ``processes`` or ``dask``, with one worker for each core, or with a number, as in
        ``processes:4``; or the address of a Dask scheduler.
    insecure
        Whether a scheduler may be on another machine without TLS.

    Examples
    --------
    >>> with engine_named("processes:4") as engine:
    ...     engine
    Processes(workers=4)
    """
    kind, _, rest = name.partition(":")
    if rest.startswith("//"):
        with Dask.connect(name, insecure=insecure) as engine:
            yield engine
        return
    require(kind in ("serial", "processes", "dask"), f"engine {name!r}: must be {FORMS}")
    n_workers = _number(name, rest)
    if kind == "serial":
        require(n_workers is None, f"engine {name!r}: serial has no number; processes:N has")
        yield Serial()
    elif kind == "processes":
        yield Processes(n_workers or n_cores())
    else:
        with Dask.local(n_workers) as engine:
            yield engine


def _number(name: str, text: str) -> int | None:
    """Return the number behind a colon, None if there is no colon."""
    if ":" not in name:
        return None
    good = text.isdecimal() and len(text) < 5 and int(text) >= 1
    require(good, f"engine {name!r}: a number of at least 1 must follow the colon")
    return int(text)
