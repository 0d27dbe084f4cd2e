"""A small ComplEx as the reference of the kernel triple distance."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pykeen.models import ComplEx
from pykeen.utils import NoRandomSeedNecessary
from torch import optim

from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.io import to_pykeen
from nnmfaug.linkpred.losses import SampledSoftmaxLoss
from nnmfaug.linkpred.shared_negatives import SharedNegativesTrainingLoop

Features = Callable[[KnowledgeGraph], NDArray[np.float64]]


def reference_features(
    train: KnowledgeGraph, *, dim: int = 100, epochs: int = 20, batch_size: int = 256, seed: int = 0
) -> Features:
    """Train ComplEx on train, and return a function from triples to its features, shape (n, 4 · dim).

    The features are the products of real and imaginary parts of head, relation and tail that make up the score.
    """
    factory = to_pykeen(train, reciprocal=True)
    with torch.random.fork_rng(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(seed)  # PyKEEN, given a seed, would seed numpy and random for everybody
        model: Any = ComplEx(
            triples_factory=factory,
            embedding_dim=dim,
            random_seed=NoRandomSeedNecessary,
            loss=SampledSoftmaxLoss(),
        )
        optimizer = optim.Adagrad(model.get_grad_params(), lr=0.1)
        loop = SharedNegativesTrainingLoop(
            model=model,
            triples_factory=factory,
            optimizer=optimizer,
            num_negatives=256,
            automatic_memory_optimization=False,
        )
        loop.train(factory, num_epochs=epochs, batch_size=batch_size, use_tqdm=False, pin_memory=False)
    model.eval()
    with torch.inference_mode():
        entities = model.entity_representations[0]().numpy()
        relations = model.relation_representations[0]().numpy()[::2]  # every other one is an inverse
    names = train.vocabulary

    def features(graph: KnowledgeGraph) -> NDArray[np.float64]:
        h, r, t = graph.with_vocabulary(names).triples.T
        s, p, o = entities[h], relations[r], entities[t]
        parts = (
            s.real * p.real * o.real,
            s.imag * p.imag * o.real,
            s.real * p.imag * o.imag,
            s.imag * p.real * o.imag,
        )
        return np.concatenate(parts, axis=1).astype(np.float64)

    return features
