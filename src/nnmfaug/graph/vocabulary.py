"""Names and ids of entities and relations, and keys: one number for each triple."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nnmfaug.core.arrays import Ids, IntArray

LabelledTriple = tuple[str, str, str]


@dataclass(frozen=True)
class Vocabulary:
    """The names of entities and relations; an id is the position of a name in sorted order.

    Examples
    --------
    >>> names = Vocabulary.from_names(["b", "a", "b"], ["likes"])
    >>> names.entities, names.entity_ids["b"]
    (('a', 'b'), 1)
    """

    entities: tuple[str, ...]
    relations: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_names("entities", self.entities)
        _check_names("relations", self.relations)

    @classmethod
    def from_names(cls, entities: Iterable[str], relations: Iterable[str]) -> Vocabulary:
        """Return the vocabulary of names in any order, which may be repeated."""
        return cls(_sorted_names(entities), _sorted_names(relations))

    def __repr__(self) -> str:
        return f"<Vocabulary: {len(self.entities)} entities, {len(self.relations)} relations>"

    @cached_property
    def entity_ids(self) -> dict[str, int]:
        """Entity name → id."""
        return {name: i for i, name in enumerate(self.entities)}

    @cached_property
    def relation_ids(self) -> dict[str, int]:
        """Relation name → id."""
        return {name: i for i, name in enumerate(self.relations)}

    def union(self, *others: Vocabulary) -> Vocabulary:
        """Return the vocabulary with the names of this one and of all others."""
        if all(other == self for other in others):
            return self
        return Vocabulary.from_names(
            (name for v in (self, *others) for name in v.entities),
            (name for v in (self, *others) for name in v.relations),
        )

    def check_ids(self, triples: NDArray[np.generic]) -> None:
        """Raise unless ``triples`` has shape (n, 3) and contains ids of this vocabulary."""
        if triples.ndim != 2 or triples.shape[1] != 3:
            msg = f"triples have shape {triples.shape}: must be (n_triples, 3)"
            raise ValueError(msg)
        if triples.size and triples.dtype.kind not in "iu":
            msg = f"triples have type {triples.dtype}: ids must be integers"
            raise ValueError(msg)
        if not triples.size:
            return
        limits = (len(self.entities), len(self.relations), len(self.entities))
        ranges = [(int(ids.min()), int(ids.max())) for ids in triples.T]
        if any(low < 0 or high >= limit for (low, high), limit in zip(ranges, limits, strict=True)):
            msg = f"ids from {ranges}: must be from 0 to below {limits}, for the entities and relations"
            raise ValueError(msg)

    def keys(self, triples: ArrayLike) -> Ids:
        """Return a key for each triple, (h·n_relations + r)·n_entities + t, shape (n,).

        The order of the keys is that of the triples by head, relation, tail.
        """
        n_entities = len(self.entities)
        n_relations = len(self.relations)
        if n_entities * n_relations * n_entities >= 2**63:
            msg = (
                f"{n_entities} entities and {n_relations} relations: more possible triples than 64 bits can number"
            )
            raise ValueError(msg)
        heads, relations, tails = np.asarray(triples).reshape(-1, 3).T
        keys = heads.astype(np.int64)
        keys *= n_relations
        keys += relations
        keys *= n_entities
        keys += tails
        return keys

    def from_keys(self, keys: Ids) -> IntArray:
        """Return the triples of keys, shape (n, 3); the inverse of :meth:`keys`."""
        n_entities = max(len(self.entities), 1)
        n_relations = max(len(self.relations), 1)
        triples = np.empty((len(keys), 3), dtype=np.int32)
        pairs = keys // n_entities
        triples[:, 2] = keys - pairs * n_entities
        triples[:, 0] = pairs // n_relations
        triples[:, 1] = pairs - triples[:, 0].astype(np.int64) * n_relations
        return triples


def _sorted_names(names: Iterable[str]) -> tuple[str, ...]:
    all_names = tuple(names)
    types: set[type] = set(map(type, all_names))
    if not all(issubclass(kind, str) for kind in types):
        wrong = next(name for name in all_names if not issubclass(type(name), str))
        msg = f"{wrong!r} is not a name: names must be text"
        raise ValueError(msg)
    return all_names if _is_increasing(all_names) else tuple(sorted(set(all_names)))


def _is_increasing(names: tuple[str, ...]) -> bool:
    return all(map(operator.lt, names, names[1:]))


def _check_names(kind: str, names: tuple[str, ...]) -> None:
    if not _is_increasing(names):
        msg = f"{kind} must be sorted and without repeats: use Vocabulary.from_names"
        raise ValueError(msg)
    if names and not names[0]:
        msg = f"an empty name among the {kind}"
        raise ValueError(msg)
    try:
        "".join(names).encode()
    except UnicodeEncodeError as error:
        msg = f"a name among the {kind} is not valid text: {error}"
        raise ValueError(msg) from None
