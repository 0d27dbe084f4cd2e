"""PyKEEN training loops whose training set grows: G plus the first of the generated triples, by a schedule.

:class:`GrowingMixin` extends any training loop of PyKEEN. The generated triples are in the batches, in the
negative sampler and in the inverse triples. The training factory itself remains G, so they are never in the filter
of an evaluation.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from pykeen.training import LCWATrainingLoop, TrainingLoop
from pykeen.triples import CoreTriplesFactory
from pykeen.triples.weights import LossWeighter
from torch import Tensor

from nnmfaug.core.checks import check_argument, require
from nnmfaug.graph.vocabulary import Vocabulary
from nnmfaug.io import read_generated
from nnmfaug.linkpred.schedule import Polynomial, Schedule
from nnmfaug.linkpred.slcwa import WholeEpochSLCWATrainingLoop


class GrowingLoader:
    """A data loader that delegates to one over the triples of the current epoch.

    Parameters
    ----------
    build
        Makes a loader over G and the first n generated triples.
    n_extra
        Returns n for the current epoch.
    n_batches
        Number of batches of an epoch, which are shuffled, so the first ones are a random part. Default: all.
    """

    def __init__(
        self, build: Callable[[int], Any], n_extra: Callable[[], int], n_batches: int | None = None
    ) -> None:
        self._build = build
        self._n_extra = n_extra
        self._n_batches = n_batches
        self._n_loaded = -1
        self._loader: Any = None

    def _current(self) -> Any:  # noqa: ANN401  # the loop's type of loader
        n = self._n_extra()
        if n != self._n_loaded:
            self._n_loaded = n
            self._loader = self._build(n)
        return self._loader

    def __len__(self) -> int:
        n_all = len(self._current())
        return n_all if self._n_batches is None else min(n_all, self._n_batches)

    def __iter__(self) -> Iterator[Any]:
        return islice(self._current(), self._n_batches)


class GrowingMixin(TrainingLoop):  # type: ignore[type-arg]
    """Trains on more and more of the generated triples; the first base class, before a training loop of PyKEEN.

    Parameters
    ----------
    extra
        The generated triples S in the order in which they enter the training set: a file of names, or ids of
        shape (n, 3). Each is new and occurs once. None is a plain training loop.
    schedule
        How many of them an epoch uses.
    extra_weight
        Loss weight of a generated triple: one number for all, or one for each. Not every loss of PyKEEN supports
        weights.
    repeats
        Whether ``extra`` may contain triples of G, which then count twice. Not for LCWA, whose labels would be 2.
    same_steps
        Whether an epoch has as many batches as one of G alone: a random part of the triples in use.
    """

    hpo_default: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        **TrainingLoop.hpo_default,
        "exponent": {"type": float, "low": 0.5, "high": 6.0},
        "extra_share": {"type": float, "low": 0.0, "high": 1.0},
    }

    def __init__(
        self,
        *,
        extra: str | Path | Tensor | None = None,
        schedule: Schedule | None = None,
        extra_weight: float | Tensor = 1.0,
        repeats: bool = False,
        same_steps: bool = False,
        **kwargs: Any,  # noqa: ANN401  # the loop's own
    ) -> None:
        super().__init__(**kwargs)
        self.same_steps = same_steps
        factory: CoreTriplesFactory = kwargs["triples_factory"]
        self.schedule = schedule or Polynomial()
        self.extra = _load(extra, factory, repeats=repeats)
        self.extra_share = 1.0
        self.extra_weight = _check_weight(extra_weight, len(self.extra), self.loss_weighter)
        if self._is_weighted():
            ambiguous = _has_repeats(self.extra, factory.mapped_triples)
            require(
                not ambiguous, "repeated train triples need weight 1: a weight applies to all copies of a triple"
            )
        self._factory: CoreTriplesFactory | None = None
        self._n_epochs = 1

    def train(  # type: ignore[override]
        self,
        triples_factory: CoreTriplesFactory,
        num_epochs: int = 1,
        *,
        exponent: float | None = None,
        extra_share: float | None = None,
        **kwargs: Any,  # noqa: ANN401  # those of TrainingLoop.train
    ) -> list[float] | None:
        """Train.

        Parameters
        ----------
        exponent
            Replaces the schedule by a polynomial one.
        extra_share
            The fraction of S that is used: the first triples of it.
        """
        if extra_share is not None:
            check_argument("extra_share", extra_share, 0 <= extra_share <= 1, "between 0 and 1")
        if exponent is not None:
            self.schedule = Polynomial(exponent)
        if extra_share is not None:
            self.extra_share = extra_share
        self._factory = triples_factory
        self._n_epochs = num_epochs
        return super().train(triples_factory=triples_factory, num_epochs=num_epochs, **kwargs)

    def n_extra(self) -> int:
        """Number of generated triples that the next epoch uses, also after resuming from a checkpoint."""
        epoch = min(len(self.losses_per_epochs) + 1, self._n_epochs)
        n_available = round(self.extra_share * len(self.extra))
        return self.schedule(epoch, self._n_epochs, n_available)

    def _is_weighted(self) -> bool:
        return bool((self.extra_weight != 1).any())

    def _create_training_data_loader(self, triples_factory: CoreTriplesFactory, **kwargs: Any) -> Any:  # noqa: ANN401
        make = super()._create_training_data_loader  # type: ignore[safe-super]  # the next base class has it
        if triples_factory is not self._factory or not len(self.extra):  # a callback may pass validation triples
            return make(triples_factory, **kwargs)

        def build(n: int) -> Any:  # noqa: ANN401
            if self._is_weighted():  # only triples in use are weighted: a later one may be a negative until then
                self.loss_weighter = ExtraWeighter(self.extra[:n], self.extra_weight[:n], triples_factory)
            triples = torch.cat([triples_factory.mapped_triples, self.extra[:n]])
            return make(triples_factory.clone_and_exchange_triples(triples), **kwargs)

        n_batches = len(make(triples_factory, **kwargs)) if self.same_steps else None
        return GrowingLoader(build, self.n_extra, n_batches)

    @property
    def checksum(self) -> str:
        """PyKEEN's checksum, S, its weights and the schedule: a checkpoint made with others is refused."""
        sha = hashlib.sha256(self.extra.numpy().tobytes())
        counts = [
            self.schedule(epoch, 100, 10**6) for epoch in range(1, 101)
        ]  # the repr of a function is an address
        sha.update(self.extra_weight.numpy().tobytes())
        steps = ("same steps",) if self.same_steps else ()  # checkpoints of earlier versions have nothing here
        sha.update(repr((super().checksum, counts, self.extra_share, *steps)).encode())
        return sha.hexdigest()


