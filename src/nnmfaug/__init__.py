"""Knowledge graph data augmentation that is measured.

The names below are imported when they are first used, so ``import nnmfaug`` is light.

Examples
--------
>>> import nnmfaug as na
>>> splits = na.read_splits("umls")
>>> len(splits.train), splits.train.n_entities, splits.train.n_relations
(5216, 135, 46)
"""

from importlib import import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nnmfaug.arms import Augmentation
    from nnmfaug.clustering import DBSCAN, HDBSCAN, Agglomerative, KMeans
    from nnmfaug.comparison import Comparison, compare
    from nnmfaug.constraints import Constraints
    from nnmfaug.controls import RandomTriples, TypedTriples
    from nnmfaug.counts import Counts
    from nnmfaug.diagnostics import Diagnostics, diagnose
    from nnmfaug.embedding import NMF, Factors
    from nnmfaug.engine import Processes, Serial
    from nnmfaug.errors import DataError, SamplingError
    from nnmfaug.experiment import run_experiment
    from nnmfaug.families import FamilyWorld, family
    from nnmfaug.graph import KnowledgeGraph, ReadReport, Splits
    from nnmfaug.io import (
        Limits,
        ReadOptions,
        from_dataframe,
        from_pykeen,
        read_any,
        read_generated,
        read_splits,
        read_triples,
        to_dataframe,
        to_pykeen,
        write_splits,
        write_triples,
    )
    from nnmfaug.linkpred import LinkPredictor, Trained, TrainOptions, load_trained
    from nnmfaug.listed import Evidence, Listed
    from nnmfaug.metrics import Ranks
    from nnmfaug.mixture import Auto, Mixture, augment
    from nnmfaug.nearby import Nearby
    from nnmfaug.partition import Partition, cluster
    from nnmfaug.pilots import Pilot, run_pilot
    from nnmfaug.quality import PrecisionEstimate, estimate_completeness, estimate_precision
    from nnmfaug.recipe import NNMFAug, select
    from nnmfaug.rules import Rules, RuleSet
    from nnmfaug.runs import Run, load_runs
    from nnmfaug.samples import Sample
    from nnmfaug.sampling import TripleDistribution
    from nnmfaug.schedule import Constant, Polynomial, Step
    from nnmfaug.selection import Selection
    from nnmfaug.spectral import Spectral
    from nnmfaug.splitting import split
    from nnmfaug.stats import GraphStats, describe
    from nnmfaug.store import load_distribution, save_distribution
    from nnmfaug.transforms import Concepts, Inverse
    from nnmfaug.vocabulary import Vocabulary
    from nnmfaug.weights import (
        ClustersByPairs,
        ClustersBySize,
        CountProduct,
        PairsByDegree,
        UniformClusters,
        UniformPairs,
    )

_HOMES = {
    "nnmfaug.arms": ["Augmentation"],
    "nnmfaug.clustering": ["DBSCAN", "HDBSCAN", "Agglomerative", "KMeans"],
    "nnmfaug.comparison": ["Comparison", "compare"],
    "nnmfaug.constraints": ["Constraints"],
    "nnmfaug.controls": ["RandomTriples", "TypedTriples"],
    "nnmfaug.counts": ["Counts"],
    "nnmfaug.diagnostics": ["Diagnostics", "diagnose"],
    "nnmfaug.embedding": ["NMF", "Factors"],
    "nnmfaug.engine": ["Processes", "Serial"],
    "nnmfaug.errors": ["DataError", "SamplingError"],
    "nnmfaug.experiment": ["run_experiment"],
    "nnmfaug.families": ["FamilyWorld", "family"],
    "nnmfaug.graph": ["KnowledgeGraph", "ReadReport", "Splits"],
    "nnmfaug.io": [
        "Limits",
        "ReadOptions",
        "from_dataframe",
        "from_pykeen",
        "read_any",
        "read_generated",
        "read_splits",
        "read_triples",
        "to_dataframe",
        "to_pykeen",
        "write_splits",
        "write_triples",
    ],
    "nnmfaug.linkpred": ["LinkPredictor", "Trained", "TrainOptions", "load_trained"],
    "nnmfaug.listed": ["Evidence", "Listed"],
    "nnmfaug.metrics": ["Ranks"],
    "nnmfaug.mixture": ["Auto", "Mixture", "augment"],
    "nnmfaug.nearby": ["Nearby"],
    "nnmfaug.partition": ["Partition", "cluster"],
    "nnmfaug.pilots": ["Pilot", "run_pilot"],
    "nnmfaug.quality": ["PrecisionEstimate", "estimate_completeness", "estimate_precision"],
    "nnmfaug.recipe": ["NNMFAug", "select"],
    "nnmfaug.rules": ["Rules", "RuleSet"],
    "nnmfaug.runs": ["Run", "load_runs"],
    "nnmfaug.samples": ["Sample"],
    "nnmfaug.sampling": ["TripleDistribution"],
    "nnmfaug.schedule": ["Constant", "Polynomial", "Step"],
    "nnmfaug.selection": ["Selection"],
    "nnmfaug.spectral": ["Spectral"],
    "nnmfaug.splitting": ["split"],
    "nnmfaug.stats": ["GraphStats", "describe"],
    "nnmfaug.store": ["load_distribution", "save_distribution"],
    "nnmfaug.transforms": ["Concepts", "Inverse"],
    "nnmfaug.weights": [
        "ClustersByPairs",
        "ClustersBySize",
        "CountProduct",
        "PairsByDegree",
        "UniformClusters",
        "UniformPairs",
    ],
    "nnmfaug.vocabulary": ["Vocabulary"],
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "DBSCAN",
    "HDBSCAN",
    "NMF",
    "Agglomerative",
    "Augmentation",
    "Auto",
    "ClustersByPairs",
    "ClustersBySize",
    "Comparison",
    "Concepts",
    "Constant",
    "Constraints",
    "CountProduct",
    "Counts",
    "DataError",
    "Diagnostics",
    "Evidence",
    "Factors",
    "FamilyWorld",
    "GraphStats",
    "Inverse",
    "KMeans",
    "KnowledgeGraph",
    "Limits",
    "LinkPredictor",
    "Listed",
    "Mixture",
    "NNMFAug",
    "Nearby",
    "PairsByDegree",
    "Partition",
    "Pilot",
    "Polynomial",
    "PrecisionEstimate",
    "Processes",
    "RandomTriples",
    "Ranks",
    "ReadOptions",
    "ReadReport",
    "RuleSet",
    "Rules",
    "Run",
    "Sample",
    "SamplingError",
    "Selection",
    "Serial",
    "Spectral",
    "Splits",
    "Step",
    "TrainOptions",
    "Trained",
    "TripleDistribution",
    "TypedTriples",
    "UniformClusters",
    "UniformPairs",
    "Vocabulary",
    "augment",
    "cluster",
    "compare",
    "describe",
    "diagnose",
    "estimate_completeness",
    "estimate_precision",
    "family",
    "from_dataframe",
    "from_pykeen",
    "load_distribution",
    "load_runs",
    "load_trained",
    "read_any",
    "read_generated",
    "read_splits",
    "read_triples",
    "run_experiment",
    "run_pilot",
    "save_distribution",
    "select",
    "split",
    "to_dataframe",
    "to_pykeen",
    "write_splits",
    "write_triples",
]

__version__ = _version("nnmfaug")


def __getattr__(name: str) -> object:
    if name not in _HOME:
        msg = f"module 'nnmfaug' has no attribute {name!r}"
        raise AttributeError(msg)
    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
