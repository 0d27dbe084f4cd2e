"""Where an arm gains and loses: the same comparison for parts of the test triples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nnmfaug.core.arrays import Array
from nnmfaug.evaluation.bootstrap import resample
from nnmfaug.evaluation.comparison import Kind, difference_table, metric_table, pair_runs
from nnmfaug.evaluation.runs import Run
from nnmfaug.graph.splits import Splits

BANDS = ((0, "0"), (1, "1–2"), (3, "3–5"), (6, "6–10"), (11, "11–20"), (21, ">20"))
"""The lowest degree of each band, and its name."""
RESAMPLES = 2_000


@dataclass(frozen=True)
class GroupDifference:
    """An arm against the baseline on some test triples; of a single triple there is no interval."""

    arm: str
    seeds: tuple[int, ...]
    baseline_mean: float
    mean: float
    difference: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Group:
    """Test triples of one relation or one band of degrees, and how each arm did on them."""

    name: str
    n_triples: int
    differences: tuple[GroupDifference, ...]


def breakdown(
    runs: Sequence[Run],
    splits: Splits,
    *,
    baseline: str = "baseline",
    by: Literal["relation", "degree"] = "relation",
    metric: str = "mrr",
    kind: Kind = "filtered",
    level: float = 0.95,
) -> tuple[Group, ...]:
    """Compare every arm with the baseline on parts of the test triples.

    ``by="relation"`` has a group for each relation of test, in the order of their ids; ``by="degree"`` has bands
    of the number of train triples that the rarer of the two entities is in. Groups without triples are left out.

    The intervals are for looking: they are not corrected for their number, so some of many leave out 0 by chance.
    With one seed they say nothing about other seeds.

    Examples
    --------
    >>> import nnmfaug as na
    >>> from nnmfaug.evaluation.metrics import Ranks
    >>> splits = na.read_splits("nations")
    >>> ranks = np.arange(1.0, 1 + 2 * len(splits.test)).reshape(-1, 2)
    >>> runs = [Run(arm, 0, Ranks(filtered=ranks + up, raw=ranks + up)) for arm, up in (("baseline", 0), ("x", 1))]
    >>> [(group.name, group.n_triples) for group in breakdown(runs, splits, by="degree")]
    [('>20', 201)]
    """
    if not 0 < level < 1:
        msg = f"level={level}: must be between 0 and 1, such as 0.95"
        raise ValueError(msg)
    pairs = pair_runs(runs, baseline)
    if len(runs[0].ranks) != len(splits.test):
        msg = f"runs with {len(runs[0].ranks)} test triples, but {splits.name} has {len(splits.test)}"
        raise ValueError(f"{msg}: give the splits that the runs were tested on")
    arms = [_Arm.of(arm, own, metric, kind) for arm, own in pairs.items()]
    return tuple(_group(name, rows, arms, level) for name, rows in _groups(splits, by))


@dataclass(frozen=True, eq=False)
class _Arm:
    """Tables of shape (n_seeds, n_triples), of which each group takes its columns."""

    name: str
    seeds: tuple[int, ...]
    baseline: Array
    differences: Array

    @classmethod
    def of(cls, name: str, pairs: Sequence[tuple[Run, Run]], metric: str, kind: Kind) -> _Arm:
        baseline = metric_table((base for _, base in pairs), metric, kind)
        return cls(name, tuple(run.seed for run, _ in pairs), baseline, difference_table(pairs, metric, kind))


def _group(name: str, rows: NDArray[np.intp], arms: Sequence[_Arm], level: float) -> Group:
    found = resample([arm.differences[:, rows] for arm in arms], RESAMPLES, seed=0)
    differences = []
    for arm, each in zip(arms, found, strict=True):
        base = float(arm.baseline[:, rows].mean())
        low, high = each.interval(level) if len(rows) > 1 else (None, None)
        differences.append(GroupDifference(arm.name, arm.seeds, base, base + each.mean, each.mean, low, high))
    return Group(name, len(rows), tuple(differences))


def _groups(splits: Splits, by: str) -> Iterator[tuple[str, NDArray[np.intp]]]:
    if by == "relation":
        labels, names = splits.test.triples[:, 1], splits.vocabulary.relations
    elif by == "degree":
        lowest, names = zip(*BANDS, strict=True)
        labels = np.searchsorted(lowest, _rarer_degree(splits), side="right").astype(np.int32) - 1
    else:
        msg = f"by={by!r}: must be 'relation' or 'degree'"
        raise ValueError(msg)
    for label in np.unique(labels).tolist():
        yield names[label], np.flatnonzero(labels == label)


def _rarer_degree(splits: Splits) -> NDArray[np.int64]:
    """Number of train triples that the rarer entity of each test triple is in; a self-loop is one triple."""
    heads, _, tails = splits.train.triples.T
    ends = np.concatenate([heads, tails[heads != tails]])
    degrees = np.bincount(ends, minlength=splits.train.n_entities)
    return np.asarray(degrees[splits.test.triples[:, [0, 2]]].min(axis=1))
