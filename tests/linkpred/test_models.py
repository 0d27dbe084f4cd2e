"""Settings become the model, the loss and the optimiser that they name; dropout is as stated."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from pykeen.losses import MarginRankingLoss
from torch import optim

from nnmfaug.linkpred import LinkPredictor
from nnmfaug.linkpred.adam import TableAdam
from nnmfaug.linkpred.interactions import FastRotatE, FastTransE
from nnmfaug.linkpred.losses import SampledSoftmaxLoss, SelfAdversarialLoss
from nnmfaug.linkpred.models import DropoutEmbedding, _drop, make_loss, make_model, make_optimizer
from tests.linkpred.loops import make_graph

SMALL = LinkPredictor(dim=6)


class TestModel:
    @pytest.mark.parametrize(("name", "kind"), [("transe", FastTransE), ("rotate", FastRotatE)])
    @pytest.mark.parametrize(("norm", "squared"), [(1, False), (2, False), (2, True)])
    def test_it_has_the_interaction_and_the_norm(self, name: Any, kind: Any, norm: int, squared: bool) -> None:
        model: Any = make_model(replace(SMALL, model=name, norm=norm, squared=squared), make_graph())
        assert type(model.interaction) is kind
        assert (model.interaction.p, model.interaction.power_norm) == (norm, squared)

    @pytest.mark.parametrize("reciprocal", [False, True])
    def test_relations_of_rotate_are_rotations(self, reciprocal: bool) -> None:
        factory = make_graph(inverse=reciprocal)
        model: Any = make_model(SMALL, factory)
        relations = model.relation_representations[0]()
        assert relations.shape == (factory.num_relations, 6)
        torch.testing.assert_close(relations.abs(), torch.ones_like(relations.abs()))
        assert model.entity_representations[0]().is_complex()

    @pytest.mark.parametrize("name", ["transe", "rotate"])
    def test_new_entities_have_the_length_of_the_settings(self, name: Any) -> None:
        torch.manual_seed(0)
        model: Any = make_model(replace(SMALL, model=name, dim=500, init=3.0), make_graph())
        lengths = model.entity_representations[0]().norm(dim=1)
        torch.testing.assert_close(lengths, torch.full_like(lengths, 3.0), rtol=0.15, atol=0)

    def test_normalized_entities_have_length_one_after_a_step(self) -> None:
        model: Any = make_model(replace(SMALL, model="transe", normalize=True), make_graph())
        model.post_parameter_update()
        lengths = model.entity_representations[0]().norm(dim=1)
        torch.testing.assert_close(lengths, torch.ones_like(lengths))

    def test_one_seed_is_one_model(self) -> None:
        models = []
        for _ in range(2):
            torch.manual_seed(7)
            models.append(make_model(SMALL, make_graph()))
        pairs = zip(*(model.parameters() for model in models), strict=True)
        assert all(torch.equal(a, b) for a, b in pairs)


class TestLossAndOptimizer:
    def test_a_loss_has_the_kind_and_the_numbers_of_the_settings(self) -> None:
        softmax = make_loss(replace(SMALL, temperature=0.7))
        assert isinstance(softmax, SampledSoftmaxLoss)
        assert softmax.temperature == 0.7
        adversarial = make_loss(replace(SMALL, loss="self-adversarial", temperature=0.7, margin=4.0))
        assert isinstance(adversarial, SelfAdversarialLoss)
        assert (adversarial.inverse_softmax_temperature, adversarial.margin) == (0.7, 4.0)
        hinge = make_loss(replace(SMALL, loss="margin", shared=False, margin=4.0))
        assert isinstance(hinge, MarginRankingLoss)
        assert hinge.margin == 4.0

    @pytest.mark.parametrize(
        ("name", "kind", "fused"),
        [("adam", TableAdam, True), ("sgd", optim.SGD, True), ("adagrad", optim.Adagrad, False)],
    )
    def test_an_optimizer_has_all_weights_and_the_learning_rate(self, name: Any, kind: type, fused: bool) -> None:
        settings = replace(SMALL, optimizer=name, lr=0.03)
        model: Any = make_model(settings, make_graph())
        optimizer = make_optimizer(settings, model)
        (group,) = optimizer.param_groups
        assert type(optimizer) is kind
        assert (group["lr"], group["fused"]) == (0.03, fused)
        assert {id(x) for x in group["params"]} == {id(x) for x in model.parameters()}

    @pytest.mark.parametrize(("name", "sparse"), [("adam", True), ("sgd", False), ("adagrad", True)])
    def test_gradients_are_sparse_where_the_optimizer_takes_them(self, name: Any, sparse: bool) -> None:
        model: Any = make_model(replace(SMALL, optimizer=name), make_graph())
        assert model.entity_representations[0]._embeddings.sparse is sparse


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

    @pytest.mark.parametrize("dtype", [torch.float, torch.cfloat])
    def test_constraints_are_those_of_all_weights(self, dtype: torch.dtype) -> None:
        torch.manual_seed(0)
        embedding = DropoutEmbedding(0.5, sparse=False, max_id=30, shape=20, dtype=dtype, constrainer="normalize")
        embedding.train()
        embedding.post_parameter_update()
        embedding.eval()
        x = embedding()
        torch.testing.assert_close(x.norm(dim=1).abs(), torch.ones(30))
        assert (x != 0).all()
