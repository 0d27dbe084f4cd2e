"""A trained model: ranks and predictions."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nnmfaug.core.checks import unknown_name
from nnmfaug.evaluation.metrics import Ranks
from nnmfaug.graph.knowledge_graph import KnowledgeGraph

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

        Parameters
        ----------
        triples
            The triples to rank; the ranks have the same order.
        known
            The triples that filtered ranks leave out. Default: those of all splits. Where a choice depends on the
            ranks, give ``splits.train_and_valid()``.
        """
        from nnmfaug.linkpred.ranking import rank

        names = self.known.vocabulary
        known = self.known if known is None else known.with_vocabulary(names)
        return rank(self.model, triples.with_vocabulary(names), known, hidden=self._hidden_ids())

    def _hidden_ids(self) -> list[int]:
        return [self.known.vocabulary.entity_ids[name] for name in self.hidden]

    def predict(
        self, *, head: str | None = None, relation: str, tail: str | None = None, n: int = 10
    ) -> list[Answer]:
        """Return the n most probable tails of a head, or heads of a tail, best first."""
        from nnmfaug.linkpred.ranking import all_scores

        if (head is None) == (tail is None):
            msg = "give a head to predict tails, or a tail to predict heads"
            raise ValueError(msg)
        names = self.known.vocabulary
        entity = _id("entity", head or tail or "", names.entity_ids)
        r = _id("relation", relation, names.relation_ids)
        scores = all_scores(self.model, entity, r, heads=tail is not None)
        scores[self._hidden_ids()] = -np.inf
        best = np.argsort(-scores, kind="stable")[: min(n, len(scores) - len(self.hidden))]
        triples = [(entity, r, x) if tail is None else (x, r, entity) for x in best.tolist()]
        known = self.known.contains(np.array(triples, dtype=np.int32).reshape(-1, 3))
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


def _id(kind: str, name: str, ids: dict[str, int]) -> int:
    if name not in ids:
        raise ValueError(unknown_name(kind, name, ids))
    return ids[name]
