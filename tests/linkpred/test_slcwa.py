"""An epoch of the corrected sLCWA has every triple once, whatever the number of workers."""

from __future__ import annotations

import pytest
import torch
from pykeen.training import SLCWATrainingLoop

from nnmfaug.linkpred.slcwa import WholeEpochInstances, WholeEpochSLCWATrainingLoop
from tests.linkpred.loops import QUIET, make_graph, make_loop, same, train

pytestmark = QUIET


@pytest.mark.parametrize(("n", "workers"), [(10, 0), (10, 1), (10, 3), (2, 5)])
@pytest.mark.parametrize("drop_last", [False, True])
def test_workers_share_the_triples_and_count_their_batches(n: int, workers: int, drop_last: bool) -> None:
    triples = torch.arange(n)[:, None].expand(n, 3)
    data = WholeEpochInstances(triples, batch_size=2, drop_last=drop_last, num_entities=n, num_relations=n)
    data.n_workers = workers
    loader = torch.utils.data.DataLoader(data, batch_size=None, num_workers=workers)
    batches = [batch["positives"][:, 0].tolist() for batch in loader]
    assert len(batches) == len(loader)
    found = sorted(i for batch in batches for i in batch)
    assert len(found) == len(set(found))
    assert drop_last or found == list(range(n))
    assert not drop_last or all(len(batch) == 2 for batch in batches)


@pytest.mark.parametrize("sampler", [None, "schlichtkrull"])
def test_without_workers_it_is_pykeen_to_the_bit(sampler: str | None) -> None:
    factory = make_graph()
    loops = [make_loop(cls, factory) for cls in (WholeEpochSLCWATrainingLoop, SLCWATrainingLoop)]
    for loop in loops:
        torch.manual_seed(5)
        train(loop, factory, 2, sampler=sampler)
    assert same(*loops)


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_rows_of_workers_are_ranges_one_after_the_other(workers: int) -> None:
    triples = torch.zeros((10, 3), dtype=torch.long)
    data = WholeEpochInstances(triples, batch_size=4, num_entities=1, num_relations=1)
    data.n_workers = workers
    ranges = data._rows_by_worker()
    assert len(ranges) == max(workers, 1)
    assert [row for rows in ranges for row in rows] == list(range(10))
    assert max(map(len, ranges)) - min(map(len, ranges)) <= 1
