"""Archives of strangers: nothing lands outside, bombs stop early, a damaged archive is not read as a whole one."""

from __future__ import annotations

import bz2
import gc
import gzip
import io
import os
import random
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

import nnmfaug as na
from nnmfaug.io.archive import unpack
from tests.limited import answer

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PARTS = {
    "train.txt": b"a\tlikes\tb\nb\tlikes\tc\n",
    "valid.txt": b"c\tknows\ta\n",
    "test.txt": b"a\tknows\ta\n",
}
DIGESTS = {
    name: na.KnowledgeGraph.from_labels([(h, r, t) for h, r, t in rows]).digest()
    for name, rows in {
        k[:-4]: [line.split("\t") for line in v.decode().splitlines()] for k, v in PARTS.items()
    }.items()
}
SMALL = na.Limits(max_bytes=1 << 20, max_ratio=20, free_bytes=1 << 16, max_members=5)


def tar_bytes(members: list[tuple[tarfile.TarInfo, bytes]], format_: int = tarfile.PAX_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=format_) as tar:
        for info, data in members:
            if info.isreg():
                info.size = len(data)
            tar.addfile(info, io.BytesIO(data) if info.isreg() else None)
    return buffer.getvalue()


def member(
    name: str, data: bytes = b"", *, kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, link, mode
    return info, data


def toy_members() -> list[tuple[tarfile.TarInfo, bytes]]:
    return [member(name, data) for name, data in PARTS.items()]


def zip_bytes(
    members: list[tuple[str | zipfile.ZipInfo, bytes]], compression: int = zipfile.ZIP_DEFLATED
) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


def toy_zip() -> bytes:
    return zip_bytes(list(PARTS.items()))


def zip_link(name: str, target: str) -> tuple[zipfile.ZipInfo, bytes]:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info, target.encode()


def encrypted(data: bytes) -> bytes:
    """Set the flag that says encrypted, in the local and the central header of the first member."""
    changed = bytearray(data)
    changed[6] |= 1
    changed[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(changed)


def sparse_tar() -> bytes:
    """A GNU sparse file that says it is 1 GiB, with nothing in it."""
    info = tarfile.TarInfo("train.txt")
    block = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    block[156:157] = b"S"
    block[483:495] = b"%011o\0" % (1 << 30)
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block) + bytes(1024)


def tree(folder: Path) -> dict[str, object]:
    """Everything below a folder, links not followed."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        data = path.read_bytes() if stat.S_ISREG(status.st_mode) else None
        found[str(path.relative_to(folder))] = (status.st_mode, data)
    return found


@pytest.fixture(scope="module", autouse=True)
def collected() -> Iterator[None]:
    """Files that were left open are found here, not in the tests of another module."""
    yield
    gc.collect()


@pytest.fixture
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that stands for the machine's temporary folder; it must be empty afterwards."""
    folder = tmp_path / "machine" / "tmp"
    folder.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == [], "something was left in the temporary folder"


def digests(splits: na.Splits) -> dict[str, str]:
    return {name: part.digest() for name, part in splits.items()}


def read_bytes(data: bytes, path: Path, limits: na.Limits | None = None) -> na.Splits:
    path.write_bytes(data)
    return na.read_splits(path, na.ReadOptions(limits=limits or na.Limits()))


HOSTILE: dict[str, bytes] = {
    "dot dot": tar_bytes([*toy_members(), member("../x", b"evil")]),
    "dot dot inside": tar_bytes([*toy_members(), member("a/../../../x", b"evil")]),
    "absolute": tar_bytes([*toy_members(), member("/nnmfaug-evil", b"evil")]),
    "symlink": tar_bytes([*toy_members(), member("link", kind=tarfile.SYMTYPE, link="train.txt")]),
    "symlink then file through it": tar_bytes(
        [member("out", kind=tarfile.SYMTYPE, link=".."), member("out/x", b"evil"), *toy_members()]
    ),
    "hardlink": tar_bytes([*toy_members(), member("link", kind=tarfile.LNKTYPE, link="train.txt")]),
    "hardlink outside": tar_bytes([member("link", kind=tarfile.LNKTYPE, link="/etc/passwd"), *toy_members()]),
    "character device": tar_bytes([*toy_members(), member("null", kind=tarfile.CHRTYPE)]),
    "block device": tar_bytes([*toy_members(), member("disk", kind=tarfile.BLKTYPE)]),
    "fifo": tar_bytes([*toy_members(), member("pipe", kind=tarfile.FIFOTYPE)]),
    "train is a fifo": tar_bytes([member("train.txt", kind=tarfile.FIFOTYPE), *toy_members()[1:]]),
    "duplicate": tar_bytes([*toy_members(), member("train.txt", b"x\tr\ty\n")]),
    "duplicate spelled otherwise": tar_bytes([*toy_members(), member("./train.txt", b"x\tr\ty\n")]),
    "file and folder": tar_bytes([*toy_members(), member("a", b"x"), member("a/b", b"evil")]),
    "folder and file": tar_bytes([*toy_members(), member("a/b", b"x"), member("a", b"evil")]),
    "drive": tar_bytes([*toy_members(), member("C:\\x", b"evil")]),
    "drive with slash": tar_bytes([*toy_members(), member("c:/x", b"evil")]),
    "backslashes": tar_bytes([*toy_members(), member("..\\..\\x", b"evil")]),
    "network path": tar_bytes([*toy_members(), member("\\\\host\\share\\x", b"evil")]),
    "sparse": sparse_tar(),
    "name is a dot": tar_bytes([*toy_members(), member(".", b"evil")]),
    "name is empty": tar_bytes([*toy_members(), member("", b"evil")]),
    "name too long for a disk": tar_bytes([*toy_members(), member("x" * 400, b"evil")]),
    "name with a null": tar_bytes([*toy_members(), member("é\0x", b"evil")]),
    "zip dot dot": zip_bytes([*PARTS.items(), ("../x", b"evil")]),
    "zip absolute": zip_bytes([*PARTS.items(), ("/nnmfaug-evil", b"evil")]),
    "zip backslashes": zip_bytes([*PARTS.items(), ("..\\x", b"evil")]),
    "zip drive": zip_bytes([*PARTS.items(), ("C:\\x", b"evil")]),
    "zip symlink": zip_bytes([*PARTS.items(), zip_link("link", "/etc/passwd")]),
    "zip symlink then file": zip_bytes([zip_link("out", ".."), ("out/x", b"evil"), *PARTS.items()]),
    "zip encrypted": encrypted(toy_zip()),
    "zip name is a dot": zip_bytes([*PARTS.items(), (".", b"evil")]),
    "zip file and folder": zip_bytes([*PARTS.items(), ("a", b"x"), ("a/b", b"evil")]),
    "zip name too long": zip_bytes([*PARTS.items(), ("x" * 400, b"evil")]),
}


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
@pytest.mark.parametrize("name", [*HOSTILE, "zip duplicate"])
def test_a_hostile_archive_is_refused_and_nothing_lands_outside(name: str, temp: Path, tmp_path: Path) -> None:
    data = HOSTILE.get(name) or zip_bytes([*PARTS.items(), ("train.txt", b"x\tr\ty\n")])
    evil = Path("/nnmfaug-evil")
    assert not evil.exists()
    for path in (tmp_path / "evil.any", tmp_path / "evil.gz"):
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" and data[:2] != b"PK" else data)
        before = tree(tmp_path)
        with pytest.raises(na.DataError) as caught:
            na.read_splits(path)
        assert str(path) in str(caught.value), "the message must name the archive"
        assert str(temp) not in str(caught.value), "the message must not name a folder that is gone"
        assert tree(tmp_path) == before
        assert not evil.exists()


@pytest.mark.parametrize("name", ["dot dot", "absolute", "symlink then file through it", "zip dot dot", "drive"])
def test_unpacking_a_hostile_archive_writes_only_below_its_folder(name: str, tmp_path: Path) -> None:
    target = tmp_path / "parent" / "target"
    target.mkdir(parents=True)
    (tmp_path / "evil").write_bytes(HOSTILE[name])
    with pytest.raises(na.DataError):
        unpack(tmp_path / "evil", target, na.Limits())
    for path in target.rglob("*"):
        assert not path.is_symlink()
    assert sorted(path.name for path in (tmp_path / "parent").iterdir()) == ["target"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evil", "parent"]


def test_setuid_and_other_modes_are_not_taken_over(tmp_path: Path) -> None:
    members = [member(name, data, mode=0o7777) for name, data in PARTS.items()]
    (tmp_path / "x.tar").write_bytes(tar_bytes(members))
    (tmp_path / "out").mkdir()
    unpack(tmp_path / "x.tar", tmp_path / "out", na.Limits())
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == PARTS
    for path in (tmp_path / "out").iterdir():
        assert not path.stat().st_mode & 0o7111
    assert digests(na.read_splits(tmp_path / "x.tar")) == DIGESTS


def test_a_folder_that_forbids_reading_is_read_all_the_same(temp: Path, tmp_path: Path) -> None:
    folder = member("data", kind=tarfile.DIRTYPE, mode=0)
    parts = [member(f"data/{name}", data, mode=0) for name, data in PARTS.items()]
    assert temp.is_dir()
    assert digests(read_bytes(tar_bytes([folder, *parts]), tmp_path / "x.tar")) == DIGESTS


@pytest.mark.parametrize("format_", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_every_tar_format_with_long_names_is_read(format_: int, temp: Path, tmp_path: Path) -> None:
    long = "d" * 90 + "/" + "e" * 50
    parts = [member(f"{long}/{name}", data) for name, data in PARTS.items()]
    assert temp.is_dir()
    assert digests(read_bytes(tar_bytes(parts, format_), tmp_path / "x.tar")) == DIGESTS


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_too_many_members_are_refused_with_the_limit(kind: str, temp: Path, tmp_path: Path) -> None:
    extra = [(f"extra{i}", b"x") for i in range(3)]
    data = (
        zip_bytes([*PARTS.items(), *extra])
        if kind == "zip"
        else tar_bytes([*toy_members(), *(member(*pair) for pair in extra)])
    )
    assert temp.is_dir()
    with pytest.raises(na.DataError, match="more than 5 files"):
        read_bytes(data, tmp_path / "x", SMALL)
    assert digests(read_bytes(data, tmp_path / "x", na.Limits(max_members=6))) == DIGESTS


# --- bombs -----------------------------------------------------------------------------------------------------

LINE = b"a\tlikes\tb\n"


def bombs(size: int) -> dict[str, bytes]:
    lines = LINE * (size // len(LINE))
    in_tar = tar_bytes([*toy_members(), member("bomb.bin", bytes(size))])
    train = tar_bytes([member("train.txt", lines)])
    return {
        "x.gz": gzip.compress(lines),
        "x.bz2": bz2.compress(lines),
        "x.zst": zstd.compress(lines),
        "x.tar.gz": gzip.compress(in_tar),
        "x.tar.bz2": bz2.compress(train),
        "x.tar.zst": zstd.compress(in_tar),
        "x.zip": zip_bytes([*PARTS.items(), ("bomb.bin", bytes(size))]),
        "bzip2.zip": zip_bytes([*PARTS.items(), ("bomb.bin", bytes(size))], zipfile.ZIP_BZIP2),
        "inner.tar": tar_bytes([member("train.txt.gz", gzip.compress(lines))]),
        "inner.zip": zip_bytes([("train.txt.zst", zstd.compress(lines))], zipfile.ZIP_STORED),
        "name.tar.gz": gzip.compress(tar_bytes([member("x" * size, b"")], tarfile.GNU_FORMAT)),
        "pax.tar.gz": gzip.compress(tar_bytes([member("é" * (size // 2), b"")])),
    }


@pytest.fixture(scope="module")
def small_bombs() -> dict[str, bytes]:
    return bombs(4 << 20)


@pytest.mark.parametrize("name", list(bombs(100)))
def test_a_bomb_stops_at_the_limits_with_little_memory(
    name: str, small_bombs: dict[str, bytes], temp: Path, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(small_bombs[name])
    assert temp.is_dir()
    na.read_any("nations")  # so that no module is loaded for the first time below
    tracemalloc.start()
    try:
        with pytest.raises(na.DataError, match=r"unpacks to .*unpack it yourself"):
            na.read_any(path, na.ReadOptions(limits=SMALL))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 12 << 20


@pytest.mark.parametrize("name", ["x.gz", "x.zst", "x.tar.gz", "x.zip"])
def test_the_byte_limit_alone_stops_a_bomb(
    name: str, small_bombs: dict[str, bytes], temp: Path, tmp_path: Path
) -> None:
    assert temp.is_dir()
    (tmp_path / name).write_bytes(small_bombs[name])
    limits = na.Limits(max_bytes=1 << 20, max_ratio=10**9)
    with pytest.raises(na.DataError, match="unpacks to"):
        na.read_any(tmp_path / name, na.ReadOptions(limits=limits))


@pytest.mark.parametrize("name", ["x.gz", "x.zst", "x.bz2"])
def test_a_small_file_that_packs_well_is_no_bomb(
    name: str, small_bombs: dict[str, bytes], temp: Path, tmp_path: Path
) -> None:
    assert temp.is_dir()
    (tmp_path / name).write_bytes(small_bombs[name])
    found = na.read_any(tmp_path / name)
    assert isinstance(found, na.KnowledgeGraph)
    assert found.labels() == [("a", "likes", "b")]


MEASURE = """
import resource, sys
import nnmfaug as na
na.read_any("nations")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    na.read_any(sys.argv[1])
except na.DataError as error:
    print("refused" if "unpacks to more than" in str(error) else error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize("kind", ["gz", "zst", "tar.gz", "tar.zst"])
@pytest.mark.slow
def test_a_bomb_of_300_mb_stops_with_default_limits(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("resource", reason="memory is measured with the module resource, which Windows lacks")
    machine = tmp_path / "machine"
    machine.mkdir()
    path = tmp_path / f"bomb.{kind}"
    block = bytes(1 << 20)
    with gzip.open(path, "wb", 6) if kind.endswith("gz") else zstd.open(path, "wb") as file:
        if kind.startswith("tar"):
            info = tarfile.TarInfo("train.txt")
            info.size = 300 << 20
            file.write(info.tobuf())
        for _ in range(300):
            file.write(block)
    environment = {**os.environ, "TMPDIR": str(machine)}
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=True, env=environment
    )
    answer, grown = done.stdout.split()
    assert answer == "refused"
    assert int(grown) < 300
    assert list(machine.iterdir()) == []


# --- damage ----------------------------------------------------------------------------------------------------


def outcome(data: bytes, folder: Path, whole: dict[str, bytes] = PARTS) -> str:
    """'refused', 'whole', or what came out instead; an error that is no DataError is what came out, too."""
    folder.mkdir()
    (folder / "archive").write_bytes(data)
    (folder / "out").mkdir()
    try:
        unpack(folder / "archive", folder / "out", na.Limits())
        found = {str(path.relative_to(folder / "out")): path.read_bytes() for path in (folder / "out").rglob("*")}
        return "whole" if found == whole else f"only {sorted(found)}"
    except na.DataError:
        return "refused"
    except Exception as error:  # noqa: BLE001  # whatever it is, it is a finding
        return repr(error)
    finally:
        shutil.rmtree(folder)


def cuts(data: bytes, count: int = 120) -> list[int]:
    edges = {i + d for i in range(0, len(data), 512) for d in (-1, 0, 1)}
    chosen = random.Random(0).sample(range(len(data)), min(count, len(data)))
    return sorted(i for i in edges.union(chosen) if 0 <= i < len(data))


def damaged(data: bytes, place: int, mask: int) -> bytes:
    return data[:place] + bytes([data[place] ^ mask]) + data[place + 1 :]


TAR = tar_bytes(toy_members())
FULL = {name: data + b"\n" * (-len(data) % 512) for name, data in PARTS.items()}
WHOLE = {
    "tar": TAR,
    "tar of full blocks": tar_bytes([member(name, data) for name, data in FULL.items()]),
    "tar.gz": gzip.compress(TAR),
    "tar.bz2": bz2.compress(TAR),
    "tar.zst": zstd.compress(TAR),
    "zip": toy_zip(),
}


@pytest.mark.parametrize("kind", WHOLE)
def test_a_cut_archive_never_loses_a_split_silently(kind: str, tmp_path: Path) -> None:
    data, parts = WHOLE[kind], FULL if kind == "tar of full blocks" else PARTS
    assert outcome(data, tmp_path / "whole", parts) == "whole"
    found = {place: outcome(data[:place], tmp_path / "cut", parts) for place in cuts(data)}
    if data[257:262] == b"ustar":  # the end mark begins after three headers and three blocks
        assert {place: what for place, what in found.items() if place > 3072 and what != "whole"}.keys() <= set(
            range(3072 + 512)
        )
        found = {place: what for place, what in found.items() if place <= 3072}
    assert {place: what for place, what in found.items() if what != "refused"} == {}


@pytest.mark.parametrize("kind", WHOLE)
def test_a_cut_archive_is_not_read_as_splits(kind: str, temp: Path, tmp_path: Path) -> None:
    assert temp.is_dir()
    data = WHOLE[kind]
    end = 3072 if data[257:262] == b"ustar" else len(data)
    for place in (end // 4, end // 2, end - 1024, end - 512, end - 1):
        with pytest.raises(na.DataError):
            read_bytes(data[: max(place, 5)], tmp_path / "cut")


def test_a_damaged_header_in_a_tar_never_loses_a_split_silently(tmp_path: Path) -> None:
    found = {
        place: outcome(damaged(TAR, place, 0x11), tmp_path / "damaged")
        for header in (0, 1024, 2048)
        for place in range(header, header + 512, 7)
    }
    assert {place: what for place, what in found.items() if what not in ("refused", "whole")} == {}


def test_a_damaged_header_in_a_tar_is_not_read_as_splits(temp: Path, tmp_path: Path) -> None:
    assert temp.is_dir()
    with pytest.raises(na.DataError):
        read_bytes(damaged(TAR, 1024 + 150, 1), tmp_path / "damaged.tar")
    with pytest.raises(na.DataError):
        read_bytes(gzip.compress(damaged(TAR, 2048 + 150, 1)), tmp_path / "damaged.tar.gz")


def test_a_tar_with_zeros_in_its_middle_never_loses_a_split_silently(tmp_path: Path) -> None:
    for header in (1024, 2048):
        assert outcome(TAR[:header] + bytes(512) + TAR[header + 512 :], tmp_path / "damaged") == "refused"
    assert outcome(TAR[:1024] + bytes(1024) + TAR[2048:], tmp_path / "damaged") == "refused"


@pytest.mark.parametrize("method", ["stored", "deflated", "bzip2", "lzma"])
def test_one_wrong_byte_in_a_zip_never_loses_a_split_silently(method: str, tmp_path: Path) -> None:
    data = zip_bytes(list(PARTS.items()), getattr(zipfile, f"ZIP_{method.upper()}"))
    assert outcome(data, tmp_path / "whole") == "whole"
    found = {place: outcome(damaged(data, place, 0x81), tmp_path / "damaged") for place in range(len(data))}
    assert {place: what for place, what in found.items() if what not in ("refused", "whole")} == {}


@pytest.mark.parametrize("kind", ["tar.gz", "tar.bz2"])
def test_one_wrong_byte_in_a_packed_tar_never_loses_a_split_silently(kind: str, tmp_path: Path) -> None:
    data = WHOLE[kind]
    found = {place: outcome(damaged(data, place, 0x10), tmp_path / "damaged") for place in range(4, len(data))}
    assert {place: what for place, what in found.items() if what not in ("refused", "whole")} == {}
    assert list(found.values()).count("whole") <= 8


@pytest.mark.parametrize(
    "headers",
    [
        {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "x"},
        {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "5"},
        {"GNU.sparse.map": "a,b"},
        {"GNU.sparse.size": "x"},
        {"GNU.sparse.size": "5", "GNU.sparse.offset": "x", "GNU.sparse.numbytes": "y"},
    ],
)
def test_wrong_numbers_in_sparse_headers_are_refused(headers: dict[str, str], tmp_path: Path) -> None:
    members = toy_members()
    members[2][0].pax_headers = headers
    assert outcome(tar_bytes(members), tmp_path / "pax") == "refused"


@pytest.mark.parametrize("name", ["zip dot dot", "dot dot"])
def test_a_refused_archive_is_closed(name: str, tmp_path: Path) -> None:
    path = tmp_path / "evil"
    path.write_bytes(HOSTILE[name])
    with pytest.raises(na.DataError) as caught:
        na.read_splits(path)
    assert str(path) not in [file.path for file in psutil.Process().open_files()], caught.value


def test_an_archive_in_an_archive_is_not_read(temp: Path, tmp_path: Path) -> None:
    assert temp.is_dir()
    with pytest.raises(na.DataError, match="an archive, but one file"):
        read_bytes(tar_bytes([member("train.txt", TAR)]), tmp_path / "outer.tar")
    with pytest.raises(na.DataError, match="packed twice"):
        read_bytes(tar_bytes([member("train.txt", gzip.compress(gzip.compress(LINE)))]), tmp_path / "outer.tar")


DEPTHS = (300, 600, 900, 1200, 1500, 1800)


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_an_archive_of_folders_in_folders_is_refused(kind: str, temp: Path, tmp_path: Path) -> None:
    names = ["a/" * depth + "x.txt" for depth in DEPTHS]
    tar = tar_bytes([member(name, b"x") for name in names])
    data = tar if kind == "tar" else zip_bytes([(name, b"x") for name in names])
    with pytest.raises(na.DataError, match="more than 32 folders deep"):
        read_bytes(data, tmp_path / f"deep.{kind}")
    assert temp.exists()


@pytest.fixture
def deep_folder(tmp_path: Path) -> Iterator[Path]:
    """Folders 1,200 deep, removed from the inside: shutil.rmtree would recurse."""
    depths = range(1, 1201)
    paths = [f"{tmp_path}/deep{'/a' * depth}" for depth in depths]
    (tmp_path / "deep").mkdir()
    for path in paths:
        os.mkdir(path)  # noqa: PTH102 (Path would parse each)
    yield tmp_path / "deep"
    for path in reversed(paths):
        os.rmdir(path)  # noqa: PTH106


def test_a_folder_of_folders_in_folders_is_refused(deep_folder: Path) -> None:
    with pytest.raises(na.DataError, match="more than 32 deep"):
        na.read_any(deep_folder)


@pytest.mark.parametrize("depth", [5, 30])
def test_folders_may_be_nested(depth: int, tmp_path: Path) -> None:
    name = "a/" * depth
    data = tar_bytes([member(f"{name}{part}", rows) for part, rows in PARTS.items()])
    assert digests(read_bytes(data, tmp_path / "deep.tar")) == DIGESTS


def pax_tar(headers: dict[str, str]) -> bytes:
    info, data = member("train.txt", PARTS["train.txt"])
    info.pax_headers = headers
    return tar_bytes([(info, data)])


@pytest.mark.parametrize("word", ["comment", "GNU.sparse.size", "path"])
def test_a_long_number_in_a_header_of_a_tar_is_refused(word: str, tmp_path: Path) -> None:
    path = tmp_path / "digits.tar"
    path.write_bytes(pax_tar({word: "1" * 900_000}))
    assert "a number in a header is too long" in answer(path)


def test_a_long_header_of_a_tar_is_refused(temp: Path, tmp_path: Path) -> None:
    with pytest.raises(na.DataError, match="a header is too long"):
        read_bytes(pax_tar({"comment": "x" * (1 << 21)}), tmp_path / "long.tar")
    assert temp.exists()


def test_words_for_all_members_of_a_tar_are_limited(tmp_path: Path) -> None:
    words = {f"word{i}": "x" for i in range(2000)}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", pax_headers=words) as tar:
        for info, data in (*toy_members(), member("b" * 200)):
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    with pytest.raises(na.DataError, match="a header is too long"):
        read_bytes(buffer.getvalue(), tmp_path / "words.tar")


def test_an_lzma_dictionary_larger_than_the_memory_is_refused(tmp_path: Path) -> None:
    data = bytearray(zip_bytes(list(PARTS.items()), zipfile.ZIP_LZMA))
    properties = data.index(b"train.txt") + len("train.txt") + 4  # behind two numbers: version, length
    data[properties + 1 : properties + 5] = b"\xff\xff\xff\xff"
    path = tmp_path / "dictionary.zip"
    path.write_bytes(data)
    assert "not a readable archive" in answer(path, memory=2 << 30)
