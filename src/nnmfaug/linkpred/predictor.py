"""A link predictor: settings in, a trained model out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from nnmfaug.core.checks import check_argument, require
from nnmfaug.graph.splits import Splits
from nnmfaug.linkpred.trained import Trained
from nnmfaug.linkpred.training_set import TrainingSet

Model = Literal["transe", "rotate"]
Loss = Literal["softmax", "self-adversarial", "margin"]
Optimizer = Literal["adam", "adagrad", "sgd"]
Device = Literal["auto", "cpu", "cuda"]


@dataclass(frozen=True)
class LinkPredictor:
    """TransE or RotatE and how to train it; ``LinkPredictor.preset("rotate")`` has settings chosen on valid.

    Parameters
    ----------
    model
        ``transe``: −‖h + r − t‖, or ``rotate``: −‖h ∘ r − t‖ over complex numbers.
    dim
        Embedding dimension of an entity: real numbers for TransE, complex ones for RotatE.
    norm, squared
        The norm, 1 or 2 (for RotatE, 1 is the sum of the moduli, and slower); whether norm 2 is squared, as in
        Table 3 of the RotatE paper.
    normalize
        Whether entities are scaled to length 1 after each step.
    init
        Euclidean length of an entity's initial embedding.
    loss, temperature, margin
        ``softmax``: cross-entropy of scores / temperature. ``self-adversarial``: with a margin, negatives weighted
        by a softmax of scores · temperature. ``margin``: the hinge loss.
    negatives, shared
        Number of negative entities; whether a batch shares them, or each triple has its own (PyKEEN's sampler).
    self_negative
        Weight of (h, r, h) as a negative of (h, r, t), where other negatives have weight 1 (loss ``softmax``).
        Mostly symmetric relations are exempt. 0 treats the entity itself like any other.
    reciprocal
        Whether the model also learns (t, r⁻¹, h), and predicts heads by r⁻¹.
    dropout
        Fraction of the coordinates of entities that is dropped at random in training.
    epochs, batch_size, optimizer, lr, decay
        ``decay=((0.5, 0.3),)`` multiplies the learning rate by 0.3 after half of the epochs.
    """

    model: Model = "rotate"
    dim: int = 128
    norm: int = 2
    squared: bool = False
    normalize: bool = False
    init: float = 6.0
    loss: Loss = "softmax"
    temperature: float = 0.5
    margin: float = 9.0
    negatives: int = 1024
    shared: bool = True
    self_negative: float = 0.0
    reciprocal: bool = True
    dropout: float = 0.0
    epochs: int = 50
    batch_size: int = 1024
    optimizer: Optimizer = "adam"
    lr: float = 5e-3
    decay: tuple[tuple[float, float], ...] = ((0.5, 0.3), (0.8, 0.1))

    def __post_init__(self) -> None:
        for name, kinds in (("model", Model), ("loss", Loss), ("optimizer", Optimizer)):
            if getattr(self, name) not in get_args(kinds):
                msg = f"{name}={getattr(self, name)!r}: must be one of {', '.join(get_args(kinds))}"
                raise ValueError(msg)
        for name in ("dim", "negatives", "epochs", "batch_size"):
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 1:
                msg = f"{name}={getattr(self, name)}: must be a whole number from 1"
                raise ValueError(msg)
        for name in ("init", "temperature", "lr"):
            if not 0 < getattr(self, name) < math.inf:
                msg = f"{name}={getattr(self, name)}: must be a number above 0"
                raise ValueError(msg)
        if self.norm not in (1, 2) or not 0 <= self.dropout < 1:
            msg = f"norm={self.norm}, dropout={self.dropout}: must be 1 or 2, and from 0 to below 1"
            raise ValueError(msg)
        rules = (
            (self.norm == 2 or not self.squared, "squared=True goes with norm=2"),
            (self.shared or self.loss != "softmax", "loss='softmax' goes with shared=True"),
            (0 <= self.self_negative < math.inf, f"self_negative={self.self_negative}: must be a number from 0"),
            (not self.self_negative or self.loss == "softmax", "self_negative goes with loss='softmax'"),
        )
        for good, msg in rules:
            if not good:
                raise ValueError(msg)

    @classmethod
    def preset(cls, name: str, dataset: str = "") -> LinkPredictor:
        """Return settings by name, see ``nnmfaug.linkpred.presets.PRESETS``; for some data sets they are tuned.

        Examples
        --------
        >>> from nnmfaug.linkpred import LinkPredictor
        >>> LinkPredictor.preset("rotate", "wn18rr").model
        'rotate'
        """
        from nnmfaug.linkpred.presets import find_preset

        return find_preset(name, dataset)

    def train(
        self,
        splits: Splits,
        data: TrainingSet | None = None,
        *,
        seed: int = 0,
        options: TrainOptions | None = None,
    ) -> Trained:
        """Train on a training set; the default is ``splits.train`` alone.

        Valid is inspected for the learning curve only, whose ranks leave out triples of train and valid. The model
        is that of the last epoch. Test is not inspected.
        """
        from nnmfaug.linkpred.train import train

        return train(self, splits, data or TrainingSet(splits.train), seed, options or TrainOptions())

    def check_weights(self, *, weighted: bool) -> None:
        """Raise if triples have weights and the loss cannot use them."""
        if weighted and self.loss == "margin":
            msg = "the margin loss takes no weights of triples: use weight 1, or a model with another loss"
            raise ValueError(msg)


@dataclass(frozen=True)
class TrainOptions:
    """How a model is trained, not on what.

    Parameters
    ----------
    evaluate_every
        Number of epochs between evaluations on valid; None disables them.
    threads
        Number of torch threads; the last digits of weights depend on it. Default: 2.
    device
        Where to train; "auto" is CUDA if there is one.
    """

    evaluate_every: int | None = None
    threads: int | None = None
    device: Device = "auto"

    def __post_init__(self) -> None:
        check_argument("device", self.device, self.device in get_args(Device), ", ".join(get_args(Device)))
        if self.device == "cuda":
            _check_cuda()


def _check_cuda() -> None:
    """Raise before anything is fitted or trained."""
    import torch

    require(torch.cuda.is_available(), "device 'cuda': there is none here; use auto or cpu")
