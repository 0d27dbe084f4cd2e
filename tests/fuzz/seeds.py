"""Good files, from which bad ones are made."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from tests.names import TAME_NAMES, WILD_NAMES

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CORPUS = Path(__file__).parent / "corpus"

ROWS = (("ann", "likes", "bob"), ("bob", "likes", "cid"), ("cid", "knows", "ann"), ("é ü", "knows", "#x"))


def _lines(separator: str, end: str = "\n") -> bytes:
    return "".join(separator.join(row) + end for row in ROWS).encode()


N_TRIPLES = (
    b'<x:a> <x:p> <x:b> .\n_:n <x:p> <x:c> . # why\n<x:a> <x:q> "text\\n"@en .\n<x:b> <x:q> "1"^^<x:int> .\n'
)

TEXTS: dict[str, bytes] = {
    "graph.tsv": _lines("\t"),
    "header.tsv": b"head\trelation\ttail\tnote\nann\tlikes\tbob\tx\n",
    "windows.tsv": b"\xef\xbb\xbf" + _lines("\t", "\r\n"),
    "comments.tsv": b"# a comment\n\n" + _lines("\t") + b"#x\tr\ty\n",
    "graph.csv": _lines(","),
    "quoted.csv": b'"a, b","r ""s""","c\nd"\n"e",f,g\nh,"i",j\n',
    "header.csv": b"subject,object,predicate\nann,bob,likes\n",
    "edges.kgtk": b'id\tnode1\tlabel\tnode2\ne1\tQ1\tP31\tQ5\ne2\tQ1\tP1\t"text"\ne3\ta\\|b\tP2\tQ7\n',
    "graph.nt": N_TRIPLES,
    "graph.nq": b"<x:a> <x:p> <x:b> <x:g> .\n<x:a> <x:p> <x:c> _:g .\n<x:a> <x:p> <x:d> .\n",
    "graph.ttl": b"@prefix x: <http://x.org/> .\nx:a x:p x:b, [ x:q x:c ] ; a x:T .\nx:d x:p ( x:e 'f' ) .\n",
    "graph": _lines("\t"),
    "graph.txt": N_TRIPLES,
    "wide.tsv": _lines("\t").decode().encode("utf-16"),
    "names.tsv": "".join(f"{name}\tr\tx\n" for name in (*TAME_NAMES, *WILD_NAMES)).encode(),
}
"""Name of a file → content."""

BINARIES: dict[str, bytes] = {path.name: path.read_bytes() for path in sorted(CORPUS.iterdir())}

FOLDERS: dict[str, dict[str, bytes]] = {
    "plain": {"train.txt": _lines("\t"), "valid.txt": b"ann\tlikes\tcid\n", "test.txt": b"bob\tknows\tann\n"},
    "dicts": {
        "train.txt": b"a\tr\tb\n",
        "valid.txt": b"b\tr\ta\n",
        "test.txt": b"a\tr\ta\n",
        "entities.dict": b"0\ta\n1\tb\n2\tc\n",
        "relations.dict": b"0\tr\n",
    },
    "openke": {
        "train2id.txt": b"2\n0 1 0\n1 0 0\n",
        "valid2id.txt": b"1\n0 0 0\n",
        "test2id.txt": b"0\n",
        "entity2id.txt": b"2\nann\t0\nbob b\t1\n",
        "relation2id.txt": b"1\nlikes\t0\n",
    },
    "libkge": {
        "train.del": b"0\t0\t1\n1\t0\t0\n",
        "valid.del": b"0\t0\t0\n",
        "test.del": b"",
        "entity_ids.del": b"0\tann\n1\tbob\n",
        "relation_ids.del": b"0\tlikes\n",
        "dataset.yaml": b"dataset:\n  name: toy\n",
    },
    "nested": {"data/x-train.csv": _lines(","), "data/x-dev.csv": b"a,r,b\n", "data/x-test.csv": b"a,r,c\n"},
}
"""Name of a layout → its files."""


def pack_tar(files: dict[str, bytes], format_: int = tarfile.PAX_FORMAT) -> bytes:
    """Pack files; the same bytes every time."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=format_) as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            info.pax_headers = {"comment": "é"}
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def pack_zip(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Pack files; the same bytes every time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return buffer.getvalue()


ARCHIVERS: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "tar": pack_tar,
    "gnu.tar": lambda files: pack_tar(files, tarfile.GNU_FORMAT),
    "zip": pack_zip,
    "bz2.zip": lambda files: pack_zip(files, zipfile.ZIP_BZIP2),
    "lzma.zip": lambda files: pack_zip(files, zipfile.ZIP_LZMA),
}

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "bz2": bz2.compress,
    "zst": lambda data: bytes(zstd.compress(data)),
    "xz": lzma.compress,
}

TOKENS = (
    *(b"\t", b"\n", b"\r", b"\r\n", b"\0", b" ", b",", b";", b'"', b'""', b"'", b"\\", b"#", b"##", b"<", b">"),
    *(b"_:", b".", b" .\n", b"@prefix x: <x:> .\n", b"@base <x:> .\n", b"^^<x:t>", b"@en", b'"""', b"[", b"]"),
    *(
        b"(",
        b")",
        b"{",
        b"}",
        b"<<",
        b">>",
        b"\\u0000",
        b"\\UFFFFFFFF",
        b"\\ud800",
        b"%00",
        b"head\trelation\ttail\n",
    ),
    *(b"node1\tlabel\tnode2\n", b"\xef\xbb\xbf", b"\xff\xfe", b"\xff\xfe\0\0", b"\xc3", b"\xed\xa0\x80", b"PAR1"),
    *(b"PK\x03\x04", b"PK\x05\x06", b"PK\x01\x02", b"\x1f\x8b\x08", b"BZh91AY&SY", b"\x28\xb5\x2f\xfd", b"ustar"),
    *(b"GNU.sparse.size=1\n", b"99999999999999999999", b"-1", b"0", b"1e9", b"../", b"/", b"a/" * 40, b"x" * 300),
    *("٣".encode(), "²".encode(), "\u2028".encode(), "\x85".encode(), "\ufeff".encode(), "\U0010ffff".encode()),
)
"""Pieces that mean something to a reader."""
