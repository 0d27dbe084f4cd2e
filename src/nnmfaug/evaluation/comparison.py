"""Whether an arm is better than the baseline: runs in, differences with intervals and a verdict out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from nnmfaug.core.arrays import Array
from nnmfaug.evaluation.bootstrap import Resampled, holm, resample
from nnmfaug.evaluation.metrics import HIGHER_IS_BETTER, METRICS, check_metric, contributions, summary
from nnmfaug.evaluation.runs import Run

Kind = Literal["filtered", "raw"]
Verdict = Literal["better", "worse", "no difference shown"]
Cell = tuple[str, str]
"""An arm and a metric."""
Pairs = dict[str, list[tuple[Run, Run]]]
"""For each arm, its runs and those of the baseline with the same seeds."""


@dataclass(frozen=True)
class Summary:
    """Mean of each metric over the seeds of an arm, and its standard deviation between them (None of one seed)."""

    arm: str
    seeds: tuple[int, ...]
    means: dict[str, float]
    deviations: dict[str, float | None]


@dataclass(frozen=True)
class Difference:
    """An arm against the baseline in one metric, over the seeds that both have.

    ``difference`` is ``mean − baseline_mean``, and ``relative`` its share of the baseline (None if that is 0);
    ``low`` and ``high`` are the bounds of its interval, ``per_seed`` its value for each of the ``seeds``.
    ``p_holm`` is ``p_value`` corrected for the number of arms.
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
    """All arms against the baseline in all metrics.

    ``rows`` are in the order of the arms, then of the metrics; ``summaries`` begin with the baseline; ``notes``
    say what a reader should know before believing any of it.
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
        """Return one of the rows."""
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

    The interval is that of a bootstrap over seeds and test triples, see :mod:`nnmfaug.evaluation.bootstrap`.
    An arm is called better or worse if the interval leaves out 0 and the p-value does too when corrected for the
    number of arms (Holm, within each metric). With one seed it is never called either.

    Examples
    --------
    >>> from nnmfaug.evaluation.metrics import Ranks
    >>> rng, runs = np.random.default_rng(0), []
    >>> for seed in range(5):
    ...     ranks = rng.integers(2, 50, size=(200, 2)) + rng.integers(0, 3, size=(200, 2))
    ...     runs.append(Run("baseline", seed, Ranks(filtered=ranks, raw=ranks)))
    ...     runs.append(Run("one up", seed, Ranks(filtered=ranks - 1, raw=ranks)))
    >>> compare(runs).row("one up").verdict, compare(runs, kind="raw").row("one up").verdict
    ('better', 'no difference shown')
    """
    _check_numbers(metrics, n_resamples, level)
    pairs = pair_runs(runs, baseline)
    cells = [(arm, metric) for arm in pairs for metric in dict.fromkeys(metrics)]
    tables = [difference_table(pairs[arm], metric, kind) for arm, metric in cells]
    found = dict(zip(cells, resample(tables, n_resamples, seed), strict=True))
    return Comparison(
        baseline=baseline,
        arms=tuple(pairs),
        seeds=tuple(sorted({run.seed for own in pairs.values() for run, _ in own})),
        metrics=tuple(dict.fromkeys(metrics)),
        kind=kind,
        level=level,
        n_triples=tables[0].shape[1],
        n_resamples=n_resamples,
        bootstrap_seed=seed,
        rows=tuple(_rows(pairs, found, kind, level)),
        summaries=tuple(_summary(runs, arm, metrics, kind) for arm in (baseline, *pairs)),
        notes=tuple(_notes(runs, pairs, baseline)),
    )


def to_json(comparison: Comparison) -> dict[str, Any]:
    """Return plain data for JSON."""
    plain: dict[str, Any] = json.loads(json.dumps(asdict(comparison), allow_nan=False))
    return plain


def pair_runs(runs: Iterable[Run], baseline: str) -> Pairs:
    """Pair the runs of each arm with those of the baseline, by seed; arms in the order they come in."""
    known: dict[str, dict[int, Run]] = {}
    for run in runs:
        if run.seed in known.setdefault(run.arm, {}):
            msg = f"two runs of arm {run.arm!r} with seed {run.seed}: leave one of them out"
            raise ValueError(msg)
        known[run.arm][run.seed] = run
    sizes = sorted({len(run.ranks) for own in known.values() for run in own.values()})
    if len(sizes) > 1:
        msg = f"runs with {' and '.join(map(str, sizes))} test triples: compare runs on one data set"
        raise ValueError(msg)
    if baseline not in known:
        msg = f"baseline={baseline!r}: there is no run of it, only of {sorted(known)}; name one of these or run it"
        raise ValueError(msg)
    base = known.pop(baseline)
    if not known:
        msg = f"only runs of the baseline {baseline!r}: run another arm to compare it with"
        raise ValueError(msg)
    pairs = {arm: [(own[seed], base[seed]) for seed in sorted(own) if seed in base] for arm, own in known.items()}
    if alone := [arm for arm, own in pairs.items() if not own]:
        msg = f"arm {alone[0]!r} has no seed in common with {baseline!r}: run both with the same seeds"
        raise ValueError(msg)
    return pairs


