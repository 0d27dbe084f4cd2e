"""The public names, each once: where it lives. ``nnmfaug`` imports it when it is first used."""

from .augmenters.base import (
    Answers as Answers,
    Augmenter as Augmenter,
    Distribution as Distribution,
    Evidence as Evidence,
    Prior as Prior,
    Ranked as Ranked,
    Sample as Sample,
)
from .augmenters.constraints import Constraints as Constraints
from .augmenters.controls import (
    Duplicate as Duplicate,
    RandomTriples as RandomTriples,
    TypedTriples as TypedTriples,
)
from .augmenters.given import Given as Given
from .augmenters.listed import Listed as Listed
from .augmenters.listed_prior import ListedPrior as ListedPrior
from .augmenters.neighbours import Nearby as Nearby
from .augmenters.nnmf.clusterers import (
    DBSCAN as DBSCAN,
    HDBSCAN as HDBSCAN,
    Agglomerative as Agglomerative,
    KMeans as KMeans,
)
from .augmenters.nnmf.distribution import TripleDistribution as TripleDistribution
from .augmenters.nnmf.model_selection import Selection as Selection
from .augmenters.nnmf.nmf import NMF as NMF, Factors as Factors
from .augmenters.nnmf.nnmfaug import NNMFAug as NNMFAug, select as select
from .augmenters.nnmf.partition import Partition as Partition, cluster as cluster
from .augmenters.nnmf.spectral import Spectral as Spectral
from .augmenters.nnmf.storage import load_distribution as load_distribution, save_distribution as save_distribution
from .augmenters.nnmf.weights import (
    ClustersByPairs as ClustersByPairs,
    ClustersBySize as ClustersBySize,
    CountProduct as CountProduct,
    PairsByDegree as PairsByDegree,
    UniformClusters as UniformClusters,
    UniformPairs as UniformPairs,
)
from .augmenters.rules.anyburl import write_rules as write_rules
from .augmenters.rules.imported import ImportedRules as ImportedRules, read_rules as read_rules
from .augmenters.rules.rule_set import RuleSet as RuleSet
from .augmenters.rules.rules import Rules as Rules
from .core.engines.base import Engine as Engine, Serial as Serial, running_on as running_on
from .core.engines.dask import Dask as Dask
from .core.engines.processes import Processes as Processes
from .core.errors import DataError as DataError, SamplingError as SamplingError
from .core.memory import within_memory as within_memory
from .evaluation.breakdown import MRRByGenerated as MRRByGenerated, mrr_by_generated as mrr_by_generated
from .evaluation.comparison import Comparison as Comparison, compare as compare
from .evaluation.document import comparison_document as comparison_document, write_comparison as write_comparison
from .evaluation.metrics import Ranks as Ranks
from .evaluation.runs import Run as Run, load_runs as load_runs
from .evaluation.sentences import sentence as sentence
from .experiments.arms import (
    Arm as Arm,
    Augmentation as Augmentation,
    Baseline as Baseline,
    Combination as Combination,
)
from .experiments.derivable import find_derivable as find_derivable
from .experiments.methods import augmenter as augmenter, find_arm as find_arm
from .experiments.pilots import Pilot as Pilot, choose_amount as choose_amount, run_pilot as run_pilot
from .experiments.runner import run_experiment as run_experiment
from .experiments.transforms import Concepts as Concepts, Inverse as Inverse
from .graph.counts import Counts as Counts
from .graph.describe import GraphStats as GraphStats, describe as describe
from .graph.family import FamilyWorld as FamilyWorld, family as family
from .graph.knowledge_graph import KnowledgeGraph as KnowledgeGraph
from .graph.read_report import ReadReport as ReadReport
from .graph.splits import Splits as Splits
from .graph.splitting import split as split
from .graph.synthetic import PlantedRule as PlantedRule, SyntheticWorld as SyntheticWorld, synthesize as synthesize
from .graph.vocabulary import Vocabulary as Vocabulary
from .io import (
    Limits as Limits,
    ReadOptions as ReadOptions,
    from_dataframe as from_dataframe,
    from_pykeen as from_pykeen,
    read_any as read_any,
    read_generated as read_generated,
    read_splits as read_splits,
    read_triples as read_triples,
    to_dataframe as to_dataframe,
    to_pykeen as to_pykeen,
    write_splits as write_splits,
    write_triples as write_triples,
)
from .linkpred import (
    Combined as Combined,
    CombinedAnswer as CombinedAnswer,
    LinkPredictor as LinkPredictor,
    Trained as Trained,
    TrainOptions as TrainOptions,
    combine as combine,
    load_combined as load_combined,
    load_trained as load_trained,
)
from .linkpred.schedule import Constant as Constant, Polynomial as Polynomial, Step as Step
from .linkpred.training_set import TrainingSet as TrainingSet
from .quality.auto import Auto as Auto, augment as augment
from .quality.completeness import estimate_completeness as estimate_completeness
from .quality.diagnostics import Diagnostics as Diagnostics, diagnose as diagnose
from .quality.mixture import Mixture as Mixture
from .quality.precision import (
    PrecisionEstimate as PrecisionEstimate,
    estimate_precision as estimate_precision,
)
from .quality.prior import RulePrior as RulePrior, fit_prior as fit_prior

__all__: list[str]
__version__: str
