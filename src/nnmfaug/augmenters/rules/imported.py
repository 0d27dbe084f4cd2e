"""Rules that another program has mined: a file in the format of AnyBURL, counted again on the train graph."""

from __future__ import annotations

import codecs
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path

from nnmfaug.augmenters.rules.anyburl import Atom, Grammar, RuleText
from nnmfaug.augmenters.rules.constant_table import MAX_ATOMS, ConstantTable
from nnmfaug.augmenters.rules.mining import Limits
from nnmfaug.augmenters.rules.recounting import ANY, ConstantRule, PathRule, count_constants, count_paths
from nnmfaug.augmenters.rules.rule_set import RuleSet
from nnmfaug.augmenters.rules.rules import Rules
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.augmenters.rules.unusable import VARIABLES, LeftOut, UnusableRuleError, why_unread
from nnmfaug.core.errors import DataError
from nnmfaug.graph.knowledge_graph import KnowledgeGraph, check_graph
from nnmfaug.io.lines import line_blocks, numbered_lines
from nnmfaug.io.stream import BLOCK, Limits as FileLimits, open_stream

N_COLUMNS = 4


@dataclass(frozen=True)
class ImportedRules(Rules):
    """Triples that the rules of a file conclude, the highest confidence first.

    The rules are counted again on the train graph, so all that holds for mined rules holds for them: confidences,
    calibration by leaving one out, evidence. ``depth`` has no effect.

    Parameters
    ----------
    path
        A file in the format of AnyBURL, see :func:`read_rules`.

    Examples
    --------
    >>> import nnmfaug as na
    >>> world = na.family(60, seed=0)
    >>> na.write_rules(na.Rules(depth=1).mine(world.given), "rules.txt")
    >>> dist = na.Auto((na.ImportedRules(path="rules.txt"),)).fit(world.given)
    >>> bool(world.is_true(dist.top(10).triples).all())
    True
    """

    path: str = field(kw_only=True)

    @classmethod
    def of(cls, path: str | Path, settings: Rules) -> ImportedRules:
        """Return the rules of a file with the settings of others; with constants, if the file has some."""
        values = {each.name: getattr(settings, each.name) for each in fields(Rules)}
        return cls(**{**values, "constants": True}, path=str(path))

    def mine(self, graph: KnowledgeGraph) -> RuleSet:
        """Return the rules of the file, counted on a graph, which should be the train split alone."""
        return read_rules(self.path, graph, self)


def read_rules(path: str | Path, graph: KnowledgeGraph, settings: Rules | None = None) -> RuleSet:
    r"""Read rules in the format of AnyBURL, and count them on a graph, which should be the train split alone.

    Supported are paths of one to four atoms, r(X,Y) <= s(X,A), t(A,Y), and rules with constants of none to two
    atoms about the same variable, r(X,c) <= s(X,d), t(X,A). The numbers in the file are not used. Left out with a
    warning are lines that are malformed, rules with names that the graph does not have, rules of another form, and
    rules that do not pass the thresholds.

    Parameters
    ----------
    settings
        Thresholds and limits. Default: those of ``Rules()``.

    Raises
    ------
    DataError
        If no line of the file is a rule that can be used, it is not UTF-8, or a rule can be read in two ways.

    Examples
    --------
    >>> import nnmfaug as na
    >>> _ = Path("rules.txt").write_text("9\t8\t0.89\tparent_of(X,Y) <= child_of(Y,X)\n")
    >>> rules = na.read_rules("rules.txt", na.family(60, seed=0).given)
    >>> rules.describe(0), bool(rules.confidence[0] > 0.5)
    ('parent_of(x, y) ← child_of(y, x)', True)
    """
    check_graph(graph)
    chosen = Rules() if settings is None else settings
    path_rules, constant_rules = _read_file(Path(path), graph)
    steps = Steps(graph)
    table = count_paths(steps, path_rules, Limits(chosen.max_paths, chosen.budget, chosen.max_rules))
    constants = count_constants(steps, constant_rules) if chosen.constants else ConstantTable.empty()
    rules = chosen.select(RuleSet.of(graph, table, ANY, constants))
    n_given = len(table) + (len({*constant_rules}) if chosen.constants else 0)
    _warn_of_weak(Path(path), n_given - len(rules) - rules.cut, chosen)
    return rules


def _warn_of_weak(path: Path, n: int, settings: Rules) -> None:
    """Warn that rules do not pass the threshold, if there are any."""
    if not n:
        return
    rules = "1 rule" if n == 1 else f"{n:,} rules"
    minimum = f"a support below {settings.min_support} or a confidence below {settings.min_confidence:g}"
    warnings.warn(f"{path}: left out {rules} with {minimum} on train", UserWarning, stacklevel=3)


def _read_file(path: Path, graph: KnowledgeGraph) -> tuple[list[PathRule], list[ConstantRule]]:
    """Return the rules of a file by ids; warn about those that are left out."""
    grammar = Grammar(graph.vocabulary)
    forms = _Forms(graph)
    path_rules: list[PathRule] = []
    constant_rules: list[ConstantRule] = []
    left_out = LeftOut()
    for number, line in _numbered_lines(path):
        try:
            rule = _read_one(grammar, _rule_of_line(line, path, number), path, number)
            path_rule = forms.path_rule(rule)
            if path_rule is None:
                constant_rules.append(forms.required_constant_rule(rule))
            else:
                path_rules.append(path_rule)
        except UnusableRuleError as error:
            left_out.add(number, error)
    if not path_rules and not constant_rules:
        raise left_out.error(path)
    if len(left_out):
        warnings.warn(left_out.note(path), UserWarning, stacklevel=4)
    return path_rules, constant_rules


