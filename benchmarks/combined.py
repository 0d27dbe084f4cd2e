"""Models, rules, and both combined, from the folders of comparisons: python benchmarks/combined.py FOLDER...

Prints two Markdown tables of filtered ranks, means over the seeds that all arms of a folder have. The first has a
row per folder: the MRR of each arm, differences with 95 % intervals, Hits@1 and Hits@10. The second has the MRR on
groups of test triples: by whether train contains the relation with the same head and tail, and by whether rules
conclude the triple. ``--no-groups`` leaves it out, for data sets that cannot be read by name.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nnmfaug as na
from nnmfaug.core.arrays import Places
from nnmfaug.evaluation.pairs import metric_table
from nnmfaug.evaluation.runs import by_arm
from nnmfaug.evaluation.strata import derivable_strata, stratify

ARMS = ("baseline", "auto", "rules-alone", "combined", "auto+combined")
DIFFERENCES = (("combined", "baseline"), ("combined", "auto"))
HITS = (("hits@1", "baseline"), ("hits@1", "combined"), ("hits@10", "baseline"), ("hits@10", "combined"))
NONE = "–"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--no-groups", action="store_true")
    args = parser.parse_args()
    folders = [Folder.read(path) for path in args.folders]
    print_table(arm_header(), (arm_row(folder) for folder in folders))
    if not args.no_groups:
        print()
        print_table(
            ("", "test triples", "number", *ARMS), (row for folder in folders for row in group_rows(folder))
        )


@dataclass(frozen=True)
class Folder:
    """The runs of a folder, by arm.

    Parameters
    ----------
    name
        Name of the folder.
    arms
        The runs of each arm, all with the same seeds.
    """

    name: str
    arms: Mapping[str, Sequence[na.Run]]

    @classmethod
    def read(cls, path: Path) -> Folder:
        """Read the runs of the arms in the tables, with the seeds that all of these have."""
        arms = by_arm(run for run in na.load_runs(path) if run.arm in ARMS)
        seeds = [{run.seed for run in runs} for runs in arms.values()]
        common = set.intersection(*seeds) if seeds else set()
        if not common:
            msg = f"no seed that all of {', '.join(arms) or 'its arms'} have: run nnmfaug compare with this folder"
            raise na.DataError(msg, path=path)
        return cls(path.name, {arm: [run for run in runs if run.seed in common] for arm, runs in arms.items()})

    @property
    def some_run(self) -> na.Run:
        """One of the runs; all have the same seeds and data."""
        return next(iter(self.arms.values()))[0]

    @property
    def n_seeds(self) -> int:
        """Number of seeds of each arm."""
        return len(next(iter(self.arms.values())))

    def mean(self, arm: str, metric: str = "mrr", rows: Places | None = None) -> str:
        """Return the mean of a metric over seeds and test triples, or some of these; a dash without runs."""
        if arm not in self.arms:
            return NONE
        table = metric_table(self.arms[arm], metric, "filtered")
        return short(float((table if rows is None else table[:, rows]).mean()))

    def difference(self, arm: str, other: str) -> str:
        """Return the difference of two arms in MRR, with its interval; a dash if one of them has no runs."""
        if arm not in self.arms or other not in self.arms:
            return NONE
        runs = [*self.arms[arm], *self.arms[other]]
        row = na.compare(runs, other, metrics=("mrr",)).row(arm)
        return f"{short(row.difference, '+')} ({short(row.low, '+')} to {short(row.high, '+')})"

    def data(self) -> dict[str, str]:
        """Return the name of the data set, and a checksum of each split."""
        data: dict[str, str] = self.some_run.settings["data"]
        return data


def short(value: float, sign: str = "-") -> str:
    """Return three decimals without the zero before them.

    Examples
    --------
    >>> short(0.25), short(1.0), short(-0.0125, "+"), short(0.5, "+")
    ('.250', '1.000', '-.013', '+.500')
    """
    return f"{value:{sign}.3f}".replace("0.", ".", 1)


def arm_header() -> tuple[str, ...]:
    """Names of the columns of the first table."""
    differences = [f"{arm} − {other}" for arm, other in DIFFERENCES]
    hits = [f"{metric.capitalize()} {arm}" for metric, arm in HITS]
    return ("", "seeds", *ARMS, *differences, *hits)


def arm_row(folder: Folder) -> tuple[str, ...]:
    """Cells of a folder in the first table."""
    means = [folder.mean(arm) for arm in ARMS]
    differences = [folder.difference(arm, other) for arm, other in DIFFERENCES]
    hits = [folder.mean(arm, metric) for metric, arm in HITS]
    return (folder.name, str(folder.n_seeds), *means, *differences, *hits)


def group_rows(folder: Folder) -> Iterator[tuple[str, ...]]:
    """Cells of a folder in the second table, row by row."""
    data = folder.data()
    for name, rows in groups(data["name"], data["train"], data["test"]):
        yield (folder.name, name, f"{len(rows):,}", *(folder.mean(arm, rows=rows) for arm in ARMS))


@cache
def groups(dataset: str, train: str, test: str) -> list[tuple[str, Places]]:
    """Return the groups of test triples that are not empty, with the positions of their triples.

    Parameters
    ----------
    dataset
        Name of the data set.
    train, test
        Checksums of these splits.
    """
    splits = na.read_splits(dataset)
    if (splits.train.digest(), splits.test.digest()) != (train, test):
        msg = "these are not the triples that the runs were made with: leave the groups out with --no-groups"
        raise na.DataError(msg, path=dataset)
    derivable = na.find_derivable(splits.train, splits.test)
    return [*stratify(splits, "seen").groups(), *derivable_strata(derivable).groups()]


def print_table(header: Sequence[str], rows: Iterator[tuple[str, ...]]) -> None:
    """Print a Markdown table, row by row."""
    print(f"| {' | '.join(header)} |")
    print("|" + "---|" * len(header))
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
