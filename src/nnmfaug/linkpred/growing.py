"""A training set that grows: G plus the first ⌊(e/E)^k·|S|⌋ generated triples at epoch e (section 2.4).

:class:`GrowingMixin` goes before any training loop of PyKEEN. The generated triples are in the batches, in the
negative sampler and in the inverse triples; the training factory itself stays G, so they are never in the filter
of an evaluation.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from pykeen.training import LCWATrainingLoop, TrainingLoop
from pykeen.triples import CoreTriplesFactory
from pykeen.triples.weights import LossWeighter
from torch import Tensor

from nnmfaug.graph.vocabulary import Vocabulary
from nnmfaug.io import read_generated
from nnmfaug.linkpred.schedule import Polynomial, Schedule
from nnmfaug.linkpred.slcwa import WholeEpochSLCWATrainingLoop


class GrowingLoader:
    """Looks like a data loader; passes on to one over the triples of the current epoch."""

    def __init__(self, build: Callable[[int], Any], size: Callable[[], int]) -> None:
        self._build, self._size = build, size
        self._at, self._loader = -1, None

    def _current(self) -> Any:  # noqa: ANN401  # whatever the loop makes
        size = self._size()
        if size != self._at:
            self._at, self._loader = size, self._build(size)
        return self._loader

    def __len__(self) -> int:
        return len(self._current())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._current())


class GrowingMixin(TrainingLoop):  # type: ignore[type-arg]
    """Trains on more and more of the generated triples; put it before a training loop of PyKEEN.

    Parameters
    ----------
    extra
        The generated triples S in the order they are to enter: a file of names, or ids of shape (n, 3). A set
        without the triples of G. None is a plain training loop.
    schedule
        How many of them an epoch uses.
    extra_weight
        What a generated triple weighs in the loss, one number or one for each; not every loss of PyKEEN takes
        weights.
    repeats
        Whether ``extra`` may have triples of G, which then count twice. Not for LCWA, whose labels would be 2.
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
        **kwargs: Any,  # noqa: ANN401  # the loop's own
    ) -> None:
        super().__init__(**kwargs)
        self.schedule = schedule or Polynomial()
        self.extra, self.extra_share = _load(extra, kwargs["triples_factory"], repeats=repeats), 1.0
        self.extra_weight = _check_weight(extra_weight, len(self.extra), self.loss_weighter)
        known = kwargs["triples_factory"].mapped_triples
        if bool((self.extra_weight != 1).any()) and _has_repeats(self.extra, known):
            msg = "triples of train once more weigh 1: a weight goes by triple, it would be that of the first, too"
            raise ValueError(msg)
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
        """Train; ``exponent`` sets a polynomial schedule, ``extra_share`` uses the first part of S only."""
        if extra_share is not None and not 0 <= extra_share <= 1:
            msg = f"extra_share={extra_share}: must be between 0 and 1"
            raise ValueError(msg)
        if exponent is not None:
            self.schedule = Polynomial(exponent)
        if extra_share is not None:
            self.extra_share = extra_share
        self._factory, self._n_epochs = triples_factory, num_epochs
        return super().train(triples_factory=triples_factory, num_epochs=num_epochs, **kwargs)

    def n_extra(self) -> int:
        """How many generated triples the epoch that comes next uses; right after a resume, too."""
        epoch = min(len(self.losses_per_epochs) + 1, self._n_epochs)
        return self.schedule(epoch, self._n_epochs, round(self.extra_share * len(self.extra)))

    def _create_training_data_loader(self, triples_factory: CoreTriplesFactory, **kwargs: Any) -> Any:  # noqa: ANN401
        make = super()._create_training_data_loader  # type: ignore[safe-super]  # of the loop this stands before
        if triples_factory is not self._factory or not len(self.extra):  # a callback may pass validation triples
            return make(triples_factory, **kwargs)

        def build(n: int) -> Any:  # noqa: ANN401
            if bool((self.extra_weight != 1).any()):  # of those in use; the others are no triples yet
                self.loss_weighter = ExtraWeighter(self.extra[:n], self.extra_weight[:n], triples_factory)
            triples = torch.cat([triples_factory.mapped_triples, self.extra[:n]])
            return make(triples_factory.clone_and_exchange_triples(triples), **kwargs)

        return GrowingLoader(build, self.n_extra)

    @property
    def checksum(self) -> str:
        """PyKEEN's, and of all that decides what is trained on: a checkpoint with another S is refused."""
        sha = hashlib.sha256(self.extra.numpy().tobytes())
        counts = [self.schedule(epoch, 100, 10**6) for epoch in range(1, 101)]  # a function's repr is its address
        sha.update(self.extra_weight.numpy().tobytes())
        sha.update(repr((super().checksum, counts, self.extra_share)).encode())
        return sha.hexdigest()


