"""A trained model: ranks and predictions."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nnmfaug.core.arrays import Array, Ids, IntArray, Places
from nnmfaug.core.checks import check_count, require, unknown_name
from nnmfaug.evaluation.metrics import Ranks
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pykeen.models import ERModel

    from nnmfaug.linkpred.predictor import LinkPredictor


class Answer(NamedTuple):
    """An entity that may complete a triple, its score, and whether the triple is already known."""

    entity: str
    score: float
    known: bool


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained model with the names and the known triples of its data set.

    Attributes
    ----------
    model
        PyKEEN's model.
    known
        The triples of all splits: filtered ranks leave them out, and :meth:`predict` marks them.
    hidden
        Names of entities that are never an answer, because they are not of the data set.
    losses, curve
        Mean loss of each epoch; metrics on valid at some of them.
    """

    settings: LinkPredictor
    model: ERModel[Any, Any, Any]
    known: KnowledgeGraph
    losses: tuple[float, ...] = ()
    curve: tuple[dict[str, float], ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()

    def rank(self, triples: KnowledgeGraph, *, known: KnowledgeGraph | None = None) -> Ranks:
        """Rank the true heads and tails of triples among all entities, filtered and raw.

        Filtered ranks leave out the triples in ``known``, by default those of all splits. To choose something on
        valid, pass the triples of train and valid.
        """
        from nnmfaug.linkpred.ranking import ModelScores, rank

        names = self.known.vocabulary
        others = self.known if known is None else known.with_vocabulary(names)
        return rank(ModelScores(self.model), triples.with_vocabulary(names), others, hidden=self.hidden_ids())

    def hidden_ids(self) -> list[int]:
        """Return the ids of the hidden entities."""
        return [self.known.vocabulary.entity_ids[name] for name in self.hidden]

    def predict(
        self, *, head: str | None = None, relation: str, tail: str | None = None, n: int = 10
    ) -> list[Answer]:
        """Return the n most probable tails of a head, or heads of a tail, best first."""
        from nnmfaug.linkpred.ranking import all_scores

        names = self.known.vocabulary
        query = Query.of(names, head, relation, tail)
        scores = all_scores(self.model, query.entity, query.relation, heads=query.heads)
        scores[self.hidden_ids()] = -np.inf
        best = best_first(scores, min(check_count(n), len(scores) - len(self.hidden)))
        known = self.known.contains(query.complete(best))
        return [
            Answer(names.entities[x], float(scores[x]), is_known)
            for x, is_known in zip(best.tolist(), known.tolist(), strict=True)
        ]

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write ``model.json`` (settings and names) and ``model.safetensors`` (weights and known triples).

        Files that exist are a ``FileExistsError`` unless ``overwrite``.
        """
        from nnmfaug.linkpred.storage import save_trained

        save_trained(self, Path(folder), overwrite=overwrite)

    def __reduce__(self) -> tuple[Any, ...]:
        """To another process a model goes as settings, triples and weights, not as an object of torch."""
        from nnmfaug.linkpred.storage import unpack, weights_as_bytes

        parts = (self.losses, self.curve, self.seconds, self.hidden)
        return unpack, (self.settings, self.known, weights_as_bytes(self.model), parts)


class Query(NamedTuple):
    """A triple with one side missing."""

    entity: int
    relation: int
    heads: bool
    """Whether the head is missing."""

    @classmethod
    def of(cls, names: Vocabulary, head: str | None, relation: str, tail: str | None) -> Query:
        """Return the query of names, one of which is missing."""
        one_is_missing = (head is None) != (tail is None)
        require(one_is_missing, "give a head to predict tails, or a tail to predict heads")
        entity = _id("entity", head or tail or "", names.entity_ids)
        return cls(entity, _id("relation", relation, names.relation_ids), tail is not None)

    @property
    def pair(self) -> Ids:
        """Entity and relation, shape (1, 2)."""
        return np.array([[self.entity, self.relation]])

    def complete(self, entities: Places) -> IntArray:
        """Return the triples with each of these entities on the missing side, shape (n, 3)."""
        triples = np.empty((len(entities), 3), dtype=np.int32)
        answer_column = 0 if self.heads else 2
        triples[:, answer_column] = entities
        triples[:, 1] = self.relation
        triples[:, 2 - answer_column] = self.entity
        return triples


def best_first(scores: Array, n: int) -> Places:
    """Return the positions of the n highest scores; of equal ones the first."""
    return np.argsort(-scores, kind="stable")[:n]


def _id(kind: str, name: str, ids: dict[str, int]) -> int:
    if name not in ids:
        raise ValueError(unknown_name(kind, name, ids))
    return ids[name]
