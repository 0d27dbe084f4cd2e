"""A command in a message means the words that it was made of, whatever they contain."""

from __future__ import annotations

import shlex
from pathlib import Path

from hypothesis import given, strategies as st

from nnmfaug.core.commands import command


@given(st.lists(st.text(), min_size=1))
def test_a_shell_reads_the_words_as_they_were(words: list[str]) -> None:
    assert shlex.split(command(*words)) == words


def test_plain_words_are_not_quoted() -> None:
    assert command("nnmfaug", "split", Path("my/graph.tsv"), "--valid", "5%", "-o", "folder") == (
        "nnmfaug split my/graph.tsv --valid 5% -o folder"
    )
