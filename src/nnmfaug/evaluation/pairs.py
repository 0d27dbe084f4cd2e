"""Runs of arms side by side with those of the baseline, paired by seed and test triple."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from nnmfaug.core.arrays import Array
from nnmfaug.core.checks import require
from nnmfaug.evaluation.metrics import Kind, contributions
from nnmfaug.evaluation.runs import Run

Pair = tuple[Run, Run]
"""A run of an arm, and the run of the baseline with the same seed."""
Pairs = dict[str, list[Pair]]
"""The pairs of each arm, sorted by seed."""


def pair_runs(runs: Iterable[Run], baseline: str) -> Pairs:
    """Pair the runs of each arm with those of the baseline; arms keep their order.

    Seeds that an arm or the baseline lacks are left out.

    Examples
    --------
    >>> from nnmfaug.evaluation.metrics import Ranks
    >>> ranks = Ranks(filtered=np.ones((5, 2)), raw=np.ones((5, 2)))
    >>> pair_runs([Run("baseline", 0, ranks), Run("auto", 0, ranks), Run("auto", 1, ranks)], "baseline")
    {'auto': [(<Run: auto, seed 0, 5 test triples>, <Run: baseline, seed 0, 5 test triples>)]}
    """
    arms = _by_arm_and_seed(runs)
    _check_sizes(arms)
    if baseline not in arms:
        msg = f"baseline={baseline!r}: there is no run of it, only of {sorted(arms)}; name one of these or run it"
        raise ValueError(msg)
    baseline_runs = arms.pop(baseline)
    require(bool(arms), f"only runs of the baseline {baseline!r}: run another arm to compare it with")
    return {arm: _pairs(arm, by_seed, baseline_runs, baseline) for arm, by_seed in arms.items()}


def metric_table(runs: Iterable[Run], metric: str, kind: Kind) -> Array:
    """Contribution of each test triple to the metric in each run, shape (n_runs, n_triples)."""
    return np.stack([contributions(run.ranks.of_kind(kind), metric) for run in runs])


def difference_table(pairs: Sequence[Pair], metric: str, kind: Kind) -> Array:
    """Arm minus baseline for each seed and test triple, shape (n_seeds, n_triples)."""
    arm_runs, baseline_runs = zip(*pairs, strict=True)
    difference = metric_table(arm_runs, metric, kind) - metric_table(baseline_runs, metric, kind)
    return np.asarray(difference)


def _by_arm_and_seed(runs: Iterable[Run]) -> dict[str, dict[int, Run]]:
    arms: dict[str, dict[int, Run]] = {}
    for run in runs:
        by_seed = arms.setdefault(run.arm, {})
        if run.seed in by_seed:
            msg = f"two runs of arm {run.arm!r} with seed {run.seed}: leave one of them out"
            raise ValueError(msg)
        by_seed[run.seed] = run
    return arms


def _check_sizes(arms: Mapping[str, Mapping[int, Run]]) -> None:
    sizes = {len(run.ranks) for by_seed in arms.values() for run in by_seed.values()}
    if len(sizes) > 1:
        text = " and ".join(str(size) for size in sorted(sizes))
        msg = f"runs with {text} test triples: compare runs on one data set"
        raise ValueError(msg)


def _pairs(arm: str, by_seed: Mapping[int, Run], baseline_runs: Mapping[int, Run], baseline: str) -> list[Pair]:
    seeds = sorted(by_seed.keys() & baseline_runs.keys())
    require(bool(seeds), f"arm {arm!r} has no seed in common with {baseline!r}: run both with the same seeds")
    return [(by_seed[seed], baseline_runs[seed]) for seed in seeds]
