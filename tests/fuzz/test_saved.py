"""Saved values with random changes."""

from __future__ import annotations

from pathlib import Path

from tests.examples import examples
from tests.fuzz.saved import fuzz, write_values


def test_a_changed_file_is_refused_or_read_as_it_was(tmp_path: Path) -> None:
    write_values(tmp_path)
    answers = fuzz(tmp_path, examples(400), seed=0)
    assert answers["refused"] > answers["read"] >= 0