class ExtraWeighter(LossWeighter):
    """A weight for each generated triple, 1 for all others."""

    def __init__(self, extra: Tensor, weights: Tensor, factory: CoreTriplesFactory) -> None:
        self.n_entities = factory.num_entities
        self.n_relations = factory.num_relations
        if factory.create_inverse_triples:  # relation r has the id 2r there, and its inverse 2r + 1
            h, r, t = extra.T
            forward = torch.stack([h, 2 * r, t], 1)
            backward = torch.stack([t, 2 * r + 1, h], 1)
            extra = torch.cat([forward, backward])
            weights = weights.repeat(2)
        self.keys, order = self._keys(*extra.T).sort()
        self.weights = weights[order]

    def _keys(self, h: Tensor, r: Tensor, t: Tensor) -> Tensor:
        return (h * self.n_relations + r) * self.n_entities + t

    def __call__(self, h: Any, r: Any, t: Any) -> Tensor:  # noqa: ANN401  # PyKEEN passes tensors and arrays
        """Weights of triples; leading dimensions are broadcast, None means all entities or all relations."""
        keys = self._keys(
            _ids_or_all(h, self.n_entities), _ids_or_all(r, self.n_relations), _ids_or_all(t, self.n_entities)
        )
        if not len(self.keys):
            return torch.ones(keys.shape)
        places = torch.searchsorted(self.keys, keys.contiguous()).clamp_(max=len(self.keys) - 1)
        return torch.where(self.keys[places] == keys, self.weights[places], 1.0)


