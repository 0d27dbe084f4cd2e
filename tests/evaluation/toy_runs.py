"""Synthetic runs whose effects are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nnmfaug.core.arrays import Array
from nnmfaug.evaluation.metrics import Ranks
from nnmfaug.evaluation.runs import Run


def make_run(arm: str, seed: int, ranks: NDArray[Any], raw: NDArray[Any] | None = None) -> Run:
    return Run(arm, seed, Ranks(filtered=ranks, raw=ranks if raw is None else raw))


def toy_runs(
    effects: dict[str, float], seeds: Sequence[int] = range(5), n: int = 200, rng_seed: int = 0
) -> list[Run]:
    """Runs where an effect of 0.1 makes ranks 10 % larger, that is worse, at every seed and triple."""
    rng = np.random.default_rng(rng_seed)
    hard = rng.gamma(1.0, 20.0, size=(n, 2))
    runs = []
    for arm, effect in effects.items():
        for seed in seeds:
            noise = rng.normal(0, 0.05, size=(n, 2)) + rng.normal(0, 0.01)
            runs.append(make_run(arm, seed, 1 + hard * np.exp(effect + noise)))
    return runs


def normal_table(rng: np.random.Generator, n_seeds: int, n: int, effect: float = 0.0) -> Array:
    """Effect + seed + triple + both; with 5 seeds and 100 triples, seeds and triples make about as much noise."""
    by_seed = rng.normal(size=(n_seeds, 1)) * 0.3
    by_triple = rng.normal(size=(1, n))
    by_both = rng.normal(size=(n_seeds, n)) * 0.5
    return np.asarray(effect + by_seed + by_triple + by_both)


RUNS = toy_runs({"baseline": 0.0, "good": -0.3, "bad": 0.3, "same": 0.0})
