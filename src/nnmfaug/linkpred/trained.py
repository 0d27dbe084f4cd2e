"""A trained model: ranks, predictions, and files without pickles."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nnmfaug.core.checks import unknown_name
from nnmfaug.core.errors import DataError
from nnmfaug.evaluation.metrics import Ranks
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary
from nnmfaug.io.files import replacing

if TYPE_CHECKING:
    from pykeen.models import ERModel

    from nnmfaug.linkpred.predictor import LinkPredictor

FORMAT, VERSION = "nnmfaug model", 1


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

    def rank(self, triples: KnowledgeGraph) -> Ranks:
        """Rank the true heads and tails of triples among all entities, filtered and raw."""
        from nnmfaug.linkpred.ranking import rank

        known = self.known
        return rank(self.model, triples.with_vocabulary(known.vocabulary), known, hidden=self._hidden_ids())

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

    def save(self, folder: str | Path) -> None:
        """Write ``model.safetensors`` (weights and known triples) and ``model.json`` (settings and names)."""
        import torch
        from safetensors.torch import save

        folder = Path(folder)
        weights = {f"weights.{name}": x.contiguous().cpu() for name, x in self.model.state_dict().items()}
        weights["known"] = torch.from_numpy(self.known.triples.copy())
        names = self.known.vocabulary
        meta = {"format": FORMAT, "version": VERSION, "settings": asdict(self.settings)}
        meta |= {"entities": names.entities, "relations": names.relations, "hidden": self.hidden}
        with replacing(folder / "model.safetensors") as draft:
            draft.write_bytes(save(weights))
        with replacing(folder / "model.json") as draft:
            draft.write_text(json.dumps(meta, ensure_ascii=False) + "\n", encoding="utf-8")


def load_trained(folder: str | Path) -> Trained:
    """Read what :meth:`Trained.save` wrote."""
    folder = Path(folder)
    path = folder / "model.json"
    if not path.is_file():
        raise DataError("no model here: give a folder that contains model.json", path=folder)
    try:
        return _restore(folder, json.loads(path.read_text(encoding="utf-8")))
    except DataError:
        raise
    except (ValueError, KeyError, TypeError, RuntimeError, OSError) as error:
        why = str(error) or type(error).__name__
    raise _unreadable(why, path)


def _unreadable(why: str, path: Path) -> DataError:
    return DataError(f"not a model that this nnmfaug can read: train it again ({why})", path=path)


def _restore(folder: Path, meta: dict[str, Any]) -> Trained:
    from safetensors import SafetensorError
    from safetensors.torch import load

    from nnmfaug.io import to_pykeen
    from nnmfaug.linkpred.models import make_model
    from nnmfaug.linkpred.predictor import LinkPredictor

    if (meta["format"], meta["version"]) != (FORMAT, VERSION):
        msg = f"format {meta['format']!r}, version {meta['version']!r}"
        raise ValueError(msg)
    decay = tuple((float(at), float(by)) for at, by in meta["settings"].pop("decay"))
    settings = LinkPredictor(**meta["settings"], decay=decay)
    path = folder / "model.safetensors"
    try:
        tensors = load(path.read_bytes())
    except (SafetensorError, OSError) as error:
        raise _unreadable(str(error), path) from None
    names = Vocabulary(tuple(meta["entities"]), tuple(meta["relations"]))
    known = KnowledgeGraph(names, tensors.pop("known").numpy())
    model = make_model(settings, to_pykeen(known, reciprocal=settings.reciprocal))
    model.load_state_dict({name.removeprefix("weights."): x for name, x in tensors.items()})
    model.eval()
    return Trained(settings, model, known, hidden=tuple(meta.get("hidden", ())))


def _id(kind: str, name: str, ids: dict[str, int]) -> int:
    if name not in ids:
        raise ValueError(unknown_name(kind, name, ids))
    return ids[name]
