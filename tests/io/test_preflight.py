"""What could not be written is refused before the work that leads to it."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from nnmfaug.core.errors import DataError
from nnmfaug.io.preflight import check_files, check_folder


def test_what_can_be_written_passes_and_nothing_is_left(tmp_path: Path) -> None:
    check_files([tmp_path / "a" / "b" / "x.tsv"], overwrite=False)
    check_folder(tmp_path / "c" / "d", size=1000)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_exists_is_refused_unless_it_may_be_overwritten(tmp_path: Path) -> None:
    paths = [tmp_path / "x.tsv", tmp_path / "x.tsv.json"]
    paths[1].write_text("")
    with pytest.raises(FileExistsError, match=r"x\.tsv\.json"):
        check_files(paths, overwrite=False)
    check_files(paths, overwrite=True)


@pytest.mark.parametrize("path", ["new/" + "x" * 300, "x" * 250 + ".scores.tsv", "y" * 300 + "/x.tsv"])
def test_too_long_a_name_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(OSError, match="choose a shorter name"):
        check_files([tmp_path / path], overwrite=False)


def test_a_disk_that_is_too_small_is_refused_with_both_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=5_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    check_folder(tmp_path, size=4_000_000)
    with pytest.raises(OSError, match=r"about 20\.1 MB are needed, 5\.0 MB are free: .*another disk") as caught:
        check_folder(tmp_path, size=20_000_000)
    assert caught.value.errno == errno.ENOSPC


def test_a_folder_without_permission_is_refused(read_only_folder: Path) -> None:
    with pytest.raises(PermissionError, match="runs"):
        check_folder(read_only_folder / "runs")


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="this is a file, but a folder is needed"):
        check_folder(tmp_path / "file" / "runs")
