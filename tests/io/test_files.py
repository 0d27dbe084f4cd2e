"""Writing: files appear whole, together, only where that is allowed, and errors name them."""

from __future__ import annotations

import errno
import os
import signal
import stat
from pathlib import Path

import pytest

from nnmfaug.core.errors import DataError
from nnmfaug.core.signals import uninterrupted
from nnmfaug.io import files
from nnmfaug.io.files import new_folder, replacing, replacing_all


def write(path: Path, text: str = "new", *, overwrite: bool = True) -> None:
    with replacing(path, overwrite=overwrite) as draft:
        draft.write_text(text)


def write_all(paths: list[Path], text: str = "new") -> None:
    with replacing_all(paths) as drafts:
        for draft in drafts:
            draft.write_text(text)


def write_drafts(good: Path, bad: Path) -> None:
    """Write one file, and fail at another."""
    good.write_text("new")
    bad.write_text("\udc80", encoding="utf-8")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# where writing is allowed


def test_existing_output_is_refused_unless_it_may_be_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    write(path, "old", overwrite=False)
    with pytest.raises(FileExistsError, match=r"exists already: name another, or pass overwrite=True: .*x\.tsv"):
        write(path, overwrite=False)
    assert path.read_text() == "old"
    write(path)
    assert path.read_text() == "new"


def test_output_that_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    with pytest.raises(FileExistsError), replacing(path, overwrite=False):
        path.write_text("of another")
    assert path.read_text() == "of another"
    assert names(tmp_path) == ["x.tsv"]


def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pipe.tsv"
    os.mkfifo(path)
    with pytest.raises(DataError, match="not a regular file, so it is not replaced"):
        write(path)
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_link_to_a_device_is_not_replaced(tmp_path: Path) -> None:
    link = tmp_path / "link.tsv"
    link.symlink_to("/dev/null")
    with pytest.raises(DataError, match="not a regular file"):
        write(link)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_link_in_a_circle_is_an_error_with_its_name(tmp_path: Path) -> None:
    link = tmp_path / "circle.tsv"
    link.symlink_to(link)
    with pytest.raises(OSError, match=r"circle\.tsv") as caught:
        write(link)
    assert caught.value.errno == errno.ELOOP


def test_a_link_stays_a_link_to_what_was_written(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link.tsv"
    link.symlink_to(tmp_path / "folder" / "x.tsv")
    write(link)
    assert link.is_symlink()
    assert (tmp_path / "folder" / "x.tsv").read_text() == "new"


def test_permissions_stay_those_of_the_file_that_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    write(path)
    path.chmod(0o600)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_new_file_has_the_permissions_that_the_user_gives_to_files(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        write(tmp_path / "x.tsv")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "x.tsv").stat().st_mode) == 0o640


# errors


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_an_error_of_the_disk_names_the_file_and_what_to_do(tmp_path: Path, code: int) -> None:
    path = tmp_path / "x.tsv"
    with pytest.raises(OSError, match=r"disk.*x\.tsv") as caught, replacing(path):
        raise OSError(code, os.strerror(code))
    assert caught.value.errno == code
    assert names(tmp_path) == []


def test_too_long_a_name_is_an_error_with_advice(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="choose a shorter name"):
        write(tmp_path / ("x" * 300))


def test_a_folder_without_permission_is_named_with_advice(read_only_folder: Path) -> None:
    with pytest.raises(PermissionError, match=r"change its permissions.*x\.tsv"):
        write(read_only_folder / "x.tsv")


def test_an_error_about_another_file_is_passed_on_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="input"), replacing(tmp_path / "x.tsv"):
        (tmp_path / "input").read_text()


# several files


def test_files_of_a_set_are_all_new_or_all_old(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("first", "second", "third")]
    write_all(paths, "old")
    with pytest.raises(UnicodeError), replacing_all(paths) as drafts:
        write_drafts(drafts[0], drafts[1])
    assert [path.read_text() for path in paths] == ["old"] * 3
    write_all(paths, "new")
    assert [path.read_text() for path in paths] == ["new"] * 3
    assert len(names(tmp_path)) == 3


def test_if_a_rename_fails_the_old_files_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [tmp_path / name for name in ("first", "second", "third")]
    write_all(paths, "old")
    replace = Path.replace

    def fail_at_second(source: Path, target: Path) -> Path:
        if target.name == "second" and source.suffix == ".tmp":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return replace(source, target)

    monkeypatch.setattr(Path, "replace", fail_at_second)
    with pytest.raises(OSError, match="check the disk"):
        write_all(paths, "new")
    assert [path.read_text() for path in paths] == ["old"] * 3
    assert len(names(tmp_path)) == 3


def test_the_first_file_is_moved_away_first_and_comes_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / name for name in ("first", "second", "third")]
    write_all(paths, "old")
    moves: list[str] = []
    replace = Path.replace

    def record(source: Path, target: Path) -> Path:
        moves.append(source.name if source in paths else f"new {target.name}")
        return replace(source, target)

    monkeypatch.setattr(Path, "replace", record)
    write_all(paths, "new")
    assert moves == ["first", "second", "third", "new third", "new second", "new first"]


def test_obsolete_files_go_when_the_new_ones_come(tmp_path: Path) -> None:
    (tmp_path / "obsolete").write_text("old")
    with replacing_all([tmp_path / "a", tmp_path / "b"], obsolete=[tmp_path / "obsolete"]):
        assert (tmp_path / "obsolete").exists()
    assert names(tmp_path) == ["a", "b"]


def test_a_new_folder_appears_with_all_its_files_or_not_at_all(tmp_path: Path) -> None:
    with new_folder(tmp_path / "deep" / "folder") as draft:
        (draft / "a").write_text("a")
        assert not (tmp_path / "deep" / "folder").exists()
    assert names(tmp_path / "deep" / "folder") == ["a"]
    with pytest.raises(UnicodeError), new_folder(tmp_path / "other" / "folder") as draft:
        write_drafts(draft / "a", draft / "b")
    assert names(tmp_path) == ["deep"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_until_all_files_are_in_place(tmp_path: Path, number: signal.Signals) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    before = signal.signal(number, lambda *_: pytest.exit("not reached", 1))
    arrived: list[int] = []
    signal.signal(number, lambda n, _: arrived.append(n))
    try:
        with uninterrupted():
            os.kill(os.getpid(), number)
            write_all(paths)
            assert arrived == []
    finally:
        signal.signal(number, before)
    assert arrived == [number]
    assert names(tmp_path) == ["a", "b"]


def test_zstd_notices_a_flipped_bit(tmp_path: Path) -> None:
    from nnmfaug.io.stream import zstd

    path = tmp_path / "x.tsv.zst"
    with replacing(path) as draft, files.open_text(draft, path) as file:
        file.writelines(f"a{i}\tr\tb\n" for i in range(1000))
    data = path.read_bytes()
    text = zstd.decompress(data)
    for bit in range(0, 8 * len(data), 37):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        try:
            assert zstd.decompress(bytes(flipped)) == text
        except zstd.ZstdError:
            continue
