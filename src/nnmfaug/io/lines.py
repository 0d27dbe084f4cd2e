"""The lines of a text, in blocks that readers work on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

GAP = re.compile(rb"(?<![^\n])\n{64,}+")
"""Many empty lines in a row."""


def line_blocks(blocks: Iterator[bytes], max_line: int) -> Iterator[bytes]:
    r"""Regroup blocks so that each ends with a line; every line end, also CRLF and CR, becomes ``\n``.

    A line longer than ``max_line`` is cut to one byte more. Its length still shows that it is too long, and a file
    without line ends does not fill the memory.

    Examples
    --------
    >>> list(line_blocks(iter([b"a\r", b"\nb\rc\nd", b"ddd"]), max_line=2))
    [b'a\nb\nc\n', b'ddd\n']
    """
    rest = b""
    for block in blocks:
        text = rest + block
        ends_with_cr = text.endswith(b"\r")  # the next block may begin with the line feed of this line end
        if b"\r" in text:
            text = text.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        end = text.rfind(b"\n") + 1
        if end:
            yield text[:end]
        unfinished_line = text[end:][: max_line + 1]
        rest = unfinished_line + (b"\r" if ends_with_cr else b"")
    if rest:
        yield rest.removesuffix(b"\r") + b"\n"


def separate_gaps(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Let many empty lines in a row be a block of their own, so that nobody looks at each of them."""
    for block in blocks:
        place = 0
        for gap in GAP.finditer(block):
            if gap.start() > place:
                yield block[place : gap.start()]
            yield gap[0]
            place = gap.end()
        if place < len(block):
            yield block[place:]


def count_gap(block: bytes) -> int:
    """Return the number of lines of a block if all are empty, else 0."""
    return len(block) if not block.strip(b"\n") else 0


def numbered_lines(blocks: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the text of each line; of many empty lines in a row, only the last."""
    number = 0
    for block in separate_gaps(blocks):
        n_empty = count_gap(block)
        if n_empty:
            number += n_empty
            yield number, b""
            continue
        for line in block[:-1].split(b"\n"):
            number += 1
            yield number, line
