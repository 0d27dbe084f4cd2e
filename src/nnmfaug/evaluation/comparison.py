"""Whether an arm is better than the baseline: from runs to differences with intervals and verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from nnmfaug.core.arrays import Array
from nnmfaug.core.checks import check_fraction, require
from nnmfaug.evaluation.bootstrap import Resampled, holm, resample
from nnmfaug.evaluation.metrics import METRICS, Kind, check_metric, higher_is_better, summary
from nnmfaug.evaluation.pairs import Pair, Pairs, difference_table, metric_table, pair_runs
from nnmfaug.evaluation.runs import Run

Verdict = Literal["better", "worse", "no difference shown"]
Cell = tuple[str, str]
"""An arm and a metric."""


@dataclass(frozen=True)
class Summary:
    """Mean and standard deviation of each metric over the seeds of an arm; with one seed the latter is None."""

    arm: str
    seeds: tuple[int, ...]
    means: dict[str, float]
    deviations: dict[str, float | None]


@dataclass(frozen=True)
class Difference:
    """An arm against the baseline in one metric, over the seeds that both have.

    Parameters
    ----------
    arm, metric, seeds
    baseline_mean, mean
        Mean of the metric over the seeds: of the baseline and of the arm.
    difference
        ``mean − baseline_mean``.
    relative
        ``difference / baseline_mean``; None if that mean is 0.
    low, high
        Bounds of the interval of the difference.
    p_value
        Smallest p for which the interval of level 1 − p excludes 0.
    p_holm
        The p-value, corrected for the number of arms.
    verdict
    per_seed
        The difference for each of the seeds.
    """

    arm: str
    metric: str
    seeds: tuple[int, ...]
    baseline_mean: float
    mean: float
    difference: float
    relative: float | None
    low: float
    high: float
    p_value: float
    p_holm: float
    verdict: Verdict
    per_seed: tuple[float, ...]


@dataclass(frozen=True)
class Comparison:
    """All arms against the baseline in all metrics; :func:`compare` makes it.

    Parameters
    ----------
    baseline, arms, seeds, metrics
        What was compared.
    kind
        Whether ranks are filtered or raw.
    level
        Level of the intervals, such as 0.95.
    n_triples
        Number of test triples.
    n_resamples, bootstrap_seed
        Size and seed of the bootstrap.
    rows
        A difference for each arm and metric, in the order of the arms, then of the metrics.
    summaries
        Means of the baseline, then of each arm.
    notes
        Limits of this comparison, such as too few seeds.

    Examples
    --------
    >>> from nnmfaug.evaluation.metrics import Ranks
    >>> ranks = Ranks(filtered=np.full((9, 2), 4.0), raw=np.full((9, 2), 5.0))
    >>> comparison = compare([Run(arm, seed, ranks) for arm in ("baseline", "copy") for seed in range(3)])
    >>> comparison.arms, comparison.seeds, comparison.row("copy").mean
    (('copy',), (0, 1, 2), 0.25)
    """

    baseline: str
    arms: tuple[str, ...]
    seeds: tuple[int, ...]
    metrics: tuple[str, ...]
    kind: Kind
    level: float
    n_triples: int
    n_resamples: int
    bootstrap_seed: int
    rows: tuple[Difference, ...]
    summaries: tuple[Summary, ...]
    notes: tuple[str, ...] = ()

    def row(self, arm: str, metric: str = "mrr") -> Difference:
        """Return the difference of one arm in one metric."""
        for row in self.rows:
            if (row.arm, row.metric) == (arm, metric):
                return row
        msg = f"arm={arm!r}, metric={metric!r}: there are arms {list(self.arms)} and metrics {list(self.metrics)}"
        raise ValueError(msg)


def compare(
    runs: Sequence[Run],
    baseline: str = "baseline",
    *,
    metrics: Sequence[str] = METRICS,
    kind: Kind = "filtered",
    n_resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
) -> Comparison:
    """Compare every arm with the baseline, paired by seed and test triple.

    The interval comes from a bootstrap over seeds and test triples, see :mod:`nnmfaug.evaluation.bootstrap`.
    The verdict is "better" or "worse" if the interval excludes 0 and the p-value, corrected for the number of arms
    (Holm, within each metric), is below 1 − level. With one seed it is always "no difference shown".

    Examples
    --------
    >>> from nnmfaug.evaluation.metrics import Ranks
    >>> rng = np.random.default_rng(0)
    >>> runs = []
    >>> for seed in range(5):
    ...     ranks = rng.integers(2, 50, size=(200, 2)) + rng.integers(0, 3, size=(200, 2))
    ...     runs.append(Run("baseline", seed, Ranks(filtered=ranks, raw=ranks)))
    ...     runs.append(Run("one up", seed, Ranks(filtered=ranks - 1, raw=ranks)))
    >>> compare(runs).row("one up").verdict, compare(runs, kind="raw").row("one up").verdict
    ('better', 'no difference shown')
    """
    metrics = tuple(dict.fromkeys(metrics))
    _check_options(metrics, n_resamples, level)
    pairs = pair_runs(runs, baseline)
    cells = [(arm, metric) for arm in pairs for metric in metrics]
    tables = [difference_table(pairs[arm], metric, kind) for arm, metric in cells]
    resampled = dict(zip(cells, resample(tables, n_resamples, seed), strict=True))
    return Comparison(
        baseline=baseline,
        arms=tuple(pairs),
        seeds=_compared_seeds(pairs),
        metrics=metrics,
        kind=kind,
        level=level,
        n_triples=tables[0].shape[1],
        n_resamples=n_resamples,
        bootstrap_seed=seed,
        rows=tuple(_differences(pairs, resampled, kind, level)),
        summaries=tuple(_summary(runs, arm, metrics, kind) for arm in (baseline, *pairs)),
        notes=tuple(_notes(runs, pairs, baseline)),
    )


def to_json(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as plain data for JSON."""
    plain: dict[str, Any] = json.loads(json.dumps(asdict(comparison), allow_nan=False))
    return plain


