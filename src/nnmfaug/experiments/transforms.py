"""Arms from related work that change the training set itself. Names that they add are never an answer."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nnmfaug.augmenters.nnmf.clusterers import Agglomerative
from nnmfaug.augmenters.nnmf.nmf import NMF
from nnmfaug.augmenters.nnmf.nnmfaug import default_clusters
from nnmfaug.augmenters.nnmf.partition import Clusterer, Embedder, cluster_entities
from nnmfaug.core.arrays import IntArray
from nnmfaug.experiments.arms import Fit, fit_method
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary
from nnmfaug.linkpred.training_set import TrainingSet


@dataclass(frozen=True)
class Inverse:
    """A triple (t, r⁻¹, h) for each (h, r, t), as Lacroix et al. (2018) do.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("a", "likes", "b")])
    >>> Inverse().apply(graph).labels()
    [('a', 'likes', 'b'), ('b', 'likes⁻¹', 'a')]
    """

    def apply(self, graph: KnowledgeGraph, *, seed: int = 0) -> KnowledgeGraph:  # noqa: ARG002  (as every transform)
        """Return the triples of the graph and their inverses."""
        names = graph.vocabulary
        inverses = [_new_name(f"{relation}⁻¹", names.relation_ids) for relation in names.relations]
        wider = Vocabulary.from_names(names.entities, [*names.relations, *inverses])
        inverse_ids = np.array([wider.relation_ids[inverse] for inverse in inverses], dtype=np.int32)
        h, r, t = graph.triples.T
        return _joined(graph, wider, np.stack([t, inverse_ids[r], h], axis=1))

    def prepare(self, train: KnowledgeGraph, seed: int, fit: Fit = fit_method) -> TrainingSet:  # noqa: ARG002
        """Return train with the inverse triples."""
        return _training_set(self.apply(train, seed=seed), train)


@dataclass(frozen=True)
class Concepts:
    """An entity for each cluster of entities, to which its members point, as Dobrowolska et al. (2021) do.

    Parameters
    ----------
    embed, cluster
        Features and clusters of entities. Default: Ward with the default number of clusters of NNMFAug.
    shared
        Whether all members point by the same relation, instead of one for each cluster.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("a", "likes", "b"), ("c", "knows", "d")])
    >>> Concepts(NMF(1), shared=True).apply(graph).labels()[:2]
    [('a', 'is in', 'concept 0'), ('a', 'likes', 'b')]
    """

    embed: Embedder = field(default_factory=NMF)
    cluster: Clusterer | None = None
    shared: bool = False

    def apply(self, graph: KnowledgeGraph, *, seed: int = 0) -> KnowledgeGraph:
        """Return the triples of the graph, and one for each entity of a cluster."""
        clusterer = self.cluster or Agglomerative(default_clusters(graph))
        _, partition = cluster_entities(graph, self.embed, clusterer, seed=seed)
        names = graph.vocabulary
        concepts = [_new_name(f"concept {i}", names.entity_ids) for i in range(partition.n_clusters)]
        relations = [self._relation(concept, names) for concept in concepts]
        wider = Vocabulary.from_names([*names.entities, *concepts], [*names.relations, *relations])
        rows = []
        for entity, label in zip(names.entities, partition.labels.tolist(), strict=True):
            if label >= 0:
                head = wider.entity_ids[entity]
                relation = wider.relation_ids[relations[label]]
                rows.append((head, relation, wider.entity_ids[concepts[label]]))
        return _joined(graph, wider, np.array(rows, dtype=np.int32).reshape(-1, 3))

    def prepare(self, train: KnowledgeGraph, seed: int, fit: Fit = fit_method) -> TrainingSet:  # noqa: ARG002
        """Return train with the triples of the concepts, which are hidden."""
        return _training_set(self.apply(train, seed=seed), train)

    def _relation(self, concept: str, names: Vocabulary) -> str:
        """Return the name of the relation that points to a concept."""
        return _new_name("is in" if self.shared else f"is in {concept}", names.relation_ids)


def _training_set(wider: KnowledgeGraph, train: KnowledgeGraph) -> TrainingSet:
    entities = train.vocabulary.entity_ids
    new_entities = tuple(name for name in wider.vocabulary.entities if name not in entities)
    return TrainingSet(wider, hidden=new_entities)


def _new_name(name: str, taken: dict[str, int]) -> str:
    """Return the name, with marks if it is taken."""
    while name in taken:
        name += "′"
    return name


def _joined(graph: KnowledgeGraph, names: Vocabulary, added: IntArray) -> KnowledgeGraph:
    """Return the triples of a graph and others, over a wider vocabulary, in order of their keys."""
    triples = np.concatenate([graph.with_vocabulary(names).triples, added])
    keys = np.sort(names.keys(triples))
    return KnowledgeGraph(names, names.from_keys(keys))
