"""A plain miner of rules with constants, over dictionaries and sets, and a comparison of its rules with ours.

An attribute has the code s·(n + 1) + d for step s and end d, where d = n stands for any entity, as in
:mod:`nnmfaug.augmenters.rules.attributes`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property

import nnmfaug as na
from nnmfaug.augmenters.rules.attributes import NONE
from nnmfaug.augmenters.rules.constant_table import ConstantTable

Rule = tuple[int, int]
"""The attributes of head and body; −1 for no body."""
Counts = dict[Rule, tuple[int, int]]
"""Support and size of rules."""


@dataclass(frozen=True, eq=False)
class PlainMiner:
    """Counts all rules a(x) ← b(x) and a(x) ← true of a graph that pass the thresholds of a method."""

    train: na.KnowledgeGraph
    method: na.Rules

    @cached_property
    def ends(self) -> dict[tuple[int, int], set[int]]:
        """Where each step leads from each entity."""
        ends: dict[tuple[int, int], set[int]] = defaultdict(set)
        for h, r, t in self.train.triples.tolist():
            if h != t:
                ends[r, h].add(t)
                ends[r + self.train.n_relations, t].add(h)
        return ends

    @cached_property
    def entities(self) -> dict[int, set[int]]:
        """The entities that have each attribute, if they are enough."""
        entities: dict[int, set[int]] = defaultdict(set)
        for (step, x), ends in self.ends.items():
            for end in (*ends, self.train.n_entities):
                entities[step * (self.train.n_entities + 1) + end].add(x)
        return {code: having for code, having in entities.items() if len(having) >= self.method.min_support}

    @cached_property
    def attributes(self) -> dict[int, list[int]]:
        """The attributes of each entity."""
        attributes: dict[int, list[int]] = defaultdict(list)
        for code, having in self.entities.items():
            for x in having:
                attributes[x].append(code)
        return attributes

    def split(self, code: int) -> tuple[int, int]:
        """Return step and end of an attribute."""
        return divmod(code, self.train.n_entities + 1)

    def any_end(self, code: int) -> int:
        """Return the attribute of the same step with any end."""
        _, end = self.split(code)
        return code - end + self.train.n_entities

    def mine(self) -> Counts:
        """Count the rules of all heads."""
        heads = [code for code in self.entities if code != self.any_end(code)]
        return {rule: row for head in heads for rule, row in self.count(head).items() if self.passed(*row)}

    def count(self, head: int) -> Counts:
        """Count the rules of a head; s(x, c) ← s(x, ·) needs another end than c."""
        step, end = self.split(head)
        known = self.entities[head]
        support = Counter(body for x in known for body in self.attributes[x] if body != head)
        sizes = {body: len(self.entities[body]) - (end in self.entities[body]) for body in support}
        counts = {(head, body): (hits, sizes[body]) for body, hits in support.items()}
        own = self.any_end(head)
        n_alone = sum(self.ends[step, x] == {end} for x in known)
        counts[head, own] = (support[own] - n_alone, sizes[own] - n_alone)
        counts[head, NONE] = (len(known), sizes[own])
        return counts

    def passed(self, support: int, size: int) -> bool:
        """Return whether support and confidence are high enough."""
        least = self.method.min_confidence * (size + self.method.prior)
        return support >= self.method.min_support and support >= least

    def are_the_same(self, ours: Counts, plain: Counts) -> bool:
        """Return whether ours are the plain rules, one of those that say the same, without implied ones."""
        wanted = {rule: row for rule, row in plain.items() if not self.is_implied(rule, plain)}
        said = {self.meaning(rule) for rule in ours}
        is_one_of_each = len(said) == len(ours) and said == {self.meaning(rule) for rule in wanted}
        return is_one_of_each and ours.items() <= wanted.items()

    def is_implied(self, rule: Rule, counts: Counts) -> bool:
        """Return whether a(x) ← s(x, d) has no more confidence than a(x) ← s(x, ·)."""
        head, body = rule
        general = (head, NONE if body == NONE else self.any_end(body))
        return general != rule and general in counts and self.ratio(counts[rule]) <= self.ratio(counts[general])

    def ratio(self, row: tuple[int, int]) -> float:
        """Return the confidence."""
        support, size = row
        return support / (size + self.method.prior)

    def meaning(self, rule: Rule) -> tuple[int, int, bool]:
        """Return something equal for rules of the same conclusions; s(x, c) ← s(x, ·) is like no other."""
        head, body = rule
        is_unique = body in (NONE, self.any_end(head))
        return head, body if is_unique else self.same_entities[body], is_unique

    @cached_property
    def same_entities(self) -> dict[int, int]:
        """For each attribute the first one that the same entities have."""
        first: dict[frozenset[int], int] = {}
        return {code: first.setdefault(frozenset(having), code) for code, having in self.entities.items()}


def counts_of(table: ConstantTable) -> Counts:
    """Return the rules of a table, and their counts."""
    rules = zip(table.heads.tolist(), table.bodies[:, 0].tolist(), strict=True)
    rows = zip(table.support.tolist(), table.sizes.tolist(), strict=True)
    return dict(zip(rules, rows, strict=True))
