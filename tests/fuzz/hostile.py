"""Files that once hung a reader, filled the memory, or ended in a traceback: name → content."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable

MEGABYTE = 1_000_000

TEXTS: dict[str, Callable[[], bytes]] = {
    "quotes.csv": lambda: (b'y"' + b"," * 1000 + b'"x\n') * 120,
    "open-quotes.csv": lambda: b'a,"b,c\n' * 100_000,
    "only-open-quotes.csv": lambda: b'"a\n' * 500_000,
    "one-open-quote.csv": lambda: b'"a\n' + b"b\n" * 500_000,
    "triple-quotes.csv": lambda: b'"""a,' * 200_000,
    "spaces-in-literal.txt": lambda: b'<a> <b> "' + b" " * MEGABYTE + b"x\n",
    "brackets-in-literal.txt": lambda: b'<a> <b> "' + b"<" * MEGABYTE + b"x\n",
    "brackets-in-label.txt": lambda: b"_:" + b"<" * MEGABYTE + b"\n",
    "dots-in-label.txt": lambda: b"<a> <b> _:" + b"." * MEGABYTE + b"x\n",
    "labels-in-label.txt": lambda: b"<a> <b> " + b"_:" * (MEGABYTE // 2) + b"x\n",
    "spaces-after-prefix.txt": lambda: b"prefix" + b" " * MEGABYTE + b"x\n",
    "spaces-after-literal.nt": lambda: b'<http://a> <http://b> "x"' + b" " * 9 * MEGABYTE + b"junk\n",
    "escapes-in-literal.nt": lambda: b'<http://a> <http://b> "' + b"\\n" * 15 * MEGABYTE + b"\n",
    "long-label.nt": lambda: b"_:" + b"<" * 9 * MEGABYTE + b"\n",
    "empty-lines.tsv": lambda: b"\n" * (64 << 20),
    "empty-lines.csv": lambda: b"\n" * (64 << 20),
    "empty-lines.nt": lambda: b"\n" * (64 << 20),
    "empty-lines.ttl": lambda: b"\n" * (64 << 20),
    "empty-lines-below-quotes.csv": lambda: b'"a",b,c\n' + b"\n" * (16 << 20),
    "carriage-returns.tsv": lambda: b"\r" * (32 << 20),
    "bad-lines.tsv": lambda: b"x\n" * (16 << 20),
    "bad-lines.nt": lambda: b"x\n" * (4 << 20),
    "open-brackets.ttl": lambda: b"[" * MEGABYTE,
    "open-lists.ttl": lambda: b"<x:a> <x:b> " + b"(" * MEGABYTE,
    "wide.tsv": lambda: "a\tr\tb\n".encode("utf-32"),
}
"""Texts of one file."""


def deep_tar() -> bytes:
    """Folders in folders, too deep for functions that recurse."""
    return _tar({"a/" * depth + "x.txt": {} for depth in (300, 600, 900, 1200, 1500, 1800)})


def digits_tar() -> bytes:
    """A header that takes quadratic time in tarfile."""
    return _tar({"train.txt": {"comment": "1" * 900_000}})


def lzma_zip() -> bytes:
    """A zip file that asks for a dictionary of 4 GiB."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("train.txt", "a\tlikes\tb\n")
    data = bytearray(buffer.getvalue())
    size = data.index(b"train.txt") + len("train.txt") + 5  # behind a version, a length, and a byte of settings
    data[size : size + 4] = b"\xff" * 4
    return bytes(data)


def tar_without_names() -> bytes:
    """A folder of OpenKE without its file of relations."""
    return _tar({"train2id.txt": {}, "entity2id.txt": {}}, b"1\n0 0 0\n")


ARCHIVES: dict[str, Callable[[], bytes]] = {
    "deep.tar": deep_tar,
    "digits.tar": digits_tar,
    "dictionary.zip": lzma_zip,
    "without-names.tar": tar_without_names,
}

HOSTILE = {**TEXTS, **ARCHIVES}


def _tar(headers: dict[str, dict[str, str]], data: bytes = b"x") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, words in headers.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            info.pax_headers = words
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()
