"""Temporary files and folders, named after their process, so that those of a dead one can be removed."""

from __future__ import annotations

import hashlib
import itertools
import os
import platform
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

Kind = Literal["tmp", "old"]
"""What is being written, and what is moved out of its way."""

_HOST = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
_PROCESS = secrets.token_hex(4)
"""Tells this process from a dead one that had the same number."""
_NUMBERS = itertools.count()
_NAME = re.compile(r"\.nnmfaug-([0-9a-f]{8})-([0-9]{1,10})-([0-9a-f]{8})-[0-9]+\.(?:tmp|old)")


def temporary_name(kind: Kind = "tmp") -> str:
    """Return a name that no other temporary file has: hidden, short, and with its owner in it."""
    return f".nnmfaug-{_HOST}-{os.getpid()}-{_PROCESS}-{next(_NUMBERS)}.{kind}"


def sweep(folder: Path) -> None:
    """Remove the temporary files and folders of dead processes of this machine from a folder."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _is_orphan(entry.name):
                _remove(Path(entry.path))


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield a folder for intermediate files that exists during the ``with`` block."""
    home = Path(tempfile.gettempdir())
    sweep(home)
    folder = home / temporary_name()
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        _remove(folder)


def _is_orphan(name: str) -> bool:
    match = _NAME.fullmatch(name)
    if match is None:
        return False
    host, process, token = match.groups()
    if host != _HOST or token == _PROCESS:
        return False
    return int(process) == os.getpid() or not is_alive(int(process))


def is_alive(process: int) -> bool:
    """Whether a process of this machine is running; where that cannot be known, it is."""
    if os.name != "posix":  # os.kill would end it there
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _remove(path: Path) -> None:
    """Remove a file or folder; another process may be doing the same."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)
