"""A synthetic graph of families, of which all true triples are known.

A triple that is not in a real graph may still be true, so precision can only be estimated. Here a triple that is
not in ``truth`` is false. Parents and spouses are drawn at random; the other relations follow from them:

====================== =================================================================================
relation(x, y)         is true if
====================== =================================================================================
parent_of              x is one of the two parents of y; the parents of a child are spouses
child_of               parent_of(y, x)
spouse_of              x and y are married: once or never, and with no parent or grandparent in common
sibling_of             x ≠ y, and some z is a parent of both
grandparent_of         x is a parent of a parent of y
grandchild_of          grandparent_of(y, x)
aunt_or_uncle_of       x is a sibling of a parent of y (not: the spouse of such a sibling)
niece_or_nephew_of     aunt_or_uncle_of(y, x)
cousin_of              a parent of x is a sibling of a parent of y
parent_in_law_of       x is a parent of the spouse of y
child_in_law_of        parent_in_law_of(y, x)
sibling_in_law_of      x is the spouse of a sibling of y, or a sibling of the spouse of y
====================== =================================================================================
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, eye_array

from nnmfaug.core.arrays import Bools, IntArray
from nnmfaug.core.checks import check_argument, check_at_least
from nnmfaug.graph.keys import unique_triples
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.people import Couple, Parents, draw_people
from nnmfaug.graph.vocabulary import Vocabulary

BoolMatrix: TypeAlias = "csr_array[np.bool_, tuple[int, int]]"
Rule = tuple[int, int, int]
"""(r, s, t) is the rule r(x, y) ← s(x, z), t(z, y) for x ≠ y; it has one atom if s or t is the identity."""

_INVERSES = {
    "parent_of": "child_of",
    "grandparent_of": "grandchild_of",
    "aunt_or_uncle_of": "niece_or_nephew_of",
    "parent_in_law_of": "child_in_law_of",
}
_INVERSES |= {inverse: relation for relation, inverse in _INVERSES.items()}  # all other relations are symmetric


@dataclass(frozen=True)
class FamilyWorld:
    """An incomplete graph of families, and the complete truth; all graphs have one vocabulary.

    Parameters
    ----------
    given
        The incomplete graph: ``truth`` without ``missing`` and with ``noise``.
    missing
        True triples that are not in ``given``.
    truth
        All true triples.
    noise
        False triples in ``given``.
    derivable : ndarray of shape (n_missing,)
        Whether a rule with a body of at most two atoms derives a triple (x, r, y) of ``missing``: one or two
        atoms, each possibly inverted, connect x and y in ``given`` without the noise, and in the truth
        r(x, y) is true for all x ≠ y that these atoms connect.
    """

    given: KnowledgeGraph
    missing: KnowledgeGraph
    truth: KnowledgeGraph
    noise: KnowledgeGraph
    derivable: Bools = field(repr=False, compare=False)

    def is_true(self, triples: ArrayLike) -> Bools:
        """Return for each row of ids, shape (n, 3), whether it is a true triple."""
        return self.truth.contains(triples)


def family(n: int, *, seed: int, missing: float = 0.2, noise: float = 0.0) -> FamilyWorld:
    """Generate families over several generations, and leave out some true triples.

    Parameters
    ----------
    n
        Number of people, at least 30.
    seed
        The same arguments give the same graph. ``missing`` does not change ``truth``, and ``noise`` does not
        change ``missing``.
    missing
        Fraction of the truth to leave out, above 0 and below 0.5. Every person and every relation stays in
        ``given``. 55 to 65 % of the missing triples are derivable, or 30 to 70 % if none of 50 draws achieves
        that. It is a ``ValueError`` if none achieves this either, as happens if only a few are left out.
    noise
        Number of false triples to add, as a fraction of the truth, from 0 to 1. The head and the tail of each
        occur as head and as tail in true triples of its relation.

    Examples
    --------
    >>> world = family(60, seed=0, noise=0.1)
    >>> len(world.truth), len(world.missing), len(world.noise), len(world.given)
    (1154, 231, 115, 1038)
    >>> bool(world.is_true(world.missing.triples).all()), bool(world.is_true(world.noise.triples).any())
    (True, False)
    """
    check_at_least("n", n, 30)
    check_argument("missing", missing, 0 < missing < 0.5, "above 0 and below 0.5")
    check_argument("noise", noise, 0 <= noise <= 1, "from 0 to 1")
    rng = np.random.default_rng(seed)
    truth = _draw_truth(n, rng)
    is_missing, derivable = _leave_out(truth, missing, rng)
    false_triples = _draw_false(truth, round(noise * len(truth)), rng)
    remaining = np.concatenate([truth.triples[~is_missing], false_triples])
    return FamilyWorld(
        given=replace(truth, triples=unique_triples(remaining, truth.vocabulary, sort=True)),
        missing=replace(truth, triples=truth.triples[is_missing]),
        truth=truth,
        noise=replace(truth, triples=false_triples),
        derivable=derivable,
    )


def _draw_truth(n: int, rng: np.random.Generator) -> KnowledgeGraph:
    """Draw n people, and derive all triples about them; draw again until every relation has a triple."""
    while True:
        matrices = _relations(n, *draw_people(n, rng))
        if all(matrix.nnz for matrix in matrices.values()):
            break  # rarely, and only among few people, nobody has a cousin or a grandchild
    width = max(4, len(str(n - 1)))  # leading zeros keep the names, and so the ids, in order of birth
    names = Vocabulary.from_names((f"person_{i:0{width}}" for i in range(n)), matrices)
    return _graph(names, [matrices[relation] for relation in names.relations])


def _relations(n: int, parents: list[Parents], couples: list[Couple]) -> dict[str, BoolMatrix]:
    """Derive every relation from parents and spouses, as in the table of this module."""
    parent = _matrix(n, [(p, person) for person, both in enumerate(parents) for p in both])
    child = csr_array(parent.T)
    spouse = _matrix(n, [*couples, *((b, a) for a, b in couples)])
    sibling = (child @ parent) > eye_array(n, dtype=np.bool_, format="csr")
    matrices = {
        "parent_of": parent,
        "spouse_of": spouse,
        "sibling_of": sibling,
        "grandparent_of": parent @ parent,
        "aunt_or_uncle_of": sibling @ parent,
        "cousin_of": child @ sibling @ parent,
        "parent_in_law_of": parent @ spouse,
        "sibling_in_law_of": spouse @ sibling + sibling @ spouse,
    }
    inverses = {_INVERSES[r]: csr_array(matrix.T) for r, matrix in matrices.items() if r in _INVERSES}
    return matrices | inverses


def _leave_out(truth: KnowledgeGraph, fraction: float, rng: np.random.Generator) -> tuple[Bools, Bools]:
    """Choose the missing triples; return a mask of the truth, and which of them are derivable.

    Nearly all triples left out one by one are derivable, at least from their inverses. Most triples left out
    together with all others about a person are not. So mix the two, until about 60 % are derivable.
    """
    rules = _true_rules(truth)
    count = round(fraction * len(truth))
    draws = []
    for bundled_fraction in rng.uniform(0.3, 1.0, size=50):
        mask = _draw_mask(truth, count, int(bundled_fraction * count), rng)
        remaining = replace(truth, triples=truth.triples[~mask])
        derivable = _is_derivable(rules, remaining, truth.triples[mask])
        deviation = abs(derivable.sum() - 0.6 * count)
        draws.append((deviation, mask, derivable))
        if deviation <= 0.05 * count:
            break
    _, mask, derivable = min(draws, key=lambda draw: draw[0])
    if count == 0 or not 0.3 <= derivable.mean() <= 0.7:
        msg = f"missing={fraction}: {derivable.sum()} of {count} missing triples are derivable, not 30 to 70 %"
        raise ValueError(msg)
    return mask, derivable


def _draw_mask(truth: KnowledgeGraph, count: int, n_bundled: int, rng: np.random.Generator) -> Bools:
    """Draw ``count`` triples: ``n_bundled`` of them person by person, the others one by one."""
    order = rng.permutation(len(truth))
    for column in (0, 1):  # one triple of every person and one of every relation stay
        _, first = np.unique(truth.triples[order, column], return_index=True)
        order = np.delete(order, first)
    rank_of_person = rng.permutation(truth.n_entities)
    ends = truth.triples[order][:, [0, 2]]
    by_person = np.argsort(rank_of_person[ends].min(axis=1), kind="stable")
    order = order[by_person]
    others = rng.choice(order[n_bundled:], count - n_bundled, replace=False)
    return np.isin(np.arange(len(truth)), np.concatenate([order[:n_bundled], others]))


def _true_rules(truth: KnowledgeGraph) -> list[Rule]:
    """Return all rules that have no exception, and a body that occurs."""
    atoms = _atoms(truth)
    identity = atoms[-1]
    rules: list[Rule] = []
    for (s, first), (t, second) in itertools.product(enumerate(atoms), repeat=2):
        body = (first @ second) > identity
        if body.nnz:
            rules += [(r, s, t) for r, head in enumerate(atoms[:-1]) if not (body > head).nnz]
    return rules


def _is_derivable(rules: list[Rule], graph: KnowledgeGraph, triples: IntArray) -> Bools:
    """Return for each triple whether a rule derives it from the graph."""
    atoms = _atoms(graph)
    conclusions = [_matrix(graph.n_entities, [])] * graph.n_relations
    for r, s, t in rules:
        conclusions[r] = conclusions[r] + atoms[s] @ atoms[t]
    return _graph(graph.vocabulary, conclusions).contains(triples)


def _atoms(graph: KnowledgeGraph) -> list[BoolMatrix]:
    """Return a matrix per relation, and the identity last; a triple counts for the inverse relation too.

    So an inverted atom needs no matrix of its own: in the truth it is the atom of the inverse relation.
    """
    n = graph.n_entities
    names = graph.vocabulary.relations
    pairs = {name: graph.triples[graph.triples[:, 1] == r][:, [0, 2]] for r, name in enumerate(names)}
    inverted = {_INVERSES.get(name, name): rows[:, ::-1] for name, rows in pairs.items()}
    matrices = [_matrix(n, np.concatenate([pairs[name], inverted[name]])) for name in names]
    return [*matrices, eye_array(n, dtype=np.bool_, format="csr")]


def _matrix(n: int, pairs: ArrayLike) -> BoolMatrix:
    """Return the matrix of shape (n, n) that is true at the pairs."""
    rows, columns = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
    return csr_array((np.ones(len(rows), dtype=np.bool_), (rows, columns)), shape=(n, n))


def _graph(names: Vocabulary, matrices: list[BoolMatrix]) -> KnowledgeGraph:
    """Return the graph of a matrix per relation."""
    parts = []
    for r, matrix in enumerate(matrices):
        heads, tails = matrix.nonzero()
        parts.append(np.stack([heads, np.full_like(heads, r), tails], axis=1))
    return KnowledgeGraph(names, unique_triples(np.concatenate(parts), names, sort=True))


def _draw_false(truth: KnowledgeGraph, count: int, rng: np.random.Generator) -> IntArray:
    """Shuffle the tails of each relation until there are ``count`` distinct false triples."""
    false_keys = np.empty(0, dtype=np.int64)
    relations = truth.triples[:, 1]
    while len(false_keys) < count:
        heads = np.lexsort((rng.random(len(truth)), relations))
        tails = np.lexsort((rng.random(len(truth)), relations))
        triples = np.column_stack([truth.triples[heads, :2], truth.triples[tails, 2]])
        is_loop = triples[:, 0] == triples[:, 2]
        is_false = ~is_loop & ~truth.contains(triples)
        false_keys = np.union1d(false_keys, truth.vocabulary.keys(triples[is_false]))
    chosen = rng.choice(false_keys, count, replace=False)
    return truth.vocabulary.from_keys(np.sort(chosen))
