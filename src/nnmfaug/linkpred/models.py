"""From settings to PyKEEN's parts: a model, a loss, an optimiser."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from pykeen.losses import Loss, MarginRankingLoss
from pykeen.models import ERModel
from pykeen.nn import Embedding, TransformedRepresentation
from pykeen.triples import CoreTriplesFactory
from pykeen.utils import NoRandomSeedNecessary
from torch import Tensor, nn, optim

from nnmfaug.linkpred.interactions import FastRotatE, FastTransE
from nnmfaug.linkpred.losses import SampledSoftmaxLoss, SelfAdversarialLoss

if TYPE_CHECKING:
    from nnmfaug.linkpred.predictor import LinkPredictor


class Rotation(nn.Module):
    """Angles to complex numbers of modulus 1."""

    def forward(self, angles: Tensor) -> Tensor:
        """Return e^(i·angle)."""
        return torch.polar(torch.ones_like(angles), angles)


def make_model(settings: LinkPredictor, factory: CoreTriplesFactory) -> ERModel[Any, Any, Any]:
    """Make TransE or RotatE with PyKEEN's own parts and our interactions; weights come from torch's generator."""
    rotate = settings.model == "rotate"
    entities: dict[str, Any] = {"shape": settings.dim, "dtype": torch.cfloat if rotate else torch.float}
    entities |= {"initializer": _normal(settings.init), "sparse": settings.optimizer == "adagrad"}
    if settings.normalize:
        entities["constrainer"] = "normalize"
    if rotate:
        angles = Embedding(max_id=factory.num_relations, shape=settings.dim, initializer=_angles)
        relations: Any = TransformedRepresentation(transformation=Rotation(), base=angles)
        interaction: Any = FastRotatE(p=settings.norm, power_norm=settings.squared)
    else:
        relations = Embedding(max_id=factory.num_relations, shape=settings.dim, initializer=_normal(settings.init))
        interaction = FastTransE(p=settings.norm, power_norm=settings.squared)
    return ERModel(
        triples_factory=factory,
        random_seed=NoRandomSeedNecessary,  # a number would seed numpy and random for everybody
        interaction=interaction,
        entity_representations=DropoutEmbedding(settings.dropout, max_id=factory.num_entities, **entities),
        relation_representations=relations,
    )


class DropoutEmbedding(Embedding):
    """An embedding with dropout of single numbers, complex or not, and gradients of the rows in use only.

    PyKEEN's dropout fails on complex numbers. A sparse gradient spares a pass over the whole table; Adagrad makes
    the same step of it as of a dense one.
    """

    def __init__(self, p: float, *, sparse: bool, **kwargs: Any) -> None:  # noqa: ANN401  # Embedding's own
        super().__init__(**kwargs)
        self.p = p
        self._embeddings.sparse = sparse

    def _plain_forward(self, indices: Tensor | None = None) -> Tensor:
        x: Tensor = super()._plain_forward(indices)
        if not self.training or not self.p:
            return x
        if x.is_complex():
            return torch.view_as_complex(_drop(torch.view_as_real(x), self.p))
        return _drop(x, self.p)


def _drop(x: Tensor, p: float) -> Tensor:
    """Dropout with p in 256ths: eight numbers per random one, where torch, on a processor, draws one for each."""
    words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64, device=x.device)
    dice = words.random_(torch.iinfo(torch.int64).min, None).view(torch.uint8)[: x.numel()].view(x.shape)
    out_of_256 = min(round(p * 256), 255)
    return x * (dice >= out_of_256).to(x.dtype).mul_(256 / (256 - out_of_256))


def make_loss(settings: LinkPredictor) -> Loss:
    """Make the loss of the settings."""
    if settings.loss == "softmax":
        return SampledSoftmaxLoss(temperature=settings.temperature)
    if settings.loss == "self-adversarial":
        return SelfAdversarialLoss(margin=settings.margin, adversarial_temperature=settings.temperature)
    return MarginRankingLoss(margin=settings.margin)


def make_optimizer(settings: LinkPredictor, model: ERModel[Any, Any, Any]) -> optim.Optimizer:
    """Make the optimiser; fused, one pass over the weights instead of ten."""
    kinds: dict[str, type[optim.Optimizer]] = {
        "adam": optim.Adam,
        "adagrad": optim.Adagrad,
        "sgd": optim.SGD,
    }
    options = {"params": model.get_grad_params(), "lr": settings.lr, "fused": settings.optimizer != "adagrad"}
    return kinds[settings.optimizer](**options)  # type: ignore[arg-type]


def _normal(scale: float) -> Any:  # noqa: ANN401  # PyKEEN's Initializer
    def fill(x: Tensor) -> Tensor:
        return torch.randn_like(x) * scale / math.sqrt(x[0].numel())

    return fill


def _angles(x: Tensor) -> Tensor:
    return (torch.rand_like(x) * 2 - 1) * math.pi
