"""Temporary files: removed at the end, and swept when their process is dead."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from nnmfaug.io import temporary
from nnmfaug.io.files import replacing
from nnmfaug.io.temporary import scratch_folder, sweep, temporary_name


def dead_process() -> int:
    """The number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def name_of(process: int, *, host: str = temporary._HOST) -> str:
    return f".nnmfaug-{host}-{process}-0123abcd-0.tmp"


def test_files_of_a_dead_process_are_swept_when_the_next_file_is_written(tmp_path: Path) -> None:
    dead = tmp_path / name_of(dead_process())
    dead.write_text("half a fi")
    (tmp_path / name_of(dead_process()).replace(".tmp", ".old")).mkdir()
    with replacing(tmp_path / "x.tsv") as draft:
        draft.write_text("new")
    assert [path.name for path in tmp_path.iterdir()] == ["x.tsv"]


def test_a_dead_process_may_have_had_the_number_of_this_one(tmp_path: Path) -> None:
    (tmp_path / name_of(os.getpid())).write_text("")
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name",
    [
        name_of(os.getppid()),
        name_of(1),
        name_of(999_999_999, host="00000000"),
        temporary_name(),
        ".nnmfaug.lock",
        ".x.tsv.tmp",
        "x.tsv",
        ".nnmfaug-x-1-y-0.tmp",
    ],
    ids=range(8),
)
def test_files_of_living_processes_other_machines_and_other_programs_stay(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("")
    sweep(tmp_path)
    assert (tmp_path / name).exists()


def test_a_folder_that_cannot_be_listed_is_not_swept(tmp_path: Path) -> None:
    sweep(tmp_path / "missing")


def test_scratch_folders_of_dead_processes_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    old = tmp_path / name_of(dead_process())
    old.mkdir()
    (old / "table").write_text("")
    with scratch_folder() as folder:
        (folder / "table").write_text("")
        assert [path.name for path in tmp_path.iterdir()] == [folder.name]
    assert list(tmp_path.iterdir()) == []


def test_names_differ_and_are_short() -> None:
    assert len({temporary_name() for _ in range(100)}) == 100
    assert len(temporary_name()) < 64
