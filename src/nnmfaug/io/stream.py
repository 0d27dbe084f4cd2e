"""Bytes of any file, unpacked on the way, with limits; and the blocks of whole lines that readers work on."""

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

BLOCK = 1 << 20
BZIP2 = (b"1AY&SY", b"\x17rE8P\x90")
"""What follows the level in a bzip2 file: a block, or the end. BZh alone may open a name."""

UNPACKERS: dict[bytes, Callable[[IO[bytes]], IO[bytes]]] = {
    b"\x1f\x8b\x08": lambda file: cast("IO[bytes]", gzip.GzipFile(fileobj=file)),
    **{
        b"BZh%d" % i + mark: lambda file: cast("IO[bytes]", bz2.BZ2File(file))
        for i in range(1, 10)
        for mark in BZIP2
    },
    b"\x28\xb5\x2f\xfd": lambda file: cast("IO[bytes]", zstd.ZstdFile(file)),
}
"""First bytes of a file → what unpacks it."""

DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, zstd.ZstdError, OSError)


@dataclass(frozen=True)
class Limits:
    """What a packed file may do before it is taken for a bomb, and how long a line may be.

    ``max_ratio`` counts above the first ``free_bytes``: a small file of one repeated line packs very well.
    """

    max_bytes: int = 1 << 36
    max_ratio: int = 200
    free_bytes: int = 1 << 24
    max_members: int = 10_000
    max_line: int = 1 << 20


class _Unpacked(io.RawIOBase):
    """Reads through an unpacker, counts, and stops at the limits."""

    def __init__(self, file: IO[bytes], source: IO[bytes], shown: str, limits: Limits) -> None:
        self._file, self._source, self._shown, self._limits = file, source, shown, limits
        self._size = max(os.fstat(file.fileno()).st_size, 1)
        self._done = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        try:
            data = self._source.read(len(buffer))
        except DAMAGED as error:
            msg = f"truncated or damaged ({error}): fetch or pack the file again"
            raise DataError(msg, path=self._shown) from error
        buffer[: len(data)] = data
        self._done += len(data)
        packed = self._file.tell()
        report(f"reading {Path(self._shown).name}", min(packed, self._size), self._size)
        if self._source is not self._file:
            self._check(packed)
        return len(data)

    def _check(self, packed: int) -> None:
        limits = self._limits
        if self._done > limits.max_bytes:
            reason = f"unpacks to more than {limits.max_bytes:,} bytes"
        elif self._done > limits.free_bytes + limits.max_ratio * packed:
            reason = f"unpacks to more than {limits.max_ratio} times its size"
        else:
            return
        raise DataError(f"{reason}: if you trust it, unpack it yourself first", path=self._shown)


@contextmanager
def open_stream(path: Path, limits: Limits, shown: str | None = None) -> Iterator[io.BufferedReader]:
    """Open a file; what is gzip, bzip2 or zstd by its first bytes is unpacked, whatever its name."""
    with path.open("rb") as file:
        head = file.read(16)
        file.seek(0)
        unpack = next((opener for magic, opener in UNPACKERS.items() if head.startswith(magic)), None)
        source = unpack(file) if unpack else file
        yield io.BufferedReader(_Unpacked(file, source, shown or str(path), limits), BLOCK)


def text_blocks(stream: IO[bytes], shown: str, encoding: str) -> Iterator[bytes]:
    """Yield the text of a stream as UTF-8 without a byte order mark, in blocks that end anywhere."""
    block = stream.read(BLOCK)
    if is_utf8(encoding):
        _refuse_utf16(block[:512], shown)
        block = block.removeprefix(codecs.BOM_UTF8)
        while block:
            yield block
            block = stream.read(BLOCK)
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while block:
            yield decoder.decode(block).encode()
            block = stream.read(BLOCK)
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        raise DataError(f"not {encoding} text ({error}): pass another --encoding", path=shown) from error


def is_utf8(encoding: str) -> bool:
    """Whether this is one of the names of UTF-8."""
    return codecs.lookup(encoding).name == "utf-8"


def _refuse_utf16(head: bytes, shown: str) -> None:
    """Every other byte of most texts in UTF-16 is zero, and what is left is valid UTF-8."""
    marked = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for name, zeros, letters in (("utf-16-be", head[0::2], head[1::2]), ("utf-16-le", head[1::2], head[0::2])):
        half = len(letters) / 2
        if marked or (zeros.count(0) > 1.4 * half and sum(letter > ord(" ") for letter in letters) > half):
            raise DataError(f"this is UTF-16: pass --encoding {'utf-16' if marked else name}", path=shown)


def line_blocks(blocks: Iterator[bytes], max_line: int) -> Iterator[bytes]:
    r"""Regroup blocks so that each ends with a line; every line end, be it CRLF or CR, becomes ``\n``.

    A line longer than ``max_line`` is cut to one byte more, so that it can be told by its length and a file
    without line ends does not fill the memory.

    Examples
    --------
    >>> list(line_blocks(iter([b"a\r", b"\nb\rc\nd", b"ddd"]), max_line=2))
    [b'a\nb\nc\n', b'ddd\n']
    """
    rest = b""
    for block in blocks:
        text = rest + block
        held = text.endswith(b"\r")  # a line feed may follow in the next block
        if b"\r" in text:
            text = text.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        end = text.rfind(b"\n") + 1
        if end:
            yield text[:end]
        rest = text[end:][: max_line + 1] + (b"\r" if held else b"")
    if rest:
        yield rest.removesuffix(b"\r") + b"\n"