class ExtraWeighter(LossWeighter):
    """A weight for each generated triple, 1 for all others; None stands for all heads, or all tails."""

    def __init__(self, extra: Tensor, weights: Tensor, factory: CoreTriplesFactory) -> None:
        self.n_entities, self.n_relations = factory.num_entities, factory.num_relations
        if factory.create_inverse_triples:  # relation r is 2r there, and its inverse 2r + 1
            h, r, t = extra.T
            extra = torch.cat([torch.stack([h, 2 * r, t], 1), torch.stack([t, 2 * r + 1, h], 1)])
            weights = weights.repeat(2)
        self.keys, order = self._keys(*extra.T).sort()
        self.weights = weights[order]

    def _keys(self, h: Tensor, r: Tensor, t: Tensor) -> Tensor:
        return (h * self.n_relations + r) * self.n_entities + t

    def __call__(self, h: Any, r: Any, t: Any) -> Tensor:  # noqa: ANN401  # PyKEEN passes tensors and arrays
        """Weigh triples; leading dimensions are broadcast."""
        everyone = torch.arange(self.n_entities)
        everything = torch.arange(self.n_relations)
        h, r, t = (
            torch.as_tensor(all_ if x is None else x)
            for x, all_ in ((h, everyone), (r, everything), (t, everyone))
        )
        keys = self._keys(h, r, t)
        if not len(self.keys):
            return torch.ones(keys.shape)
        place = torch.searchsorted(self.keys, keys.contiguous()).clamp_(max=len(self.keys) - 1)
        return torch.where(self.keys[place] == keys, self.weights[place], 1.0)


class NNMFAugTrainingLoop(GrowingMixin, WholeEpochSLCWATrainingLoop):
    """sLCWA with a growing training set; ``pipeline(training_loop="nnmfaug")`` after ``import nnmfaug.pykeen``."""


class NNMFAugLCWATrainingLoop(GrowingMixin, LCWATrainingLoop):  # type: ignore[misc]
    """LCWA with a growing training set; ``pipeline(training_loop="nnmfauglcwa")``."""


def _check_weight(weight: float | Tensor, n: int, other: object) -> Tensor:
    """One weight for each generated triple."""
    weights = torch.as_tensor(weight, dtype=torch.float32)
    if not bool(((weights >= 0) & (weights < math.inf)).all()):
        msg = f"extra_weight={weight}: must be a number from 0"
        raise ValueError(msg)
    if weights.ndim and weights.shape != (n,):
        msg = f"extra_weight of shape {tuple(weights.shape)}: one number is needed, or {n}, one for each triple"
        raise ValueError(msg)
    if bool((weights != 1).any()) and other is not None:
        msg = f"extra_weight={weight} and a loss_weighter: a triple can have one weight only"
        raise ValueError(msg)
    return weights.expand(n).clone()


def _load(extra: str | Path | Tensor | None, factory: CoreTriplesFactory, *, repeats: bool) -> Tensor:
    """Ids of generated triples, checked to be a set apart from G."""
    if extra is None:
        return torch.empty((0, 3), dtype=torch.long)
    if not isinstance(extra, Tensor):
        extra = _ids(Path(extra), factory)
    extra = extra.cpu()
    if extra.ndim != 2 or extra.shape[1] != 3 or extra.dtype != torch.long:
        msg = f"extra of shape {tuple(extra.shape)} and type {extra.dtype}: ids of shape (n, 3), int64, are needed"
        raise ValueError(msg)
    limits = torch.tensor([factory.num_entities, factory.real_num_relations, factory.num_entities])
    if len(extra) and not bool(((extra >= 0) & (extra < limits)).all()):
        sizes = f"{factory.num_entities} entities and {factory.real_num_relations} relations"
        msg = f"extra has ids outside of the {sizes}"
        raise ValueError(msg)
    if not repeats and _has_repeats(extra, factory.mapped_triples):
        msg = "extra repeats a triple, or has one of the training triples: it must be a set of new ones"
        raise ValueError(msg)
    return extra


def _has_repeats(extra: Tensor, known: Tensor) -> bool:
    sizes = [len(torch.unique(x, dim=0)) for x in (torch.cat([known, extra]), known)]
    return sizes[0] < sizes[1] + len(extra)


def _ids(path: Path, factory: CoreTriplesFactory) -> Tensor:
    entity_ids, relation_ids = (getattr(factory, name, None) for name in ("entity_to_id", "relation_to_id"))
    if entity_ids is None or relation_ids is None:
        msg = f"{path}: the triples factory has no names to read it with; pass ids of shape (n, 3)"
        raise ValueError(msg)
    vocabulary = Vocabulary.from_names(entity_ids, relation_ids)
    graph = read_generated(path, vocabulary)
    entities = np.array([entity_ids[name] for name in vocabulary.entities])
    relations = np.array([relation_ids[name] for name in vocabulary.relations])
    h, r, t = graph.triples.T
    return torch.from_numpy(np.stack([entities[h], relations[r], entities[t]], axis=1).astype(np.int64))
