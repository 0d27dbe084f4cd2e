"""What entities have: a graph as attributes of entities, the atoms of rules with constants.

An attribute is a step and where it leads: born_in(x, Boston), or member_of⁻¹(x, Ann), that is member_of(Ann, x),
or born_in(x, ·), with whatever entity. Step s and entity d have the code s·(n + 1) + d, where d = n stands for any
entity. Triples whose head is also their tail are left out.

The indicator matrix X, of shape (n_attributes, n), has X[a, x] = 1 if x has the attribute a. The number of
entities that have two attributes is an entry of X·Xᵀ. X is sparse, and contains attributes of enough entities.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from nnmfaug.augmenters.rules.steps import Steps, ranges
from nnmfaug.core.arrays import Bools, Ids, Places
from nnmfaug.graph.keys import SortedKeys, run_lengths, stable_order

NONE = -1
"""Code of no attribute."""


class _Listed(NamedTuple):
    """The code of some attributes, ascending, the number of entities that have each, and the entities."""

    codes: Ids
    lengths: Ids
    entities: Ids


@dataclass(frozen=True, eq=False)
class Attributes:
    """The attributes that at least so many entities have.

    Parameters
    ----------
    steps
        The graph.
    least
        Minimum number of entities.

    Examples
    --------
    >>> from nnmfaug import KnowledgeGraph
    >>> rows = [("ann", "born_in", "rome"), ("bob", "born_in", "rome"), ("eve", "born_in", "oslo")]
    >>> attributes = Attributes(Steps(KnowledgeGraph.from_labels(rows)), 2)
    >>> [(attributes.describe(i), attributes.entities(i).tolist()) for i in range(len(attributes))]
    [('born_in(x, rome)', [0, 1]), ('born_in(x, ·)', [0, 1, 2]), ('born_in(·, x)', [3, 4])]
    """

    steps: Steps
    least: int

    @property
    def n(self) -> int:
        """Number of entities."""
        return self.steps.n

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def _table(self) -> tuple[Ids, Ids, Ids]:
        """Codes, where the entities of each begin, and the entities; ascending."""
        with_constant = self._with_constant()
        with_any = self._with_any()
        codes = np.concatenate([with_constant.codes, with_any.codes])
        lengths = np.concatenate([with_constant.lengths, with_any.lengths])
        order = np.argsort(codes)
        # The attribute of a step with any entity comes after those of the step with one entity.
        parts = zip(self._by_step(with_constant), self._by_step(with_any), strict=True)
        entities = np.concatenate([np.zeros(0, dtype=np.int64), *itertools.chain.from_iterable(parts)])
        return codes[order], np.append(0, np.cumsum(lengths[order])), entities

    def _with_constant(self) -> _Listed:
        """The attributes of a step that leads to one entity."""
        start, step, stop = self.steps.edges
        codes = step * (self.n + 1) + stop
        order = stable_order(codes)
        codes, lengths = run_lengths(codes[order])
        frequent = lengths >= self.least
        rows = order[np.repeat(frequent, lengths)]
        return _Listed(codes[frequent], lengths[frequent], start[rows])

    def _with_any(self) -> _Listed:
        """The attributes of a step that leads to any entity."""
        step, start, _ = self.steps.leaving
        steps, lengths = run_lengths(step)
        frequent = lengths >= self.least
        rows = np.repeat(frequent, lengths)
        return _Listed(self.any_end(steps[frequent]), lengths[frequent], start[rows])

    def _by_step(self, listed: _Listed) -> Iterator[Ids]:
        """Yield the entities of the attributes of each step."""
        bounds = np.searchsorted(listed.codes, np.arange(self.steps.n_steps + 1) * (self.n + 1))
        rows = np.append(0, np.cumsum(listed.lengths))[bounds]
        for begin, end in itertools.pairwise(rows.tolist()):
            yield listed.entities[begin:end]

    @property
    def codes(self) -> Ids:
        """The code of each attribute, ascending."""
        return self._table[0]

    @property
    def begins(self) -> Ids:
        """Where the entities of each attribute begin, shape (n_attributes + 1,)."""
        return self._table[1]

    @property
    def all_entities(self) -> Ids:
        """The entities of the first attribute, ascending, then those of the next, and so on."""
        return self._table[2]

    @cached_property
    def sizes(self) -> Ids:
        """Number of entities that have each attribute."""
        return np.diff(self.begins)

    @cached_property
    def step(self) -> Ids:
        """The step of each attribute."""
        return self.codes // (self.n + 1)

    @cached_property
    def end(self) -> Ids:
        """Where the step leads; n for any entity."""
        return self.codes % (self.n + 1)

    @cached_property
    def has_constant(self) -> Bools:
        """Whether the end of each attribute is one entity."""
        return np.asarray(self.end < self.n)

    @cached_property
    def matrix(self) -> csr_array:
        """X, shape (n_attributes, n)."""
        ones = np.ones(len(self.all_entities), dtype=np.int32)
        return csr_array((ones, self.all_entities, self.begins), shape=(len(self), self.n))

    @cached_property
    def by_entity(self) -> csr_array:
        """Xᵀ, shape (n, n_attributes): the attributes of each entity."""
        return csr_array(self.matrix.T)

    @cached_property
    def _keys(self) -> SortedKeys:
        return SortedKeys(np.repeat(np.arange(len(self)), self.sizes) * self.n + self.all_entities)

    @cached_property
    def n_single(self) -> Ids:
        """Number of entities that have an attribute and for which its step leads nowhere else."""
        is_single = self.is_single(self.all_entities, np.repeat(self.step, self.sizes))
        sums = np.append(0, np.cumsum(is_single))
        n_single: Ids = sums[self.begins[1:]] - sums[self.begins[:-1]]
        return n_single

    def any_end(self, step: Ids) -> Ids:
        """Return the code of the attribute of each step with any entity."""
        return step * (self.n + 1) + self.n

    def is_single(self, entities: Ids, step: Ids) -> Bools:
        """Return whether a step leads from an entity to one entity, for each of several."""
        _, lengths = self.steps.rows(step, entities)
        return np.asarray(lengths == 1)

    def entities(self, attribute: int) -> Ids:
        """Return the entities that have an attribute, ascending."""
        return self.all_entities[self.begins[attribute] : self.begins[attribute + 1]]

    def entities_of(self, attributes: Places | Ids) -> tuple[Ids, Ids]:
        """Return the place of each of some attributes, and an entity that has it, one row per entity."""
        lengths = self.sizes[attributes]
        entities = self.all_entities[ranges(self.begins[attributes], lengths)]
        return np.repeat(np.arange(len(attributes)), lengths), entities

    def have(self, entities: Ids, attributes: Ids) -> Bools:
        """Return whether each of some entities has the attribute beside it."""
        return self._keys.contain(attributes * self.n + entities)

    def describe(self, attribute: int, x: str = "x") -> str:
        """Return an attribute as text."""
        return describe_attribute(int(self.codes[attribute]), self.steps, x)


def describe_attribute(code: int, steps: Steps, x: str = "x", other: str = "·") -> str:
    """Return the attribute of a code as text, with a name for x and for any entity."""
    names = steps.graph.vocabulary
    step, end = divmod(code, steps.n + 1)
    entity = other if end == steps.n else names.entities[end]
    relation = names.relations[step % steps.graph.n_relations]
    return f"{relation}({x}, {entity})" if step < steps.graph.n_relations else f"{relation}({entity}, {x})"
