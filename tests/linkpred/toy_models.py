"""A model whose scores are looked up, and a prior whose probabilities are made up."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import nnmfaug as na


class Table:
    """A model whose scores are looked up, with many ties."""

    def __init__(self, n_entities: int, n_relations: int, n_values: int = 4) -> None:
        rng = np.random.default_rng(0)
        shape = (n_entities, n_relations, n_entities)
        self.scores = torch.from_numpy(rng.integers(0, n_values, shape).astype(np.float32))
        self.device = torch.device("cpu")

    def eval(self) -> None:
        """Nothing to switch off."""

    def predict_t(self, pairs: torch.Tensor) -> torch.Tensor:
        return self.scores[pairs[:, 0], pairs[:, 1]]

    def predict_h(self, pairs: torch.Tensor) -> torch.Tensor:
        return self.scores[:, pairs[:, 0], pairs[:, 1]].T


def table_model(splits: na.Splits, n_values: int = 4) -> na.Trained:
    """Return a model of made-up scores, the higher ones for triples that are in a split."""
    known = splits.together()
    table: Any = Table(known.n_entities, known.n_relations, n_values)
    h, r, t = torch.from_numpy(known.triples.astype(np.int64)).T
    table.scores[h, r, t] += n_values // 2
    return na.Trained(na.LinkPredictor(), table, known)


def made_up_prior(splits: na.Splits, *, n_true: int = 100, n_false: int = 300) -> na.ListedPrior:
    """Return a prior that proposes some triples of valid and test, and some that are in no split."""
    rng = np.random.default_rng(1)
    names = splits.vocabulary
    train = set(splits.train.labels())
    true = [row for row in splits.together().labels() if row not in train]
    everything = names.keys(splits.together().triples)
    n_keys = len(names.entities) ** 2 * len(names.relations)
    false = names.from_keys(np.setdiff1d(rng.permutation(n_keys)[: 2 * n_false], everything)[:n_false])
    rows = [true[i] for i in rng.permutation(len(true))[:n_true]]
    rows += na.KnowledgeGraph(names, false).labels()
    proposed = na.KnowledgeGraph.from_labels(rows, names, sort=False)
    is_true = np.arange(len(proposed)) < n_true
    confidence = rng.choice([0.02, 0.2, 0.5], len(proposed)) + 0.4 * is_true
    order = np.argsort(-confidence, kind="stable")
    return na.ListedPrior(na.Listed(splits.train, proposed.triples[order], confidence[order]))
