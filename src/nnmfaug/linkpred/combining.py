"""Choose on valid how a model and a prior are combined."""

from __future__ import annotations

from nnmfaug.augmenters.base import Prior
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.linkpred.combined import Combined
from nnmfaug.linkpred.trained import Trained


def combine(trained: Trained | None, prior: Prior, valid: KnowledgeGraph, *, known: KnowledgeGraph) -> Combined:
    """Choose T by the likelihood of valid, w and ε by its filtered MRR, and calibrate probabilities.

    Parameters
    ----------
    trained
        The model; None for the prior alone.
    prior
        Fitted to train alone.
    valid
        The triples to choose on.
    known
        The triples that filtered ranks leave out: those of train and valid, never test.
    """
    raise NotImplementedError
