"""An epoch trains on G and the first n_e generated triples, and on nothing else; without any it is PyKEEN."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from pykeen.datasets import dataset_resolver
from pykeen.training import SLCWATrainingLoop
from pykeen.training.callbacks import EvaluationLossTrainingCallback, TrainingCallback
from pykeen.training.training_loop import CheckpointMismatchError

from nnmfaug.linkpred.growing import GrowingMixin, NNMFAugLCWATrainingLoop, NNMFAugTrainingLoop
from nnmfaug.linkpred.schedule import Constant, Polynomial, Schedule, Step
from tests.linkpred.loops import (
    BOTH,
    EPOCHS,
    QUIET,
    WAYS,
    Recorder,
    make_extra,
    make_graph,
    make_loop,
    rows,
    same,
    train,
)

pytestmark = QUIET


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


class TestTheSameNumberOfSteps:
    def test_an_epoch_has_as_many_batches_as_one_of_train_alone(self) -> None:
        factory = make_graph()
        extra = make_extra(factory, 900)
        batches = {}
        for same_steps in (False, True):
            recorder = Recorder()
            loop = make_loop(NNMFAugTrainingLoop, factory, extra=extra, schedule=Constant(), same_steps=same_steps)
            train(loop, factory, callbacks=recorder)
            batches[same_steps] = recorder.batches
        n_alone = -(-factory.num_triples // 300)
        assert {len(of_epoch) for of_epoch in batches[True].values()} == {n_alone}
        assert {len(of_epoch) for of_epoch in batches[False].values()} == {-(-(factory.num_triples + 900) // 300)}

    def test_each_epoch_has_another_random_part_of_all_triples(self) -> None:
        factory = make_graph()
        extra = make_extra(factory, 900)
        recorder = Recorder()
        loop = make_loop(NNMFAugTrainingLoop, factory, extra=extra, schedule=Constant(), same_steps=True)
        train(loop, factory, callbacks=recorder)
        first, second = (set(recorder.positives(epoch)) for epoch in (1, 2))
        assert first != second
        assert first & rows(extra)
        assert first & rows(factory.mapped_triples)

    def test_a_checkpoint_of_the_other_way_is_refused(self) -> None:
        factory = make_graph()
        extra = make_extra(factory, 50)
        one, other = (
            make_loop(NNMFAugTrainingLoop, factory, extra=extra, same_steps=same_steps)
            for same_steps in (False, True)
        )
        assert one.checksum != other.checksum


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
            positives = seen.positives(epoch)
            n = epoch**2 * len(extra) // 9
            assert len(positives) == len(set(positives))
            assert set(positives) == rows(factory.mapped_triples) | rows(extra[:n])
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
