"""A toy data set in a folder."""

from __future__ import annotations

import bz2
import gzip
import sys
from collections.abc import Sequence
from pathlib import Path

import nnmfaug as na

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


ROWS = [("a", "likes", "b"), ("b", "likes", "c"), ("c", "knows", "a"), ("a", "knows", "a")]
TRAIN, VALID, TEST = ROWS[:2], ROWS[2:3], ROWS[3:]


def graph(*rows: tuple[str, str, str]) -> na.KnowledgeGraph:
    return na.KnowledgeGraph.from_labels(rows)


def splits_of(
    train: Sequence[tuple[str, str, str]],
    valid: Sequence[tuple[str, str, str]] = (),
    test: Sequence[tuple[str, str, str]] = (),
) -> na.Splits:
    return na.Splits.merge("toy", train=graph(*train), valid=graph(*valid), test=graph(*test))


def digests(splits: na.Splits) -> dict[str, str]:
    return {name: part.digest() for name, part in splits.items()}


def text(rows: Sequence[tuple[str, str, str]], separator: str = "\t") -> str:
    return "".join(separator.join(row) + "\n" for row in rows)


def toy_folder(folder: Path, train: str = "train.txt", valid: str = "valid.txt", test: str = "test.txt") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in ((train, TRAIN), (valid, VALID), (test, TEST)):
        data = text(rows, "," if ".csv" in name else "\t").encode()
        data = gzip.compress(data) if name.endswith(".gz") else data
        data = bz2.compress(data) if name.endswith(".bz2") else data
        data = zstd.compress(data) if name.endswith(".zst") else data
        (folder / name).write_bytes(data)
    return folder
