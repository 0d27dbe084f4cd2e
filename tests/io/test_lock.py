"""A folder has one owner at a time."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nnmfaug.core.errors import DataError
from nnmfaug.io.lock import LOCK_FILE, locked

HOLD = """
import sys
from pathlib import Path
from nnmfaug.io.lock import locked
with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def owner_of(folder: Path) -> subprocess.Popen[str]:
    """Start a process that owns a folder until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "locked\n"
    return process


def test_a_second_process_is_refused_with_the_number_and_time_of_the_first(tmp_path: Path) -> None:
    with owner_of(tmp_path) as owner:
        pattern = (
            rf"{re.escape(str(tmp_path))}: in use by process {owner.pid} since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d"
        )
        with pytest.raises(DataError, match=pattern), locked(tmp_path):
            pass
        owner.communicate("")
    with locked(tmp_path):
        pass


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    with owner_of(tmp_path) as owner:
        owner.send_signal(signal.SIGKILL)
        owner.communicate()
    assert (tmp_path / LOCK_FILE).exists()
    with locked(tmp_path):
        pass
    assert not (tmp_path / LOCK_FILE).exists()


def test_work_that_owns_a_folder_may_lock_it_again(tmp_path: Path) -> None:
    with locked(tmp_path), locked(tmp_path / "." / "x" / ".."):
        assert (tmp_path / LOCK_FILE).exists()


def test_another_thread_is_refused(tmp_path: Path) -> None:
    errors: list[DataError] = []

    def try_it() -> None:
        try:
            with locked(tmp_path):
                pass
        except DataError as error:
            errors.append(error)

    with locked(tmp_path):
        thread = threading.Thread(target=try_it)
        thread.start()
        thread.join()
    assert len(errors) == 1
    assert f"process {os.getpid()}" in str(errors[0])


def test_a_folder_in_which_nothing_was_written_is_not_left_behind(tmp_path: Path) -> None:
    with locked(tmp_path / "new"):
        assert (tmp_path / "new").is_dir()
    assert not (tmp_path / "new").exists()
    with locked(tmp_path / "new"):
        (tmp_path / "new" / "file").write_text("")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["file"]


@pytest.mark.parametrize("content", ["", "not json", "[1]", '{"process": "x"}', '{"process": null, "since": 3}'])
def test_an_owner_that_has_not_signed_is_another_process(tmp_path: Path, content: str) -> None:
    with owner_of(tmp_path) as owner:
        (tmp_path / LOCK_FILE).write_text(content)
        with pytest.raises(DataError, match="in use by another process"), locked(tmp_path):
            pass
        owner.communicate("")
