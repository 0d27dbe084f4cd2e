"""Small graphs, training loops and callbacks that the tests of training loops share."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from pykeen.datasets import dataset_resolver
from pykeen.models import TransE
from pykeen.training import LCWATrainingLoop, SLCWATrainingLoop
from pykeen.training.callbacks import TrainingCallback
from pykeen.triples import CoreTriplesFactory
from torch import Tensor

from nnmfaug.linkpred.growing import NNMFAugLCWATrainingLoop, NNMFAugTrainingLoop

EPOCHS = 4
PAIRS = [(NNMFAugTrainingLoop, SLCWATrainingLoop), (NNMFAugLCWATrainingLoop, LCWATrainingLoop)]
BOTH = pytest.mark.parametrize(("ours", "stock"), PAIRS, ids=["slcwa", "lcwa"])
WAYS = pytest.mark.parametrize("inverse", [False, True], ids=["plain", "inverse"])
QUIET = [
    pytest.mark.usefixtures("quick_collections"),
    pytest.mark.filterwarnings("ignore:Training instances are always shuffled:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:'pin_memory' argument is set as true:UserWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning"),
    pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning"),
]
"""Marks of a module that trains with PyKEEN's loops."""

Triple = tuple[int, ...]


def make_graph(*, inverse: bool = False, name: str = "nations") -> CoreTriplesFactory:
    return dataset_resolver.make(name, create_inverse_triples=inverse).training


def make_extra(factory: CoreTriplesFactory, n: int = 400, seed: int = 0) -> Tensor:
    """New triples in a random order, as generated ones."""
    sizes = (factory.num_entities, factory.real_num_relations, factory.num_entities)
    known = rows(factory.mapped_triples)
    everything = torch.cartesian_prod(*(torch.arange(size) for size in sizes))
    order = torch.randperm(len(everything), generator=torch.Generator().manual_seed(seed))
    new = [row for row in everything[order].tolist() if tuple(row) not in known]
    return torch.tensor(new[:n])


def rows(triples: Tensor) -> set[Triple]:
    return set(map(tuple, triples.tolist()))


def make_loop(cls: Any, factory: CoreTriplesFactory, *, seed: int = 1, loss: Any = None, **kwargs: Any) -> Any:
    model = TransE(triples_factory=factory, embedding_dim=8, random_seed=seed, loss=loss)
    kwargs = {"optimizer": "adam", "automatic_memory_optimization": False, **kwargs}
    return cls(model=model, triples_factory=factory, **kwargs)


def train(loop: Any, factory: CoreTriplesFactory, epochs: int = EPOCHS, **kwargs: Any) -> Any:
    loop.train(factory, epochs, **{"batch_size": 300, "use_tqdm": False, "pin_memory": False, **kwargs})
    return loop


def same(a: Any, b: Any) -> bool:
    """Whether two loops had the same losses and end with the same weights, to the bit."""
    same_losses: bool = a.losses_per_epochs == b.losses_per_epochs
    weights = b.model.state_dict()
    return same_losses and all(torch.equal(x, weights[name]) for name, x in a.model.state_dict().items())


class Recorder(TrainingCallback):
    """The batches of each epoch and their losses."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.batches: dict[int, list[Any]] = {}
        self.losses: dict[int, list[float]] = {}

    def on_batch(self, epoch: int, batch: Any, batch_loss: float, **_: Any) -> None:
        self.batches.setdefault(epoch, []).append(batch)
        self.losses.setdefault(epoch, []).append(batch_loss)

    def positives(self, epoch: int) -> list[Triple]:
        triples = torch.cat([self._triples(batch) for batch in self.batches[epoch]])
        return list(map(tuple, triples.tolist()))

    @staticmethod
    def _triples(batch: Any) -> Tensor:
        if "positives" in batch:
            positives: Tensor = batch["positives"]
            return positives
        row, tail = batch["target"].nonzero(as_tuple=True)
        return torch.cat([batch["pairs"][row], tail[:, None]], dim=1)
