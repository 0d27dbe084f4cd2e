"""Negatives shared by a batch give the loss that triple by triple scoring gives, and training leaves no trace."""

from __future__ import annotations

import gc
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from pykeen.datasets import dataset_resolver
from pykeen.losses import (
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    Loss,
    MarginRankingLoss,
    NoSampleWeightSupportError,
    NSSALoss,
    UnsupportedLabelSmoothingError,
)
from pykeen.models import CP, ERModel, FixedModel, TransE
from pykeen.training.callbacks import TrainingCallback
from pykeen.triples import CoreTriplesFactory
from torch import Tensor, nn
from torch.nn import functional

import nnmfaug as na
from nnmfaug.linkpred import LinkPredictor
from nnmfaug.linkpred.losses import SampledSoftmaxLoss, SelfAdversarialLoss
from nnmfaug.linkpred.models import DropoutEmbedding, _drop, make_model
from nnmfaug.linkpred.predictor import TrainOptions
from nnmfaug.linkpred.schedule import Polynomial
from nnmfaug.linkpred.shared_negatives import NNMFAugSharedTrainingLoop, SharedNegativesTrainingLoop, _symmetry

SMALL = LinkPredictor(dim=6, epochs=3, batch_size=512, negatives=32, lr=0.05, decay=())
ONE_THREAD = TrainOptions(threads=1)
WAYS = pytest.mark.parametrize("inverse", [False, True], ids=["plain", "reciprocal"])
SPARSE = pytest.mark.filterwarnings("ignore:Sparse invariant checks:UserWarning")


