"""A link predictor: settings in, a trained model out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

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
        Numbers per entity, complex ones for RotatE.
    norm, squared
        Which norm, 1 or 2 (1 is the sum of the moduli for RotatE, and slower); whether it is squared, if it is 2,
        as in the paper's Table 3 of RotatE.
    normalize
        Whether entities are scaled to length 1 after each step.
    init
        Length of a new entity.
    loss, temperature, margin
        ``softmax`` of scores / temperature; ``self-adversarial`` with a margin, its weights sharpened by
        ``temperature``; ``margin`` is a hinge.
    negatives, shared
        Entities a triple is compared with; the same for the whole batch, or PyKEEN's own for each triple.
    self_negative
        0: the entity itself is a negative like any other. Above 0, for ``softmax``: (h, r, h) always is one of
        (h, r, t) and weighs so much, where another entity weighs 1; of mostly symmetric relations it is none.
    reciprocal
        Whether (t, r⁻¹, h) is trained on, too, and answers the question for heads.
    dropout
        Share of the numbers of entities left out at random while training.
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
        """Return settings by name: ``transe``, ``rotate``, ``rotate-long``, ``transe-paper``, ``rotate-paper``.

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

        Valid is inspected for the learning curve only; the model is that of the last epoch. Test is not inspected.
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
