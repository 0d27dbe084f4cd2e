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
    from nnmfaug.augmenters.constraints import Constraints
    from nnmfaug.augmenters.controls import RandomTriples, TypedTriples
    from nnmfaug.augmenters.listed import Evidence, Listed
    from nnmfaug.augmenters.neighbours import Nearby
    from nnmfaug.augmenters.nnmf.clusterers import DBSCAN, HDBSCAN, Agglomerative, KMeans
    from nnmfaug.augmenters.nnmf.distribution import TripleDistribution
    from nnmfaug.augmenters.nnmf.model_selection import Selection
    from nnmfaug.augmenters.nnmf.nmf import NMF, Factors
    from nnmfaug.augmenters.nnmf.nnmfaug import NNMFAug, select
    from nnmfaug.augmenters.nnmf.partition import Partition, cluster
    from nnmfaug.augmenters.nnmf.spectral import Spectral
    from nnmfaug.augmenters.nnmf.storage import load_distribution, save_distribution
    from nnmfaug.augmenters.nnmf.weights import (
        ClustersByPairs,
        ClustersBySize,
        CountProduct,
        PairsByDegree,
        UniformClusters,
        UniformPairs,
    )
    from nnmfaug.augmenters.rules.rules import Rules, RuleSet
    from nnmfaug.augmenters.samples import Sample
    from nnmfaug.core.errors import DataError, SamplingError
    from nnmfaug.core.parallel import Processes, Serial
    from nnmfaug.evaluation.comparison import Comparison, compare
    from nnmfaug.evaluation.metrics import Ranks
    from nnmfaug.evaluation.runs import Run, load_runs
    from nnmfaug.experiments.arms import Augmentation
    from nnmfaug.experiments.pilots import Pilot, run_pilot
    from nnmfaug.experiments.runner import run_experiment
    from nnmfaug.experiments.transforms import Concepts, Inverse
    from nnmfaug.graph.counts import Counts
    from nnmfaug.graph.describe import GraphStats, describe
    from nnmfaug.graph.family import FamilyWorld, family
    from nnmfaug.graph.knowledge_graph import KnowledgeGraph, ReadReport, Splits
    from nnmfaug.graph.splitting import split
    from nnmfaug.graph.vocabulary import Vocabulary
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
    from nnmfaug.linkpred.schedule import Constant, Polynomial, Step
    from nnmfaug.quality.diagnostics import Diagnostics, diagnose
    from nnmfaug.quality.mixture import Auto, Mixture, augment
    from nnmfaug.quality.precision import PrecisionEstimate, estimate_completeness, estimate_precision

_HOMES = {
    "nnmfaug.experiments.arms": ["Augmentation"],
    "nnmfaug.augmenters.nnmf.clusterers": ["DBSCAN", "HDBSCAN", "Agglomerative", "KMeans"],
    "nnmfaug.evaluation.comparison": ["Comparison", "compare"],
    "nnmfaug.augmenters.constraints": ["Constraints"],
    "nnmfaug.augmenters.controls": ["RandomTriples", "TypedTriples"],
    "nnmfaug.graph.counts": ["Counts"],
    "nnmfaug.quality.diagnostics": ["Diagnostics", "diagnose"],
    "nnmfaug.augmenters.nnmf.nmf": ["NMF", "Factors"],
    "nnmfaug.core.parallel": ["Processes", "Serial"],
    "nnmfaug.core.errors": ["DataError", "SamplingError"],
    "nnmfaug.experiments.runner": ["run_experiment"],
    "nnmfaug.graph.family": ["FamilyWorld", "family"],
    "nnmfaug.graph.knowledge_graph": ["KnowledgeGraph", "ReadReport", "Splits"],
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
    "nnmfaug.augmenters.listed": ["Evidence", "Listed"],
    "nnmfaug.evaluation.metrics": ["Ranks"],
    "nnmfaug.quality.mixture": ["Auto", "Mixture", "augment"],
    "nnmfaug.augmenters.neighbours": ["Nearby"],
    "nnmfaug.augmenters.nnmf.partition": ["Partition", "cluster"],
    "nnmfaug.experiments.pilots": ["Pilot", "run_pilot"],
    "nnmfaug.quality.precision": ["PrecisionEstimate", "estimate_completeness", "estimate_precision"],
    "nnmfaug.augmenters.nnmf.nnmfaug": ["NNMFAug", "select"],
    "nnmfaug.augmenters.rules.rules": ["Rules", "RuleSet"],
    "nnmfaug.evaluation.runs": ["Run", "load_runs"],
    "nnmfaug.augmenters.samples": ["Sample"],
    "nnmfaug.augmenters.nnmf.distribution": ["TripleDistribution"],
    "nnmfaug.linkpred.schedule": ["Constant", "Polynomial", "Step"],
    "nnmfaug.augmenters.nnmf.model_selection": ["Selection"],
    "nnmfaug.augmenters.nnmf.spectral": ["Spectral"],
    "nnmfaug.graph.splitting": ["split"],
    "nnmfaug.graph.describe": ["GraphStats", "describe"],
    "nnmfaug.augmenters.nnmf.storage": ["load_distribution", "save_distribution"],
    "nnmfaug.experiments.transforms": ["Concepts", "Inverse"],
    "nnmfaug.augmenters.nnmf.weights": [
        "ClustersByPairs",
        "ClustersBySize",
        "CountProduct",
        "PairsByDegree",
        "UniformClusters",
        "UniformPairs",
    ],
    "nnmfaug.graph.vocabulary": ["Vocabulary"],
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
