"""In a process that is to be killed: count the steps that change the disk, and stop dead at one of them."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

CALLS = ("replace", "rename", "unlink", "remove", "mkdir", "rmdir", "fsync", "ftruncate", "pwrite")


class Steps:
    """Steps that change the disk; after the one with the number ``last``, the process is killed."""

    def __init__(self, last: int | None) -> None:
        self.last = last
        self.done: list[str] = []

    def step(self, name: str) -> None:
        """Count a step."""
        self.done.append(name)
        if len(self.done) == self.last:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self) -> None:
        """Count every call from now on that renames, removes, makes, flushes or writes a file."""
        for name in CALLS:
            setattr(os, name, self._counting(name, getattr(os, name)))
        Path.touch = self._counting("touch", Path.touch)  # type: ignore[method-assign]
        Path.write_bytes = self._halves("write_bytes", Path.write_bytes)  # type: ignore[method-assign]
        Path.write_text = self._halves("write_text", Path.write_text)  # type: ignore[method-assign]
        shutil.copyfileobj = self._counting("copyfileobj", shutil.copyfileobj)

    def _counting(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **options: Any) -> Any:
            outcome = call(*args, **options)
            self.step(name)
            return outcome

        return counted

    def _halves(self, name: str, write: Callable[..., Any]) -> Callable[..., Any]:
        """Write a first half, count, write everything, count."""

        def written(path: Path, data: Any, **options: Any) -> Any:
            write(path, data[: len(data) // 2], **options)
            self.step(f"half of {name}")
            outcome = write(path, data, **options)
            self.step(name)
            return outcome

        return written