def _ids_or_all(ids: Any, n: int) -> Tensor:  # noqa: ANN401
    return torch.arange(n) if ids is None else torch.as_tensor(ids)


class NNMFAugTrainingLoop(GrowingMixin, WholeEpochSLCWATrainingLoop):
    """sLCWA with a growing training set; ``pipeline(training_loop="nnmfaug")`` after ``import nnmfaug.pykeen``."""


class NNMFAugLCWATrainingLoop(GrowingMixin, LCWATrainingLoop):  # type: ignore[misc]
    """LCWA with a growing training set; ``pipeline(training_loop="nnmfauglcwa")``."""


def _check_weight(weight: float | Tensor, n: int, loss_weighter: object) -> Tensor:
    """Return one weight for each of n generated triples, or raise."""
    weights = torch.as_tensor(weight, dtype=torch.float32)
    is_bad = ~((weights >= 0) & (weights < math.inf))
    bad = weights[is_bad].flatten().tolist()
    require(not bad, f"extra_weight={'; '.join(map(str, bad[:1]))}: must be finite and not negative")
    shape = tuple(weights.shape)
    require(shape in ((), (n,)), f"extra_weight of shape {shape}: must be one number, or {n}, one for each triple")
    clash = loss_weighter is not None and bool((weights != 1).any())
    require(not clash, "extra_weight and a loss_weighter: a triple can have only one weight")
    return weights.expand(n).clone()


def _load(extra: str | Path | Tensor | None, factory: CoreTriplesFactory, *, repeats: bool) -> Tensor:
    """Return the ids of generated triples, or raise; unless ``repeats``, each must be new and occur once."""
    if extra is None:
        return torch.empty((0, 3), dtype=torch.long)
    ids = extra.cpu() if isinstance(extra, Tensor) else _read_ids(Path(extra), factory)
    _check_ids(ids, factory)
    if not repeats:
        repeated = _has_repeats(ids, factory.mapped_triples)
        require(
            not repeated, "extra repeats a triple, or contains a training triple: each must be new and occur once"
        )
    return ids


def _check_ids(ids: Tensor, factory: CoreTriplesFactory) -> None:
    is_list_of_triples = ids.ndim == 2 and ids.shape[1] == 3 and ids.dtype == torch.long
    kind = f"shape {tuple(ids.shape)} and type {ids.dtype}"
    require(is_list_of_triples, f"extra of {kind}: must be ids of shape (n, 3), int64")
    n_entities = factory.num_entities
    n_relations = factory.real_num_relations
    limits = torch.tensor([n_entities, n_relations, n_entities])
    in_range = bool(((ids >= 0) & (ids < limits)).all())
    require(in_range, f"extra has ids outside of the {n_entities} entities and {n_relations} relations")


def _has_repeats(extra: Tensor, known: Tensor) -> bool:
    """Whether a triple of ``extra`` occurs twice in it, or occurs in ``known``."""
    n_known = len(torch.unique(known, dim=0))
    n_together = len(torch.unique(torch.cat([known, extra]), dim=0))
    return n_together < n_known + len(extra)


def _read_ids(path: Path, factory: CoreTriplesFactory) -> Tensor:
    """Read a file of names; return the ids that the factory gives to them."""
    entity_ids: dict[str, int] | None = getattr(factory, "entity_to_id", None)
    relation_ids: dict[str, int] | None = getattr(factory, "relation_to_id", None)
    if entity_ids is None or relation_ids is None:
        msg = f"{path}: the triples factory has no names to read it with; pass ids of shape (n, 3)"
        raise ValueError(msg)
    vocabulary = Vocabulary.from_names(entity_ids, relation_ids)
    graph = read_generated(path, vocabulary)
    entities = np.array([entity_ids[name] for name in vocabulary.entities])
    relations = np.array([relation_ids[name] for name in vocabulary.relations])
    h, r, t = graph.triples.T
    ids = np.stack([entities[h], relations[r], entities[t]], axis=1)
    return torch.from_numpy(ids.astype(np.int64))
