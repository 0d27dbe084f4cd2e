"""Where an arm gains and loses: the comparison with the baseline on parts of the test triples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nnmfaug.core.arrays import Array, Bools, Places
from nnmfaug.core.checks import check_fraction, require
from nnmfaug.evaluation.bootstrap import resample
from nnmfaug.evaluation.metrics import Kind, contributions
from nnmfaug.evaluation.pairs import Pair, difference_table, metric_table, pair_runs
from nnmfaug.evaluation.runs import Run
from nnmfaug.evaluation.strata import By, Strata, stratify
from nnmfaug.graph.splits import Splits

RESAMPLES = 2_000


@dataclass(frozen=True)
class GroupDifference:
    """An arm against the baseline on a group of test triples.

    The fields are those of :class:`~nnmfaug.evaluation.comparison.Difference`. For a group of one triple, ``low``
    and ``high`` are None.
    """

    arm: str
    seeds: tuple[int, ...]
    baseline_mean: float
    mean: float
    difference: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Group:
    """Some of the test triples, such as those of one relation, and the difference of each arm on them."""

    name: str
    n_triples: int
    differences: tuple[GroupDifference, ...]


@dataclass(frozen=True)
class MRRByGenerated:
    """Filtered MRR of an arm and of the baseline: on test triples that the arm generated, and on the others.

    Parameters
    ----------
    arm, seeds
    n_generated, n_others
        Number of test triples in each part, summed over the seeds. Each seed has its own generated triples.
    baseline_on_generated, on_generated
        MRR on the test triples that were generated: of the baseline and of the arm.
    baseline_on_others, on_others
        MRR on the other test triples.

    Examples
    --------
    >>> MRRByGenerated("auto", (0, 1), 40, 360, 0.31, 0.92, 0.28, 0.29).on_others
    0.29
    """

    arm: str
    seeds: tuple[int, ...]
    n_generated: int
    n_others: int
    baseline_on_generated: float
    on_generated: float
    baseline_on_others: float
    on_others: float


def breakdown(
    runs: Sequence[Run],
    splits: Splits,
    *,
    baseline: str = "baseline",
    by: By | Strata = "relation",
    metric: str = "mrr",
    kind: Kind = "filtered",
    level: float = 0.95,
) -> tuple[Group, ...]:
    """Compare every arm with the baseline on groups of test triples.

    ``by="relation"`` makes a group for each relation of test, in the order of their ids. ``by="degree"`` makes
    bands of the number of train triples about the rarer of the two entities, ``by="seen"`` four groups by whether
    train contains the relation with the same head, and with the same tail. Other groups can be given as
    :class:`~nnmfaug.evaluation.strata.Strata`. Empty groups are left out.

    The intervals are for exploration: they are not corrected for their number, so some of many exclude 0 by
    chance. With one seed they do not cover the noise between seeds.

    Examples
    --------
    >>> import nnmfaug as na
    >>> splits = na.read_splits("nations")
    >>> ranks = np.arange(1.0, 1 + 2 * len(splits.test)).reshape(-1, 2)
    >>> runs = [na.Run("baseline", 0, na.Ranks(filtered=ranks, raw=ranks))]
    >>> runs += [na.Run("x", 0, na.Ranks(filtered=ranks + 1, raw=ranks + 1))]
    >>> [(group.name, group.n_triples) for group in breakdown(runs, splits, by="degree")]
    [('>20', 201)]
    """
    check_fraction("level", level)
    pairs = pair_runs(runs, baseline)
    n_test = len(runs[0].ranks)
    if n_test != len(splits.test):
        msg = f"runs with {n_test} test triples, but {splits.name} has {len(splits.test)}"
        raise ValueError(f"{msg}: give the splits that the runs were tested on")
    strata = by if isinstance(by, Strata) else stratify(splits, by)
    require(len(strata) == n_test, f"strata of {len(strata)} triples, but there are {n_test} test triples")
    arms = [_ArmTables.of(arm, arm_pairs, metric, kind) for arm, arm_pairs in pairs.items()]
    return tuple(_group(name, rows, arms, level) for name, rows in strata.groups())


def mrr_by_generated(runs: Sequence[Run], baseline: str = "baseline") -> tuple[MRRByGenerated, ...]:
    """Return the filtered MRR on test triples that were generated, and on the others, for each arm.

    A gain on the first part comes from the generated triples themselves. A gain on the others shows that the model
    has learned from them. Arms are left out if their runs do not list the generated test triples, or if one of the
    two parts is empty.

    Parameters
    ----------
    runs
        Runs of :func:`~nnmfaug.run_experiment`: ``settings["generated"]["test_rows"]`` lists, for each run, the
        positions in ``splits.test`` of generated triples.
    baseline
        The arm to compare with.

    Examples
    --------
    >>> import nnmfaug as na
    >>> before = np.array([[2.0, 2.0], [4.0, 4.0], [4.0, 4.0]])
    >>> after = np.array([[1.0, 1.0], [4.0, 4.0], [2.0, 2.0]])
    >>> runs = [na.Run("baseline", 0, na.Ranks(filtered=before, raw=before))]
    >>> generated = {"generated": {"test_rows": [0]}}
    >>> runs += [na.Run("auto", 0, na.Ranks(filtered=after, raw=after), generated)]
    >>> (parts,) = na.mrr_by_generated(runs)
    >>> parts.baseline_on_generated, parts.on_generated, parts.baseline_on_others, parts.on_others
    (0.5, 1.0, 0.25, 0.375)
    """
    parts = [_by_generated(arm, arm_pairs) for arm, arm_pairs in pair_runs(runs, baseline).items()]
    return tuple(part for part in parts if part is not None)


@dataclass(frozen=True, eq=False)
class _ArmTables:
    """Tables of shape (n_seeds, n_triples); a group takes its columns."""

    name: str
    seeds: tuple[int, ...]
    baseline: Array
    differences: Array

    @classmethod
    def of(cls, name: str, pairs: Sequence[Pair], metric: str, kind: Kind) -> _ArmTables:
        seeds = tuple(run.seed for run, _ in pairs)
        baseline = metric_table((baseline_run for _, baseline_run in pairs), metric, kind)
        return cls(name, seeds, baseline, difference_table(pairs, metric, kind))


def _group(name: str, rows: Places, arms: Sequence[_ArmTables], level: float) -> Group:
    resampled = resample([arm.differences[:, rows] for arm in arms], RESAMPLES, seed=0)
    differences = []
    for arm, each in zip(arms, resampled, strict=True):
        baseline_mean = float(arm.baseline[:, rows].mean())
        low, high = each.interval(level) if len(rows) > 1 else (None, None)
        difference = GroupDifference(
            arm=arm.name,
            seeds=arm.seeds,
            baseline_mean=baseline_mean,
            mean=baseline_mean + each.mean,
            difference=each.mean,
            low=low,
            high=high,
        )
        differences.append(difference)
    return Group(name, len(rows), tuple(differences))


def _by_generated(arm: str, pairs: Sequence[Pair]) -> MRRByGenerated | None:
    arm_runs, baseline_runs = zip(*pairs, strict=True)
    generated = [mask for run in arm_runs if (mask := _generated(run)) is not None]
    if len(generated) < len(arm_runs):
        return None
    others = [~mask for mask in generated]
    n_generated = int(np.sum(generated))
    n_others = int(np.sum(others))
    if n_generated == 0 or n_others == 0:
        return None
    return MRRByGenerated(
        arm=arm,
        seeds=tuple(run.seed for run in arm_runs),
        n_generated=n_generated,
        n_others=n_others,
        baseline_on_generated=_mrr(baseline_runs, generated),
        on_generated=_mrr(arm_runs, generated),
        baseline_on_others=_mrr(baseline_runs, others),
        on_others=_mrr(arm_runs, others),
    )


def _generated(run: Run) -> Bools | None:
    """Whether each test triple was generated, shape (n_triples,); None if the run does not report it."""
    rows = (run.settings.get("generated") or {}).get("test_rows")
    if rows is None:
        return None
    mask = np.zeros(len(run.ranks), dtype=np.bool_)
    mask[rows] = True
    return mask


def _mrr(runs: Sequence[Run], masks: Sequence[Bools]) -> float:
    """Filtered MRR over the test triples of all runs, each run with its own mask."""
    reciprocal_ranks = [
        contributions(run.ranks.filtered, "mrr")[mask] for run, mask in zip(runs, masks, strict=True)
    ]
    return float(np.concatenate(reciprocal_ranks).mean())
