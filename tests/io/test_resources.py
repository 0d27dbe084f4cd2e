"""Memory and disk that do not suffice are errors that say so, and nothing is left behind."""

from __future__ import annotations

import errno
import gzip
import resource
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import nnmfaug as na
from nnmfaug.io import layouts, read as reading
from nnmfaug.io.resources import DiskError, temporary_file
from tests.io.files import put
from tests.io.test_layouts import pack_tar, pack_zip
from tests.io.toys import toy_folder


@contextmanager
def full_disk(size: int = 1000) -> Iterator[None]:
    """No file may grow beyond a size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)


@pytest.fixture
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The temporary folder of the machine; it must be empty afterwards."""
    folder = tmp_path / "machine"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


ROWS = b"".join(b"name %d\tlikes\tname %d\n" % (i, i + 1) for i in range(300))


@pytest.mark.parametrize("pack", [pack_tar, pack_zip])
def test_a_full_disk_while_unpacking_is_no_error_of_the_archive(
    tmp_path: Path, temp: Path, pack: Callable[[Path], bytes]
) -> None:
    folder = toy_folder(tmp_path / "toy")
    (folder / "train.txt").write_bytes(ROWS)
    archive = put(tmp_path, pack(folder), "toy.archive")
    with full_disk(), pytest.raises(DiskError, match=r"set TMPDIR") as caught:
        na.read_splits(archive)
    assert caught.value.errno == errno.EFBIG
    assert str(caught.value.filename).startswith(str(temp))


@pytest.mark.parametrize("name", ["graph.tsv", "graph.tsv.gz", "graph.parquet"])
def test_a_full_disk_while_copying_is_no_error_of_the_file(tmp_path: Path, temp: Path, name: str) -> None:
    path = tmp_path / name
    na.write_triples(na.read_triples(put(tmp_path, ROWS, "rows.tsv")), path)
    if name == "graph.tsv":
        path.write_bytes(b"# with a comment, a file is copied\n" + ROWS)
    with full_disk(), pytest.raises(DiskError, match=r"set TMPDIR") as caught:
        na.read_triples(path)
    assert str(caught.value.filename).startswith(str(temp))


def test_an_error_while_reading_is_not_one_of_the_disk(tmp_path: Path) -> None:
    def copy() -> None:
        with temporary_file(tmp_path / "copy") as write:
            write(b"some")
            raise gzip.BadGzipFile

    with pytest.raises(gzip.BadGzipFile):
        copy()


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
def test_memory_that_does_not_suffice_is_an_error_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    path = put(tmp_path, ROWS)
    folder = toy_folder(tmp_path / "toy")
    vocabulary = na.read_triples(path).vocabulary
    monkeypatch.setattr(reading, "detect_format", fail)
    monkeypatch.setattr(layouts, "find_split_files", fail)
    readers: list[tuple[Path, Callable[[], object]]] = [
        (path, lambda: na.read_triples(path)),
        (path, lambda: na.read_generated(path, vocabulary)),
        (folder, lambda: na.read_any(folder)),
    ]
    for place, read in readers:
        with pytest.raises(na.DataError, match=r"memory|deeply") as caught:
            read()
        assert caught.value.path == str(place)
