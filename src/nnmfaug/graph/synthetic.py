"""A synthetic graph of any size, of which all true triples and all rules are known.

Entities have types. The heads and the tails of a relation have one type each, and few entities have most of the
triples. Relations come in groups of six; the last group may be smaller:

======== ================= ==============================================================================
place    name              triples
======== ================= ==============================================================================
0        r…_links          drawn: heads and tails by popularity
1        r…_belongs        drawn: one tail for each of 80 % of the possible heads
2        r…_inverse        (x, y) with chance c if links(y, x)
3        r…_same           (x, y) with chance c if links(x, y)
4        r…_chain          (x, y) with chance c if links(x, z) and belongs(z, y) for some z
5        r…_other          drawn, as in place 0
======== ================= ==============================================================================

So each relation in places 2 to 4 is planted by one rule of confidence c. Of all true triples, a fraction is
missing from the graph, at random. A miner that sees the graph alone finds the rules with confidence
c · (1 − missing), up to chance.

Relations are drawn one at a time, each from a stream of its own, so memory depends on the largest of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from nnmfaug.core.arrays import Array, Bools, Ids, IntArray
from nnmfaug.core.checks import check_argument, check_at_least, require
from nnmfaug.core.seeding import Stream, generator
from nnmfaug.graph.keys import sorted_unique
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary

Kind = Literal["links", "belongs", "inverse", "same", "chain", "other"]
KINDS: tuple[Kind, ...] = ("links", "belongs", "inverse", "same", "chain", "other")
"""The relations of a group, in order."""
RULES: dict[Kind, str] = {
    "inverse": "{0}(y, x)",
    "same": "{0}(x, y)",
    "chain": "{0}(x, z), {1}(z, y)",
}
"""Body of the rule that plants a relation."""
CONFIDENCES = (1.0, 0.9, 0.7, 0.5, 0.3)
"""The confidences of planted rules, in turn."""
COVERED = 0.8
"""Fraction of the possible heads of a relation ``belongs`` that have a tail."""
_STEPS: dict[Kind, int] = {"links": 0, "belongs": 1, "other": 2}
"""From the first type of a group to the type of the heads; that of the tails is the next one."""
_DENSEST = 0.25
"""At most this fraction of all pairs of two types is in a drawn relation."""
_FEWEST_PER_TYPE = 20


@dataclass(frozen=True)
class PlantedRule:
    """A rule of a synthetic graph, and what it does there.

    Parameters
    ----------
    head, body
        ``head(x, y) ← body``.
    confidence
        Chance that a pair that the body joins is true.
    n_pairs
        Number of pairs that the body joins in the graph, from which triples are missing.
    support
        Number of these pairs of which the graph has the head; ``support / n_pairs`` is what a miner finds.
    n_missing
        Number of true triples of the head that the graph lacks.
    """

    head: str
    body: str
    confidence: float
    n_pairs: int
    support: int
    n_missing: int


@dataclass(frozen=True)
class Part:
    """The true triples of one relation, as pairs of ids in ascending order; some are not in the graph.

    Parameters
    ----------
    relation
        Number of the relation.
    heads, tails
        Ids of entities.
    is_given : ndarray of shape (n,)
        Whether each triple is in the graph.
    rule
        The rule that planted the relation, if there is one.
    """

    relation: int
    heads: Ids
    tails: Ids
    is_given: Bools
    rule: PlantedRule | None

    def triples(self, *, given: bool) -> Ids:
        """Return the triples that are in the graph, or those that are missing, shape (n, 3)."""
        rows = self.is_given if given else ~self.is_given
        heads = self.heads[rows]
        return np.stack([heads, np.full_like(heads, self.relation), self.tails[rows]], axis=1)


@dataclass(frozen=True)
class SyntheticWorld:
    """A synthetic graph, the true triples that it lacks, and the rules that were planted.

    Parameters
    ----------
    given, missing
        Triples that are in the graph, and true triples that are not; with one vocabulary.
    rules
        One for each relation that follows from others.
    """

    given: KnowledgeGraph
    missing: KnowledgeGraph
    rules: tuple[PlantedRule, ...]


def synthesize(
    n_entities: int, n_triples: int, n_relations: int, *, seed: int, missing: float = 0.1
) -> SyntheticWorld:
    """Generate a graph with power-law degrees, typed relations, and rules of known confidence.

    Parameters
    ----------
    n_entities, n_triples, n_relations
        Size. The number of triples is met up to about 5 %; some entities may have no triple.
    seed
        The same arguments give the same graph.
    missing
        Fraction of the true triples that the graph lacks, at random.

    Examples
    --------
    >>> world = synthesize(300, 2_000, 12, seed=0)
    >>> rule = world.rules[0]
    >>> rule.body, rule.confidence, round(rule.support / rule.n_pairs, 2)
    ('r00_links(y, x)', 1.0, 0.91)
    """
    blueprint = Blueprint(n_entities, n_triples, n_relations, seed, missing)
    parts = list(blueprint.parts())
    given, absent = (_join([part.triples(given=is_given) for part in parts]) for is_given in (True, False))
    names = Vocabulary(tuple(map(blueprint.entity_name, range(n_entities))), blueprint.relation_names)
    rules = tuple(part.rule for part in parts if part.rule is not None)
    return SyntheticWorld(KnowledgeGraph(names, given), KnowledgeGraph(names, absent), rules)


def _join(triples: list[Ids]) -> IntArray:
    return np.concatenate(triples).astype(np.int32)


@dataclass(frozen=True)
class Blueprint:
    """The arguments of :func:`synthesize`, and all that follows from them without drawing a triple."""

    n_entities: int
    n_triples: int
    n_relations: int
    seed: int
    missing: float = 0.1

    def __post_init__(self) -> None:
        check_at_least("n_entities", self.n_entities, 2 * _FEWEST_PER_TYPE)
        check_at_least("n_triples", self.n_triples, 10)
        check_at_least("n_relations", self.n_relations, 1)
        check_argument("missing", self.missing, 0 <= self.missing < 1, "from 0 to below 1")
        sizes = f"{self.n_entities:,} entities and {self.n_relations:,} relations"
        fits = all(self._sizes[i] <= self._limit(i) for i in range(self.n_relations))
        require(fits, f"n_triples={self.n_triples}: too many for {sizes}; take fewer, or more of those")

    def parts(self) -> Iterator[Part]:
        """Draw the relations one after the other."""
        return map(self.part, range(self.n_relations))

    def part(self, relation: int) -> Part:
        """Draw a relation."""
        keys, is_given = self._triples(relation)
        heads, tails = np.divmod(keys, self.n_entities)
        return Part(relation, heads, tails, is_given, self._rule(relation, keys, is_given))

    def entity_name(self, number: int) -> str:
        """Return the name of an entity; names and numbers have the same order."""
        return f"e{number:0{self.entity_width}}"

    @property
    def entity_width(self) -> int:
        """Number of digits of an entity's name."""
        return len(str(self.n_entities - 1))

    @cached_property
    def relation_names(self) -> tuple[str, ...]:
        """Names of the relations, in the order of their numbers."""
        width = len(str(self.n_relations - 1))
        return tuple(f"r{i:0{width}}_{_kind(i)}" for i in range(self.n_relations))

    def _triples(self, relation: int) -> tuple[Ids, Bools]:
        """Return the keys of the true triples of a relation, head · n_entities + tail, and which are given."""
        keys = self._drawn(relation) if _kind(relation) not in RULES else self._planted(relation)
        rng = generator(self.seed, Stream.SYNTHETIC_MISSING, relation)
        return keys, rng.random(len(keys)) >= self.missing

    def _drawn(self, relation: int) -> Ids:
        """Draw the pairs of a relation that follows from no other."""
        rng = generator(self.seed, Stream.SYNTHETIC, relation)
        domain, codomain = self._types(relation)
        n_pairs = round(self._sizes[relation])
        if _kind(relation) == "belongs":
            heads = domain.start + np.flatnonzero(rng.random(len(domain)) < n_pairs / len(domain))
            return np.asarray(heads * self.n_entities + _popular(rng, codomain, len(heads)))
        keys: Ids = np.empty(0, dtype=np.int64)
        while len(keys) < n_pairs:
            more = 2 * (n_pairs - len(keys)) + 10
            drawn = _popular(rng, domain, more) * self.n_entities + _popular(rng, codomain, more)
            keys = sorted_unique(np.concatenate([keys, drawn]))
        return np.sort(rng.choice(keys, n_pairs, replace=False))

    def _planted(self, relation: int) -> Ids:
        """Draw which of the pairs that the body of a rule joins are true."""
        rng = generator(self.seed, Stream.SYNTHETIC, relation)
        pairs = self._joined(relation, given=False)
        return pairs[rng.random(len(pairs)) < _confidence(relation)]

    def _joined(self, relation: int, *, given: bool) -> Ids:
        """Return the pairs that the body of a rule joins: in the graph, or with the triples that it lacks."""
        kind = _kind(relation)
        links = self._body(relation, "links", given=given)
        if kind == "same":
            return links
        heads, tails = np.divmod(links, self.n_entities)
        if kind == "inverse":
            return np.sort(tails * self.n_entities + heads)
        middles, ends = np.divmod(self._body(relation, "belongs", given=given), self.n_entities)
        if not len(middles):
            return links[:0]
        places = np.minimum(np.searchsorted(middles, tails), len(middles) - 1)  # every middle has one end
        is_joined = (middles[places] == tails) & (heads != ends[places])
        return sorted_unique((heads * self.n_entities + ends[places])[is_joined])

    def _body(self, relation: int, kind: Kind, *, given: bool) -> Ids:
        """Return the pairs of a drawn relation of the same group."""
        first = relation - relation % len(KINDS)
        keys, is_given = self._triples(first + KINDS.index(kind))
        return keys[is_given] if given else keys

    def _rule(self, relation: int, keys: Ids, is_given: Bools) -> PlantedRule | None:
        kind = _kind(relation)
        if kind not in RULES:
            return None
        first = relation - relation % len(KINDS)
        pairs = self._joined(relation, given=True)
        return PlantedRule(
            head=self.relation_names[relation],
            body=RULES[kind].format(*self.relation_names[first : first + 2]),
            confidence=_confidence(relation),
            n_pairs=len(pairs),
            support=int(np.isin(keys[is_given], pairs, assume_unique=True).sum()),
            n_missing=int((~is_given).sum()),
        )

    def _types(self, relation: int) -> tuple[range, range]:
        """Return the entities that may be heads, and those that may be tails."""
        group, place = divmod(relation, len(KINDS))
        n_types = len(self._bounds) - 1
        first = group % n_types
        steps = _STEPS[KINDS[place]]
        numbers = ((first + steps) % n_types, (first + steps + 1) % n_types)
        domain, codomain = (range(self._bounds[i], self._bounds[i + 1]) for i in numbers)
        return domain, codomain

    def _limit(self, relation: int) -> float:
        """The most triples that a drawn relation can have."""
        if _kind(relation) in RULES:
            return math.inf
        domain, codomain = self._types(relation)
        return len(domain) if _kind(relation) == "belongs" else _DENSEST * len(domain) * len(codomain)

    @cached_property
    def _bounds(self) -> list[int]:
        """The entities of type i are those from bound i to below bound i + 1."""
        n_types = max(2, min(50, self.n_relations // 4, self.n_entities // _FEWEST_PER_TYPE))
        sizes = 1 / np.sqrt(np.arange(1, n_types + 1))
        inner = np.rint(self.n_entities * np.cumsum(sizes)[:-1] / sizes.sum()).astype(int)
        return [0, *inner.tolist(), self.n_entities]

    @cached_property
    def _sizes(self) -> Array:
        """Number of true triples of each drawn relation, such that about n_triples of all are given."""
        kinds = [_kind(i) for i in range(self.n_relations)]
        sizes = np.array([self._weight(i) for i in range(self.n_relations)])
        is_belongs = np.array([kind == "belongs" for kind in kinds])
        n_true = self.n_triples / (1 - self.missing)
        fixed = [COVERED * len(self._types(i)[0]) if is_belongs[i] else 0.0 for i in range(self.n_relations)]
        n_belongs = np.array(fixed) * min(1.0, 0.3 * n_true / max(sum(fixed), 1.0))
        scale = (n_true - n_belongs.sum()) / sizes.sum()
        return np.where(is_belongs, n_belongs, sizes * scale)

    def _weight(self, relation: int) -> float:
        """Expected size of a relation, relative to that of the relation ``links`` of the first group."""
        group, place = divmod(relation, len(KINDS))
        per_link = {
            "links": 1.0,
            "belongs": 0.0,
            "other": 0.5,
            "chain": COVERED * _confidence(relation),
        }.get(KINDS[place], _confidence(relation))
        return per_link / math.sqrt(group + 1)


def _kind(relation: int) -> Kind:
    return KINDS[relation % len(KINDS)]


def _confidence(relation: int) -> float:
    """Confidence of the rule that plants a relation."""
    group, place = divmod(relation, len(KINDS))
    return CONFIDENCES[(3 * group + place - 2) % len(CONFIDENCES)]


def _popular(rng: np.random.Generator, entities: range, n: int) -> Ids:
    """Draw entities; that of rank i has a chance of about i^-0.6.

    Products and roots are the same on every CPU, powers are not.
    """
    u = rng.random(n)
    ranks = (len(entities) * (u * u * np.sqrt(u))).astype(np.int64)  # u^2.5, and 2.5 = 1 / (1 − 0.6)
    return entities.start + ranks