def _compared_seeds(pairs: Pairs) -> tuple[int, ...]:
    seeds = {run.seed for arm_pairs in pairs.values() for run, _ in arm_pairs}
    return tuple(sorted(seeds))


def _differences(
    pairs: Pairs, resampled: Mapping[Cell, Resampled], kind: Kind, level: float
) -> Iterator[Difference]:
    p_values = {cell: each.p_value() for cell, each in resampled.items()}
    p_holm = _corrected(p_values)
    for (arm, metric), each in resampled.items():
        means = _seed_means(pairs[arm], metric, kind)
        mean, baseline_mean = (float(side) for side in means.mean(axis=0))
        low, high = each.interval(level)
        shown = len(means) > 1 and p_holm[arm, metric] < 1 - level and not low <= 0 <= high
        yield Difference(
            arm=arm,
            metric=metric,
            seeds=tuple(run.seed for run, _ in pairs[arm]),
            baseline_mean=baseline_mean,
            mean=mean,
            difference=each.mean,
            relative=each.mean / baseline_mean if baseline_mean else None,
            low=low,
            high=high,
            p_value=p_values[arm, metric],
            p_holm=p_holm[arm, metric],
            verdict=_verdict(each.mean, metric) if shown else "no difference shown",
            per_seed=tuple(float(arm_mean - base) for arm_mean, base in means),
        )


def _seed_means(pairs: Sequence[Pair], metric: str, kind: Kind) -> Array:
    """The metric of the arm and of the baseline for each seed, shape (n_seeds, 2)."""
    return np.array([metric_table(pair, metric, kind).mean(axis=1) for pair in pairs])


def _verdict(difference: float, metric: str) -> Verdict:
    return "better" if (difference > 0) == higher_is_better(metric) else "worse"


def _corrected(p_values: Mapping[Cell, float]) -> dict[Cell, float]:
    """Correct p-values for the number of arms, within each metric."""
    corrected: dict[Cell, float] = {}
    for metric in dict.fromkeys(metric for _, metric in p_values):
        cells = [cell for cell in p_values if cell[1] == metric]
        corrected |= zip(cells, holm([p_values[cell] for cell in cells]), strict=True)
    return corrected


def _summary(runs: Iterable[Run], arm: str, metrics: Sequence[str], kind: Kind) -> Summary:
    arm_runs = sorted((run for run in runs if run.arm == arm), key=lambda run: run.seed)
    summaries = [summary(run.ranks.of_kind(kind)) for run in arm_runs]
    values = {metric: np.array([each[metric] for each in summaries]) for metric in metrics}
    several = len(arm_runs) > 1
    return Summary(
        arm=arm,
        seeds=tuple(run.seed for run in arm_runs),
        means={metric: float(x.mean()) for metric, x in values.items()},
        deviations={metric: float(x.std(ddof=1)) if several else None for metric, x in values.items()},
    )


def _notes(runs: Iterable[Run], pairs: Pairs, baseline: str) -> Iterator[str]:
    n_seeds = {arm: len(arm_pairs) for arm, arm_pairs in pairs.items()}
    single = [arm for arm, n in n_seeds.items() if n == 1]
    if single:
        yield f"{', '.join(single)}: one seed cannot tell seed noise from an effect; run at least 3, better 5"
    if 2 in n_seeds.values():
        yield "two seeds say little about the noise between seeds, so intervals are very wide; run 5"
    all_seeds = {run.seed for run in runs if run.arm in {baseline, *pairs}}
    for arm, arm_pairs in pairs.items():
        missing = sorted(all_seeds - {run.seed for run, _ in arm_pairs})
        if missing:
            yield f"{arm}: compared without seeds {', '.join(map(str, missing))}, which it or {baseline} lacks"


def _check_options(metrics: Sequence[str], n_resamples: int, level: float) -> None:
    require(len(metrics) > 0, "metrics=(): name at least one")
    for metric in metrics:
        check_metric(metric)
    check_fraction("level", level)
    least = int(np.ceil(10 / (1 - level)))  # with fewer, hardly any resample lies beyond the bounds
    require(
        n_resamples * (1 - level) >= 10, f"n_resamples={n_resamples}: must be at least {least} for level={level}"
    )
