"""Engines by name, as they are typed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nnmfaug.core.checks import require
from nnmfaug.core.engines.base import Engine, Serial, n_cores
from nnmfaug.core.engines.dask import Dask, check_address
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
    check_engine(name, insecure=insecure)
    kind, _, rest = name.partition(":")
    n_workers = int(rest) if rest.isdecimal() else None
    if kind == "serial":
        yield Serial()
    elif kind == "processes":
        yield Processes(n_workers or n_cores())
    elif kind == "dask":
        with Dask.local(n_workers) as engine:
            yield engine
    else:
        with Dask.connect(name, insecure=insecure) as engine:
            yield engine


def check_engine(name: str, *, insecure: bool = False) -> None:
    """Raise unless a name is that of an engine, so that a typing error is found before any work.

    Examples
    --------
    >>> check_engine("dask:2")
    >>> check_engine("process")
    Traceback (most recent call last):
    ValueError: engine 'process': must be serial, processes, processes:N, dask, dask:N, ...
    """
    kind, colon, rest = name.partition(":")
    if rest.startswith("//"):
        check_address(name, insecure=insecure)
        return
    require(kind in ("serial", "processes", "dask"), f"engine {name!r}: must be {FORMS}")
    require(kind != "serial" or not colon, f"engine {name!r}: serial has no number; processes:N has")
    good = not colon or (rest.isdecimal() and len(rest) < 5 and int(rest) >= 1)
    require(good, f"engine {name!r}: a number of at least 1 must follow the colon")
