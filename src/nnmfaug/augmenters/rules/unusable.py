"""Lines of a file of rules that cannot be used, and why."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from nnmfaug.core.errors import DataError
from nnmfaug.graph.vocabulary import Vocabulary

VARIABLES = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
MAX_BODY = 4
"""Number of atoms of the longest body that is read."""
MAX_SHOWN = 80
"""Number of characters of a rule that a message shows."""
ATOM = re.compile(r"([^(),]+)\(([^(),]+),([^(),]+)\)")
Reason = Literal["malformed", "with unknown names", "with too many atoms", "of a form that is not supported"]


class UnusableRuleError(ValueError):
    """A line that is left out; the message is about this line, the reason about all lines of its kind."""

    def __init__(self, reason: Reason, message: str) -> None:
        self.reason: Reason = reason
        super().__init__(message)


class LeftOut:
    """The lines of a file that are left out: how many, and the first one, for each reason."""

    def __init__(self) -> None:
        self._counts: dict[Reason, int] = {}
        self._first: dict[Reason, tuple[int, str]] = {}

    def __len__(self) -> int:
        return sum(self._counts.values())

    def add(self, line: int, error: UnusableRuleError) -> None:
        """Add a line."""
        self._counts[error.reason] = self._counts.get(error.reason, 0) + 1
        self._first.setdefault(error.reason, (line, str(error)))

    def note(self, path: Path) -> str:
        """Return how many lines are left out, reason by reason, each with its first line."""
        lines = "1 line" if len(self) == 1 else f"{len(self):,} lines"
        return f"{path}: left out {lines}: {'; '.join(map(self._part, self._counts))}"

    def _part(self, reason: Reason) -> str:
        line, message = self._first[reason]
        n = self._counts[reason]
        place = f"line {line}" if n == 1 else f"the first is line {line}"
        return f"{n:,} {reason} ({place}: {message})"

    def error(self, path: Path) -> DataError:
        """Return the error for a file in which no line can be used."""
        if not self._first:
            return DataError("contains no rule", path=path)
        line, message = min(self._first.values())
        others = f"; none of its {len(self):,} lines is a rule that can be used" if len(self) > 1 else ""
        return DataError(f"{message}{others}", path=path, line=line)


def why_unread(text: str, vocabulary: Vocabulary) -> UnusableRuleError:
    """Return why a rule has no reading, as if its names contained neither commas nor parentheses.

    Examples
    --------
    >>> names = Vocabulary.from_names(["rome"], ["born in"])
    >>> print(why_unread("born in(X,paris) <= born in(A,X)", names))
    unknown entity 'paris'
    """
    atoms = _plain_atoms(text)
    if atoms is None:
        shown = text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"
        form = "r(X,Y) <= s(X,A), t(A,Y) with names of the graph"
        return UnusableRuleError("malformed", f"not a rule such as {form}: {shown!r}")
    if len(atoms) > MAX_BODY + 1:
        message = f"a body of {len(atoms) - 1} atoms: {MAX_BODY} are the most"
        return UnusableRuleError("with too many atoms", message)
    return UnusableRuleError("with unknown names", _first_unknown(atoms, vocabulary))


def _plain_atoms(text: str) -> list[tuple[str, str, str]] | None:
    """Return relation and arguments of the head and of the atoms of the body; None if the text is no rule."""
    head, arrow, body = text.partition("<=")
    parts = [head, *_split_atoms(body)] if arrow else []
    matches = [ATOM.fullmatch(part.strip()) for part in parts]
    atoms = [(match[1].strip(), match[2].strip(), match[3].strip()) for match in matches if match]
    return atoms if atoms and len(atoms) == len(parts) else None


def _split_atoms(body: str) -> list[str]:
    """Split a body behind each atom."""
    return re.split(r"(?<=\))\s*,", body) if body.strip() else []


def _first_unknown(atoms: list[tuple[str, str, str]], vocabulary: Vocabulary) -> str:
    """Return a message about the first unknown name."""
    for relation, *arguments in atoms:
        if relation not in vocabulary.relation_ids:
            return f"unknown relation {relation!r}"
        for name in arguments:
            if name not in VARIABLES and name not in vocabulary.entity_ids:
                return f"unknown entity {name!r}"
    return "its names are known, but not in this place"
