"""Text that no format breaks on, and files that appear together."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, strategies as st

from nnmfaug.reports.output import one_line, write_together


@given(st.text(st.characters(), max_size=30))
def test_every_text_becomes_one_line_that_xml_and_utf8_accept(text: str) -> None:
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    element = ET.Element("text")
    element.text = line
    assert (ET.fromstring(ET.tostring(element, encoding="utf-8")).text or "") == line


@pytest.mark.parametrize("name", ["基线", "خط الأساس", "Größe_ε", "a$b$", "👩‍🔬", "=1+1"])
def test_names_of_all_scripts_stay_as_they_are(name: str) -> None:
    assert one_line(name) == name


@pytest.mark.parametrize("text", ["a\x00b", "a\x1bb", "a\ud800b", "a\uffffb"])
def test_what_cannot_be_printed_is_marked(text: str) -> None:
    assert one_line(text) == "a\ufffdb"


def test_if_one_file_cannot_be_written_none_is_changed(tmp_path: Path) -> None:
    def fail(draft: Path) -> None:
        draft.write_text("half")
        raise RuntimeError

    write_together(tmp_path, "x", {"a": lambda draft: draft.write_text("old"), "b": Path.touch})
    with pytest.raises(RuntimeError):
        write_together(tmp_path, "x", {"a": lambda draft: draft.write_text("new"), "b": fail})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"x.a": "old", "x.b": ""}


@pytest.mark.parametrize("stem", ["", ".", "..", "../x", "a/b", "a\\b", "a\0b"])
def test_a_stem_that_is_not_the_name_of_a_file_is_refused(stem: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be the name of a file, without folder and ending"):
        write_together(tmp_path / "new", stem, {"txt": lambda draft: draft.write_text("x")})
    assert not (tmp_path / "new").exists()


def test_a_dot_in_the_stem_is_kept(tmp_path: Path) -> None:
    paths = write_together(tmp_path / "new", "v1.2", {"txt": lambda draft: draft.write_text("x")})
    assert paths == [tmp_path / "new" / "v1.2.txt"]
    assert paths[0].read_text() == "x"
