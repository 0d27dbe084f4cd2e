"""PyKEEN's sLCWA, corrected: an epoch has every triple once, whatever the number of workers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar

from pykeen.training import SLCWATrainingLoop
from pykeen.triples import CoreTriplesFactory
from pykeen.triples.instances import BatchedSLCWAInstances
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, get_worker_info


class WholeEpochInstances(BatchedSLCWAInstances):
    """Batches that have every triple once an epoch, whatever the number of workers.

    Each worker has a range of the triples. PyKEEN 1.11.1 permutes the *length* of the range instead of the range,
    so all workers read the first one, and the last triples, where generated ones are, are never read. Without
    workers the batches are PyKEEN's.
    """

    n_workers = 0

    def iter_triple_ids(self) -> Iterator[list[int]]:
        """Yield the rows of each batch of this worker."""
        worker = get_worker_info()
        rows = self._rows_by_worker()[0 if worker is None else worker.id]
        if not rows:  # more workers than triples
            return
        for batch in BatchSampler(RandomSampler(rows), self.batch_size, self.drop_last):
            yield [rows[i] for i in batch]

    def _rows_by_worker(self) -> list[range]:
        n_triples = len(self.mapped_triples)
        n_ranges = max(self.n_workers, 1)
        bounds = [n_triples * i // n_ranges for i in range(n_ranges + 1)]
        return [range(start, stop) for start, stop in pairwise(bounds)]

    def __len__(self) -> int:
        """Number of batches; the last one of each worker may be short."""
        return sum(self._n_batches(len(rows)) for rows in self._rows_by_worker())

    def _n_batches(self, n_rows: int) -> int:
        n_whole, n_left = divmod(n_rows, self.batch_size)
        has_short_batch = n_left > 0 and not self.drop_last
        return n_whole + has_short_batch


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
        kwargs.pop("shuffle", None)  # batches are always shuffled; the argument is deprecated
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
