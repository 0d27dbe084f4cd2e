"""A training set that grows: G plus the first ⌊(e/E)^k·|S|⌋ generated triples at epoch e (section 2.4).

:class:`GrowingMixin` goes before any training loop of PyKEEN. The generated triples are in the batches, in the
negative sampler and in the inverse triples; the training factory itself stays G, so they are never in the filter
of an evaluation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from pykeen.training import LCWATrainingLoop, SLCWATrainingLoop, TrainingLoop
from pykeen.triples import CoreTriplesFactory
from pykeen.triples.instances import BatchedSLCWAInstances
from pykeen.triples.weights import LossWeighter
from torch import Tensor
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, get_worker_info

from nnmfaug.graph import Vocabulary
from nnmfaug.io import read_generated
from nnmfaug.schedule import Polynomial, Schedule


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
        What a generated triple weighs in the loss; not every loss of PyKEEN takes weights.
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
        extra_weight: float = 1.0,
        repeats: bool = False,
        **kwargs: Any,  # noqa: ANN401  # the loop's own
    ) -> None:
        super().__init__(**kwargs)
        self.schedule = schedule or Polynomial()
        self.extra_weight, self.extra_share = extra_weight, 1.0
        factory = kwargs["triples_factory"]
        self.extra = _load(extra, factory, repeats=repeats)
        self._factory: CoreTriplesFactory | None = None
        self._n_epochs = 1
        if extra_weight != 1.0:
            self.loss_weighter = ExtraWeighter(self.extra, extra_weight, factory)

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
        if exponent is not None:
            self.schedule = Polynomial(exponent)
        if extra_share is not None:
            self.extra_share = extra_share
        if not 0 <= self.extra_share <= 1:
            msg = f"extra_share={extra_share}: must be between 0 and 1"
            raise ValueError(msg)
        self._factory, self._n_epochs = triples_factory, num_epochs
        return super().train(triples_factory=triples_factory, num_epochs=num_epochs, **kwargs)

    def n_extra(self) -> int:
        """How many generated triples the epoch that comes next uses; right after a resume, too."""
        epoch = min(len(self.losses_per_epochs) + 1, self._n_epochs)
        return self.schedule(epoch, self._n_epochs, int(self.extra_share * len(self.extra)))

    def _create_training_data_loader(self, triples_factory: CoreTriplesFactory, **kwargs: Any) -> Any:  # noqa: ANN401
        make = super()._create_training_data_loader  # type: ignore[safe-super]  # of the loop this stands before
        if triples_factory is not self._factory or not len(self.extra):  # a callback may pass validation triples
            return make(triples_factory, **kwargs)

        def build(n: int) -> Any:  # noqa: ANN401
            triples = torch.cat([triples_factory.mapped_triples, self.extra[:n]])
            return make(triples_factory.clone_and_exchange_triples(triples), **kwargs)

        return GrowingLoader(build, self.n_extra)

    @property
    def checksum(self) -> str:
        """PyKEEN's, and of all that decides what is trained on: a checkpoint with another S is refused."""
        sha = hashlib.sha256(self.extra.numpy().tobytes())
        sha.update(repr((super().checksum, self.schedule, self.extra_share, self.extra_weight)).encode())
        return sha.hexdigest()


class ExtraWeighter(LossWeighter):
    """One weight for generated triples, 1 for all others; None stands for all heads, or all tails."""

    def __init__(self, extra: Tensor, weight: float, factory: CoreTriplesFactory) -> None:
        self.weight, self.n_entities, self.n_relations = weight, factory.num_entities, factory.num_relations
        if factory.create_inverse_triples:  # relation r is 2r there, and its inverse 2r + 1
            h, r, t = extra.T
            extra = torch.cat([torch.stack([h, 2 * r, t], 1), torch.stack([t, 2 * r + 1, h], 1)])
        self.keys = self._keys(*extra.T).sort().values

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
        return torch.where(self.keys[place] == keys, self.weight, 1.0)