def _numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield each line that is not empty, with its number."""
    if not path.is_file():
        raise DataError("no such file of rules", path=path)
    longest = FileLimits().max_line
    with open_stream(path, FileLimits()) as stream:
        blocks = iter(lambda: stream.read(BLOCK), b"")
        for number, line in numbered_lines(line_blocks(blocks, longest)):
            if len(line) > longest:
                raise DataError(f"a line of more than {longest:,} bytes is not a rule", path=path, line=number)
            if line.strip():
                yield number, line


def _rule_of_line(line: bytes, path: Path, number: int) -> str:
    """Return the last column; raise unless the others are numbers."""
    try:
        columns = line.removeprefix(codecs.BOM_UTF8).decode().split("\t", N_COLUMNS - 1)
    except UnicodeDecodeError as error:
        msg = f"byte 0x{line[error.start]:02X} is not UTF-8: save the file as UTF-8"
        raise DataError(msg, path=path, line=number) from None
    if len(columns) != N_COLUMNS or not all(map(_is_number, columns[:-1])):
        msg = "not a rule of AnyBURL: a line has three numbers and the rule, separated by tabs"
        raise UnusableRuleError("malformed", msg)
    return columns[-1].rstrip("\r\n")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_one(grammar: Grammar, text: str, path: Path, number: int) -> RuleText:
    """Return the only reading of a rule; raise if it has none, or two."""
    readings = grammar.readings(text)
    if not readings:
        raise why_unread(text, grammar.vocabulary)
    if len(readings) > 1:
        one, other = readings
        msg = f"this rule reads in two ways, because of commas or parentheses in names: {one!r} or {other!r}"
        raise DataError(msg, path=path, line=number)
    return readings[0]


@dataclass(frozen=True)
class _Forms:
    """Turns names into ids, for rules of the forms that this package has."""

    graph: KnowledgeGraph

    def path_rule(self, rule: RuleText) -> PathRule | None:
        """Return a rule r(X,Y) whose body is a path from X to Y, its atoms in any order; None for another form."""
        relation, x, y = rule.head
        path = self._path(x, y, rule.body)
        head = self.graph.vocabulary.relation_ids[relation]
        if not path or path == (head,):
            return None
        return head, path

    def _path(self, x: str, y: str, atoms: tuple[Atom, ...]) -> tuple[int, ...] | None:
        """Return the steps from variable x to y; each variable between them connects two atoms."""
        if x == y or x not in VARIABLES or y not in VARIABLES:
            return None
        path = []
        place = x
        visited = {x}
        rest = list(atoms)
        while rest:
            here = [atom for atom in rest if place in atom[1:]]
            if len(here) != 1:
                return None
            step, place = self._step(here[0], place)
            if place in visited or place not in VARIABLES:
                return None
            path.append(step)
            visited.add(place)
            rest.remove(here[0])
        return tuple(path) if place == y else None

    def required_constant_rule(self, rule: RuleText) -> ConstantRule:
        """Return a rule with constants; raise for another form."""
        constant_rule = self.constant_rule(rule)
        if constant_rule is None:
            raise UnusableRuleError("of a form that is not supported", str(rule))
        return constant_rule

    def constant_rule(self, rule: RuleText) -> ConstantRule | None:
        """Return a rule r(X,c) or r(c,Y) whose atoms are about this variable; None for another form."""
        variables = [name for name in rule.head[1:] if name in VARIABLES]
        if len(variables) != 1 or len(rule.body) > MAX_ATOMS:
            return None
        (x,) = variables
        head = self._code(rule.head, x)
        body = [self._code(atom, x) for atom in rule.body]
        others = [name for atom in rule.body for name in atom[1:] if name in VARIABLES and name != x]
        if (
            head is None
            or None in body
            or head in body
            or len({*body}) < len(body)
            or len({*others}) < len(others)
        ):
            return None
        codes = [code for code in body if code is not None]
        any_end = head // (self.graph.n_entities + 1) * (self.graph.n_entities + 1) + self.graph.n_entities
        return head, tuple(sorted(codes, key=lambda code: (code != any_end, code)))

    def _code(self, atom: Atom, x: str) -> int | None:
        """Return the code of an attribute of x; None if the atom is not about x, or about nothing else."""
        if (atom.first == x) == (atom.second == x):
            return None
        step, other = self._step(atom, x)
        n = self.graph.n_entities
        return step * (n + 1) + (n if other in VARIABLES else self.graph.vocabulary.entity_ids[other])

    def _step(self, atom: Atom, x: str) -> tuple[int, str]:
        """Return the step of an atom from one of its arguments, and the other one."""
        relation = self.graph.vocabulary.relation_ids[atom.relation]
        if atom.first == x:
            return relation, atom.second
        return relation + self.graph.n_relations, atom.first
