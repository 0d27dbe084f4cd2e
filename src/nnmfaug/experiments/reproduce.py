"""The paper's experiments as data: which arms are trained with which model on which data set.

A *cell* is a model on a data set in a setting: ``paper`` has the defaults of pykg2vec, the library of the paper;
``paper-tuned`` differs from them in a few settings, so that on valid it is near the paper's baseline; ``strong``
has this package's own settings. All runs of a cell are in one folder, so that a table and the figures share the
baseline, and every run is made once.

Table 1 compares the baseline with NNMFAug, and with controls. Figure 1 changes one thing of NNMFAug at a time: (a)
the number of triples, (b) the exponent k, (c) the clustering. All points of a figure make as many optimiser steps
as the baseline.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from nnmfaug.augmenters.nnmf.clusterers import DBSCAN, HDBSCAN, Agglomerative, KMeans
from nnmfaug.augmenters.nnmf.nmf import NMF
from nnmfaug.augmenters.nnmf.nnmfaug import NNMFAug
from nnmfaug.augmenters.nnmf.partition import Clusterer
from nnmfaug.augmenters.nnmf.spectral import Spectral
from nnmfaug.evaluation.runs import Run, run_path
from nnmfaug.experiments.arms import AnyArm, Augmentation, Baseline, Combination
from nnmfaug.experiments.runner import run_experiment
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.io.layouts import read_splits
from nnmfaug.linkpred import LinkPredictor, TrainOptions
from nnmfaug.linkpred.presets import is_tuned
from nnmfaug.linkpred.schedule import Constant, Polynomial, Schedule

Part = Literal["table1", "figure1a", "figure1b", "figure1c"]
DataSet = Literal["dl50a", "wn18rr"]
Model = Literal["transe", "rotate"]
Setting = Literal["paper", "paper-tuned", "strong"]

CONTROLS: Mapping[DataSet, tuple[str, ...]] = {
    "dl50a": ("random", "typed", "duplicate", "auto", "combined"),
    "wn18rr": ("duplicate", "auto", "combined"),
}
"""The arms of Table 1 beside the baseline and NNMFAug."""
FRACTIONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Numbers of added triples in Figure 1a, as fractions of train."""
EXPONENTS = (1, 2, 3, 4, 6, 8)
"""The exponents k of Figure 1b; before them comes adding all triples at once, which is k = 0."""
QUICK_DIVISOR = 20
"""A quick run has this fraction of the epochs."""
QUICK_SEEDS = 2


@dataclass(frozen=True)
class Cell:
    """A model on a data set in a setting.

    Examples
    --------
    >>> Cell("dl50a", "transe", "strong").name
    'dl50a-transe-strong'
    """

    dataset: DataSet
    model: Model
    setting: Setting

    @property
    def name(self) -> str:
        """Name of the folder of its runs."""
        return f"{self.dataset}-{self.model}-{self.setting}"

    @property
    def predictor(self) -> LinkPredictor:
        """The model and how it is trained."""
        return LinkPredictor.preset(self._preset, self.dataset)

    @property
    def is_searched(self) -> bool:
        """Whether its settings are known: those of ``paper-tuned`` have to be searched for each data set."""
        return self.setting != "paper-tuned" or is_tuned(self._preset, self.dataset)

    @property
    def _preset(self) -> str:
        return self.model if self.setting == "strong" else f"{self.model}-{self.setting}"


@dataclass(frozen=True)
class Sampling:
    """What the paper leaves open about NNMFAug, chosen on valid.

    Parameters
    ----------
    n_components
        p, the number of columns of W₁.
    n_clusters
        N.
    fraction
        |S| as a fraction of train.
    exponent
        k.
    alpha, l1_ratio
        The paper's α and c.
    eps
        Neighbourhood radius of DBSCAN in Figure 1c.
    """

    n_components: int = 8
    n_clusters: int = 50
    fraction: float = 0.1
    exponent: float = 2.0
    alpha: float = 0.0
    l1_ratio: float = 0.0
    eps: float = 0.5

    def arm(
        self,
        *,
        fraction: float | None = None,
        schedule: Schedule | None = None,
        cluster: Clusterer | None = None,
        spectral: bool = False,
        same_steps: bool = False,
    ) -> Augmentation:
        """Return the arm of NNMFAug, with some of its settings replaced."""
        embed = Spectral(self.n_components) if spectral else NMF(self.n_components, self.alpha, self.l1_ratio)
        method = NNMFAug(embed=embed, cluster=cluster or Agglomerative(self.n_clusters))
        return Augmentation(
            method,
            self.fraction if fraction is None else fraction,
            schedule or Polynomial(self.exponent),
            same_steps=same_steps,
        )


