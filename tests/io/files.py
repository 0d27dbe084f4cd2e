"""Files to read, and how the tests read them."""

from __future__ import annotations

import bz2
import gzip
import random
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings, strategies as st

from nnmfaug import (
    DataError,
    ReadOptions,
    ReadReport,
    Vocabulary,
    read_generated,
    read_triples,
)
from nnmfaug.io import stream

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


Triple = tuple[str, str, str]
SKIP = ReadOptions(bad_lines="skip")
BOM = b"\xef\xbb\xbf"
FUZZ = settings(derandomize=True, suppress_health_check=list(HealthCheck), database=None)
"""The number of examples is that of the profile."""
FEW = settings(FUZZ, max_examples=max(FUZZ.max_examples // 4, 1))
"""For files that go through DuckDB, which takes tens of milliseconds for each."""


def pack_zst(data: bytes) -> bytes:
    return bytes(zstd.compress(data))


PACKERS: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "bz2": bz2.compress, "zst": pack_zst}


def put(folder: Path, data: bytes | str, name: str = "graph.tsv") -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def read(path: Path, options: ReadOptions | None = None) -> tuple[list[Triple], ReadReport]:
    graph = read_triples(path, options)
    assert graph.report is not None
    return graph.labels(), graph.report


def refusal(path: Path, options: ReadOptions | None = None) -> DataError:
    with pytest.raises(DataError) as caught:
        read_triples(path, options)
    error = caught.value
    assert error.path == str(path)
    place = str(path) if error.line is None else f"{path}:{error.line}"
    assert str(error).startswith(f"{place}: ")
    return error


def lines_and_reasons(report: ReadReport) -> list[tuple[int, str]]:
    return [(reject.line, reject.reason) for reject in report.rejects]


def physical_lines(data: bytes) -> list[bytes]:
    lines = re.split(rb"\r\n|\r|\n", data.removeprefix(BOM))
    return lines if lines[-1] else lines[:-1]


def ten_thousand() -> list[Triple]:
    rng = random.Random(1)
    rows = {(f"e{rng.randrange(2000)}", f"r{rng.randrange(30)}", f"é {rng.randrange(2000)}") for _ in range(11000)}
    return sorted(rows)[:10_000]


def tsv(rows: list[Triple], end: str = "\n") -> bytes:
    return "".join("\t".join(row) + end for row in rows).encode()


line_ends = st.sampled_from([b"\n", b"\n", b"\r\n", b"\r"])


def facts(path: Path, options: ReadOptions, known: Vocabulary | None = None) -> tuple[object, ...]:
    try:
        graph = read_triples(path, options) if known is None else read_generated(path, known, options)
    except DataError as error:
        return (str(error).split(" in this file")[0],)  # the advice behind it may quote more or less
    assert graph.report is not None
    rejects = tuple(r._replace(text="") if "longer" in r.reason else r for r in graph.report.rejects)
    return graph.labels(), replace(graph.report, rejects=rejects)


def check_blocks_agree(
    path: Path, data: bytes, block: int, options: ReadOptions, known: Vocabulary | None = None
) -> None:
    path.write_bytes(data)
    whole = facts(path, options, known)
    with mock.patch.object(stream, "BLOCK", block):
        assert facts(path, options, known) == whole
