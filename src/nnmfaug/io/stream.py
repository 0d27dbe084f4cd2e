"""The bytes of a file, unpacked within limits, and its text as UTF-8."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

if sys.version_info >= (3, 14):
    from compression import zstd as zstd  # noqa: PLC0414
else:
    from backports import zstd as zstd  # noqa: PLC0414 (for files.py too)

from nnmfaug.core.errors import DataError
from nnmfaug.core.progress import report

Unpacker = Callable[[IO[bytes]], IO[bytes]]

BLOCK = 1 << 20
"""Number of bytes that are read at once."""
N_FIRST_BYTES = 512
"""Number of bytes that tell a binary file from a text, and its encoding."""

BZIP2_MARKS = (b"1AY&SY", b"\x17rE8P\x90")
"""The bytes after the level in a bzip2 file: a block, or the end. BZh alone may be the beginning of a name."""


def _unpack_gzip(file: IO[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", gzip.GzipFile(fileobj=file))


def _unpack_bzip2(file: IO[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", bz2.BZ2File(file))


def _unpack_zstd(file: IO[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", zstd.ZstdFile(file))


UNPACKERS: dict[bytes, Unpacker] = {
    b"\x1f\x8b\x08": _unpack_gzip,
    **{b"BZh%d" % level + mark: _unpack_bzip2 for level in range(1, 10) for mark in BZIP2_MARKS},
    b"\x28\xb5\x2f\xfd": _unpack_zstd,
}
"""First bytes of a packed file → its unpacker."""

WIDE_MARKS = {
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),  # first, for it begins with the mark of UTF-16
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}
"""Encoding → its byte order marks."""
WIDE_LETTERS = {"utf-32-le": (4, 0), "utf-32-be": (4, 3), "utf-16-le": (2, 0), "utf-16-be": (2, 1)}
"""Encoding → bytes per character, and the byte that an English letter uses; its others are zero."""

BYTE_MARKS = (codecs.BOM_UTF8, *WIDE_MARKS["utf-32"], *WIDE_MARKS["utf-16"], *UNPACKERS)
"""First bytes that are not part of a name: byte order marks, and marks of packed files."""

DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, zstd.ZstdError, OSError)
"""Errors of the unpackers for a damaged file."""


@dataclass(frozen=True)
class Limits:
    """Limits on the size of an unpacked file, against zip bombs, and on the length of a line.

    Parameters
    ----------
    max_bytes
        Largest unpacked size.
    max_ratio
        Largest ratio of unpacked to packed size, above the first ``free_bytes``.
    free_bytes
        Unpacked size below which the ratio is not checked: a small file of one repeated line packs very well.
    max_members
        Largest number of files in an archive.
    max_line
        Longest line in bytes.
    max_depth
        Largest number of folders that contain one another.
    """

    max_bytes: int = 1 << 36
    max_ratio: int = 200
    free_bytes: int = 1 << 24
    max_members: int = 10_000
    max_line: int = 1 << 20
    max_depth: int = 32

    def excess(self, n_unpacked: int, n_packed: int) -> str:
        """Say which limit an unpacked size exceeds; empty if none.

        Examples
        --------
        >>> Limits().excess(10**9, 10**6)
        'unpacks to more than 200 times its size'
        """
        if n_unpacked > self.max_bytes:
            return f"unpacks to more than {self.max_bytes:,} bytes"
        if n_unpacked > self.free_bytes + self.max_ratio * n_packed:
            return f"unpacks to more than {self.max_ratio} times its size"
        return ""


class _Unpacked(io.RawIOBase):
    """Reads through an unpacker, reports progress, and stops at the limits."""

    def __init__(self, file: IO[bytes], source: IO[bytes], shown: str, limits: Limits) -> None:
        self._file = file
        self._source = source
        self._shown = shown
        self._limits = limits
        self._size = max(os.fstat(file.fileno()).st_size, 1)
        self._n_unpacked = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        try:
            data = self._source.read(len(buffer))
        except DAMAGED as error:
            msg = f"truncated or damaged ({error}): download or pack the file again"
            raise DataError(msg, path=self._shown) from error
        buffer[: len(data)] = data
        self._n_unpacked += len(data)
        n_packed = self._file.tell()
        report(f"reading {Path(self._shown).name}", min(n_packed, self._size), self._size)
        if self._source is not self._file:
            self._check_limits(n_packed)
        return len(data)

    def _check_limits(self, n_packed: int) -> None:
        reason = self._limits.excess(self._n_unpacked, n_packed)
        if reason:
            raise DataError(f"{reason}: if you trust it, unpack it yourself first", path=self._shown)


@contextmanager
def open_stream(path: Path, limits: Limits, shown: str | None = None) -> Iterator[io.BufferedReader]:
    """Open a file; gzip, bzip2 and zstd are recognised by the first bytes and unpacked, whatever its name."""
    check_file(path, shown)
    with path.open("rb") as file:
        head = _first_bytes(file, shown or str(path))
        unpack = next((unpacker for mark, unpacker in UNPACKERS.items() if head.startswith(mark)), None)
        source = unpack(file) if unpack else file
        yield io.BufferedReader(_Unpacked(file, source, shown or str(path), limits), BLOCK)


def check_file(path: Path, shown: str | None = None) -> None:
    """Raise with advice unless a path is a regular file: to open a pipe without a writer would wait for ever."""
    if path.is_dir():
        raise DataError("a folder, but one file of triples is needed: use read_splits", path=shown or path)
    if not path.exists():
        raise DataError("no such file; use read_splits for a named data set", path=shown or path)
    if not path.is_file():
        raise DataError("not a regular file: save its content to a file first", path=shown or path)


def _first_bytes(file: IO[bytes], shown: str) -> bytes:
    try:
        head = file.read(16)
    except OSError as error:  # a file of /proc, or of a broken disk
        raise DataError(f"cannot be read ({error.strerror})", path=shown) from error
    file.seek(0)
    return head


def text_blocks(stream: IO[bytes], shown: str, encoding: str) -> Iterator[bytes]:
    """Yield the text of a stream as UTF-8 without a byte order mark, in blocks that end anywhere."""
    if is_utf8(encoding):
        return _utf8_blocks(stream, shown)
    return _recoded_blocks(stream, shown, encoding)


def _utf8_blocks(stream: IO[bytes], shown: str) -> Iterator[bytes]:
    block = stream.read(BLOCK)
    _refuse_wide(block[:N_FIRST_BYTES], shown)
    block = block.removeprefix(codecs.BOM_UTF8)
    while block:
        yield block
        block = stream.read(BLOCK)


def _recoded_blocks(stream: IO[bytes], shown: str, encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while block := stream.read(BLOCK):
            yield decoder.decode(block).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        raise DataError(f"not {encoding} text ({error}): pass another --encoding", path=shown) from error


def is_utf8(encoding: str) -> bool:
    """Whether this is one of the names of UTF-8."""
    return codecs.lookup(encoding).name == "utf-8"


def why_not_utf8(text: bytes) -> str:
    """Return the reason why bytes are not UTF-8; empty if they are."""
    if text.isascii():
        return ""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return f"byte 0x{text[error.start]:02X} is not UTF-8: pass --encoding, for example latin-1"
    return ""


def _refuse_wide(head: bytes, shown: str) -> None:
    encoding = wide_encoding(head)
    if encoding:
        raise DataError(f"this is {encoding[:6].upper()}: pass --encoding {encoding}", path=shown)


def wide_encoding(head: bytes) -> str:
    r"""Return the encoding of text that seems to be UTF-16 or UTF-32; empty if it does not.

    Most of it is also valid UTF-8, with zeros between the letters.

    Examples
    --------
    >>> wide_encoding("a\tlikes\tb\n".encode("utf-32")), wide_encoding(b"a\tlikes\tb\n")
    ('utf-32', '')
    """
    for encoding, marks in WIDE_MARKS.items():
        if head.startswith(marks):
            return encoding
    for encoding, (width, place) in WIDE_LETTERS.items():
        letters = head[place::width]
        n_visible = sum(letter > ord(" ") for letter in letters)
        n_zeros = head.count(0) - letters.count(0)
        n_others = max(len(head) - len(letters), 1)
        if n_zeros > 0.7 * n_others and n_visible >= len(letters) / 2 > 0:
            return encoding
    return ""
