"""A link predictor: settings in, a trained model out."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Literal, get_args

from nnmfaug.core.checks import check_argument, require
from nnmfaug.graph.splits import Splits
from nnmfaug.linkpred.trained import Trained
from nnmfaug.linkpred.training_set import TrainingSet

Model = Literal["transe", "rotate"]
Start = Literal["normal", "xavier", "uniform"]
Loss = Literal["softmax", "self-adversarial", "margin"]
Optimizer = Literal["adam", "adagrad", "sgd"]
Device = Literal["auto", "cpu", "cuda"]
_WHOLE_NUMBERS = {
    "dim": 1,
    "negatives": 1,
    "epochs": 1,
    "batch_size": 1,
    "patience": 0,
    "look_every": 1,
    "look_at": 1,
}
"""Settings that are whole numbers, and the least that each may be."""


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
    normalize, unit_vectors
        Whether entities are scaled to length 1 after each step; whether the score of TransE scales h, r and t to
        length 1 each time, and leaves the weights as they are.
    start, init
        ``normal``: an entity's initial embedding has the Euclidean length ``init``. ``xavier``, for TransE: Xavier
        uniform. ``uniform``, for RotatE: numbers up to ± (margin + 2) / dim, and a weight of that size is an angle
        of π.
    loss, temperature, margin
        ``softmax``: cross-entropy of scores / temperature. ``self-adversarial``: with a margin, negatives weighted
        by a softmax of scores · temperature. ``margin``: the hinge loss.
    summed
        Whether a sum replaces a mean: for ``margin``, over the batch; for ``self-adversarial``, of the parts of
        positives and negatives.
    negatives, shared
        Number of negative entities; whether a batch shares them, or each triple has its own (PyKEEN's sampler).
    redraw
        Whether a negative replaces head or tail with chance ½ and is drawn again while it is a training triple.
        Only if triples have negatives of their own.
    self_negative
        Weight of (h, r, h) as a negative of (h, r, t), where other negatives have weight 1 (loss ``softmax``).
        Mostly symmetric relations are exempt. 0 treats the entity itself like any other.
    reciprocal
        Whether the model also learns (t, r⁻¹, h), and predicts heads by r⁻¹.
    dropout
        Fraction of the coordinates of entities that is dropped at random in training.
    epochs, batch_size, optimizer, lr, decay
        ``decay=((0.5, 0.3),)`` multiplies the learning rate by 0.3 after half of the epochs.
    whole_batches
        Whether an epoch leaves out the triples of a last, smaller batch.
    patience, look_every, look_at
        Every ``look_every`` epochs, the mean rank of ``look_at`` valid triples, at even distances, is computed.
        The filter is train and valid; pykg2vec's has test, too, on which training must not depend. Training ends
        after ``patience`` looks in a row without a better mean rank than the best, with the weights of that
        epoch. 0, or no valid triples: it ends after the last epoch.
    """

    model: Model = "rotate"
    dim: int = 128
    norm: int = 2
    squared: bool = False
    normalize: bool = False
    unit_vectors: bool = False
    start: Start = "normal"
    init: float = 6.0
    loss: Loss = "softmax"
    temperature: float = 0.5
    margin: float = 9.0
    summed: bool = False
    negatives: int = 1024
    shared: bool = True
    redraw: bool = False
    self_negative: float = 0.0
    reciprocal: bool = True
    dropout: float = 0.0
    epochs: int = 50
    batch_size: int = 1024
    optimizer: Optimizer = "adam"
    lr: float = 5e-3
    decay: tuple[tuple[float, float], ...] = ((0.5, 0.3), (0.8, 0.1))
    whole_batches: bool = False
    patience: int = 0
    look_every: int = 10
    look_at: int = 1000

    def __post_init__(self) -> None:
        for name, kinds in (("model", Model), ("start", Start), ("loss", Loss), ("optimizer", Optimizer)):
            if getattr(self, name) not in get_args(kinds):
                msg = f"{name}={getattr(self, name)!r}: must be one of {', '.join(get_args(kinds))}"
                raise ValueError(msg)
        for name, least in _WHOLE_NUMBERS.items():
            if not isinstance(getattr(self, name), int) or getattr(self, name) < least:
                msg = f"{name}={getattr(self, name)}: must be a whole number from {least}"
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
            (not self.unit_vectors or self.model == "transe", "unit_vectors=True goes with model='transe'"),
            (self.start != "xavier" or self.model == "transe", "start='xavier' goes with model='transe'"),
            (self.start != "uniform" or self.model == "rotate", "start='uniform' goes with model='rotate'"),
            (
                self.start != "uniform" or 0 < self.start_bound < math.inf,
                "start='uniform' goes with a margin above -2",
            ),
            (
                not self.summed or self.loss != "softmax",
                "summed=True goes with loss='margin' or 'self-adversarial'",
            ),
            (not self.redraw or not self.shared, "redraw=True goes with shared=False"),
        )
        for good, msg in rules:
            if not good:
                raise ValueError(msg)

    @property
    def start_bound(self) -> float:
        """Largest initial number with ``start="uniform"``; an angle of π has this weight."""
        return (self.margin + 2) / self.dim

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

        Valid is inspected for the learning curve and for ``patience`` only, by ranks that leave out triples of
        train and valid. The model is that of the last epoch. Test is not inspected.
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
        Number of epochs between evaluations on valid; None disables them. They may change the last digits of
        weights, since Adam then moves rows earlier that wait.
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

    @property
    def n_threads(self) -> int:
        """Number of torch threads, here."""
        return self.threads or min(os.cpu_count() or 1, 2)


def _check_cuda() -> None:
    """Raise before anything is fitted or trained."""
    import torch

    require(torch.cuda.is_available(), "device 'cuda': there is none here; use auto or cpu")
