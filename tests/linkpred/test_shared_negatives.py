"""Negatives shared by a batch give the loss that scoring triple by triple gives."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from pykeen.losses import (
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    Loss,
    MarginRankingLoss,
    NSSALoss,
)
from pykeen.models import CP, ERModel, FixedModel, TransE
from pykeen.triples import CoreTriplesFactory
from torch import Tensor, nn
from torch.nn import functional

from nnmfaug.linkpred import LinkPredictor
from nnmfaug.linkpred.losses import SampledSoftmaxLoss, SelfAdversarialLoss
from nnmfaug.linkpred.models import make_model
from nnmfaug.linkpred.schedule import Polynomial
from nnmfaug.linkpred.shared_negatives import NNMFAugSharedTrainingLoop, SharedNegativesTrainingLoop, _symmetry
from tests.linkpred.loops import Recorder, make_extra, make_graph, rows

SMALL = LinkPredictor(dim=6, epochs=3, batch_size=512, negatives=32, lr=0.05, decay=())
WAYS = pytest.mark.parametrize("inverse", [False, True], ids=["plain", "reciprocal"])
pytestmark = pytest.mark.usefixtures("quick_collections")
SPARSE = pytest.mark.filterwarnings("ignore:Sparse invariant checks:UserWarning")


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
    both_ways: dict[int, list[bool]] = {}
    for h, r, t in known:
        both_ways.setdefault(r, []).append((t, r, h) in known)
    losses = []
    for side in (2,) if model.use_inverse_triples else (2, 0):
        for row, of_row in zip(batch["positives"].tolist(), batch["weights"], strict=True):
            other, weights = row[2 - side], {n: 13 / len(negatives) * negatives.count(n) for n in negatives}
            if len(negatives) > 13:
                weights = dict.fromkeys(negatives, 1.0)
            for none in (row[side], other):
                weights.pop(none, None)
            if (other, row[1] // step, other) not in known and np.mean(both_ways[row[1] // step]) <= 0.5:
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
        exps = (alpha * others).exp().detach()
        negative = (exps / exps.sum() * (1 / (1 + (others + margin).exp())).log()).sum()
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
        known = rows(factory.mapped_triples)
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
        extra = make_extra(factory, 300)
        loop = make_loop(
            build("transe", factory),
            factory,
            SampledSoftmaxLoss(),
            NNMFAugSharedTrainingLoop,
            extra=extra,
            extra_weight=0.5,
        )
        seen = Recorder()
        self.train(loop, factory, callbacks=seen, num_workers=workers)
        for epoch, batches in seen.batches.items():
            n = Polynomial()(epoch, 3, len(extra))
            positives = seen.positives(epoch)
            assert len(positives) == len(set(positives))
            assert set(positives) == rows(factory.mapped_triples) | rows(extra[:n])
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
