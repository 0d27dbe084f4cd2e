"""Files that once hung a reader, filled the memory, or ended in a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.hostile import HOSTILE
from tests.limited import answer


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_gets_an_answer_in_little_time_and_memory(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(HOSTILE[name]())
    assert answer(path, cpu=30, memory=2 << 30)
