"""Counting given rules on a graph, by the same definitions as mined ones."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from nnmfaug.augmenters.rules.attributes import NONE
from nnmfaug.augmenters.rules.constant_mining import chunks
from nnmfaug.augmenters.rules.constant_rules import CHUNK_CONCLUSIONS, ConstantRules
from nnmfaug.augmenters.rules.constant_table import MAX_ATOMS, ConstantTable
from nnmfaug.augmenters.rules.joins import n_paths_of, pairs_of
from nnmfaug.augmenters.rules.mining import Limits
from nnmfaug.augmenters.rules.paths import affordable
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.augmenters.rules.table import RuleTable, Threshold
from nnmfaug.core.arrays import Bools, Ids, Places
from nnmfaug.core.progress import report

Path = tuple[int, ...]
PathRule = tuple[int, Path]
"""The relation that a rule concludes, and the steps of its body."""
ConstantRule = tuple[int, Path]
"""The code of the attribute that a rule concludes, and those of its body, none, one or two."""
ANY = Threshold(1, 1e-300, 0.0)
"""Every rule with an example passes."""


def count_paths(steps: Steps, rules: Iterable[PathRule], limits: Limits) -> RuleTable:
    """Count rules whose bodies are paths; those of too many paths are left out, as when they are mined.

    Examples
    --------
    >>> from nnmfaug import KnowledgeGraph
    >>> steps = Steps(KnowledgeGraph.from_labels([("a", "r", "b"), ("b", "r", "a"), ("a", "r", "c")]))
    >>> table = count_paths(steps, [(0, (1,))], Limits(100, 100, 100))
    >>> table.support.tolist(), table.sizes.tolist()
    ([2], [3])
    """
    relations: dict[Path, set[int]] = {}
    for relation, path in rules:
        relations.setdefault(path, set()).add(relation)
    paid, n_large, n_unpaid = _paid(steps, list(relations), limits)
    rows = []
    for done, path in enumerate(paid, 1):
        report("counting rules", done, len(paid))
        rows += _count_body(steps, path, sorted(relations[path]))
    depth = max(map(len, paid), default=1)
    bodies = [(*path, *[-1] * (depth - len(path))) for path, _ in rows]
    counts = np.array([numbers for _, numbers in rows], dtype=np.int64).reshape(-1, 4)
    heads, support, sizes, pca_sizes = counts.T
    body_array = np.array(bodies, dtype=np.int64).reshape(-1, depth)
    table = RuleTable(heads, body_array, support, sizes, pca_sizes, n_large + n_unpaid, n_unpaid)
    return table.take(table.order())


def _paid(steps: Steps, paths: list[Path], limits: Limits) -> tuple[list[Path], int, int]:
    """Return the bodies that the limits allow, how many are too large, and how many the budget does not pay for.

    A body and its reversal are one.
    """
    both = [min(path, _reversed(steps, path)) for path in paths]
    bodies = sorted(set(both))
    n_paths = np.array([n_paths_of(steps, path) for path in bodies], dtype=np.int64)
    is_short = np.array([len(path) == 1 for path in bodies], dtype=np.bool_)
    small = np.flatnonzero((n_paths <= limits.max_paths) | is_short)
    chosen = small[affordable(n_paths[small], limits.budget)]
    paid = {bodies[i] for i in chosen.tolist()}
    chosen_paths = [path for path, body in zip(paths, both, strict=True) if body in paid]
    return chosen_paths, len(bodies) - len(small), len(small) - len(paid)


def _reversed(steps: Steps, path: Path) -> Path:
    return tuple(steps.inverse(np.array(path[::-1])).tolist())


def _count_body(steps: Steps, path: Path, relations: list[int]) -> list[tuple[Path, tuple[int, int, int, int]]]:
    """Return head, support, size and PCA size of the rules with one body."""
    graph = steps.graph
    x, y = pairs_of(steps, path)
    rows = []
    for relation in relations:
        keys = (x * graph.n_relations + relation) * graph.n_entities + y
        support = int(np.count_nonzero(graph.contains_keys(keys)))
        _, n_tails = steps.rows(np.full(len(x), relation), x)
        rows.append((path, (relation, support, len(x), int(np.count_nonzero(n_tails)))))
    return rows


def count_constants(steps: Steps, rules: Iterable[ConstantRule]) -> ConstantTable:
    """Count rules with constants; those without an example are left out.

    Examples
    --------
    >>> from nnmfaug import KnowledgeGraph
    >>> rows = [(x, "born_in", "rome") for x in "abc"] + [(x, "speaks", "italian") for x in "ab"]
    >>> graph = KnowledgeGraph.from_labels(rows)
    >>> code = {name: i for i, name in enumerate(graph.vocabulary.entities)}
    >>> rule = (1 * 6 + code["italian"], (0 * 6 + code["rome"],))
    >>> table = count_constants(Steps(graph), [rule])
    >>> table.support.tolist(), table.sizes.tolist()
    ([2], [3])
    """
    distinct = sorted(set(rules))
    heads = np.array([head for head, _ in distinct], dtype=np.int64)
    bodies = np.array([(*body, *[NONE] * (MAX_ATOMS - len(body))) for _, body in distinct], dtype=np.int64)
    none = np.zeros(len(heads), dtype=np.int64)
    table = ConstantTable(heads, bodies.reshape(-1, MAX_ATOMS), none, none)
    return _count_table(ConstantRules(steps, table.take(_occur(steps, table)), ANY))


def _occur(steps: Steps, table: ConstantTable) -> Bools:
    """Whether an entity has the head of each rule, and entities have the atoms of its body."""
    codes = ConstantRules(steps, table, ANY).attributes.codes
    has_body = np.isin(table.bodies, codes) | (table.bodies == NONE)
    return np.asarray(np.isin(table.heads, codes) & has_body.all(axis=1))


def _count_table(rules: ConstantRules) -> ConstantTable:
    """Return the table with its counts."""
    support = np.zeros(len(rules), dtype=np.int64)
    sizes = np.zeros(len(rules), dtype=np.int64)
    for numbers in _blocks(rules, np.flatnonzero(rules.table.has_body)):
        places, entities = rules.subjects(numbers)
        _add_counts(rules, numbers[places], entities, support, sizes)
    for rule in np.flatnonzero(~rules.table.has_body):
        starts, _, _ = rules.steps.edges_of(rules.head_step[[rule]])
        entities = np.setdiff1d(starts, rules.constant[rule])
        _add_counts(rules, np.full(len(entities), rule), entities, support, sizes)
    table = ConstantTable(rules.table.heads, rules.table.bodies, support, sizes)
    return table.take(support > 0).sorted()


def _blocks(rules: ConstantRules, numbers: Places) -> Iterable[Places]:
    """Yield the rules with a body, some at a time."""
    costs = rules.attributes.sizes[rules.atoms[numbers, 0]]
    for rows in chunks(costs, CHUNK_CONCLUSIONS):
        report("counting rules with constants", rows.stop, len(numbers))
        yield numbers[rows]


def _add_counts(rules: ConstantRules, numbers: Ids | Places, entities: Ids, support: Ids, sizes: Ids) -> None:
    """Add the conclusions of rules, one row per rule and entity, to the counts of all rules."""
    is_known = rules.steps.graph.contains_keys(rules.keys(numbers, entities))
    sizes += np.bincount(numbers, minlength=len(rules))
    support += np.bincount(numbers[is_known], minlength=len(rules))
