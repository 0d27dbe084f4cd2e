"""What distributions share: conditions on triples, exclusions, drawing without replacement, too few triples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from nnmfaug.augmenters.base import Distribution, Sample
from nnmfaug.core.arrays import Array, Bools, Ids, IntArray
from nnmfaug.core.checks import unknown_name
from nnmfaug.core.elementary import log
from nnmfaug.core.errors import SamplingError
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary

MAX_LISTED = 20_000_000
"""Number of triples that may be listed one by one, to rank them or to draw nearly all of them."""
AnyDistribution = TypeVar("AnyDistribution", bound=Distribution)


@dataclass(frozen=True)
class Conditions:
    """Conditions on generated triples; None allows any.

    Parameters
    ----------
    relations, heads, tails
        The names that are allowed.
    exclude
        Triples that are never generated.
    quotas
        Number of triples of each relation; ``relations`` is ignored then.
    """

    relations: tuple[str, ...] | None = None
    heads: tuple[str, ...] | None = None
    tails: tuple[str, ...] | None = None
    exclude: KnowledgeGraph | None = None
    quotas: Mapping[str, int] | None = None

    def settings(self) -> dict[str, Any]:
        """Return plain data for the manifest."""
        exclude = None if self.exclude is None else self.exclude.digest()
        quotas = None if self.quotas is None else dict(self.quotas)
        names = {"relations": self.relations, "heads": self.heads, "tails": self.tails}
        return {**names, "quotas": quotas, "exclude_sha256": exclude}

    def check(self, names: Vocabulary) -> None:
        """Raise if a name is not one of the graph."""
        for relation in (*(self.relations or ()), *(self.quotas or {})):
            id_of("relation", relation, names.relation_ids)
        for entity in (*(self.heads or ()), *(self.tails or ())):
            id_of("entity", entity, names.entity_ids)

    def apply(self, dist: AnyDistribution) -> AnyDistribution:
        """Return the distribution under these conditions; with quotas, that of their relations."""
        relations = self.relations if self.quotas is None else tuple(self.quotas)
        if (relations, self.heads, self.tails, self.exclude) == (None, None, None, None):
            return dist
        return dist.restrict(relations=relations, heads=self.heads, tails=self.tails, exclude=self.exclude)


@dataclass(frozen=True, eq=False)
class Masks:
    """Which ids of relations, heads and tails are allowed."""

    relations: Bools
    heads: Bools
    tails: Bools

    @classmethod
    def of(
        cls,
        names: Vocabulary,
        relations: Iterable[str] | None,
        heads: Iterable[str] | None,
        tails: Iterable[str] | None,
    ) -> Masks:
        """Look the names up; None allows all."""
        return cls(
            _mask("relations", relations, names.relation_ids),
            _mask("heads", heads, names.entity_ids),
            _mask("tails", tails, names.entity_ids),
        )

    def allow(self, triples: IntArray) -> Bools:
        """Return which rows of ids are allowed."""
        h, r, t = triples.T
        return np.asarray(self.relations[r] & self.heads[h] & self.tails[t])


def exclude_also(
    excluded: tuple[KnowledgeGraph, ...], graph: KnowledgeGraph | None, names: Vocabulary
) -> tuple[KnowledgeGraph, ...]:
    """Add a graph to those that are excluded; its triples with unknown names cannot be generated anyway."""
    if graph is None:
        return excluded
    entities = names.entity_ids
    relations = names.relation_ids
    rows = [(h, r, t) for h, r, t in graph.labels() if h in entities and r in relations and t in entities]
    return (*excluded, KnowledgeGraph.from_labels(rows, names))


def in_any(graphs: Sequence[KnowledgeGraph], triples: IntArray | Ids) -> Bools:
    """Return which rows of ids are a triple of one of the graphs."""
    present = np.zeros(len(triples), dtype=np.bool_)
    for graph in graphs:
        present |= graph.contains(triples)
    return present


def take_each(
    dist: AnyDistribution, quotas: Mapping[str, int], take: Callable[[AnyDistribution, int], Sample]
) -> IntArray:
    """Take as many triples of each relation as its quota; return them relation by relation, in order of name."""
    parts = [np.zeros((0, 3), dtype=np.int32)]
    for name, n in sorted(quotas.items()):
        with SamplingError.about(f"relation {name!r}"):
            parts.append(take(dist.restrict(relations=[name]), n).triples)
    return np.concatenate(parts)


def race_order(log_weights: Array, rng: np.random.Generator) -> Ids:
    """Return the order in which things of these weights are drawn one by one without replacement.

    Thing i arrives at time tᵢ ~ Exp(wᵢ); the first to arrive is i with probability wᵢ / Σ w, and so on.
    """
    log_times = log(rng.standard_exponential(len(log_weights))) - log_weights
    return np.argsort(log_times, kind="stable")


def too_few(n: int, available: int) -> str:
    """Return the message for a request that exceeds what there is."""
    return f"{n:,} new triples were requested, but only {available:,} are possible"


def too_many_to_list(support_size: int, n_new: int) -> SamplingError:
    """Return the error for a support that is too large to rank."""
    msg = f"{support_size:,} possible triples are too many to list: restrict relations, heads or tails"
    return SamplingError(msg, available=n_new)


def id_of(kind: str, name: str, ids: Mapping[str, int]) -> int:
    """Return the id of a name; raise with similar names if there is no such name."""
    if name not in ids:
        raise ValueError(unknown_name(kind, name, ids))
    return ids[name]


def _mask(what: str, names: Iterable[str] | None, ids: Mapping[str, int]) -> Bools:
    if isinstance(names, str):
        msg = f"{what}={names!r}: a list of names is needed, did you mean [{names!r}]?"
        raise ValueError(msg)
    mask = np.full(len(ids), names is None)
    for name in names or ():
        mask[id_of("relation" if what == "relations" else "entity", name, ids)] = True
    return mask
