"""PyKEEN's model, loss and optimiser for the settings of a link predictor."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from pykeen.losses import Loss, MarginRankingLoss
from pykeen.models import ERModel
from pykeen.nn import Embedding, Representation, TransformedRepresentation
from pykeen.triples import CoreTriplesFactory
from pykeen.utils import NoRandomSeedNecessary
from torch import Tensor, nn, optim

from nnmfaug.linkpred.adam import TableAdam, catch_up
from nnmfaug.linkpred.interactions import FastRotatE, FastTransE
from nnmfaug.linkpred.losses import SampledSoftmaxLoss, SelfAdversarialLoss

if TYPE_CHECKING:
    from nnmfaug.linkpred.predictor import LinkPredictor


class Rotation(nn.Module):
    """Maps weights to complex numbers of modulus 1, whose angles are the weights times ``scale``."""

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__()
        self.scale = scale

    def forward(self, weights: Tensor) -> Tensor:
        """Return e^(i·scale·weight)."""
        return torch.polar(torch.ones_like(weights), weights * self.scale)

    def extra_repr(self) -> str:
        """Return the scale, by which PyKEEN distinguishes checkpoints."""
        return f"scale={self.scale}"


def make_model(settings: LinkPredictor, factory: CoreTriplesFactory) -> ERModel[Any, Any, Any]:
    """Make TransE or RotatE from PyKEEN's parts and our interactions; torch's global RNG draws the weights."""
    interaction = FastRotatE if settings.model == "rotate" else FastTransE
    relations = _make_relations(settings, factory.num_relations)  # before the entities: the order of the draws
    entities = _make_entities(settings, factory.num_entities)
    return ERModel(
        triples_factory=factory,
        random_seed=NoRandomSeedNecessary,  # a number would reseed numpy and random for the whole process
        interaction=interaction(p=settings.norm, power_norm=settings.squared),
        entity_representations=entities,
        relation_representations=relations,
    )


def _make_relations(settings: LinkPredictor, n_relations: int) -> Representation:
    """Rotations for RotatE, vectors for TransE."""
    if settings.model == "rotate":
        is_uniform = settings.start == "uniform"
        initializer = _uniform(settings.start_bound) if is_uniform else _angles
        weights = Embedding(max_id=n_relations, shape=settings.dim, initializer=initializer)
        rotation = Rotation(math.pi / settings.start_bound if is_uniform else 1.0)
        return TransformedRepresentation(transformation=rotation, base=weights)
    return Embedding(
        max_id=n_relations, shape=settings.dim, initializer=_initializer(settings), **_normalizer(settings)
    )


def _make_entities(settings: LinkPredictor, n_entities: int) -> DropoutEmbedding:
    """Vectors, complex for RotatE."""
    return DropoutEmbedding(
        settings.dropout,
        sparse=settings.optimizer in ("adagrad", "adam"),
        max_id=n_entities,
        shape=settings.dim,
        dtype=torch.cfloat if settings.model == "rotate" else torch.float,
        initializer=_initializer(settings),
        constrainer="normalize" if settings.normalize else None,
        **_normalizer(settings),
    )


def _normalizer(settings: LinkPredictor) -> dict[str, Any]:
    """Arguments of an embedding that scale its vectors whenever they are looked up, if the settings say so."""
    return {"normalizer": "normalize", "normalizer_kwargs": {"dim": -1}} if settings.unit_vectors else {}


class DropoutEmbedding(Embedding):
    """An embedding with dropout of single real numbers, and sparse gradients if ``sparse``.

    PyKEEN's dropout fails on complex numbers; here the real and the imaginary part are dropped independently. A
    sparse gradient avoids a pass over the whole table. Adagrad and :class:`TableAdam` make the same step with it
    as with a dense one.
    """

    def __init__(self, p: float, *, sparse: bool, **kwargs: Any) -> None:  # noqa: ANN401  # Embedding's own
        super().__init__(**kwargs)
        self.p = p
        self._embeddings.sparse = sparse

    def _plain_forward(self, indices: Tensor | None = None) -> Tensor:
        catch_up(self._embeddings.weight, indices)
        x: Tensor = super()._plain_forward(indices)
        if not self.training or not self.p:
            return x
        if x.is_complex():
            return torch.view_as_complex(_drop(torch.view_as_real(x), self.p))
        return _drop(x, self.p)

    def post_parameter_update(self) -> None:
        """Apply constraints to the weights themselves; PyKEEN would apply them to what dropout leaves."""
        p, self.p = self.p, 0.0
        super().post_parameter_update()  # type: ignore[no-untyped-call]
        self.p = p


def _drop(x: Tensor, p: float) -> Tensor:
    """Dropout with p rounded to a multiple of 1/256.

    One random number of 64 bits decides about eight numbers; on a processor, torch's dropout draws one for each.
    """
    words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64, device=x.device)
    words.random_(torch.iinfo(torch.int64).min, None)
    dice = words.view(torch.uint8)[: x.numel()].view(x.shape)
    out_of_256 = min(round(p * 256), 255)
    mask = (dice >= out_of_256).to(x.dtype)
    return x * mask.mul_(256 / (256 - out_of_256))


def make_loss(settings: LinkPredictor) -> Loss:
    """Make the loss that the settings name."""
    if settings.loss == "softmax":
        return SampledSoftmaxLoss(temperature=settings.temperature)
    if settings.loss == "self-adversarial":
        return SelfAdversarialLoss(
            margin=settings.margin, adversarial_temperature=settings.temperature, summed=settings.summed
        )
    return MarginRankingLoss(margin=settings.margin, reduction="sum" if settings.summed else "mean")


def make_optimizer(settings: LinkPredictor, model: ERModel[Any, Any, Any]) -> optim.Optimizer:
    """Make the optimiser; a fused one makes one pass over the weights instead of ten."""
    params = model.get_grad_params()
    if settings.optimizer == "adam":
        return TableAdam(params, lr=settings.lr, fused=True)
    if settings.optimizer == "sgd":
        return optim.SGD(params, lr=settings.lr, fused=True)
    return optim.Adagrad(params, lr=settings.lr, fused=False)  # a fused Adagrad refuses sparse gradients


def _initializer(settings: LinkPredictor) -> Callable[[Tensor], Tensor]:
    """Initializer of vectors."""
    if settings.start == "xavier":
        return _xavier
    return _uniform(settings.start_bound) if settings.start == "uniform" else _normal(settings.init)


def _xavier(x: Tensor) -> Tensor:
    """Initializer of numbers that are uniform up to ± √(6 / (rows + columns))."""
    return nn.init.xavier_uniform_(torch.empty_like(x))


def _uniform(bound: float) -> Callable[[Tensor], Tensor]:
    """Initializer of numbers that are uniform up to ± ``bound``."""

    def fill(x: Tensor) -> Tensor:
        return torch.empty_like(x).uniform_(-bound, bound)

    return fill


def _normal(scale: float) -> Callable[[Tensor], Tensor]:
    """Initializer of normal vectors whose expected squared length is ``scale``²."""

    def fill(x: Tensor) -> Tensor:
        return torch.randn_like(x) * scale / math.sqrt(x[0].numel())

    return fill


def _angles(x: Tensor) -> Tensor:
    """Initializer of angles that are uniform in [−π, π)."""
    return (torch.rand_like(x) * 2 - 1) * math.pi
