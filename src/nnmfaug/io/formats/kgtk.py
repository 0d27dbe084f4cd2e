"""What is peculiar to KGTK: escapes, and values that say their type by their first character."""

from __future__ import annotations

import re

from nnmfaug.io.table import Interner

LITERAL = re.compile(r"[\"'^@!]|[+-]?\.?[0-9]")
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
MEANING = {"t": "\t", "n": "\n", "r": "\r"}


class LiteralFilter:
    """Takes rows; those between symbols go on, those with a literal are counted."""

    def __init__(self, rows: Interner) -> None:
        self._rows = rows
        self.count = 0

    def take(self, fields: list[bytes], line: int) -> None:
        """Take one row."""
        head, relation, tail = (field.decode() for field in fields)
        if LITERAL.match(head) or LITERAL.match(tail):
            self.count += 1
        else:
            self._rows.add(unescape(head), unescape(relation), unescape(tail), line)


def unescape(name: str) -> str:
    r"""Undo KGTK's escapes.

    Examples
    --------
    >>> unescape(r"a\|b\\c")
    'a|b\\c'
    """
    return ESCAPE.sub(lambda match: MEANING.get(match[1], match[1]), name) if "\\" in name else name
