"""Arms of a comparison, each of which prepares a training set; and fits that are made once per seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from nnmfaug.augmenters.base import Augmenter, Distribution, Sample, is_ranked
from nnmfaug.augmenters.given import Given
from nnmfaug.core.checks import check_argument
from nnmfaug.core.settings import describe_settings
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.linkpred.schedule import Polynomial, Schedule
from nnmfaug.linkpred.training_set import TrainingSet

Weight = float | Literal["probability"]
Fit = Callable[[Augmenter[Distribution], KnowledgeGraph, int], Distribution]
"""Fits a method to a graph with a seed."""


def fit_method(method: Augmenter[Distribution], graph: KnowledgeGraph, seed: int) -> Distribution:
    """Fit a method to a graph."""
    return method.fit(graph, seed=seed)


class Fits:
    """Fits each method once per graph and seed; keeps the distributions of one seed at a time."""

    def __init__(self) -> None:
        self._seed = -1
        self._entries: list[tuple[object, KnowledgeGraph, Distribution]] = []

    def __call__(self, method: Augmenter[Distribution], graph: KnowledgeGraph, seed: int) -> Distribution:
        """Return the distribution of a method, fitted now or before."""
        if seed != self._seed:
            self._seed = seed
            self._entries = []
        for entry_method, entry_graph, entry_dist in self._entries:
            if entry_graph is graph and _is_same(entry_method, method):
                return entry_dist
        dist = method.fit(graph, seed=seed)
        self._entries.append((method, graph, dist))
        return dist

    def __reduce__(self) -> tuple[type[Fits], tuple[()]]:
        """In another process it starts empty: what was fitted here is not sent."""
        return Fits, ()


def _is_same(one: object, other: object) -> bool:
    """Whether two methods are equal; those with arrays among their settings are only if they are one object."""
    try:
        return one is other or bool(one == other)
    except ValueError:  # arrays have no single truth value
        return False


class Arm(Protocol):
    """One way of training in a comparison."""

    def prepare(self, train: KnowledgeGraph, seed: int, fit: Fit = fit_method) -> TrainingSet:
        """Return the training set that is made from train alone."""
        ...


@dataclass(frozen=True)
class Baseline:
    """Train alone."""

    def prepare(self, train: KnowledgeGraph, seed: int, fit: Fit = fit_method) -> TrainingSet:  # noqa: ARG002
        """Return train."""
        return TrainingSet(train)


@dataclass(frozen=True)
class Augmentation:
    """Train and generated triples. ``Augmentation.of("auto")`` has the defaults of the command line.

    Parameters
    ----------
    method
        The augmenter. It sees train alone; each seed fits and draws anew.
    amount
        A fraction of train of at most 1 (a float), or a number of triples (an int). A method that ranks its
        triples gives its best, or all if there are fewer.
    schedule
        How many of the generated triples an epoch uses.
    weight
        Weight of a generated triple in the loss; "probability" for its estimated probability, if the method rates
        its triples, such as :class:`~nnmfaug.Auto` (for :class:`~nnmfaug.Rules` it is the
        confidence; for triples from elsewhere it is 1).
    same_steps
        Whether an epoch makes as many optimiser steps as one of the baseline, on a random part of the triples.

    Examples
    --------
    >>> import nnmfaug as na
    >>> train = na.read_splits("nations").train
    >>> data = na.Augmentation(na.RandomTriples(), 100).prepare(train, seed=0)
    >>> len(data.train), len(data.added)
    (1592, 100)
    """

    method: Augmenter[Distribution]
    amount: float = 0.1
    schedule: Schedule = field(default_factory=Polynomial)
    weight: Weight = 1.0
    same_steps: bool = False

    def __post_init__(self) -> None:
        limit = math.inf if type(self.amount) is int else 1
        good_amount = type(self.amount) in (int, float) and 0 < self.amount <= limit
        check_argument(
            "amount", self.amount, good_amount, "a fraction of train such as 0.1 or a number such as 500"
        )
        is_number = type(self.weight) in (int, float)
        good_weight = 0 <= self.weight < math.inf if is_number else self.weight == "probability"  # type: ignore[operator]
        check_argument("weight", self.weight, good_weight, "a number from 0, or 'probability'")

    @classmethod
    def of(
        cls,
        name: str,
        train: KnowledgeGraph | None = None,
        *,
        amount: float | None = None,
        schedule: Schedule | None = None,
        weight: Weight | None = None,
    ) -> Augmentation:
        """Return the arm of a method's name; arguments left out have the method's defaults.

        Parameters
        ----------
        name
            A name of ``nnmfaug.experiments.methods.METHODS``: auto, rules, nnmf, mixture, typed, random,
            duplicate.
        train
            The train graph; nnmf needs it, since its number of clusters depends on it.

        Examples
        --------
        >>> import nnmfaug as na
        >>> na.Augmentation.of("auto").weight
        'probability'
        """
        from nnmfaug.experiments.methods import find_method

        method = find_method(name)
        return cls(
            method.make(train),
            method.default_amount(train) if amount is None else amount,
            method.schedule if schedule is None else schedule,
            method.weight if weight is None else weight,
        )

    def generate(self, train: KnowledgeGraph, seed: int, fit: Fit = fit_method) -> Sample:
        """Fit to train and return the triples: the best of a method that ranks them, otherwise drawn ones."""
        n = self.amount if isinstance(self.amount, int) else int(self.amount * len(train))
        if n < 1:
            msg = f"amount={self.amount}: less than one triple of {len(train)}"
            raise ValueError(msg)
        dist = fit(self.method, train, seed)
        if is_ranked(dist):
            return dist.top(min(n, dist.n_new))
        return dist.sample(n, seed=seed)

    def prepare(self, train: KnowledgeGraph, seed: int, fit: Fit = fit_method) -> TrainingSet:
        """Return train with the generated triples."""
        sample = self.generate(train, seed, fit)
        if self.weight != "probability":
            return TrainingSet(train, sample.graph, self.weight, self.schedule, same_steps=self.same_steps)
        if not is_ranked(sample.source):
            msg = "weight='probability': this method gives none; use a number"
            raise ValueError(msg)
        weights = sample.source.confidence_of(sample.triples)
        return TrainingSet(train, sample.graph, weights, self.schedule, same_steps=self.same_steps)


@dataclass(frozen=True)
class Combination:
    """The model of another arm, combined with rules when it predicts; it trains nothing.

    Each seed uses the model of the same seed. How much rules count is chosen on valid, see
    :class:`~nnmfaug.Combined`.

    Parameters
    ----------
    base
        Name of the arm whose models are used; None for rules alone, without a model.

    Examples
    --------
    >>> import nnmfaug as na
    >>> na.find_arm("combined", na.read_splits("nations").train)
    Combination(base='baseline')
    """

    base: str | None = "baseline"


AnyArm = Arm | Combination
"""An arm that trains, or one that uses the models of another."""
Arms = Mapping[str, AnyArm | None]
"""Name → arm; None for train alone."""


def as_arms(arms: Arms) -> dict[str, AnyArm]:
    """Replace None by the baseline."""
    return {name: Baseline() if arm is None else arm for name, arm in arms.items()}


def arm_settings(arm: AnyArm) -> object:
    """Return an arm as plain data."""
    if isinstance(arm, Baseline):
        return None
    if not isinstance(arm, Augmentation):
        return {"transform": describe_settings(arm)}
    return {
        "method": _method_settings(arm.method),
        "amount": arm.amount,
        "schedule": describe_settings(arm.schedule),
        "weight": arm.weight,
        **({"same_steps": True} if arm.same_steps else {}),  # earlier runs do not record it
    }


def _method_settings(method: object) -> object:
    if isinstance(method, Given):
        return {"name": "Given", "sha256": method.triples.digest()}
    return describe_settings(method)
