"""Graphs from triples factories of PyKEEN, and to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from nnmfaug.graph.keys import unique_triples
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pykeen.triples import CoreTriplesFactory, TriplesFactory


def from_pykeen(factory: CoreTriplesFactory) -> KnowledgeGraph:
    """Return the graph of a PyKEEN triples factory; without labels, the ids become the names."""
    entities = _labels(getattr(factory, "entity_id_to_label", None), factory.num_entities)
    relations = _labels(getattr(factory, "relation_id_to_label", None), factory.real_num_relations)
    vocabulary = Vocabulary.from_names(entities, relations)
    h, r, t = np.asarray(factory.mapped_triples.cpu()).T
    entity_ids = np.array([vocabulary.entity_ids[name] for name in entities], dtype=np.int32)
    relation_ids = np.array([vocabulary.relation_ids[name] for name in relations], dtype=np.int32)
    ids = np.stack([entity_ids[h], relation_ids[r], entity_ids[t]], axis=1)
    return KnowledgeGraph(vocabulary, unique_triples(ids, vocabulary, sort=True))


def to_pykeen(graph: KnowledgeGraph, *, reciprocal: bool = False) -> TriplesFactory:
    """Return a PyKEEN triples factory over the whole vocabulary, with the same ids and the same order.

    So no test triple is dropped, unlike in PyKEEN's own data sets (pykeen #910). With ``reciprocal`` the factory
    creates inverse triples.
    """
    import torch
    from pykeen.triples import TriplesFactory

    return TriplesFactory(
        mapped_triples=torch.from_numpy(graph.triples.astype(np.int64)),
        entity_to_id=dict(graph.vocabulary.entity_ids),
        relation_to_id=dict(graph.vocabulary.relation_ids),
        create_inverse_triples=reciprocal,
    )


def _labels(labels: dict[int, str] | None, count: int) -> Iterable[str]:
    return [str(i) if labels is None else labels[i] for i in range(count)]
