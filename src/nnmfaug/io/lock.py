"""One owner at a time for a folder. The system gives a lock up when its process ends, so none is left behind."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from nnmfaug.core.errors import DataError
from nnmfaug.io.files import naming

if sys.platform != "win32":
    import fcntl

LOCK_FILE = ".nnmfaug.lock"
_owned: ContextVar[frozenset[Path]] = ContextVar("nnmfaug_locks", default=frozenset())
"""The folders that this process owns already."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Own a folder during the ``with`` block, and make it if need be; raise if another process owns it."""
    place = folder.resolve()
    if place in _owned.get():
        yield
        return
    with naming(folder):
        place.mkdir(parents=True, exist_ok=True)
        handle = _acquire(place, folder)
    token = _owned.set(_owned.get() | {place})
    try:
        yield
    finally:
        _owned.reset(token)
        with suppress(OSError):
            (place / LOCK_FILE).unlink()
        os.close(handle)
        with suppress(OSError):  # a folder in which nothing was written is not left behind
            place.rmdir()


def _acquire(place: Path, folder: Path) -> int:
    path = place / LOCK_FILE
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(handle)
        except BlockingIOError:
            owner = _owner(handle)
            os.close(handle)
            raise DataError(f"in use by {owner}: wait for it to end, or use another folder", path=folder) from None
        except OSError:  # a file system without locks
            return _signed(handle)
        if _is_current(handle, path):
            return _signed(handle)
        os.close(handle)  # its last owner has just removed the file


def _lock(handle: int) -> None:
    if sys.platform != "win32":  # which has no such locks: two processes are not kept apart there
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_current(handle: int, path: Path) -> bool:
    """Whether the file that was locked is still the one in the folder."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _signed(handle: int) -> int:
    """Write into the lock who has it, for the message to others."""
    started = time.strftime("%Y-%m-%d %H:%M:%S")
    text = json.dumps({"process": os.getpid(), "since": started}) + "\n"
    os.ftruncate(handle, 0)
    os.pwrite(handle, text.encode(), 0)
    return handle


def _owner(handle: int) -> str:
    try:
        owner = json.loads(os.pread(handle, 1000, 0))
        return f"process {int(owner['process'])} since {str(owner['since'])[:19]}"
    except (ValueError, LookupError, TypeError, OSError):  # the owner has not signed yet
        return "another process"
