"""A synthetic world of families whose complete truth is known.

In a graph from the real world a triple that is not there may still be true, so precision can only be
estimated. Here what is not in the truth is false. Parents and spouses are drawn, all else follows:

====================== =================================================================================
relation(x, y)         holds when
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
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, eye_array

from nnmfaug.core.arrays import IntArray
from nnmfaug.graph.keys import unique_triples
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary

BoolArray = NDArray[np.bool_]
BoolMatrix: TypeAlias = "csr_array[np.bool_, tuple[int, int]]"

_INVERSES = {
    "parent_of": "child_of",
    "grandparent_of": "grandchild_of",
    "aunt_or_uncle_of": "niece_or_nephew_of",
    "parent_in_law_of": "child_in_law_of",
}
_INVERSES |= {inverse: relation for relation, inverse in _INVERSES.items()}  # the others are symmetric


@dataclass(frozen=True)
class FamilyWorld:
    """What a user holds of a world, and what there is to know about it; all over one vocabulary.

    ``given`` is ``truth`` without ``missing`` and with ``noise``. A triple that is not in ``truth`` is false.

    ``derivable`` says which triples (x, r, y) of ``missing`` a rule of length at most two finds: one or two
    atoms, each possibly inverted, join x and y in ``given`` without the noise, and in the truth r holds for
    all x ≠ y that these atoms join.
    """

    given: KnowledgeGraph
    missing: KnowledgeGraph
    truth: KnowledgeGraph
    noise: KnowledgeGraph
    derivable: BoolArray = field(repr=False, compare=False)

    def is_true(self, triples: ArrayLike) -> BoolArray:
        """Say for each row of ids, shape (n, 3), whether it is a true fact."""
        return self.truth.contains(triples)


def family(n: int, *, seed: int, missing: float = 0.2, noise: float = 0.0) -> FamilyWorld:
    """Generate families over several generations, and hide part of what is true about them.

    Parameters
    ----------
    n
        Number of people, at least 30.
    seed
        Same arguments, same world. ``missing`` does not change the truth, ``noise`` not what is missing.
    missing
        Share of the truth to leave out, above 0 and below 0.5. Everybody and every relation stays in
        ``given``; 55 to 65 % of what is left out is derivable, or 30 to 70 % if none of 50 draws reaches
        that, or a ``ValueError`` if none reaches this, as happens where only a handful is left out.
    noise
        Number of false facts to put in, as a share of the truth, from 0 to 1. Each has a head and a tail
        that occur as such in true facts of its relation.

    Examples
    --------
    >>> world = family(60, seed=0, noise=0.1)
    >>> len(world.truth), len(world.missing), len(world.noise), len(world.given)
    (1154, 231, 115, 1038)
    >>> bool(world.is_true(world.missing.triples).all()), bool(world.is_true(world.noise.triples).any())
    (True, False)
    """
    for valid, msg in (
        (n >= 30, f"n={n}: must be at least 30"),
        (0 < missing < 0.5, f"missing={missing}: must be above 0 and below 0.5"),
        (0 <= noise <= 1, f"noise={noise}: must be from 0 to 1"),
    ):
        if not valid:
            raise ValueError(msg)
    rng = np.random.default_rng(seed)
    truth = _truth(n, rng)
    mask, derivable = _leave_out(truth, missing, rng)
    false = _false_facts(truth, round(noise * len(truth)), rng)
    held = unique_triples(np.concatenate([truth.triples[~mask], false]), truth.vocabulary, sort=True)
    given, hidden, wrong = (replace(truth, triples=part) for part in (held, truth.triples[mask], false))
    return FamilyWorld(given, hidden, truth, wrong, derivable)


def _truth(n: int, rng: np.random.Generator) -> KnowledgeGraph:
    """Derive every relation from parents and spouses, as the table of this module says."""
    parents, couples = _people(n, rng)
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
    matrices |= {_INVERSES[r]: csr_array(matrix.T) for r, matrix in matrices.items() if r in _INVERSES}
    width = max(4, len(str(n - 1)))  # leading zeros keep the names, and so the ids, in order of birth
    names = Vocabulary.from_names((f"person_{i:0{width}}" for i in range(n)), matrices)
    truth = _graph(names, (matrices[relation] for relation in names.relations))
    # Rarely, and among few people only, nobody has a cousin or a grandchild: then draw again.
    return truth if all(matrix.nnz for matrix in matrices.values()) else _truth(n, rng)


def _people(n: int, rng: np.random.Generator) -> tuple[list[tuple[int, ...]], list[tuple[int, int]]]:
    """Draw n people, one generation after the other: the parents of each (none or two), and all couples."""
    founders = n // 10  # couples: a fifth of the people, so there are four or five generations
    parents: list[tuple[int, ...]] = [()] * (2 * founders)
    couples = generation = [(2 * i, 2 * i + 1) for i in range(founders)]
    while len(parents) < n:
        sizes = rng.integers(0, 6, size=len(generation))
        sizes[0] = max(sizes[0], 1)  # with the rounding down below: no generation dies out
        births = np.repeat(generation, sizes, axis=0)[: n - len(parents)]
        children = len(parents) + rng.permutation(len(births))
        parents += [(a, b) for a, b in births.tolist()]
        generation = _marry(children[len(children) // 8 :].tolist(), parents, n)  # the others stay single
        couples = couples + generation
    return parents, couples


def _marry(seeking: list[int], parents: list[tuple[int, ...]], n: int) -> list[tuple[int, int]]:
    """Pair people who are not close kin; for those left over newcomers join, until there are n people."""

    def lineage(person: int) -> set[int]:
        return {*parents[person], *(old for p in parents[person] for old in parents[p])}

    couples = []
    while seeking:
        person = seeking.pop()
        partner = next((p for p in seeking if lineage(p).isdisjoint(lineage(person))), len(parents))
        if partner < len(parents):
            seeking.remove(partner)
        elif partner < n:
            parents.append(())
        else:
            continue
        couples.append((person, partner))
    return couples


def _leave_out(truth: KnowledgeGraph, share: float, rng: np.random.Generator) -> tuple[BoolArray, BoolArray]:
    """Choose what is missing, as a mask of the truth, and say which of it is derivable.

    Nearly all facts left out one by one are derivable, at the least from their inverses; of those left out
    with all else about a person most are not. So mix the two, until about 60 % are derivable.
    """
    rules, count, draws = _rules(truth), round(share * len(truth)), []
    for part in rng.uniform(0.3, 1.0, size=50):
        mask = _draw_mask(truth, count, int(part * count), rng)
        derivable = _derivable(rules, replace(truth, triples=truth.triples[~mask]), truth.triples[mask])
        draws.append((abs(derivable.sum() - 0.6 * count), mask, derivable))
        if draws[-1][0] <= 0.05 * count:
            break
    _, mask, derivable = min(draws, key=lambda draw: draw[0])
    if count == 0 or not 0.3 <= derivable.mean() <= 0.7:
        msg = f"missing={share}: {derivable.sum()} of {count} facts left out are derivable, not 30 to 70 %"
        raise ValueError(msg)
    return mask, derivable


def _draw_mask(truth: KnowledgeGraph, count: int, bundled: int, rng: np.random.Generator) -> BoolArray:
    """Draw ``count`` facts: ``bundled`` of them person by person, the others one by one."""
    order = rng.permutation(len(truth))
    for column in (0, 1):  # one fact of every person and one of every relation stay
        order = np.delete(order, np.unique(truth.triples[order, column], return_index=True)[1])
    turn = rng.permutation(truth.n_entities)[truth.triples[order][:, [0, 2]]].min(axis=1)
    order = order[np.argsort(turn, kind="stable")]
    others = rng.choice(order[bundled:], count - bundled, replace=False)
    return np.isin(np.arange(len(truth)), np.concatenate([order[:bundled], others]))


def _rules(truth: KnowledgeGraph) -> list[tuple[int, int, int]]:
    """All (r, s, t) with r(x, y) ← s(x, z), t(z, y) for all x ≠ y; one atom where s or t is the identity."""
    atoms, rules = _atoms(truth), []
    for (s, first), (t, second) in itertools.product(enumerate(atoms), repeat=2):
        body = (first @ second) > atoms[-1]
        rules += [(r, s, t) for r, head in enumerate(atoms[:-1]) if body.nnz and not (body > head).nnz]
    return rules


def _derivable(rules: list[tuple[int, int, int]], known: KnowledgeGraph, missing: IntArray) -> BoolArray:
    """Say which of the missing triples the rules find in the known ones."""
    atoms = _atoms(known)
    found = [_matrix(known.n_entities, [])] * known.n_relations
    for r, s, t in rules:
        found[r] = found[r] + atoms[s] @ atoms[t]
    return _graph(known.vocabulary, found).contains(missing)


def _atoms(graph: KnowledgeGraph) -> list[BoolMatrix]:
    """One matrix per relation, and the identity last; a fact counts for the inverse relation too."""
    # An inverted atom thus needs no matrix of its own: in the truth it is the atom of the inverse relation.
    n, names = graph.n_entities, graph.vocabulary.relations
    pairs = {name: graph.triples[graph.triples[:, 1] == r][:, [0, 2]] for r, name in enumerate(names)}
    inverted = {_INVERSES.get(name, name): rows[:, ::-1] for name, rows in pairs.items()}
    both = [_matrix(n, np.concatenate([pairs[name], inverted[name]])) for name in names]
    return [*both, eye_array(n, dtype=np.bool_, format="csr")]


def _matrix(n: int, pairs: ArrayLike) -> BoolMatrix:
    rows, columns = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
    return csr_array((np.ones(len(rows), dtype=np.bool_), (rows, columns)), shape=(n, n))


def _graph(names: Vocabulary, matrices: Iterable[BoolMatrix]) -> KnowledgeGraph:
    triples = np.concatenate([np.insert(np.stack(m.nonzero(), 1), 1, r, axis=1) for r, m in enumerate(matrices)])
    return KnowledgeGraph(names, unique_triples(triples, names, sort=True))


def _false_facts(truth: KnowledgeGraph, count: int, rng: np.random.Generator) -> IntArray:
    """Give heads the tails of other facts of the same relation, until ``count`` different ones are false."""
    found = np.empty(0, dtype=np.int64)
    while len(found) < count:
        heads, tails = (np.lexsort((rng.random(len(truth)), truth.triples[:, 1])) for _ in range(2))
        triples = np.column_stack([truth.triples[heads, :2], truth.triples[tails, 2]])
        false = (triples[:, 0] != triples[:, 2]) & ~truth.contains(triples)
        found = np.union1d(found, truth.vocabulary.keys(triples[false]))
    return truth.vocabulary.from_keys(np.sort(rng.choice(found, count, replace=False)))
