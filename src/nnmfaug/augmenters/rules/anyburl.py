"""Rules as text in the format of AnyBURL.

A line has four columns, separated by tabs: the number of triples that a rule concludes, how many of them train
contains, their ratio, and the rule. ``r(X,Y) <= s(X,A), t(A,Y)`` is a path, ``r(X,c) <= s(X,d)`` and
``r(c,Y) <= s(A,Y)`` have constants, and ``r(X,c) <=`` has no body. A capital letter is a variable.

Names may contain commas, spaces and parentheses. So a line is read in every way that gives known names, and two
ways are an error. If there is none, spaces around names, commas and the arrow are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from nnmfaug.augmenters.rules.attributes import NONE
from nnmfaug.augmenters.rules.rule_set import RuleSet
from nnmfaug.augmenters.rules.unusable import MAX_BODY, VARIABLES
from nnmfaug.core.arrays import Places
from nnmfaug.core.errors import DataError
from nnmfaug.core.progress import report
from nnmfaug.graph.vocabulary import Vocabulary
from nnmfaug.io.files import open_text, replacing

INNER_VARIABLES = "ABC"
ARROW = "<="
SPACES = re.compile(" *")
MAX_SPACES = 8
"""Number of spaces behind a name that are ignored."""
REPORT_EVERY = 1 << 14
"""Number of lines between two reports of progress."""


class Atom(NamedTuple):
    """An atom r(a, b); a and b are names of entities, or variables."""

    relation: str
    first: str
    second: str

    def __str__(self) -> str:
        return f"{self.relation}({self.first},{self.second})"


class RuleText(NamedTuple):
    """A rule by its names."""

    head: Atom
    body: tuple[Atom, ...]

    def __str__(self) -> str:
        return f"{self.head} {ARROW} {', '.join(map(str, self.body))}"


@dataclass(frozen=True)
class Grammar:
    """Reads rules whose names are those of a vocabulary.

    Parameters
    ----------
    vocabulary
        The names.
    is_tolerant
        Whether spaces around names, commas and the arrow are ignored, or those that this package writes required.

    Examples
    --------
    >>> grammar = Grammar(Vocabulary.from_names(["Rome", "Paris, Texas"], ["born in"]))
    >>> (rule,) = grammar.readings("born in(X,Paris, Texas) <= born in(A,X)")
    >>> rule.head.second, rule.body
    ('Paris, Texas', (Atom(relation='born in', first='A', second='X'),))
    """

    vocabulary: Vocabulary
    is_tolerant: bool = False

    @cached_property
    def is_plain(self) -> bool:
        """Whether no name contains a character that separates names, so that a rule has one reading at most."""
        names = (*self.vocabulary.entities, *self.vocabulary.relations)
        return not any(mark in name for name in names for mark in "(,)")

    @cached_property
    def _max_relation(self) -> int:
        return max(map(len, self.vocabulary.relations), default=0)

    @cached_property
    def _max_argument(self) -> int:
        return max(map(len, self.vocabulary.entities), default=1)

    @cached_property
    def _tolerant(self) -> Grammar:
        return replace(self, is_tolerant=True)

    def readings(self, text: str) -> list[RuleText]:
        """Return the ways to read a rule, two at most; none if it contains other names or too long a body."""
        readings = self._readings(text)
        return readings if readings or self.is_tolerant else self._tolerant.readings(text)

    def _readings(self, text: str) -> list[RuleText]:
        readings: list[RuleText] = []
        for head, end in self._atoms(text, self._skip(text, 0)):
            begin = self._behind(text, end, " ", ARROW)
            for body in self._bodies(text, begin) if begin >= 0 else ():
                readings.append(RuleText(head, body))
                if len(readings) > 1:
                    return readings
        return readings

    def _bodies(self, text: str, begin: int) -> Iterator[tuple[Atom, ...]]:
        """Yield the readings of a body, which begins with a space unless it is empty."""
        if not text[begin:].strip(" "):
            yield ()
        elif self.is_tolerant or text.startswith(" ", begin):
            yield from self._rest(text, self._skip(text, begin, 1), MAX_BODY)

    def _rest(self, text: str, begin: int, most: int) -> Iterator[tuple[Atom, ...]]:
        """Yield the readings of one to ``most`` atoms up to the end of the text."""
        for atom, end in self._atoms(text, begin):
            behind = self._behind(text, end, "", ",")
            if self._skip(text, end) == len(text):
                yield (atom,)
            elif most > 1 and behind >= 0 and (self.is_tolerant or text.startswith(" ", behind)):
                for atoms in self._rest(text, self._skip(text, behind, 1), most - 1):
                    yield (atom, *atoms)

    def _atoms(self, text: str, begin: int) -> Iterator[tuple[Atom, int]]:
        """Yield the atoms that begin at a place, each with its end."""
        for opening in self._names(text, begin, "(", self.vocabulary.relation_ids, self._max_relation):
            first = self._skip(text, opening + 1)
            for comma in self._arguments(text, first, ","):
                second = self._skip(text, comma + 1)
                for closing in self._arguments(text, second, ")"):
                    places = ((begin, opening), (first, comma), (second, closing))
                    yield Atom(*(self._name(text, *place) for place in places)), closing + 1

    def _arguments(self, text: str, begin: int, mark: str) -> Iterator[int]:
        """Yield the ends of a variable or of names of entities."""
        end = self._skip(text, begin + 1)
        if text[begin : begin + 1] in VARIABLES and text.startswith(mark, end):
            yield end
            if self.is_plain:
                return
        for end in self._names(text, begin, mark, self.vocabulary.entity_ids, self._max_argument):
            if self._name(text, begin, end) not in VARIABLES:
                yield end

    def _names(self, text: str, begin: int, mark: str, known: Collection[str], longest: int) -> Iterator[int]:
        """Yield the places of a mark before which there is a known name."""
        limit = begin + longest + 1 + MAX_SPACES * self.is_tolerant
        end = text.find(mark, begin, limit)
        while end >= 0:
            if self._name(text, begin, end) in known:
                yield end
            if self.is_plain:
                return
            end = text.find(mark, end + 1, limit)

    def _name(self, text: str, begin: int, end: int) -> str:
        """Return a name, without the spaces behind it if these are ignored."""
        return text[begin:end].rstrip(" ") if self.is_tolerant else text[begin:end]

    def _skip(self, text: str, place: int, n: int = 0) -> int:
        """Return the place behind all spaces if these are ignored, else behind n characters."""
        spaces = SPACES.match(text, place) if self.is_tolerant else None
        return place + n if spaces is None else spaces.end()

    def _behind(self, text: str, place: int, spaces: str, mark: str) -> int:
        """Return the place behind a mark, before which there are these spaces, or any; −1 if there is no mark."""
        if self.is_tolerant:
            place = self._skip(text, place)
            spaces = ""
        return place + len(spaces + mark) if text.startswith(spaces + mark, place) else -1


def rule_text(rules: RuleSet, rule: int) -> RuleText:
    """Return a rule by its names and variables."""
    n_paths = len(rules.paths)
    return _path_text(rules, rule) if rule < n_paths else _constant_text(rules, rule - n_paths)


def write_rules(
    rules: RuleSet, path: str | Path, *, chosen: Places | None = None, overwrite: bool = False
) -> None:
    """Write rules as text in the format of AnyBURL, the highest confidence first.

    A suffix .gz, .bz2 or .zst packs the file. A file that exists is a ``FileExistsError`` unless ``overwrite``. A
    rule that could not be read again is a ``DataError``: one with a line end in a name, with a constant whose name
    is one capital letter, or one that reads in two ways.

    Parameters
    ----------
    chosen
        Numbers of the rules to write, in this order. Default: all.

    Examples
    --------
    >>> import nnmfaug as na
    >>> train = na.family(40, seed=0).given
    >>> rules = na.Rules(depth=1).mine(train)
    >>> na.write_rules(rules, "rules.txt")
    >>> len(na.read_rules("rules.txt", train, na.Rules())) == len(rules)
    True
    """
    file_path = Path(path)
    with replacing(file_path, overwrite=overwrite) as draft, open_text(draft, file_path) as file:
        file.writelines(_lines(rules, rules.order() if chosen is None else chosen, file_path))


def _lines(rules: RuleSet, chosen: Places, path: Path) -> Iterator[str]:
    grammar = Grammar(rules.graph.vocabulary)
    for done, rule in enumerate(chosen.tolist()):
        if done % REPORT_EVERY == 0:
            report("writing rules", done, len(chosen))
        text = rule_text(rules, rule)
        _check_readable(text, grammar, path)
        size, support = int(rules.sizes[rule]), int(rules.support[rule])
        yield f"{size}\t{support}\t{support / max(size, 1)}\t{text}\n"


def _check_readable(rule: RuleText, grammar: Grammar, path: Path) -> None:
    """Raise if a rule would not be read again as it is."""
    text = str(rule)
    if "\n" in text or "\r" in text:
        raise DataError(f"a name contains a line end, which this format cannot represent: {text!r}", path=path)
    if _has_letter_as_constant(rule):
        raise DataError(f"a name that is one capital letter is a variable in this format: {text}", path=path)
    if not grammar.is_plain and grammar.readings(text) != [rule]:
        raise DataError(
            f"this rule could be read in two ways, because of commas or parentheses: {text}", path=path
        )


def _has_letter_as_constant(rule: RuleText) -> bool:
    """Whether a letter stands where this package writes no variable."""
    atoms = (rule.head, *rule.body)
    return any(isinstance(name, _Constant) and name in VARIABLES for atom in atoms for name in atom[1:])


class _Constant(str):
    """The name of an entity, so that it is not mistaken for a variable."""

    __slots__ = ()


def _path_text(rules: RuleSet, rule: int) -> RuleText:
    path = rules.paths.path(rule)
    variables = ["X", *INNER_VARIABLES[: len(path) - 1], "Y"]
    head = Atom(rules.graph.vocabulary.relations[int(rules.paths.table.heads[rule])], "X", "Y")
    return RuleText(head, tuple(_atom(rules, step, *variables[i : i + 2]) for i, step in enumerate(path)))


def _constant_text(rules: RuleSet, rule: int) -> RuleText:
    table = rules.constants.table
    x = "Y" if rules.constants.head_step[rule] >= rules.graph.n_relations else "X"
    codes = [code for code in table.bodies[rule].tolist() if code != NONE]
    body = tuple(
        _attribute(rules, code, x, other) for code, other in zip(codes, INNER_VARIABLES[: len(codes)], strict=True)
    )
    return RuleText(_attribute(rules, int(table.heads[rule]), x, ""), body)


def _attribute(rules: RuleSet, code: int, x: str, other: str) -> Atom:
    """Return the atom of an attribute of x."""
    step, end = divmod(code, rules.steps.n + 1)
    return _atom(
        rules, step, x, other if end == rules.steps.n else _Constant(rules.graph.vocabulary.entities[end])
    )


def _atom(rules: RuleSet, step: int, x: str, y: str) -> Atom:
    """Return r(x, y), or r(y, x) for an inverse."""
    n_relations = rules.graph.n_relations
    relation = rules.graph.vocabulary.relations[step % n_relations]
    return Atom(relation, x, y) if step < n_relations else Atom(relation, y, x)