SAMPLING: Mapping[Cell, Sampling] = {
    Cell("dl50a", "transe", "paper"): Sampling(
        n_components=16, n_clusters=20, fraction=0.02, exponent=2.0, eps=0.2
    ),
    Cell("dl50a", "rotate", "paper"): Sampling(n_components=4, n_clusters=50, fraction=0.2, exponent=4.0, eps=0.2),
    Cell("dl50a", "transe", "strong"): Sampling(
        n_components=16, n_clusters=20, fraction=0.02, exponent=2.0, eps=0.05
    ),
    Cell("dl50a", "rotate", "strong"): Sampling(
        n_components=16, n_clusters=20, fraction=0.02, exponent=2.0, eps=0.05
    ),
    Cell("dl50a", "transe", "paper-tuned"): Sampling(
        n_components=16, n_clusters=20, fraction=0.05, exponent=1, alpha=1.0, l1_ratio=1.0, eps=0.2
    ),
    Cell("dl50a", "rotate", "paper-tuned"): Sampling(
        n_components=16, n_clusters=20, fraction=0.02, exponent=2, eps=0.05
    ),
    Cell("wn18rr", "transe", "paper"): Sampling(
        n_components=16, n_clusters=20, fraction=0.02, exponent=2, eps=0.05
    ),
    Cell("wn18rr", "rotate", "paper"): Sampling(
        n_components=16, n_clusters=20, fraction=0.02, exponent=2, eps=0.05
    ),
    Cell("wn18rr", "transe", "strong"): Sampling(
        n_components=2, n_clusters=50, fraction=0.1, exponent=4, alpha=0.1, eps=0.2
    ),
    Cell("wn18rr", "rotate", "strong"): Sampling(
        n_components=2, n_clusters=50, fraction=0.1, exponent=4, alpha=0.1, eps=0.2
    ),
}
"""The choices in ``docs/results/search.json``; other cells have the defaults of :class:`Sampling`."""


@dataclass(frozen=True)
class Variant:
    """A point of a figure.

    Parameters
    ----------
    x, label
        Where it is on the axis, and what stands there.
    arm
        Name of its arm.
    """

    x: float
    label: str
    arm: str


def variants(part: Part) -> dict[Variant, Callable[[Sampling], Augmentation]]:
    """Return the points of a figure, each with a function that makes its arm.

    Examples
    --------
    >>> [variant.label for variant in variants("figure1b")]
    ['all at once', '1', '2', '3', '4', '6', '8']
    """
    makers: dict[Part, Callable[[], dict[Variant, Callable[[Sampling], Augmentation]]]] = {
        "table1": dict,
        "figure1a": _fractions,
        "figure1b": _exponents,
        "figure1c": _clusterers,
    }
    return makers[part]()


def _fractions() -> dict[Variant, Callable[[Sampling], Augmentation]]:
    def maker(fraction: float) -> Callable[[Sampling], Augmentation]:
        return lambda sampling: sampling.arm(fraction=fraction, same_steps=True)

    return {Variant(each, f"{each:.0%}", f"nnmf {each:.0%}"): maker(each) for each in FRACTIONS}


def _exponents() -> dict[Variant, Callable[[Sampling], Augmentation]]:
    def maker(schedule: Schedule) -> Callable[[Sampling], Augmentation]:
        return lambda sampling: sampling.arm(schedule=schedule, same_steps=True)

    at_once = Variant(0, "all at once", "nnmf all at once")  # (e/E)⁰ = 1
    powers = {Variant(k, str(k), f"nnmf k={k}"): maker(Polynomial(k)) for k in EXPONENTS}
    return {at_once: maker(Constant()), **powers}


def _clusterers() -> dict[Variant, Callable[[Sampling], Augmentation]]:
    makers: dict[str, Callable[[Sampling], Augmentation]] = {
        "agglomerative": lambda each: each.arm(same_steps=True),
        "DBSCAN": lambda each: each.arm(cluster=DBSCAN(each.eps), same_steps=True),
        "HDBSCAN": lambda each: each.arm(cluster=HDBSCAN(), same_steps=True),
        "k-means": lambda each: each.arm(cluster=KMeans(each.n_clusters), same_steps=True),
        "spectral": lambda each: each.arm(cluster=KMeans(each.n_clusters), spectral=True, same_steps=True),
    }
    return {Variant(i, label, f"nnmf {label}"): make for i, (label, make) in enumerate(makers.items())}


