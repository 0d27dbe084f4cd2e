"""Documents: JSON that is read back. Each has a format, a version, and a checksum of its content."""

from __future__ import annotations

import hashlib
import json
import math
import reprlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from nnmfaug.core.checks import require
from nnmfaug.core.errors import DataError
from nnmfaug.io.npz import BROKEN
from nnmfaug.io.shapes import Shape, check_shape

CHECKSUM_SINCE = 2
"""Documents of version 1, written by nnmfaug 0.1, have no checksum."""
MAX_DEPTH = 50
"""Maximum number of brackets in brackets: what was read can be written again without running out of stack."""


@dataclass(frozen=True)
class Schema:
    """A kind of document: the name of its format, its current version, and the shape of its content."""

    format: str
    version: int
    shape: Mapping[str, Shape]


class NewerVersionError(ValueError):
    """A document that this nnmfaug is too old for."""


def write_document(draft: Path, schema: Schema, content: Mapping[str, Any]) -> None:
    """Write a document with its format, version and checksum."""
    text = json.dumps(seal(schema, content), indent=1, ensure_ascii=False, allow_nan=False)
    draft.write_bytes(encode(text + "\n"))


def read_document(path: Path, schema: Schema) -> dict[str, Any]:
    """Return the content of a document; a damaged or foreign one raises one of the errors in ``BROKEN``."""
    return unseal(parse(path.read_bytes()), schema)


@contextmanager
def refusing(path: Path, advice: str) -> Iterator[None]:
    """Let every error about the content of a file be a ``DataError`` that names it, and ends with the reason.

    A file that may not be read is still an ``OSError``.
    """
    if path.is_dir():
        raise DataError("this is a folder, but a file is needed", path=path)
    path.open("rb").close()
    try:
        yield
    except NewerVersionError:
        raise DataError("written by a newer nnmfaug: update nnmfaug", path=path) from None
    except DataError:
        raise
    except BROKEN as error:
        reason = str(error) or type(error).__name__
        raise DataError(f"{advice} ({reason})", path=path) from None


def seal(schema: Schema, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document: plain data with its format, version and checksum."""
    content_with_head = {"format": schema.format, "version": schema.version, **content}
    document = json.loads(json.dumps(content_with_head))  # as it will be read: keys are text, tuples are lists
    return {**document, "checksum": _checksum(document)}


def unseal(document: object, schema: Schema) -> dict[str, Any]:
    """Return the content of a document after checking all of it."""
    check_shape(document, {"format": schema.format, "version": int, "*": object})
    content: dict[str, Any] = dict(document)  # type: ignore[call-overload]
    version = content["version"]
    if version > schema.version:
        raise NewerVersionError
    require(version >= 1, f"version: must be from 1 to {schema.version}, is {version}")
    head = ["format", "version"]
    if version >= CHECKSUM_SINCE:
        head.append("checksum")
    check_shape(content, {**dict.fromkeys(head, object), **schema.shape})
    checksum = content.pop("checksum", None)
    is_intact = version < CHECKSUM_SINCE or checksum == _checksum(content)
    require(is_intact, "checksum: does not match, so the content was changed after it was written")
    return {name: value for name, value in content.items() if name not in head}


def encode(text: str) -> bytes:
    """Return UTF-8; half a surrogate pair, which UTF-8 does not have, becomes its escape in JSON."""
    return text.encode("utf-8", "backslashreplace")


def parse(data: bytes) -> object:
    """Return the value of JSON in UTF-8; raise for repeated names, numbers out of range, and deep nesting."""
    value = json.loads(
        data.decode("utf-8"),
        object_pairs_hook=_make_object,
        parse_float=_parse_float,
        parse_constant=_refuse_constant,
    )
    _check_depth(value, MAX_DEPTH)
    return value


def _checksum(content: Mapping[str, Any]) -> str:
    """Return the sha256 of plain data; the order of entries and white space do not matter."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _make_object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        ((name, _),) = counts.most_common(1)
        msg = f"{reprlib.repr(name)} is there more than once"
        raise ValueError(msg)
    return entries


def _parse_float(text: str) -> float:
    number = float(text)
    require(math.isfinite(number), f"{reprlib.repr(text)} is out of range")
    return number


def _refuse_constant(name: str) -> NoReturn:
    msg = f"{name} is not a number in JSON"
    raise ValueError(msg)


def _check_depth(value: object, levels: int) -> None:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        require(levels > 0, f"more than {MAX_DEPTH} brackets in brackets")
        for each in value:
            _check_depth(each, levels - 1)
