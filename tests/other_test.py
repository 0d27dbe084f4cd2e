"""Splits with other test triples, to check that nothing depends on them."""

from __future__ import annotations

import numpy as np

import nnmfaug as na


def with_other_test(splits: na.Splits) -> na.Splits:
    """Replace every test triple by one that is in no split."""
    names = splits.vocabulary
    n_triples = len(names.entities) ** 2 * len(names.relations)
    keys = np.random.default_rng(0).permutation(n_triples)
    triples = names.from_keys(keys)
    others = triples[~splits.together().contains(triples)][: len(splits.test)]
    assert len(others) == len(splits.test)
    return na.Splits(splits.name, splits.train, splits.valid, na.KnowledgeGraph(names, others))