def arms_of(part: Part, cell: Cell, train: KnowledgeGraph) -> dict[str, AnyArm]:
    """Return the arms of a cell in a table or figure; the baseline is the first."""
    sampling = SAMPLING.get(cell, Sampling())
    arms: dict[str, AnyArm] = {"baseline": Baseline()}
    if part != "table1":
        return {**arms, **{variant.arm: make(sampling) for variant, make in variants(part).items()}}
    arms["nnmf"] = sampling.arm()
    for name in CONTROLS[cell.dataset]:
        arms[name] = _control(name, cell, train, sampling)
    return arms


def _control(name: str, cell: Cell, train: KnowledgeGraph, sampling: Sampling) -> AnyArm:
    """An arm beside NNMFAug; random triples are as many as those of NNMFAug, and enter in the same way."""
    if name == "combined":
        return Combination("baseline")
    if name == "auto":
        weight = 1.0 if cell.predictor.loss == "margin" else None
        return Augmentation.of(name, train, weight=weight)
    schedule = Polynomial(sampling.exponent)
    return Augmentation.of(name, train, amount=sampling.fraction, schedule=schedule)


def run_cell(part: Part, cell: Cell, *, n_seeds: int, folder: str | Path, quick: bool = False) -> list[Run]:
    """Train what is missing of a cell's arms in a table or figure, and return all runs.

    The last epoch of every run is evaluated on valid, too.
    """
    splits = read_splits(cell.dataset)
    predictor = predictor_of(part, cell, quick=quick)
    return run_experiment(
        splits,
        predictor,
        arms_of(part, cell, splits.train),
        seeds=_seeds(n_seeds, quick=quick),
        folder=_folder_of(part, cell, folder),
        options=TrainOptions(evaluate_every=predictor.epochs, threads=1),
    )


def is_finished(part: Part, cell: Cell, *, n_seeds: int, folder: str | Path, quick: bool = False) -> bool:
    """Whether a folder has all runs of a cell in a table or figure."""
    runs = _folder_of(part, cell, folder)
    if not runs.is_dir():  # the data set may not be at hand
        return False
    arms = arms_of(part, cell, read_splits(cell.dataset).train)
    return all(run_path(runs, arm, seed).is_file() for arm in arms for seed in _seeds(n_seeds, quick=quick))


def _seeds(n_seeds: int, *, quick: bool) -> range:
    return range(min(n_seeds, QUICK_SEEDS) if quick else n_seeds)


def _folder_of(part: Part, cell: Cell, folder: str | Path) -> Path:
    """The folder of a cell's runs; runs that never end early have one of their own."""
    ends_early = predictor_of(part, cell).patience == cell.predictor.patience
    return Path(folder) / (cell.name if ends_early else f"{cell.name}-all-epochs")


def predictor_of(part: Part, cell: Cell, *, quick: bool = False) -> LinkPredictor:
    """Return the model of a cell; in a figure, where all points make the same steps, none stops early.

    Examples
    --------
    >>> cell = Cell("dl50a", "transe", "paper")
    >>> predictor_of("table1", cell).patience, predictor_of("figure1a", cell).patience
    (3, 0)
    """
    predictor = cell.predictor
    if part != "table1":
        predictor = replace(predictor, patience=0)
    if quick:
        predictor = replace(predictor, epochs=max(predictor.epochs // QUICK_DIVISOR, 1))
    return predictor


def default_seeds(part: Part, cell: Cell) -> int:
    """Return the number of seeds: 5, or 3 where a run or a figure takes long."""
    is_long = cell.dataset == "wn18rr" and (part != "table1" or cell.model == "rotate")
    return 3 if is_long else 5


def cells_of(
    part: Part, datasets: Sequence[DataSet], models: Sequence[Model], settings: Sequence[Setting]
) -> list[Cell]:
    """Return the cells of a table or figure, narrowed to some data sets, models and settings.

    Examples
    --------
    >>> [cell.name for cell in cells_of("figure1c", ["dl50a"], ["transe", "rotate"], ["strong"])]
    ['dl50a-rotate-strong']
    """
    own_models: dict[Part, tuple[Model, ...]] = {
        "table1": ("transe", "rotate"),
        "figure1a": ("transe",),
        "figure1b": ("transe",),
        "figure1c": ("rotate",),
    }
    return [
        Cell(dataset, model, setting)
        for dataset in datasets
        for model in own_models[part]
        if model in models
        for setting in settings
    ]
