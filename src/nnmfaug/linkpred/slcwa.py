"""Every triple once an epoch, whatever the number of workers: PyKEEN's sLCWA, mended."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar

from pykeen.training import SLCWATrainingLoop
from pykeen.triples import CoreTriplesFactory
from pykeen.triples.instances import BatchedSLCWAInstances
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, get_worker_info


class WholeEpochInstances(BatchedSLCWAInstances):
    """Every triple once an epoch, whatever the number of workers.

    PyKEEN 1.11.1 shuffles the *length* of a worker's share, so all workers walk the first share and the last
    triples, where generated ones stand, are never seen. With no worker the batches are PyKEEN's.
    """

    n_workers = 0

    def iter_triple_ids(self) -> Iterator[list[int]]:
        """Yield the rows of each batch."""
        worker = get_worker_info()
        share = self._shares()[0 if worker is None else worker.id]
        if not share:  # more workers than triples
            return
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
