"""An epoch trains on G and the first n_e generated triples, and on nothing else; without any it is PyKEEN."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from pykeen.datasets import dataset_resolver
from pykeen.losses import NoSampleWeightSupportError
from pykeen.models import TransE
from pykeen.training import LCWATrainingLoop, SLCWATrainingLoop
from pykeen.training.callbacks import EvaluationLossTrainingCallback, TrainingCallback
from pykeen.training.training_loop import CheckpointMismatchError
from pykeen.triples import CoreTriplesFactory
from pykeen.triples.weights import RelationLossWeighter
from torch import Tensor

from nnmfaug.core.errors import DataError
from nnmfaug.linkpred.growing import (
    ExtraWeighter,
    GrowingMixin,
    NNMFAugLCWATrainingLoop,
    NNMFAugTrainingLoop,
)
from nnmfaug.linkpred.schedule import Constant, Polynomial, Schedule, Step
from nnmfaug.linkpred.slcwa import WholeEpochInstances

pytestmark = [
    pytest.mark.filterwarnings("ignore:Training instances are always shuffled:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:'pin_memory' argument is set as true:UserWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning"),
    pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning"),
]

EPOCHS = 4
PAIRS = [(NNMFAugTrainingLoop, SLCWATrainingLoop), (NNMFAugLCWATrainingLoop, LCWATrainingLoop)]
BOTH = pytest.mark.parametrize(("ours", "stock"), PAIRS, ids=["slcwa", "lcwa"])
WAYS = pytest.mark.parametrize("inverse", [False, True], ids=["plain", "inverse"])
Triple = tuple[int, ...]


@pytest.fixture(autouse=True, scope="module")
def _quick_collections() -> Iterator[None]:
    """PyKEEN collects garbage after each epoch; what is alive now need not be looked at."""
    gc.freeze()
    yield
    gc.unfreeze()


def make_graph(*, inverse: bool = False) -> CoreTriplesFactory:
    return dataset_resolver.make("nations", create_inverse_triples=inverse).training


def make_extra(factory: CoreTriplesFactory, n: int = 400, seed: int = 0) -> Tensor:
    """New triples in a random order."""
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
    ours, theirs = a.model.state_dict(), b.model.state_dict()
    return bool(a.losses_per_epochs == b.losses_per_epochs) and all(
        torch.equal(ours[name], theirs[name]) for name in theirs
    )


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
        found = [self._of(batch) for batch in self.batches[epoch]]
        return list(map(tuple, torch.cat(found).tolist()))

    @staticmethod
    def _of(batch: Any) -> Tensor:
        if "positives" in batch:
            positives: Tensor = batch["positives"]
            return positives
        row, tail = batch["target"].nonzero(as_tuple=True)
        return torch.cat([batch["pairs"][row], tail[:, None]], dim=1)


class Interruption(TrainingCallback):
    """Ctrl-C in the middle of an epoch."""

    def __init__(self, at: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.at = at

    def on_batch(self, epoch: int, *_: Any, **__: Any) -> None:
        if epoch == self.at:
            raise KeyboardInterrupt


class TestWithoutGeneratedTriplesItIsPyKEEN:
    @BOTH
    @WAYS
    def test_losses_and_weights_are_the_same_to_the_bit(self, ours: Any, stock: Any, inverse: bool) -> None:
        factory = make_graph(inverse=inverse)
        loops = [make_loop(cls, factory, automatic_memory_optimization=True) for cls in (ours, stock)]
        for loop in loops:
            torch.manual_seed(5)
            train(loop, factory, pin_memory=True)
        assert same(*loops)

    @BOTH
    def test_an_empty_set_is_no_set(self, ours: Any, stock: Any) -> None:
        factory = make_graph()
        empty = torch.empty((0, 3), dtype=torch.long)
        loops = [make_loop(ours, factory, extra=empty), make_loop(stock, factory)]
        for loop in loops:
            torch.manual_seed(5)
            train(loop, factory)
        assert same(*loops)

    def test_a_share_of_nothing_is_no_set(self) -> None:
        factory = make_graph()
        ours = make_loop(NNMFAugTrainingLoop, factory, extra=make_extra(factory))
        torch.manual_seed(5)
        train(ours, factory, extra_share=0.0)
        stock = make_loop(SLCWATrainingLoop, factory)
        torch.manual_seed(5)
        assert same(ours, train(stock, factory))


class TestWithGeneratedTriples:
    @BOTH
    @WAYS
    def test_it_is_one_call_of_pykeen_per_epoch_on_a_larger_set(
        self, ours: Any, stock: Any, inverse: bool
    ) -> None:
        factory = make_graph(inverse=inverse)
        extra = make_extra(factory)
        growing = make_loop(ours, factory, extra=extra)
        torch.manual_seed(5)
        train(growing, factory)
        oracle = make_loop(stock, factory)
        torch.manual_seed(5)
        for epoch in range(1, EPOCHS + 1):
            n = Polynomial()(epoch, EPOCHS, len(extra))
            larger = factory.clone_and_exchange_triples(torch.cat([factory.mapped_triples, extra[:n]]))
            train(oracle, larger, epoch, continue_training=epoch > 1)
        assert same(growing, oracle)

    @pytest.mark.parametrize("workers", [0, 2])
    @pytest.mark.parametrize("ours", [NNMFAugTrainingLoop, NNMFAugLCWATrainingLoop])
    def test_an_epoch_has_each_triple_once_whatever_the_workers(self, ours: Any, workers: int) -> None:
        factory = make_graph()
        extra = make_extra(factory)
        seen = Recorder()
        loop = train(make_loop(ours, factory, extra=extra), factory, 3, num_workers=workers, callbacks=seen)
        for epoch in range(1, 4):
            found = seen.positives(epoch)
            n = epoch**2 * len(extra) // 9
            assert len(found) == len(set(found))
            assert set(found) == rows(factory.mapped_triples) | rows(extra[:n])
            losses = seen.losses[epoch]
            assert loop.losses_per_epochs[epoch - 1] == sum(losses) / len(losses)  # len(loader) is right

    def test_inverse_triples_of_generated_ones_are_trained_on(self) -> None:
        factory = make_graph(inverse=True)
        extra = make_extra(factory)
        seen = Recorder()
        loop = make_loop(NNMFAugTrainingLoop, factory, extra=extra, schedule=Constant())
        train(loop, factory, 1, callbacks=seen)
        triples = [*factory.mapped_triples.tolist(), *extra.tolist()]
        both = {(h, 2 * r, t) for h, r, t in triples} | {(t, 2 * r + 1, h) for h, r, t in triples}
        assert set(seen.positives(1)) == both

    @pytest.mark.parametrize("schedule", [Polynomial(1), Polynomial(3), Constant(), Step(0.5)], ids=repr)
    def test_an_epoch_has_as_many_more_as_the_schedule_says(self, schedule: Schedule) -> None:
        factory = make_graph()
        seen = Recorder()
        loop = make_loop(NNMFAugTrainingLoop, factory, extra=make_extra(factory), schedule=schedule)
        train(loop, factory, callbacks=seen)
        counts = [len(seen.positives(epoch)) - factory.num_triples for epoch in range(1, EPOCHS + 1)]
        assert counts == [schedule(epoch, EPOCHS, 400) for epoch in range(1, EPOCHS + 1)]

    def test_filtered_negatives_are_not_among_the_triples_in_use(self) -> None:
        factory = make_graph()
        extra = make_extra(factory)
        options = {"filtered": True, "filterer": "python-set", "num_negs_per_pos": 3}
        loop = make_loop(NNMFAugTrainingLoop, factory, extra=extra, negative_sampler_kwargs=options)
        seen = Recorder()
        train(loop, factory, callbacks=seen)
        for epoch, batches in seen.batches.items():
            used = rows(factory.mapped_triples) | rows(extra[: Polynomial()(epoch, EPOCHS, len(extra))])
            assert not any(rows(batch["negatives"][batch["masks"]]) & used for batch in batches)

    def test_the_factory_stays_as_it_was(self) -> None:
        factory = make_graph()
        before = factory.mapped_triples.clone()
        train(make_loop(NNMFAugTrainingLoop, factory, extra=make_extra(factory)), factory, 2)
        assert torch.equal(factory.mapped_triples, before)

    @pytest.mark.parametrize("ours", [NNMFAugTrainingLoop, NNMFAugLCWATrainingLoop])
    def test_a_loss_on_valid_is_one_on_valid_only(self, ours: Any) -> None:
        factory, valid = make_graph(), dataset_resolver.make("nations").validation
        assert valid is not None
        seen = Recorder()
        watch = EvaluationLossTrainingCallback(valid, callbacks=seen, maximum_batch_size=64)
        train(make_loop(ours, factory, extra=make_extra(factory)), factory, 2, callbacks=watch)
        assert {epoch: set(seen.positives(epoch)) for epoch in (1, 2)} == dict.fromkeys(
            (1, 2), rows(valid.mapped_triples)
        )


class TestTrainArguments:
    def test_an_exponent_is_a_polynomial_schedule(self) -> None:
        factory = make_graph()
        seen = Recorder()
        loop = make_loop(NNMFAugTrainingLoop, factory, extra=make_extra(factory), schedule=Constant())
        train(loop, factory, callbacks=seen, exponent=1.0)
        assert [len(seen.positives(epoch)) - factory.num_triples for epoch in range(1, 5)] == [100, 200, 300, 400]

    def test_a_share_is_the_first_part_in_order(self) -> None:
        factory = make_graph()
        extra = make_extra(factory, 100)
        seen = Recorder()
        loop = make_loop(NNMFAugTrainingLoop, factory, extra=extra, schedule=Constant())
        train(loop, factory, 1, callbacks=seen, extra_share=0.29)  # 28.999999999999996 to a computer
        assert set(seen.positives(1)) == rows(factory.mapped_triples) | rows(extra[:29])

    @pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
    def test_a_share_is_checked_and_then_forgotten(self, share: float) -> None:
        factory = make_graph()
        loop = make_loop(NNMFAugTrainingLoop, factory, extra=make_extra(factory))
        with pytest.raises(ValueError, match=rf"extra_share={share}: must be between 0 and 1"):
            train(loop, factory, 1, extra_share=share)
        assert loop.extra_share == 1

    @pytest.mark.parametrize("ours", [NNMFAugTrainingLoop, NNMFAugLCWATrainingLoop])
    def test_they_can_be_tuned(self, ours: type[GrowingMixin]) -> None:
        assert ours.hpo_default.keys() >= {"num_epochs", "batch_size", "exponent", "extra_share"}
        assert "exponent" not in SLCWATrainingLoop.hpo_default


class TestCheckpoints:
    @pytest.mark.parametrize("ours", [NNMFAugTrainingLoop, NNMFAugLCWATrainingLoop])
    def test_a_resumed_run_is_the_uninterrupted_one(self, ours: Any, tmp_path: Path) -> None:
        factory = make_graph()
        extra = make_extra(factory)
        whole = make_loop(ours, factory, extra=extra)
        torch.manual_seed(5)
        train(whole, factory)
        keep: dict[str, Any] = {
            "checkpoint_directory": tmp_path,
            "checkpoint_name": "c.pt",
            "checkpoint_frequency": 0,
        }
        broken = make_loop(ours, factory, extra=extra)
        torch.manual_seed(5)
        with pytest.raises(KeyboardInterrupt):
            train(broken, factory, callbacks=Interruption(3), **keep)
        resumed, seen = make_loop(ours, make_graph(), seed=99, extra=extra.clone()), Recorder()
        torch.manual_seed(98)
        train(resumed, factory, callbacks=seen, **keep)
        assert min(seen.batches) == 3
        assert same(resumed, whole)

    @pytest.fixture
    def resume(self, tmp_path: Path) -> Callable[..., Any]:
        factory = make_graph()
        keep: dict[str, Any] = {"checkpoint_directory": tmp_path, "checkpoint_name": "c.pt"}
        extra, loss = make_extra(factory), "bcewithlogits"
        train(make_loop(NNMFAugTrainingLoop, factory, extra=extra, loss=loss), factory, 2, **keep)

        def resume(*, arguments: Any = None, **kwargs: Any) -> Any:
            loop = make_loop(NNMFAugTrainingLoop, factory, loss=loss, **{"extra": extra, **kwargs})
            return train(loop, factory, 2, **keep, **(arguments or {}))

        return resume

    def test_the_same_is_accepted(self, resume: Callable[..., Any]) -> None:
        assert len(resume(schedule=Polynomial(2.0), arguments={"extra_share": 1.0}).losses_per_epochs) == 2

    def test_another_schedule_set_share_or_weight_is_refused(self, resume: Callable[..., Any]) -> None:
        extra = make_extra(make_graph())
        others: list[dict[str, Any]] = [
            {"extra": extra[:-1]},
            {"extra": extra.flip(0)},
            {"extra": None},
            {"schedule": Constant()},
            {"extra_weight": 0.5},
            {"arguments": {"exponent": 2.5}},
            {"arguments": {"extra_share": 0.5}},
        ]
        for other in others:
            with pytest.raises(CheckpointMismatchError):
                resume(**other)

    def test_a_function_is_a_schedule_and_known_by_what_it_does(self) -> None:
        factory = make_graph()
        loops = [
            make_loop(NNMFAugTrainingLoop, factory, extra=make_extra(factory), schedule=schedule)
            for schedule in (Constant(), lambda _epoch, _epochs, n: n, lambda _epoch, _epochs, n: n // 2)
        ]
        assert loops[0].checksum == loops[1].checksum != loops[2].checksum


class TestTheSetIsChecked:
    def write(self, path: Path, factory: Any, triples: Tensor) -> Path:
        lines = [
            f"{factory.entity_id_to_label[h]}\t{factory.relation_id_to_label[r]}\t{factory.entity_id_to_label[t]}\n"
            for h, r, t in triples.tolist()
        ]
        path.write_text("".join(lines))
        return path

    def test_a_file_keeps_its_order(self, tmp_path: Path) -> None:
        factory = make_graph()
        extra = make_extra(factory)
        path = self.write(tmp_path / "extra.tsv", factory, extra)
        for given in (path, str(path)):
            assert torch.equal(make_loop(NNMFAugTrainingLoop, factory, extra=given).extra, extra)

    def test_a_file_is_read_with_the_ids_of_the_factory(self, tmp_path: Path) -> None:
        factory: Any = make_graph()
        ids = factory.mapped_triples.clone()
        ids[:, [0, 2]] = 13 - ids[:, [0, 2]]
        entity_ids = {name: 13 - i for name, i in factory.entity_to_id.items()}
        mirrored = type(factory)(ids, entity_to_id=entity_ids, relation_to_id=factory.relation_to_id)
        assert mirrored.label_triples(mirrored.mapped_triples).tolist() == (
            factory.label_triples(factory.mapped_triples).tolist()
        )
        extra = make_extra(mirrored)
        path = self.write(tmp_path / "extra.tsv", mirrored, extra)
        assert torch.equal(make_loop(NNMFAugTrainingLoop, mirrored, extra=path).extra, extra)

    @pytest.mark.parametrize(
        ("extra", "message"),
        [
            (torch.zeros((3, 2), dtype=torch.long), r"shape \(3, 2\).*must be ids of shape \(n, 3\), int64"),
            (torch.zeros(3, dtype=torch.long), r"extra of shape \(3,\)"),
            (torch.zeros((3, 3), dtype=torch.int32), "type torch.int32: must be ids"),
            (torch.zeros((3, 3)), "type torch.float32: must be ids"),
            (torch.tensor([[0, 0, 14]]), "outside of the 14 entities and 55 relations"),
            (torch.tensor([[0, 55, 0]]), "outside of the 14 entities and 55 relations"),
            (torch.tensor([[-1, 0, 0]]), "outside of the 14 entities and 55 relations"),
        ],
    )
    def test_what_is_no_list_of_ids_is_refused(self, extra: Tensor, message: str) -> None:
        for inverse in (False, True):
            with pytest.raises(ValueError, match=message):
                make_loop(NNMFAugTrainingLoop, make_graph(inverse=inverse), extra=extra)

    def test_triples_of_train_once_more_cannot_weigh_less(self) -> None:
        factory = make_graph()
        again = factory.mapped_triples[:5]
        make_loop(NNMFAugTrainingLoop, factory, extra=again, repeats=True)
        with pytest.raises(ValueError, match="repeated train triples need weight 1"):
            make_loop(NNMFAugTrainingLoop, factory, extra=again, repeats=True, extra_weight=0.5)

    def test_triples_that_are_not_new_are_refused_unless_allowed(self) -> None:
        factory = make_graph()
        new = make_extra(factory, 10)
        for old in (new[3:4], factory.mapped_triples[7:8]):
            extra = torch.cat([new, old])
            with pytest.raises(ValueError, match="repeats a triple, or contains a training triple"):
                make_loop(NNMFAugTrainingLoop, factory, extra=extra)
            seen = Recorder()
            loop = make_loop(NNMFAugTrainingLoop, factory, extra=extra, repeats=True)
            train(loop, factory, 1, callbacks=seen)
            assert seen.positives(1).count(tuple(old[0].tolist())) == 2

    def test_an_unknown_name_is_an_error_with_its_line(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "extra.tsv", make_graph(), make_extra(make_graph(), 2))
        path.write_text(path.read_text() + "atlantis\tembassy\tcuba\n")
        with pytest.raises(DataError, match=r"(?s)extra\.tsv:3.*atlantis"):
            make_loop(NNMFAugTrainingLoop, make_graph(), extra=path)

    def test_a_file_needs_a_factory_with_names(self, tmp_path: Path) -> None:
        factory = make_graph()
        path = self.write(tmp_path / "extra.tsv", factory, make_extra(factory, 2))
        nameless = CoreTriplesFactory(factory.mapped_triples, factory.num_entities, factory.num_relations)
        with pytest.raises(ValueError, match=r"extra\.tsv: the triples factory has no names to read it with"):
            make_loop(NNMFAugTrainingLoop, nameless, extra=path)
        assert len(make_loop(NNMFAugTrainingLoop, nameless, extra=make_extra(factory, 2)).extra) == 2


class TestWeights:
    @WAYS
    def test_generated_triples_have_the_weight_and_others_one(self, inverse: bool) -> None:
        factory = make_graph(inverse=inverse)
        extra = make_extra(factory, 50)
        weighter = ExtraWeighter(extra, torch.full((len(extra),), 0.25), factory)
        light = rows(extra)
        if inverse:
            light = {(h, 2 * r, t) for h, r, t in light} | {(t, 2 * r + 1, h) for h, r, t in light}
        n, m = factory.num_entities, factory.num_relations
        every = torch.cartesian_prod(torch.arange(n), torch.arange(m), torch.arange(n))
        expected = torch.tensor([0.25 if tuple(row) in light else 1.0 for row in every.tolist()])
        assert torch.equal(weighter.weight_triples(every), expected)
        cube = expected.view(n, m, n)
        one = torch.arange(5)[:, None]
        assert torch.equal(weighter(h=None, r=one, t=one), cube[:, range(5), range(5)].T)
        assert torch.equal(weighter(h=one, r=None, t=one), cube[range(5), :, range(5)])
        assert torch.equal(weighter(h=one.numpy(), r=one.numpy(), t=None), cube[range(5), range(5)])

    @WAYS
    def test_each_triple_may_have_its_own_weight(self, inverse: bool) -> None:
        factory = make_graph(inverse=inverse)
        extra = make_extra(factory, 20)
        own = torch.linspace(0.1, 0.9, 20)
        weighter = ExtraWeighter(extra, own, factory)
        h, r, t = extra.T
        assert torch.equal(weighter.weight_triples(torch.stack([h, 2 * r if inverse else r, t], 1)), own)
        if inverse:
            assert torch.equal(weighter.weight_triples(torch.stack([t, 2 * r + 1, h], 1)), own)
        loop = make_loop(NNMFAugTrainingLoop, factory, extra=extra, extra_weight=own, loss="bcewithlogits")
        seen = Recorder()
        train(loop, factory, callbacks=seen)
        last = torch.cat([batch["pos_weights"] for batch in seen.batches[EPOCHS]])
        assert last[last < 1].sort().values.tolist() == own.repeat(2 if inverse else 1).sort().values.tolist()
        with pytest.raises(ValueError, match="one for each triple"):
            make_loop(NNMFAugTrainingLoop, factory, extra=extra, extra_weight=own[:3])

    def test_without_generated_triples_all_weigh_one(self) -> None:
        weighter = ExtraWeighter(torch.empty((0, 3), dtype=torch.long), torch.empty(0), make_graph())
        assert weighter(h=torch.tensor([[1]]), r=torch.tensor([[0]]), t=None).tolist() == [[1.0] * 14]

    @WAYS
    def test_the_triples_in_use_are_trained_on_with_their_weight(self, inverse: bool) -> None:
        factory = make_graph(inverse=inverse)
        extra = make_extra(factory)
        seen = Recorder()
        loop = make_loop(NNMFAugTrainingLoop, factory, extra=extra, extra_weight=0.25, loss="bcewithlogits")
        train(loop, factory, callbacks=seen)
        for epoch, batches in seen.batches.items():
            n = Polynomial()(epoch, EPOCHS, len(extra))
            weights = torch.cat([batch["pos_weights"] for batch in batches])
            assert int((weights == 0.25).sum()) == n * (2 if inverse else 1)
            expected = ExtraWeighter(extra[:n], torch.full((n,), 0.25), factory)
            assert all(
                torch.equal(batch["neg_weights"], expected.weight_triples(batch["negatives"])) for batch in batches
            )

    @BOTH
    def test_a_weight_changes_nothing_before_a_triple_enters(self, ours: Any, stock: Any) -> None:
        factory = make_graph()
        more: dict[str, Any] = {"extra": make_extra(factory), "extra_weight": 0.25, "schedule": Step(0.5)}
        loops = [make_loop(ours, factory, loss="bcewithlogits", **more)]
        loops.append(make_loop(stock, factory, loss="bcewithlogits"))
        losses = []
        for loop in loops:
            torch.manual_seed(5)
            losses.append(train(loop, factory).losses_per_epochs)
        assert losses[0][:2] == losses[1][:2]
        assert losses[0][2] != losses[1][2]

    def test_a_loss_without_weights_says_so(self) -> None:
        factory = make_graph()
        loop = make_loop(NNMFAugTrainingLoop, factory, extra=make_extra(factory), extra_weight=0.5)
        with pytest.raises(NoSampleWeightSupportError, match="MarginRankingLoss does not support sample weights"):
            train(loop, factory, 1)

    @pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
    def test_a_weight_is_a_number_from_0(self, weight: float) -> None:
        with pytest.raises(ValueError, match=rf"extra_weight={weight}: must be finite and not negative"):
            make_loop(NNMFAugTrainingLoop, make_graph(), extra_weight=weight)

    def test_two_ways_to_weigh_are_one_too_many(self) -> None:
        factory = make_graph()
        other = RelationLossWeighter(torch.ones(factory.num_relations))
        with pytest.raises(ValueError, match=r"extra_weight=0\.5 and a loss_weighter"):
            make_loop(NNMFAugTrainingLoop, factory, extra_weight=0.5, loss_weighter=other)


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
