"""Run a command in a forked process, kill it at a step, look at the disk, run it again, and look again."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import nnmfaug as na
from nnmfaug.cli import main
from nnmfaug.io import datasets
from tests.kill.commands import Command
from tests.kill.steps import Steps

Contents = dict[str, str]
"""File → digest of its content, without the times in it."""
TOY = b"an archive, as far as this test is concerned" * 100
TIMES = re.compile(rb'"seconds": \{[^}]*\}')
CHECKSUM = re.compile(rb'"checksum": "[0-9a-f]{64}"')


@dataclass(frozen=True)
class Outcome:
    """What is wrong after a command was killed and run again."""

    command: str
    step: int
    after: str
    mixture: str = ""
    rerun: str = ""
    leftovers: str = ""

    @property
    def is_good(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.mixture or self.rerun or self.leftovers)


@dataclass(frozen=True)
class Trial:
    """A command with the contents of its files before it and after it."""

    command: Command
    folder: Path
    old: Contents
    new: Contents
    steps: tuple[str, ...]

    def kill_at(self, step: int, folder: Path) -> Outcome:
        """Kill the command after a step, and run it again, in a folder of its own."""
        shutil.copytree(self.folder / "before", folder)
        run(self.command.arguments, folder, Steps(step))
        mixture = self.mixture(contents(folder))
        was_done = contents(folder) == self.new
        code = run(self.command.arguments, folder, Steps(None))
        rerun = "" if code == 0 or was_done else f"exit code {code}"
        if not rerun and contents(folder) != self.new:
            rerun = "other files than without a kill: " + differences(contents(folder), self.new)
        leftovers = ", ".join(temporary_files(folder))
        return Outcome(self.command.name, step, self.steps[step - 1], mixture, rerun, leftovers)

    def mixture(self, now: Contents) -> str:
        """Describe files that belong together and are partly old, partly new, or not all there."""
        for files in self.command.sets:
            if files[0] not in now:
                continue
            is_old = all(now.get(name) == self.old.get(name) for name in files)
            is_new = all(now.get(name) == self.new.get(name) for name in files)
            if not (is_old or is_new):
                return f"{files[0]} and the files that belong to it"
        return ""


def prepare(command: Command, folder: Path) -> Trial:
    """Make the input and the earlier output of a command, and run it once without a kill."""
    before = folder / "before"
    make_input(before)
    if command.before:
        assert run(command.before, before, Steps(None)) == 0
    after = folder / "after"
    shutil.copytree(before, after)
    steps = Steps(None)
    assert run(command.arguments, after, steps, record=folder / "steps") == 0
    names = tuple((folder / "steps").read_text().splitlines())
    return Trial(command, folder, contents(before), contents(after), names)


def load_once(*, training: bool) -> None:
    """Import what the commands import, so that a fork has it already."""
    if training:
        import nnmfaug.evaluation.document
        import nnmfaug.linkpred.train  # both are
    import nnmfaug.augmenters.output
    import nnmfaug.cli.app  # noqa: F401  # both are


def make_input(folder: Path) -> None:
    """Write a graph, as one file and in three, and a place for temporary files."""
    folder.mkdir(parents=True)
    (folder / "tmp").mkdir()
    splits = na.read_splits("nations")
    na.write_triples(splits.train, folder / "graph.tsv")
    na.write_splits(splits, folder / "data")


def run(arguments: Sequence[str], folder: Path, steps: Steps, *, record: Path | None = None) -> int:
    """Run the program in a forked process; return its exit code, negative if a signal ended it."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        code = _in_child(lambda: _run_here(arguments, folder, steps))
        if record is not None:
            record.write_text("\n".join(steps.done))
        os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _in_child(work: Callable[[], None]) -> int:
    try:
        work()
    except SystemExit as stop:
        return int(stop.code or 0)
    except BaseException:  # noqa: BLE001
        traceback.print_exc(file=sys.__stderr__)
        return 99
    return 0


def _run_here(arguments: Sequence[str], folder: Path, steps: Steps) -> None:
    os.chdir(folder)
    os.environ["TMPDIR"] = str(folder / "tmp")
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    os.environ.pop("NNMFAUG_DATA", None)
    _forget_temporary_folder()
    _serve_toy(steps)
    sys.argv = ["nnmfaug", *arguments]
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    steps.watch()
    main()


def _forget_temporary_folder() -> None:
    import tempfile

    from nnmfaug.io import temporary

    tempfile.tempdir = None
    temporary._PROCESS = os.urandom(4).hex()  # a fork is another process


def _serve_toy(steps: Steps) -> None:
    """Let the only data set to fetch be a small one that comes without a network."""
    import pooch

    toy = datasets.Dataset("dl50a", "a toy", "dL50a.tgz", hashlib.sha256(TOY).hexdigest())
    datasets.DATASETS = MappingProxyType({"dl50a": toy})

    def download(_url: str, path: str, _pooch: object) -> None:
        with Path(path).open("wb") as file:
            for half in (TOY[:1000], TOY[1000:]):
                file.write(half)
                file.flush()
                steps.step("part of a download")

    pooch.HTTPDownloader = lambda **_: download


def contents(folder: Path) -> Contents:
    """Return the digest of every file that is not temporary."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    files = [path for path in paths if not _is_temporary(path, folder) and path.parts[len(folder.parts)] != "tmp"]
    return {str(path.relative_to(folder)): _digest(path) for path in files}


def temporary_files(folder: Path) -> list[str]:
    """Return the temporary files and folders, and locks, that are there."""
    return [str(path.relative_to(folder)) for path in sorted(folder.rglob("*")) if _is_temporary(path, folder)]


def _is_temporary(path: Path, folder: Path) -> bool:
    parts = path.relative_to(folder).parts
    return any(part.startswith(".nnmfaug") for part in parts)


def _digest(path: Path) -> str:
    """Digest a file; times, and checksums of documents that have times, do not count."""
    data = path.read_bytes()
    if path.suffix == ".json":
        data = CHECKSUM.sub(b"", TIMES.sub(b"", data)) if b'"seconds"' in data else data
        data = json.dumps(json.loads(data), sort_keys=True).encode() if _is_json(data) else data
    return hashlib.sha256(data).hexdigest()


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


def differences(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Name the files that differ."""
    return ", ".join(sorted(name for name in {*one, *other} if one.get(name) != other.get(name)))