@pytest.fixture(autouse=True, scope="module")
def _quick_collections() -> Iterator[None]:
    """PyKEEN collects garbage after each epoch; what is alive now need not be looked at."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="module")
def splits() -> na.Splits:
    return na.read_splits("umls")


def make_graph(*, inverse: bool = False, name: str = "nations") -> CoreTriplesFactory:
    return dataset_resolver.make(name, create_inverse_triples=inverse).training


def build(name: str, factory: CoreTriplesFactory) -> Any:
    torch.manual_seed(2)
    kinds: dict[str, Any] = {"cp": CP, "pykeen-transe": TransE}  # CP has other vectors for heads than for tails
    if name in kinds:
        return kinds[name](triples_factory=factory, embedding_dim=6, random_seed=0).double()
    settings = replace(SMALL, model=name, init=1.0)  # type: ignore[arg-type]
    return make_model(settings, factory).double()


def make_loop(model: Any, factory: CoreTriplesFactory, loss: Loss, cls: Any = None, **kwargs: Any) -> Any:
    model.loss = loss
    kwargs = {"optimizer": "sgd", "automatic_memory_optimization": False, "num_negatives": 5, **kwargs}
    return (cls or SharedNegativesTrainingLoop)(model=model, triples_factory=factory, **kwargs)


def make_batch(factory: CoreTriplesFactory, *, weights: bool = False) -> dict[str, Tensor]:
    """Seven positives; among the negatives are heads and tails of some, and one entity twice."""
    triples = factory._add_inverse_triples_if_necessary(factory.mapped_triples)
    positives = triples[torch.arange(7) * 31]
    negatives = torch.cat([positives[:2, 2], positives[3:5, 0], torch.tensor([1, 1, 6])])
    batch = {"positives": positives, "negatives": negatives}
    return batch | ({"weights": torch.arange(1.0, 8.0).double() / 4} if weights else {})


def brute_self_loss(model: Any, batch: dict[str, Tensor], known: set[tuple[int, ...]], itself: float) -> Tensor:
    """The softmax, triple by triple, where an entity that is there already has a weight of its own."""
    negatives, step = batch["negatives"].tolist(), 2 if model.use_inverse_triples else 1
    share: dict[int, list[bool]] = {}
    for h, r, t in known:
        share.setdefault(r, []).append((t, r, h) in known)
    losses = []
    for side in (2,) if model.use_inverse_triples else (2, 0):
        for row, of_row in zip(batch["positives"].tolist(), batch["weights"], strict=True):
            other, weights = row[2 - side], {n: 13 / len(negatives) * negatives.count(n) for n in negatives}
            if len(negatives) > 13:
                weights = dict.fromkeys(negatives, 1.0)
            for none in (row[side], other):
                weights.pop(none, None)
            if (other, row[1] // step, other) not in known and np.mean(share[row[1] // step]) <= 0.5:
                weights[other] = itself
            rivals = [(w, [n if i == side else x for i, x in enumerate(row)]) for n, w in weights.items()]
            scores = model.score_hrt(torch.tensor([row, *(rival for _, rival in rivals)]))[:, 0] / 0.5
            logs = torch.tensor([1.0, *(w for w, _ in rivals)]).log()
            losses.append(of_row * ((scores + logs).logsumexp(0) - scores[0]))
    return torch.stack(losses).mean()


def brute_sides(model: Any, batch: dict[str, Tensor]) -> Iterator[list[tuple[Tensor, Tensor]]]:
    """For tails, then heads: the score of each positive and those of its negatives, triple by triple."""

    def score(*triple: int) -> Tensor:
        scores: Tensor = model.score_hrt(torch.tensor([triple]))[0, 0]
        return scores

    positives, negatives = batch["positives"].tolist(), batch["negatives"].tolist()
    yield [(score(h, r, t), torch.stack([score(h, r, n) for n in negatives if n != t])) for h, r, t in positives]
    if not model.use_inverse_triples:
        yield [
            (score(h, r, t), torch.stack([score(n, r, t) for n in negatives if n != h])) for h, r, t in positives
        ]


def brute_loss(model: Any, batch: dict[str, Tensor], row: Any) -> Tensor:
    weights = batch.get("weights", torch.ones(len(batch["positives"])))
    sides = [
        torch.stack([w * row(true, others) for w, (true, others) in zip(weights, side, strict=True)]).mean()
        for side in brute_sides(model, batch)
    ]
    return torch.stack(sides).mean()


def softmax_row(n: int, k: int, temperature: float) -> Any:
    def row(true: Tensor, others: Tensor) -> Tensor:
        rest = (n - 1) / k * (others / temperature).exp().sum()
        return -(true / temperature - ((true / temperature).exp() + rest).log())

    return row


def adversarial_row(margin: float, alpha: float) -> Any:
    def row(true: Tensor, others: Tensor) -> Tensor:
        share = (alpha * others).exp().detach()
        negative = (share / share.sum() * (1 / (1 + (others + margin).exp())).log()).sum()
        return -((1 / (1 + (-true - margin).exp())).log() + negative) / 2

    return row


def gradients(loss: Tensor, model: Any) -> list[Tensor]:
    found = torch.autograd.grad(loss, list(model.get_grad_params()))
    return [x.to_dense() for x in found]


KINDS: dict[str, tuple[Any, Any]] = {
    "softmax": (SampledSoftmaxLoss(temperature=0.5), softmax_row(14, 7, 0.5)),
    "self-adversarial": (
        SelfAdversarialLoss(margin=2.0, adversarial_temperature=0.7),
        adversarial_row(2.0, 0.7),
    ),
}


class TestTheLossIsTheOneOfBruteForce:
    @WAYS
    @pytest.mark.parametrize("weights", [False, True], ids=["", "weights"])
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("name", ["transe", "rotate", "pykeen-transe", "cp"])
    def test_with_its_gradients(self, name: str, kind: str, weights: bool, inverse: bool) -> None:
        factory = make_graph(inverse=inverse)
        model = build(name, factory)
        loss, row = KINDS[kind]
        loop, batch = make_loop(model, factory, loss), make_batch(factory, weights=weights)
        found = loop._process_batch(batch, 0, 7)
        found_gradients = gradients(found, model)
        expected = brute_loss(model, batch, row)
        assert found.item() == pytest.approx(expected.item(), rel=1e-6)
        for ours, theirs in zip(found_gradients, gradients(expected, model), strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-7)

    @pytest.mark.parametrize(
        "loss", [MarginRankingLoss(2.0), CrossEntropyLoss(), BCEWithLogitsLoss(), NSSALoss(2.0)]
    )
    def test_for_the_losses_of_pykeen_too(self, loss: Any) -> None:
        factory = make_graph()
        model, batch = build("transe", factory), make_batch(factory)
        found = make_loop(model, factory, loss)._process_batch(batch, 0, 7)
        expected = []
        for side in brute_sides(model, batch):
            kept = [torch.cat([others, others.new_full((7 - len(others),), -math.inf)]) for _, others in side]
            scores = torch.stack(kept)
            mask = scores > -math.inf
            true = torch.stack([true for true, _ in side])[:, None]
            expected.append(loss.process_slcwa_scores(true, scores[mask], batch_filter=mask))
        assert found.item() == pytest.approx(torch.stack(expected).mean().item(), rel=1e-6)

    @WAYS
    @pytest.mark.parametrize("everyone", [False, True], ids=["some", "everyone"])
    @pytest.mark.parametrize("name", ["transe", "rotate", "cp"])
    def test_an_entity_may_be_a_negative_of_itself(self, name: str, everyone: bool, inverse: bool) -> None:
        factory = make_graph(inverse=inverse)
        batch = make_batch(factory, weights=True)
        symmetric = _symmetry(factory)[0][batch["positives"][:, 1]]
        assert symmetric.any()
        h, r, _ = batch["positives"][~symmetric][0].tolist()
        loop = torch.tensor([[h, r // (2 if inverse else 1), h]])  # one is a fact
        factory = factory.clone_and_exchange_triples(torch.cat([factory.mapped_triples, loop]))
        if everyone:
            batch["negatives"] = torch.arange(14)
        known = set(map(tuple, factory.mapped_triples.tolist()))
        model = build(name, factory)
        trainer = make_loop(model, factory, SampledSoftmaxLoss(temperature=0.5), self_negative=3.0)
        found = trainer._process_batch(batch, 0, 7)
        expected = brute_self_loss(model, batch, known, 3.0)
        assert found.item() == pytest.approx(expected.item(), rel=1e-6)
        for ours, theirs in zip(gradients(found, model), gradients(expected, model), strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-7)

    def test_a_checkpoint_with_other_negatives_is_another(self) -> None:
        factory = make_graph()
        given: list[dict[str, Any]] = [{}, {"self_negative": 3.0}, {"num_negatives": 6}, {"self_negative": 4.0}]
        loops = [make_loop(build("transe", factory), factory, SampledSoftmaxLoss(), **way) for way in given]
        assert len({loop.checksum for loop in loops}) == len(given)

    @pytest.mark.parametrize("loss", [MarginRankingLoss(2.0), SelfAdversarialLoss()])
    def test_but_not_with_any_loss(self, loss: Any) -> None:
        factory = make_graph()
        with pytest.raises(ValueError, match="0 for any loss but the softmax"):
            make_loop(build("transe", factory), factory, loss, self_negative=3.0)
        with pytest.raises(ValueError, match=r"self_negative=-1\.0: must be finite and not negative"):
            make_loop(build("transe", factory), factory, SampledSoftmaxLoss(), self_negative=-1.0)

    @WAYS
    def test_with_all_entities_it_is_the_cross_entropy(self, inverse: bool) -> None:
        factory = make_graph(inverse=inverse)
        model = build("rotate", factory)
        loop = make_loop(model, factory, SampledSoftmaxLoss(temperature=0.3), num_negatives=99)
        loader = loop._create_training_data_loader(factory, sampler=None, batch_size=40, drop_last=False)
        batch = next(iter(loader))
        h, r, t = batch["positives"].T
        expected = functional.cross_entropy(model.score_t(torch.stack([h, r], 1)) / 0.3, t)
        if not inverse:
            heads = functional.cross_entropy(model.score_h(torch.stack([r, t], 1)) / 0.3, h)
            expected = (expected + heads) / 2
        assert loop._process_batch(batch, 0, 40).item() == pytest.approx(expected.item(), rel=1e-6)

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_row_whose_only_negative_is_true_is_finite_with_its_gradients(self, kind: str) -> None:
        factory = make_graph()
        model = build("transe", factory)
        positives = factory.mapped_triples[:3]
        batch = {"positives": positives, "negatives": positives[:1, 2]}
        loss = make_loop(model, factory, KINDS[kind][0])._process_batch(batch, 0, 3)
        assert all(bool(x.isfinite().all()) for x in (loss, *gradients(loss, model)))


class TestLosses:
    numbers = torch.randn((6, 9), generator=torch.Generator().manual_seed(0))
    scores: ClassVar[dict[str, Any]] = {"positive_scores": numbers[:, :1], "negative_scores": numbers[:, 1:]}

    @pytest.mark.parametrize("reduction", ["mean", "sum"])
    def test_the_self_adversarial_one_is_pykeens_where_that_applies(self, reduction: Any) -> None:
        ours, theirs = (kind(2.0, 0.7, reduction) for kind in (SelfAdversarialLoss, NSSALoss))
        a, b = (loss.process_slcwa_scores(**self.scores) for loss in (ours, theirs))
        torch.testing.assert_close(a, b)
        mask = self.numbers[:, 1:] > -1
        assert bool(mask.any(1).all())
        a, b = (
            loss.process_slcwa_scores(self.numbers[:, :1], self.numbers[:, 1:][mask], batch_filter=mask)
            for loss in (ours, theirs)
        )
        torch.testing.assert_close(a, b)
        masked = self.numbers[:, 1:].masked_fill(~mask, -math.inf)
        torch.testing.assert_close(ours.process_slcwa_scores(self.numbers[:, :1], masked), b)

    @pytest.mark.parametrize("n", [2, 9, 1000])
    def test_a_sampled_negative_stands_for_its_share_of_the_others(self, n: int) -> None:
        loss = SampledSoftmaxLoss(temperature=0.5)
        shift = math.log((n - 1) / 8) if n > 9 else 0.0
        logits = torch.cat([self.numbers[:, :1] / 0.5, self.numbers[:, 1:] / 0.5 + shift], dim=1)
        expected = functional.cross_entropy(logits, torch.zeros(6, dtype=torch.long))
        torch.testing.assert_close(loss.process_slcwa_scores(**self.scores, num_entities=n), expected)

    def test_with_lcwa_the_softmax_is_pykeens_with_a_temperature(self) -> None:
        labels = functional.one_hot(torch.arange(6), self.numbers.shape[1]).float()
        expected = CrossEntropyLoss().process_lcwa_scores(self.numbers / 0.5, labels)
        torch.testing.assert_close(SampledSoftmaxLoss(0.5).process_lcwa_scores(self.numbers, labels), expected)

    def test_what_they_cannot_do_is_an_error(self) -> None:
        with pytest.raises(UnsupportedLabelSmoothingError):
            SampledSoftmaxLoss().process_slcwa_scores(**self.scores, label_smoothing=0.1)
        with pytest.raises(NoSampleWeightSupportError):
            SampledSoftmaxLoss().process_slcwa_scores(**self.scores, neg_weights=torch.ones(6, 8))
        with pytest.raises(UnsupportedLabelSmoothingError):
            SelfAdversarialLoss().process_slcwa_scores(**self.scores, label_smoothing=0.1)


class Recorder(TrainingCallback):
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.batches: dict[int, list[Any]] = {}

    def on_batch(self, epoch: int, batch: Any, *_: Any, **__: Any) -> None:
        self.batches.setdefault(epoch, []).append(batch)


class TestTheLoop:
    def train(self, loop: Any, factory: CoreTriplesFactory, **kwargs: Any) -> Any:
        torch.manual_seed(4)
        options = {"num_epochs": 3, "batch_size": 300, "use_tqdm": False, "pin_memory": False}
        loop.train(factory, **{**options, **kwargs})
        return loop

    @WAYS
    def test_parts_of_a_batch_make_the_same_step(self, inverse: bool) -> None:
        factory = make_graph(inverse=inverse)
        loops = [make_loop(build("rotate", factory), factory, SampledSoftmaxLoss()) for _ in range(2)]
        for loop, size in zip(loops, (None, 70), strict=True):
            self.train(loop, factory, sub_batch_size=size)
        for a, b in zip(*(loop.model.parameters() for loop in loops), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-10)

    @SPARSE
    @pytest.mark.parametrize("name", ["transe", "rotate"])
    def test_sparse_gradients_make_the_weights_of_dense_ones(self, name: Any) -> None:
        factory = make_graph(inverse=True, name="umls")
        settings = replace(SMALL, model=name, optimizer="adagrad", dropout=0.3)
        weights = []
        for sparse in (True, False):
            torch.manual_seed(0)
            model: Any = make_model(settings, factory)
            table = model.entity_representations[0]._embeddings
            assert table.sparse
            table.sparse = sparse
            loop = make_loop(model, factory, SampledSoftmaxLoss(0.5), optimizer="adagrad", num_negatives=32)
            self.train(loop, factory, batch_size=1000)
            weights.append(list(model.parameters()))
        for a, b in zip(*weights, strict=True):
            torch.testing.assert_close(a, b, rtol=0, atol=1e-6)

    @pytest.mark.parametrize("workers", [0, 2])
    @pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
    def test_an_epoch_has_the_graph_and_the_first_generated_triples_once(self, workers: int) -> None:
        factory = make_graph()
        known = set(map(tuple, factory.mapped_triples.tolist()))
        every = torch.cartesian_prod(torch.arange(14), torch.arange(55), torch.arange(14)).tolist()
        extra = [row for row in every if tuple(row) not in known][::-7][:300]
        loop = make_loop(
            build("transe", factory),
            factory,
            SampledSoftmaxLoss(),
            NNMFAugSharedTrainingLoop,
            extra=torch.tensor(extra),
            extra_weight=0.5,
        )
        seen = Recorder()
        self.train(loop, factory, callbacks=seen, num_workers=workers)
        for epoch, batches in seen.batches.items():
            n = Polynomial()(epoch, 3, len(extra))
            found = [tuple(row) for batch in batches for row in batch["positives"].tolist()]
            assert len(found) == len(set(found))
            assert set(found) == known | set(map(tuple, extra[:n]))
            assert sum(int((batch["weights"] == 0.5).sum()) for batch in batches) == n
            assert all(batch["negatives"].shape == (5,) for batch in batches)

    def test_negatives_are_any_entities_and_differ_by_batch(self) -> None:
        factory = make_graph(name="umls")
        loop = make_loop(build("transe", factory), factory, SampledSoftmaxLoss(), num_negatives=50)
        seen = Recorder()
        self.train(loop, factory, callbacks=seen)
        drawn = torch.stack([batch["negatives"] for batches in seen.batches.values() for batch in batches])
        assert len(set(map(tuple, drawn.tolist()))) == len(drawn)
        counts = torch.bincount(drawn.flatten(), minlength=135)
        assert len(counts) == 135
        expected = drawn.numel() / 135
        assert float(((counts - expected) ** 2 / expected).sum()) < 135 + 5 * math.sqrt(2 * 135)

    def test_a_model_without_representations_is_refused(self) -> None:
        class Fixed(FixedModel):  # type: ignore[no-untyped-call]
            def __init__(self, **kwargs: Any) -> None:
                super().__init__(**kwargs)
                self.weight = nn.Parameter(torch.zeros(1))

        factory = make_graph()
        model: Any = Fixed(triples_factory=factory)
        assert not isinstance(model, ERModel)
        with pytest.raises(TypeError, match="Fixed is not an ERModel: shared negatives need its representations"):
            make_loop(model, factory, SampledSoftmaxLoss())

    def test_settings_that_make_no_sense_are_refused(self) -> None:
        factory = make_graph()
        model = build("transe", factory)
        with pytest.raises(ValueError, match="num_negatives=0: must be at least 1"):
            make_loop(model, factory, SampledSoftmaxLoss(), num_negatives=0)
        loop = make_loop(model, factory, SampledSoftmaxLoss())
        with pytest.raises(ValueError, match="sampler='schlichtkrull' is not possible with shared negatives"):
            self.train(loop, factory, sampler="schlichtkrull")
        with pytest.raises(AttributeError, match="slicing is not possible"):
            loop._process_batch(make_batch(factory), 0, 7, slice_size=3)


def states() -> tuple[Any, ...]:
    numpy_state: Any = np.random.get_state()  # noqa: NPY002
    return torch.get_rng_state().tolist(), numpy_state[1].tolist(), numpy_state[2:], random.getstate()


class TestTraining:
    def test_one_seed_is_one_model_and_another_another(self, splits: na.Splits) -> None:
        settings = replace(SMALL, dropout=0.2, optimizer="adagrad")
        one, two, other = (settings.train(splits, seed=seed, options=ONE_THREAD) for seed in (3, 3, 4))
        assert one.losses == two.losses != other.losses
        weights = [trained.model.state_dict() for trained in (one, two)]
        assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[1])

    @pytest.mark.parametrize("shared", [True, False])
    def test_no_generator_of_others_moves(self, splits: na.Splits, shared: bool) -> None:
        before = states()
        replace(SMALL, loss="self-adversarial", shared=shared, epochs=1).train(splits, options=ONE_THREAD)
        assert states() == before

    def test_what_others_froze_stays_frozen_and_threads_are_theirs(self, splits: na.Splits) -> None:
        gc.collect()
        threads = torch.get_num_threads()
        for freeze in (True, False):
            gc.unfreeze()
            if freeze:
                gc.freeze()
            before, alive = gc.get_freeze_count(), [[] for _ in range(10_000)]  # type: ignore[var-annotated]
            replace(SMALL, epochs=1).train(splits, options=TrainOptions(threads=threads + 1))
            assert gc.get_freeze_count() <= before  # some of them may have died
            assert len(alive) == 10_000
            assert torch.get_num_threads() == threads

    def test_a_model_that_diverges_says_what_to_do_and_leaves_nothing(self, splits: na.Splits) -> None:
        threads, state = torch.get_num_threads(), torch.get_rng_state()
        settings = replace(SMALL, model="transe", squared=True, optimizer="sgd", lr=1e30)
        with pytest.raises(ValueError, match="the model has diverged, use a smaller learning rate"):
            settings.train(splits, options=TrainOptions(threads=threads + 1))
        assert torch.get_num_threads() == threads
        assert torch.equal(torch.get_rng_state(), state)


class TestDropout:
    @pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.9])
    def test_it_drops_the_share_and_keeps_the_mean(self, p: float) -> None:
        torch.manual_seed(0)
        dropped = _drop(torch.ones(401, 499), p)  # a number of numbers that 8 does not divide
        exact = round(p * 256) / 256
        assert abs(exact - p) <= 1 / 512
        n = dropped.numel()
        zeros = (dropped == 0).sum().item()
        assert abs(zeros - n * exact) < 5 * math.sqrt(n * exact * (1 - exact))
        assert sorted(set(dropped.flatten().tolist())) == pytest.approx([0, 1 / (1 - exact)])

    def test_rows_and_columns_and_calls_are_independent(self) -> None:
        torch.manual_seed(0)
        a, b = (_drop(torch.ones(2000, 16), 0.5) > 0 for _ in range(2))
        for x, y in ((a, b), (a[1:], a[:-1]), (a[:, 1:], a[:, :-1])):
            assert abs((x == y).double().mean().item() - 0.5) < 0.02

    @pytest.mark.parametrize("p", [0.0, 0.001])
    def test_a_share_of_nothing_is_the_same(self, p: float) -> None:
        x = torch.randn(5, 7)
        assert torch.equal(_drop(x, p), x)
        assert _drop(torch.empty(0, 7), 0.5).shape == (0, 7)

    @pytest.mark.parametrize("dtype", [torch.float, torch.cfloat])
    def test_an_embedding_drops_while_it_trains_only(self, dtype: torch.dtype) -> None:
        torch.manual_seed(0)
        embedding = DropoutEmbedding(0.5, sparse=False, max_id=300, shape=20, dtype=dtype)
        indices = torch.arange(0, 300, 2)
        embedding.eval()
        x = embedding(indices)
        assert torch.equal(embedding(indices), x)
        embedding.train()
        dropped = embedding(indices)
        assert dropped.dtype == dtype
        numbers, whole = (torch.view_as_real(y) if y.is_complex() else y for y in (dropped, x))
        kept = numbers != 0
        assert abs(kept.double().mean().item() - 0.5) < 0.05
        assert torch.equal(numbers[kept], 2 * whole[kept])  # parts of a complex number drop by themselves
        embedding.p = 0.0
        assert torch.equal(embedding(indices), x)
