"""The kernel triple distance: against sums over pairs, and with features that add up to the score."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch
from pykeen.models import ComplEx

import nnmfaug as na
import reference_model
from nnmfaug.io import to_pykeen
from triple_distance import triple_distance


def test_it_is_the_unbiased_discrepancy_of_the_cubic_kernel() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 6, 3))
    unit = [[row / np.linalg.norm(row) for row in rows] for rows in (x, y)]

    def k(a: np.ndarray, b: np.ndarray) -> float:
        return float((a @ b + 1) ** 3)

    within = sum(k(a, b) for rows in unit for i, a in enumerate(rows) for j, b in enumerate(rows) if i != j)
    across = sum(k(a, b) for a in unit[0] for b in unit[1])
    found = triple_distance(x, y, subset=10, n_subsets=3)
    assert found.mean == pytest.approx(within / 30 - 2 * across / 36)
    assert found.deviation == pytest.approx(0, abs=1e-12)


def test_a_law_is_near_itself_and_too_few_triples_are_refused() -> None:
    rng = np.random.default_rng(0)
    same = [triple_distance(*rng.normal(size=(2, 300, 5)), n_subsets=1).mean for _ in range(50)]
    assert abs(np.mean(same)) < 3 * np.std(same) / np.sqrt(50)
    with pytest.raises(ValueError, match="at least two"):
        triple_distance(np.ones((1, 2)), np.ones((5, 2)))


def test_features_are_the_parts_of_the_score(monkeypatch: pytest.MonkeyPatch) -> None:
    train = na.read_splits("nations").train
    kept: list[ComplEx] = []

    def remember(**kwargs: Any) -> ComplEx:
        kept.append(ComplEx(**kwargs))
        return kept[-1]

    monkeypatch.setattr(reference_model, "ComplEx", remember)
    features = reference_model.reference_features(train, dim=6, epochs=2)(train)
    assert features.shape == (len(train), 24)
    signs = np.repeat([1, -1, 1, 1], 6)
    ids = torch.from_numpy(train.triples.astype(np.int64))
    ids[:, 1] *= 2  # with inverse triples, relation r is 2r
    with torch.inference_mode():
        scores = kept[0].score_hrt(ids)[:, 0].numpy()
    assert (features * signs).sum(1) == pytest.approx(scores, abs=1e-4)
    assert to_pykeen(train, reciprocal=True).create_inverse_triples


def test_the_reference_leaves_random_numbers_alone() -> None:
    train = na.read_splits("nations").train
    before, others = torch.random.get_rng_state(), (random.getstate(), repr(np.random.get_state()))  # noqa: NPY002
    one, other = (reference_model.reference_features(train, dim=4, epochs=1)(train) for _ in range(2))
    assert torch.equal(before, torch.random.get_rng_state())
    assert others == (random.getstate(), repr(np.random.get_state()))  # noqa: NPY002
    assert np.array_equal(one, other)
