"""All writing: files that appear completely or not at all, alone or together, and only where that is allowed.

A file is written under a temporary name beside its target and renamed at the end. Of several files that belong
together the first is the one that makes the others readable: an old one is moved away before anything else, and
the new one comes last. So whenever a process is killed, a reader sees all old files, all new ones, or none.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import io
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

from nnmfaug.core.errors import DataError
from nnmfaug.core.signals import uninterrupted
from nnmfaug.io.stream import zstd
from nnmfaug.io.temporary import sweep, temporary_name

ADVICE = {
    errno.ENOSPC: "free some space, or write to another disk",
    errno.EDQUOT: "free some space, or write to another disk",
    errno.EROFS: "write to another folder",
    errno.EACCES: "write to another folder, or change its permissions",
    errno.EPERM: "write to another folder, or change its permissions",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENOTDIR: "a part of this path is a file; write to another folder",
    errno.EIO: "check the disk, or write to another one",
}
"""Error of the operating system → what to do."""


@contextmanager
def replacing(path: Path, *, overwrite: bool = True) -> Iterator[Path]:
    """Yield a draft of one file that takes its place at the end, or is removed on an error."""
    with replacing_all([path], overwrite=overwrite) as (draft,):
        yield draft


@contextmanager
def replacing_all(
    paths: Sequence[Path], *, overwrite: bool = True, obsolete: Sequence[Path] = ()
) -> Iterator[list[Path]]:
    """Yield drafts of files that take their places together at the end, or are removed on an error.

    Parameters
    ----------
    paths
        The first is that of the file without which the others are not read.
    obsolete
        Older files that are removed at the same moment.
    """
    targets = [find_target(path, overwrite=overwrite) for path in paths]
    new_folders = [folder for target in targets for folder in target.parents if not folder.exists()]
    drafts = [target.with_name(temporary_name()) for target in targets]
    try:
        with naming(paths[0]):
            for folder in {target.parent for target in targets}:
                folder.mkdir(parents=True, exist_ok=True)
                sweep(folder)
            for draft in drafts:
                draft.touch(exist_ok=False)
            yield drafts
            for draft, target in zip(drafts, targets, strict=True):
                _flush(draft)
                _keep_permissions(draft, target)
            with uninterrupted():
                for path in paths:
                    find_target(path, overwrite=overwrite)
                _put_in_place(drafts, targets, obsolete)
    except BaseException:
        for draft in drafts:
            draft.unlink(missing_ok=True)
        _remove_empty(new_folders)
        raise


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield the draft of a folder that must not exist yet; it appears at the end with all its files."""
    target = path.absolute()
    new_folders = [folder for folder in target.parents if not folder.exists()]
    draft = target.with_name(temporary_name())
    try:
        with naming(path):
            target.parent.mkdir(parents=True, exist_ok=True)
            sweep(target.parent)
            draft.mkdir()
            yield draft
            for file in draft.iterdir():
                _flush(file)
            draft.rename(target)
            _flush_folder(target.parent)
    except BaseException:
        with suppress(OSError):
            for file in draft.iterdir():
                file.unlink()
        _remove_empty([draft, *new_folders])
        raise


def find_target(path: Path, *, overwrite: bool) -> Path:
    """Return the file that a path leads to; raise if it may not be replaced."""
    try:
        target = path.resolve()  # the target of a link is replaced, not the link
        mode = target.stat().st_mode if target.exists() else None
    except (OSError, RuntimeError) as error:  # Python before 3.13 has a RuntimeError for links in a circle
        code = error.errno if isinstance(error, OSError) else errno.ELOOP
        raise explained(OSError(code, os.strerror(code or errno.ELOOP)), path) from None
    if target.is_symlink():
        raise explained(OSError(errno.ELOOP, os.strerror(errno.ELOOP)), path)
    if mode is None:
        return target
    if target.is_dir():
        raise DataError("this is a folder, but a file is needed", path=path)
    if not target.is_file():
        raise DataError("this is not a regular file, so it is not replaced: name another", path=path)
    if not overwrite:
        raise exists_already(path)
    return target


def exists_already(path: Path) -> FileExistsError:
    """Return the error for output that exists."""
    advice = "exists already: name another, or pass overwrite=True"
    return FileExistsError(errno.EEXIST, advice, str(path))


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let an error of the operating system about a file in preparation name ``path``, and say what to do."""
    try:
        yield
    except OSError as error:
        if isinstance(error, FileExistsError) or not _is_preparation(error.filename, path):
            raise
        raise explained(error, path) from None


def _is_preparation(place: object, path: Path) -> bool:
    """Whether an error is about a draft of a file, or about its folder; or about nothing that has a name."""
    if not isinstance(place, str):
        return place is None
    is_folder = os.path.realpath(place) == os.path.realpath(path.parent)
    return is_folder or Path(place).name.startswith(".nnmfaug-")


def explained(error: OSError, path: Path) -> OSError:
    """Return the error with the path of the user's file, and advice."""
    reason = error.strerror or str(error)
    advice = ADVICE.get(error.errno or 0)
    return type(error)(error.errno, f"{reason}: {advice}" if advice else reason, str(path))


def _put_in_place(drafts: Sequence[Path], targets: Sequence[Path], obsolete: Sequence[Path]) -> None:
    """Rename the drafts; old files are moved away first if there is more than one, and back on an error."""
    former = [targets[0], *obsolete, *targets[1:]] if len(targets) > 1 else []
    old = [path for path in former if path.exists()]
    moved: dict[Path, Path] = {}
    placed: list[Path] = []
    try:
        for target in old:
            aside = target.with_name(temporary_name("old"))
            target.replace(aside)
            moved[target] = aside
        for draft, target in reversed(list(zip(drafts, targets, strict=True))):
            draft.replace(target)
            placed.append(target)
    except OSError:
        for target in placed:
            target.unlink()
        for target, aside in reversed(moved.items()):
            aside.replace(target)
        raise
    for folder in {target.parent for target in targets}:
        _flush_folder(folder)
    for aside in moved.values():
        aside.unlink(missing_ok=True)


def _flush(draft: Path) -> None:
    """Wait until the content is on the disk."""
    with draft.open("rb+") as file:
        os.fsync(file.fileno())


def _keep_permissions(draft: Path, target: Path) -> None:
    if target.exists():
        shutil.copymode(target, draft)


def _flush_folder(folder: Path) -> None:
    """Wait until names are on the disk, where folders can be flushed."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _remove_empty(folders: Sequence[Path]) -> None:
    for folder in folders:
        with suppress(OSError):  # another program has written into it
            folder.rmdir()


def checksum(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def open_text(draft: Path, path: Path) -> Iterator[IO[str]]:
    """Open ``draft`` to write UTF-8, packed according to the suffix of ``path``."""
    with draft.open("wb") as file:
        packed = _packer(file, path.suffix.lower())
        text = io.TextIOWrapper(packed, encoding="utf-8", newline="")
        yield text
        text.flush()
        text.detach()
        if packed is not file:
            packed.close()


def _packer(file: IO[bytes], suffix: str) -> IO[bytes]:
    if suffix == ".gz":  # without name and time, which would change the bytes
        return cast("IO[bytes]", gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0))
    if suffix == ".bz2":
        return cast("IO[bytes]", bz2.BZ2File(file, "wb"))
    if suffix == ".zst":
        options: dict[int, int] = {zstd.CompressionParameter.checksum_flag: 1}
        return cast("IO[bytes]", zstd.ZstdFile(file, "wb", options=options))
    return file
