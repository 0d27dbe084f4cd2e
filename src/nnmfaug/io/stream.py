"""The bytes of a file, unpacked within limits, and the blocks of whole lines that readers work on."""

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

BYTE_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, *UNPACKERS)
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
    """

    max_bytes: int = 1 << 36
    max_ratio: int = 200
    free_bytes: int = 1 << 24
    max_members: int = 10_000
    max_line: int = 1 << 20


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
        limits = self._limits
        if self._n_unpacked > limits.max_bytes:
            reason = f"unpacks to more than {limits.max_bytes:,} bytes"
        elif self._n_unpacked > limits.free_bytes + limits.max_ratio * n_packed:
            reason = f"unpacks to more than {limits.max_ratio} times its size"
        else:
            return
        raise DataError(f"{reason}: if you trust it, unpack it yourself first", path=self._shown)


@contextmanager
def open_stream(path: Path, limits: Limits, shown: str | None = None) -> Iterator[io.BufferedReader]:
    """Open a file; gzip, bzip2 and zstd are recognised by the first bytes and unpacked, whatever its name."""
    with path.open("rb") as file:
        head = file.read(16)
        file.seek(0)
        unpack = next((unpacker for mark, unpacker in UNPACKERS.items() if head.startswith(mark)), None)
        source = unpack(file) if unpack else file
        yield io.BufferedReader(_Unpacked(file, source, shown or str(path), limits), BLOCK)


def text_blocks(stream: IO[bytes], shown: str, encoding: str) -> Iterator[bytes]:
    """Yield the text of a stream as UTF-8 without a byte order mark, in blocks that end anywhere."""
    if is_utf8(encoding):
        return _utf8_blocks(stream, shown)
    return _recoded_blocks(stream, shown, encoding)


def _utf8_blocks(stream: IO[bytes], shown: str) -> Iterator[bytes]:
    block = stream.read(BLOCK)
    _refuse_utf16(block[:512], shown)
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


def _refuse_utf16(head: bytes, shown: str) -> None:
    """Raise if the text seems to be UTF-16, most of which is also valid UTF-8 with a zero at every other byte."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError("this is UTF-16: pass --encoding utf-16", path=shown)
    even = head[0::2]
    odd = head[1::2]
    for name, zeros, letters in (("utf-16-be", even, odd), ("utf-16-le", odd, even)):
        half = len(letters) / 2
        n_visible = sum(letter > ord(" ") for letter in letters)
        if zeros.count(0) > 1.4 * half and n_visible > half:
            raise DataError(f"this is UTF-16: pass --encoding {name}", path=shown)


def line_blocks(blocks: Iterator[bytes], max_line: int) -> Iterator[bytes]:
    r"""Regroup blocks so that each ends with a line; every line end, also CRLF and CR, becomes ``\n``.

    A line longer than ``max_line`` is cut to one byte more. Its length still shows that it is too long, and a file
    without line ends does not fill the memory.

    Examples
    --------
    >>> list(line_blocks(iter([b"a\r", b"\nb\rc\nd", b"ddd"]), max_line=2))
    [b'a\nb\nc\n', b'ddd\n']
    """
    rest = b""
    for block in blocks:
        text = rest + block
        ends_with_cr = text.endswith(b"\r")  # the next block may begin with the line feed of this line end
        if b"\r" in text:
            text = text.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        end = text.rfind(b"\n") + 1
        if end:
            yield text[:end]
        unfinished_line = text[end:][: max_line + 1]
        rest = unfinished_line + (b"\r" if ends_with_cr else b"")
    if rest:
        yield rest.removesuffix(b"\r") + b"\n"