class WholeEpochInstances(BatchedSLCWAInstances):
    """Every triple once an epoch, whatever the number of workers.

    PyKEEN 1.11.1 shuffles the *length* of a worker's share, so all workers walk the first share and the last
    triples, where generated ones stand, are never seen. With no worker the batches are PyKEEN's.
    """

    n_workers = 0

    def iter_triple_ids(self) -> Iterator[list[int]]:
        """Yield the rows of each batch."""
        share = self._shares()[0] if (worker := get_worker_info()) is None else self._shares()[worker.id]
        for batch in BatchSampler(RandomSampler(share), self.batch_size, self.drop_last):
            yield [share[i] for i in batch]

    def _shares(self) -> list[range]:
        n, workers = len(self.mapped_triples), max(self.n_workers, 1)
        cuts = [n * i // workers for i in range(workers + 1)]
        return [range(a, b) for a, b in pairwise(cuts)]

    def __len__(self) -> int:
        """Number of batches; each worker has a last one that may be short."""
        sizes = [divmod(len(share), self.batch_size) for share in self._shares()]
        return sum(whole + (rest > 0 and not self.drop_last) for whole, rest in sizes)


class WholeEpochSLCWATrainingLoop(SLCWATrainingLoop):
    """PyKEEN's sLCWA over :class:`WholeEpochInstances`."""

    instances: ClassVar[type[WholeEpochInstances]] = WholeEpochInstances

    def _create_training_data_loader(
        self,
        triples_factory: CoreTriplesFactory,
        *,
        sampler: Any,  # noqa: ANN401
        batch_size: int,
        drop_last: bool,
        num_workers: int = 0,
        **kwargs: Any,  # noqa: ANN401
    ) -> DataLoader[Any]:
        if sampler is not None:
            return super()._create_training_data_loader(
                triples_factory,
                sampler=sampler,
                batch_size=batch_size,
                drop_last=drop_last,
                num_workers=num_workers,
                **kwargs,
            )
        kwargs.pop("shuffle", None)  # always; saying so is deprecated
        dataset = self.instances.from_triples_factory(
            triples_factory, batch_size=batch_size, drop_last=drop_last, **self._instance_options()
        )
        dataset.n_workers = num_workers
        return DataLoader(dataset, batch_size=None, num_workers=num_workers, **kwargs)

    def _instance_options(self) -> dict[str, Any]:
        return {
            "negative_sampler": self.negative_sampler,
            "negative_sampler_kwargs": self.negative_sampler_kwargs,
            "loss_weighter": self.loss_weighter,
            "loss_weighter_kwargs": self.loss_weighter_kwargs,
        }


class NNMFAugTrainingLoop(GrowingMixin, WholeEpochSLCWATrainingLoop):
    """sLCWA with a growing training set; ``pipeline(training_loop="nnmfaug")`` after ``import nnmfaug.pykeen``."""


class NNMFAugLCWATrainingLoop(GrowingMixin, LCWATrainingLoop):  # type: ignore[misc]
    """LCWA with a growing training set; ``pipeline(training_loop="nnmfauglcwa")``."""


def _load(extra: str | Path | Tensor | None, factory: CoreTriplesFactory, *, repeats: bool) -> Tensor:
    """Ids of generated triples, checked to be a set apart from G."""
    if extra is None:
        return torch.empty((0, 3), dtype=torch.long)
    if not isinstance(extra, Tensor):
        extra = _ids(Path(extra), factory)
    if extra.ndim != 2 or extra.shape[1] != 3 or extra.dtype != torch.long:
        msg = f"extra of shape {tuple(extra.shape)} and type {extra.dtype}: ids of shape (n, 3), int64, are needed"
        raise ValueError(msg)
    limits = torch.tensor([factory.num_entities, factory.real_num_relations, factory.num_entities])
    if len(extra) and not bool(((extra >= 0) & (extra < limits)).all()):
        sizes = f"{factory.num_entities} entities and {factory.real_num_relations} relations"
        msg = f"extra has ids outside of the {sizes}"
        raise ValueError(msg)
    both = torch.cat([factory.mapped_triples, extra])
    if not repeats and len(torch.unique(both, dim=0)) < len(torch.unique(factory.mapped_triples, dim=0)) + len(
        extra
    ):
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