def metric_table(runs: Iterable[Run], metric: str, kind: Kind) -> Array:
    """What each test triple adds to the metric in each run, shape (n_runs, n_triples)."""
    if kind not in ("filtered", "raw"):
        msg = f"kind={kind!r}: must be 'filtered' or 'raw'"
        raise ValueError(msg)
    return np.stack([contributions(getattr(run.ranks, kind), metric) for run in runs])


def difference_table(pairs: Sequence[tuple[Run, Run]], metric: str, kind: Kind) -> Array:
    """Arm minus baseline for each seed and test triple, shape (n_seeds, n_triples)."""
    arm, base = (metric_table(side, metric, kind) for side in zip(*pairs, strict=True))
    return np.asarray(arm - base)


def _rows(pairs: Pairs, found: Mapping[Cell, Resampled], kind: Kind, level: float) -> Iterator[Difference]:
    p_values = {cell: each.p_value() for cell, each in found.items()}
    p_holm = _corrected(p_values)
    for (arm, metric), each in found.items():
        means = np.array([metric_table(pair, metric, kind).mean(axis=1) for pair in pairs[arm]])
        mean, base = (float(side) for side in means.mean(axis=0))
        low, high = each.interval(level)
        shown = len(pairs[arm]) > 1 and p_holm[arm, metric] < 1 - level and not low <= 0 <= high
        good = (each.mean > 0) == HIGHER_IS_BETTER[metric]
        yield Difference(
            arm=arm,
            metric=metric,
            seeds=tuple(run.seed for run, _ in pairs[arm]),
            baseline_mean=base,
            mean=mean,
            difference=each.mean,
            relative=each.mean / base if base else None,
            low=low,
            high=high,
            p_value=p_values[arm, metric],
            p_holm=p_holm[arm, metric],
            verdict="no difference shown" if not shown else "better" if good else "worse",
            per_seed=tuple(float(mine - theirs) for mine, theirs in means),
        )


def _corrected(p_values: Mapping[Cell, float]) -> dict[Cell, float]:
    """Correct for the number of arms, each metric by itself."""
    corrected: dict[Cell, float] = {}
    for metric in dict.fromkeys(metric for _, metric in p_values):
        cells = [cell for cell in p_values if cell[1] == metric]
        corrected |= zip(cells, holm([p_values[cell] for cell in cells]), strict=True)
    return corrected


def _summary(runs: Iterable[Run], arm: str, metrics: Sequence[str], kind: Kind) -> Summary:
    own = sorted((run for run in runs if run.arm == arm), key=lambda run: run.seed)
    all_metrics = [summary(getattr(run.ranks, kind)) for run in own]
    values = {metric: np.array([each[metric] for each in all_metrics]) for metric in metrics}
    return Summary(
        arm,
        tuple(run.seed for run in own),
        {metric: float(v.mean()) for metric, v in values.items()},
        {metric: float(v.std(ddof=1)) if len(v) > 1 else None for metric, v in values.items()},
    )


def _notes(runs: Iterable[Run], pairs: Pairs, baseline: str) -> Iterator[str]:
    counts = {arm: len(own) for arm, own in pairs.items()}
    if alone := [arm for arm, n in counts.items() if n == 1]:
        yield f"{', '.join(alone)}: one seed cannot tell seed noise from an effect; run at least 3, better 5"
    if 2 in counts.values():
        yield "two seeds say little about the noise between seeds, so intervals are very wide; run 5"
    all_seeds = {run.seed for run in runs if run.arm in {baseline, *pairs}}
    for arm, own in pairs.items():
        if left := sorted(all_seeds - {run.seed for run, _ in own}):
            yield f"{arm}: compared without seeds {', '.join(map(str, left))}, which it or {baseline} lacks"


def _check_numbers(metrics: Sequence[str], n_resamples: int, level: float) -> None:
    for metric in metrics:
        check_metric(metric)
    if not metrics:
        raise ValueError("metrics=(): name at least one")
    if not 0 < level < 1:
        msg = f"level={level}: must be between 0 and 1, such as 0.95"
        raise ValueError(msg)
    if n_resamples * (1 - level) < 10:  # or hardly a resample would lie beyond the bounds
        msg = f"n_resamples={n_resamples}: must be at least {int(np.ceil(10 / (1 - level)))} for level={level}"
        raise ValueError(msg)
