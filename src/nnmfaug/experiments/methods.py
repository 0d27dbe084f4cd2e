"""The tables of methods and arms: their names and defaults, for the command line and Python alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from nnmfaug.augmenters.base import Augmenter, Distribution
from nnmfaug.augmenters.controls import Duplicate, RandomTriples, TypedTriples
from nnmfaug.augmenters.given import Given
from nnmfaug.augmenters.nnmf.clusterers import Agglomerative
from nnmfaug.augmenters.nnmf.nnmfaug import NNMFAug, default_clusters
from nnmfaug.augmenters.rules.rules import Rules
from nnmfaug.core.checks import unknown_name
from nnmfaug.experiments.arms import AnyArm, Arm, Augmentation, Baseline, Combination, Weight
from nnmfaug.experiments.transforms import Concepts, Inverse
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.io.options import ReadOptions
from nnmfaug.io.read import read_generated
from nnmfaug.linkpred.schedule import Constant, Polynomial, Schedule
from nnmfaug.quality.auto import Auto
from nnmfaug.quality.mixture import Mixture

DEFAULT_FRACTION = 0.1
"""Number of generated triples, as a fraction of train, unless the method decides it."""
FILE = "file:"
"""Prefix of an arm whose triples are in a file."""


@dataclass(frozen=True)
class Method:
    """A way to generate triples, by name.

    Parameters
    ----------
    name, about
        What a user types, and what it does in one clause.
    make
        Returns the augmenter for a train graph; only nnmf needs the graph.
    amount
        Default number of triples, as a fraction of train.
    at_most
        Whether the amount is a limit, because the method decides how many triples are worth adding.
    schedule, weight
        How generated triples enter training, and their weight in the loss.
    rated
        Whether the triples have a confidence or a probability, which can weight them.
    new
        Whether the triples are new; those of the control ``duplicate`` are not.
    """

    name: str
    about: str
    make: Callable[[KnowledgeGraph | None], Augmenter[Distribution]] = field(repr=False)
    amount: float = DEFAULT_FRACTION
    at_most: bool = False
    schedule: Schedule = field(default_factory=Polynomial)
    weight: Weight = 1.0
    rated: bool = False
    new: bool = True

    def default_amount(self, train: KnowledgeGraph | None) -> float:
        """Return the default amount: a number of triples, or a fraction of train if that is unknown."""
        if train is None or self.at_most:
            return self.amount
        return max(int(self.amount * len(train)), 1)


def _nnmf(train: KnowledgeGraph | None) -> NNMFAug:
    if train is None:
        msg = 'method "nnmf": its number of clusters depends on the graph, so pass the train graph as well'
        raise ValueError(msg)
    return NNMFAug(cluster=Agglomerative(default_clusters(train)))


def _mixture(train: KnowledgeGraph | None) -> Mixture:  # noqa: ARG001  (as every method)
    return Mixture((Rules(), NNMFAug(cluster=Agglomerative("auto"))))


_ALL = (
    Method(
        "auto",
        "triples by rules whose estimated probability reaches a threshold",
        lambda _: Auto(),
        amount=1.0,
        at_most=True,
        schedule=Constant(),
        weight="probability",
        rated=True,
    ),
    Method(
        "rules",
        "triples that follow from mined rules, by confidence",
        lambda _: Rules(),
        schedule=Constant(),
        rated=True,
    ),
    Method("nnmf", "the paper's method: random triples within entity clusters", _nnmf),
    Method(
        "mixture",
        "triples of rules and nnmf, by estimated probability",
        _mixture,
        schedule=Constant(),
        rated=True,
    ),
    Method("typed", "a control: random triples of entities of the right types", lambda _: TypedTriples()),
    Method("random", "a control: random triples", lambda _: RandomTriples()),
    Method("duplicate", "a control: train triples once more", lambda _: Duplicate(), new=False),
)
METHODS = {method.name: method for method in _ALL}
TRANSFORMS: dict[str, Arm] = {"inverse": Inverse(), "concepts": Concepts()}
"""Arms that change the training set itself."""
COMBINATIONS = {
    "rules-alone": Combination(None),
    "combined": Combination("baseline"),
    "auto+combined": Combination("auto"),
}
"""Arms that use rules when they predict, and the models of other arms."""
ARMS = ("baseline", *METHODS, *TRANSFORMS, *COMBINATIONS)
"""Names of arms; ``file:PATH`` is also an arm."""


def find_method(name: str) -> Method:
    """Return a method by name, or raise with the names that are close."""
    if name not in METHODS:
        raise ValueError(unknown_name("method", name, METHODS))
    return METHODS[name]


def augmenter(name: str, graph: KnowledgeGraph | None = None) -> Augmenter[Distribution]:
    """Return the augmenter of a method's name, with the defaults of the command line.

    Parameters
    ----------
    name
        auto, rules, nnmf, mixture, typed, random or duplicate.
    graph
        The train graph; nnmf needs it, since its number of clusters depends on it.

    Examples
    --------
    >>> import nnmfaug as na
    >>> na.augmenter("nnmf", na.read_splits("umls").train).cluster.n_clusters
    6
    """
    return find_method(name).make(graph)


def find_arm(
    name: str,
    train: KnowledgeGraph,
    *,
    amount: float | None = None,
    schedule: Schedule | None = None,
    weight: Weight | None = None,
    clusters: int | None = None,
    options: ReadOptions | None = None,
) -> AnyArm:
    """Return an arm by name: one of ``ARMS``, or ``file:PATH`` for triples of a file.

    Parameters
    ----------
    amount, schedule, weight
        As in :class:`~nnmfaug.Augmentation`; default: those of the method.
    clusters
        Number of clusters of nnmf.
    options
        How a file is read.

    Examples
    --------
    >>> import nnmfaug as na
    >>> train = na.read_splits("nations").train
    >>> na.find_arm("random", train).amount
    159
    """
    if name == "baseline":
        return Baseline()
    if name in TRANSFORMS:
        return TRANSFORMS[name]
    if name in COMBINATIONS:
        return COMBINATIONS[name]
    if name.startswith(FILE):
        return _file_arm(name.removeprefix(FILE), train, amount, schedule, weight, options)
    if name not in METHODS:
        raise ValueError(unknown_name("arm", name, (*ARMS, f"{FILE}PATH")))
    arm = Augmentation.of(name, train, amount=amount, schedule=schedule, weight=_usable(weight, METHODS[name]))
    if clusters is not None and isinstance(arm.method, NNMFAug):
        return replace(arm, method=replace(arm.method, cluster=Agglomerative(clusters)))
    return arm


def _usable(weight: Weight | None, method: Method) -> Weight | None:
    """Return the requested weight if the method can use it, otherwise None.

    Only methods that rate their triples have probabilities; repeats of train always have weight 1.
    """
    if not method.new:
        return None
    return weight if method.rated or weight != "probability" else None


def _file_arm(
    path: str,
    train: KnowledgeGraph,
    amount: float | None,
    schedule: Schedule | None,
    weight: Weight | None,
    options: ReadOptions | None,
) -> Augmentation:
    if not Path(path).is_file():
        msg = f"arm {FILE}{path}: there is no such file of triples"
        raise ValueError(msg)
    method = Given(read_generated(path, train.vocabulary, options), path)
    default_amount = max(int(DEFAULT_FRACTION * len(train)), 1)
    return Augmentation(
        method,
        default_amount if amount is None else amount,
        schedule or Polynomial(),
        1.0 if weight is None or weight == "probability" else weight,
    )
