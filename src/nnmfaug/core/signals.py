"""Steps that Ctrl-C and requests to end must not cut in two."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C and requests to end until the end of the ``with`` block."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread gets signals
        yield
        return
    arrived: list[int] = []
    handlers = [signal.signal(number, lambda n, _: arrived.append(n)) for number in SIGNALS]
    try:
        yield
    finally:
        for number, handler in zip(SIGNALS, handlers, strict=True):
            signal.signal(number, handler)
        for arrival in arrived[:1]:
            signal.raise_signal(arrival)


@contextmanager
def without_ctrl_c() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach, so that only this one reacts to it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which a new process inherits
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
