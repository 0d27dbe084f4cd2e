"""How the scores of a model and the probabilities of a prior are combined, and become probabilities again."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nnmfaug.core.arrays import Array
from nnmfaug.core.checks import check_argument
from nnmfaug.core.elementary import expit, expm1, log, log1p

LEAST_OTHERS = 1e-9
"""The softmax of all other candidates together counts as at least this."""


@dataclass(frozen=True)
class Mix:
    """The numbers of score = model score / T + w · log(1 + p / ε).

    Parameters
    ----------
    temperature
        T: divides the scores of the model, so that their softmax is a probability.
    weight
        w: what the prior counts; with 0 the model is alone.
    epsilon
        ε: probabilities well below it count as 0.

    Examples
    --------
    >>> Mix(weight=2.0, epsilon=0.01).from_rules(np.array([0.0, 0.01, 0.99])).round(3)
    array([0.   , 1.386, 9.21 ])
    """

    temperature: float = 1.0
    weight: float = 1.0
    epsilon: float = 1e-3

    def __post_init__(self) -> None:
        _check_positive("temperature", self.temperature)
        check_argument("weight", self.weight, 0 <= self.weight < math.inf, "a number from 0")
        _check_positive("epsilon", self.epsilon)

    def from_rules(self, probability: Array) -> Array:
        """Return what the prior adds to the scores of triples with these probabilities."""
        addends: Array = self.weight * log1p(probability / self.epsilon)
        return addends


@dataclass(frozen=True)
class Calibration:
    """Log-odds of an answer = constant + slope · log-odds of the softmax of its score.

    With constant 0 and slope 1, the probability of an answer is the softmax itself.

    Examples
    --------
    >>> Calibration(constant=0.0, slope=1.0).probability(np.log([0.5, 0.25])).round(3)
    array([0.5 , 0.25])
    """

    constant: float
    slope: float

    def __post_init__(self) -> None:
        check_argument("constant", self.constant, math.isfinite(self.constant), "a number")
        check_argument("slope", self.slope, 0 <= self.slope < math.inf, "a number from 0")

    def probability(self, log_softmax: Array) -> Array:
        """Return the probability of answers with these logarithms of the softmax of the scores."""
        return expit(self.constant + self.slope * log_odds(log_softmax))


def log_odds(log_softmax: Array) -> Array:
    """Return log(q / (1 − q)) for log q, at most about 20.

    Examples
    --------
    >>> log_odds(np.log([0.5, 0.75, 1.0])).round(3)
    array([ 0.   ,  1.099, 20.723])
    """
    others = np.maximum(-expm1(log_softmax), LEAST_OTHERS)
    odds: Array = log_softmax - log(others)
    return odds


def log_sum_exp(scores: Array) -> Array:
    """Return log Σ exp(score) over the last axis; −∞ if there is no finite score.

    Examples
    --------
    >>> (log_sum_exp(np.array([[1000.0, 1000.0, -np.inf], [0.0, 0.0, 0.0]])) - [1000, 0]).round(3)
    array([0.693, 1.099])
    """
    highest = scores.max(axis=-1, initial=-np.inf, keepdims=True)
    offset = np.where(np.isfinite(highest), highest, 0.0)
    sums = np.add.reduce(np.exp(scores - offset), axis=-1)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(sums) + offset[..., 0])


def _check_positive(name: str, value: float) -> None:
    check_argument(name, value, 0 < value < math.inf, "a number above 0")
