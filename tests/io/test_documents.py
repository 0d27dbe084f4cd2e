"""A document is read as it was written; anything else is refused with the field that is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import nnmfaug as na
from nnmfaug.io.documents import MAX_DEPTH, Schema, parse, read_document, refusing, seal, unseal, write_document
from nnmfaug.io.npz import BROKEN
from tests.saved import sealed

TOY = Schema("toy", 2, {"name": str, "size": int, "tags?": [str], "more": {"rate": float, "*": object}})
CONTENT: dict[str, Any] = {"name": "é\udcff", "size": 3, "tags": ["a"], "more": {"rate": 1, "x": [None, True]}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "toy.json"
    write_document(path, TOY, CONTENT)
    return path


def load(path: Path) -> dict[str, Any]:
    with refusing(path, "not a toy: make it again"):
        return read_document(path, TOY)


def refused(path: Path, reason: str) -> None:
    with pytest.raises(na.DataError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert reason in message


# what comes back


def test_a_document_comes_back_as_it_was(path: Path) -> None:
    assert load(path) == CONTENT


def test_a_document_has_a_checksum_that_others_can_compute(path: Path) -> None:
    document = json.loads(path.read_bytes())
    assert document == sealed(document)
    assert (document["format"], document["version"]) == ("toy", 2)


def test_the_order_of_entries_and_white_space_do_not_matter(path: Path) -> None:
    document = json.loads(path.read_bytes())
    path.write_text(json.dumps(dict(reversed(document.items()))))
    assert load(path) == CONTENT


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=10,
)


@given(json_values)
def test_any_plain_data_comes_back(value: object) -> None:
    schema = Schema("any", 2, {"value": object})
    text = json.dumps(seal(schema, {"value": value}))
    assert unseal(parse(text.encode()), schema) == {"value": value}


def test_numbers_as_names_come_back_as_text() -> None:
    schema = Schema("counts", 2, {"counts": {"*": int}})
    text = json.dumps(seal(schema, {"counts": {0: 1, 25: 2, 100: 3}}))
    assert unseal(parse(text.encode()), schema) == {"counts": {"0": 1, "25": 2, "100": 3}}


def test_a_document_without_a_checksum_is_of_version_1(path: Path) -> None:
    path.write_text(json.dumps({"format": "toy", "version": 1, **CONTENT}))
    assert load(path) == CONTENT


# what is refused


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"size": 4}, "checksum: does not match"),
        ({"more": {"rate": 1.0, "x": [None, True]}}, "checksum: does not match"),
        ({"checksum": "0" * 64}, "checksum: does not match"),
        ({"checksum": None}, "checksum: does not match"),
        ({"version": 1}, "checksum: is unknown"),
        ({"version": 0}, "version: must be from 1 to 2, is 0"),
        ({"version": "2"}, "version: must be a whole number, is '2'"),
        ({"version": True}, "version: must be a whole number, is True"),
        ({"version": 3}, "written by a newer nnmfaug: update nnmfaug"),
        ({"format": "other", "version": 3}, "format: must be 'toy', is 'other'"),
        ({"size": "x"}, "size: must be a whole number, is 'x'"),
        ({"size": 1.0}, "size: must be a whole number, is 1.0"),
        ({"size": 2**63}, "size: must be a whole number, is 9223372036854775808"),
        ({"tags": ["a", 1]}, "tags[1]: must be text, is 1"),
        ({"more": {}}, "more.rate: is missing"),
        ({"more": {"rate": 10**400}}, "more.rate: must be a number, is 1000"),
        ({"more": [1]}, "more: must be an object, is [1]"),
        ({"extra": 1}, "extra: is unknown"),
    ],
)
def test_a_changed_document_is_refused_with_the_field(path: Path, change: dict[str, Any], reason: str) -> None:
    path.write_text(json.dumps(json.loads(path.read_bytes()) | change))
    refused(path, reason)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "Expecting value"),
        (b"{", "Expecting property name"),
        (b"[1]", "must be an object, is [1]"),
        (b"null", "must be an object, is None"),
        (b"\xff", "can't decode byte 0xff"),
        ('{"format": "toy"}'.encode("utf-16"), "can't decode byte 0xff"),
        (b"[" * 200_000, "recursion"),
        (b'{"a":' * 200_000, "recursion"),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "more than 50 brackets in brackets"),
        (b"1" * 5000, "4300 digits"),
        (b"1e999", "'1e999' is out of range"),
        (b"NaN", "NaN is not a number in JSON"),
        (b'{"a": 1, "b": 2, "b": 3}', "'b' is there more than once"),
    ],
)
def test_what_is_not_a_document_is_refused(path: Path, data: bytes, reason: str) -> None:
    path.write_bytes(data)
    refused(path, reason)


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    refused(tmp_path, "this is a folder, but a file is needed")


def test_a_file_that_is_missing_or_unreadable_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.json")


@given(st.binary(max_size=60) | st.text('[]{}:,"\\0123456789.eE+-nulltrfasN I\ufeff', max_size=30).map(str.encode))
def test_any_bytes_are_a_value_or_one_of_the_known_errors(data: bytes) -> None:
    try:
        parse(data)
    except BROKEN:
        return
