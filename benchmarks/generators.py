"""Precision of each augmenter, fitted to train alone: python benchmarks/generators.py dl50a wn18rr umls.

A number of triples equal to a tenth of train is drawn from each distribution; from one that lists its triples,
the highest-confidence ones are taken as well. ``auto`` takes all that it finds worth adding; its candidates are
also shown by bands of estimated probability. A triple is confirmed if it is in valid or test. A data set is a name
or the path of an archive; if that contains triples labelled as false (``valid_negatives.txt`` and
``test_negatives.txt``, as those of CoDEx), the candidates among them are counted.

With ``--family``, the triples of ``auto`` for synthetic graphs with a fifth of the facts missing, where the whole
truth is known: with the completeness given, and estimated. ``--only auto`` leaves out the other augmenters, and
``--valid`` leaves test unseen.
"""

from __future__ import annotations

import argparse
import math
import tarfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

import nnmfaug as na
from estimates import Incomplete, bands, calibration_error, incomplete_families
from nnmfaug.augmenters.base import Augmenter, Distribution
from nnmfaug.core.arrays import Array, Bools, IntArray

Check = Callable[[IntArray], Bools]

N_PEOPLE = 200


def main() -> None:
    """Print the lines of each data set, then those of the synthetic graphs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", metavar="dataset")
    parser.add_argument("--family", type=int, default=0, metavar="SEEDS", help="number of synthetic graphs")
    parser.add_argument("--only", choices=("auto",))
    parser.add_argument("--valid", action="store_true", help="confirm by valid alone")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    names = ("valid",) if args.valid else ("valid", "test")
    for dataset in args.datasets:
        measure_dataset(dataset, names, only_auto=args.only == "auto")
    if args.family:
        measure_families(args.family)


def measure_dataset(dataset: str, names: Sequence[str], *, only_auto: bool) -> None:
    """Print the lines of one data set, confirmed by some of its splits."""
    splits = na.read_splits(dataset)
    parts = [part.triples for name, part in splits.items() if name in names]
    missing = na.KnowledgeGraph(splits.vocabulary, np.concatenate(parts))
    for label, method in {} if only_auto else augmenters(splits.train).items():
        measure(f"{splits.name:10} {label}", method, splits.train, missing.contains, len(missing))
    measure_auto(splits, missing, labelled_false(dataset, names, splits.vocabulary))


def labelled_false(dataset: str, names: Sequence[str], vocabulary: na.Vocabulary) -> na.KnowledgeGraph:
    """Return the triples that an archive labels as false; none if the data set is not an archive."""
    endings = tuple(f"/{name}_negatives.txt" for name in names)
    labels: list[tuple[str, str, str]] = []
    if Path(dataset).is_file():
        with tarfile.open(dataset) as archive:
            for member in archive.getmembers():
                if member.name.endswith(endings):
                    labels += read_labels(archive, member)
    return na.KnowledgeGraph.from_labels(labels).with_vocabulary(vocabulary)


def read_labels(archive: tarfile.TarFile, member: tarfile.TarInfo) -> list[tuple[str, str, str]]:
    """Return the names of the triples in a file of an archive."""
    file = archive.extractfile(member)
    text = "" if file is None else file.read().decode()
    rows = [line.split("\t") for line in text.splitlines()]
    return [(head, relation, tail) for head, relation, tail in rows]


def augmenters(train: na.KnowledgeGraph) -> dict[str, Augmenter[Distribution]]:
    """The paper's distribution, the same with better pairs, and rules."""
    n_kinds = na.Counts.of(train).n_distinct_rows()
    clusters = na.Agglomerative(min(20, max(n_kinds // 20, 1)))
    return {
        "the paper's distribution": na.NNMFAug(cluster=clusters),
        "pairs with a common neighbour": na.Nearby(cluster_pairs=False, constraints=None),
        "… and two clusters": na.Nearby(constraints=None),
        "… and constraints, one cluster": na.Nearby(cluster_pairs=False),
        "all three": na.Nearby(),
        "rules": na.Rules(),
    }


def measure(
    label: str, method: Augmenter[Distribution], train: na.KnowledgeGraph, is_true: Check, n_missing: int
) -> None:
    """Print the precision of a tenth of train: drawn, and, of a list, ranked, with that of its first half."""
    dist = method.fit(train)
    n = len(train) // 10
    size = min(n, dist.n_new)
    precision = np.mean(is_true(dist.sample(size, seed=0).triples))
    line = f"{label:42} {n:7,} drawn: {precision:.4f}"
    if isinstance(dist, na.Listed):
        ranked = np.asarray(is_true(dist.top(size).triples))
        first_half = ranked[: len(ranked) // 2]
        line += f", best: {ranked.mean():.4f}, best half: {first_half.mean():.4f}"
        line += f", recall {ranked.sum() / n_missing:.3f}"
    print(line, flush=True)


def measure_auto(splits: na.Splits, missing: na.KnowledgeGraph, false: na.KnowledgeGraph) -> None:
    """Print the triples that ``auto`` adds, their precision and recall; then all candidates by bands."""
    auto = na.Auto()
    candidates = auto.mixture(splits.train).fit(splits.train)
    chosen = candidates.above(auto.threshold)
    confirmed = missing.contains(chosen.triples)
    print(
        f"{splits.name:10} {'auto':31} {len(confirmed):7,} added: {mean(confirmed):.4f}, "
        f"estimated {mean(chosen.confidence):.4f}, recall {confirmed.sum() / len(missing):.3f}"
    )
    by_confirmed = bands(candidates.confidence, missing.contains(candidates.triples))
    by_false = bands(candidates.confidence, false.contains(candidates.triples))
    for band, false_band in zip(by_confirmed, by_false, strict=True):
        note = f", labelled false {false_band.n_true:,}" if len(false) else ""
        print(
            f"  from {band.low:.1f}: {band.n:9,} triples, estimated {band.estimated:.3f}, "
            f"confirmed {band.true:.3f} ({band.n_true:,}){note}",
            flush=True,
        )


def mean(values: Array | Bools) -> float:
    """Return the mean of some values; NaN if there are none."""
    return float(values.mean()) if len(values) else math.nan


@dataclass(frozen=True)
class FamilyRow:
    """What ``auto`` adds to a synthetic graph; if that is nothing, it has no precision and no calibration error.

    Parameters
    ----------
    added
        Number of triples.
    precision, estimated
        Fraction of them that is true, and the mean of their estimated probabilities.
    recall
        Fraction of the missing facts that is added.
    error, error_of_all
        Calibration error of the added triples, and of all candidates.
    true, expected
        Number of true ones among all candidates, and the sum of their estimated probabilities.
    """

    added: float
    precision: float
    estimated: float
    recall: float
    error: float
    error_of_all: float
    true: float
    expected: float

    def __str__(self) -> str:
        return (
            f"{self.added:5,.0f} added: {self.precision:.4f}, estimated {self.estimated:.4f}, "
            f"recall {self.recall:.3f}, calibration error {self.error:.3f}, "
            f"of all candidates {self.error_of_all:.3f}, of which {self.true:,.0f} are true, "
            f"estimated {self.expected:,.0f}"
        )


def measure_families(n_seeds: int) -> None:
    """Print a line per seed, missing facts and completeness, given or estimated; then the means over seeds."""
    rows: dict[str, list[FamilyRow]] = {}
    for seed in range(n_seeds):
        for world in incomplete_families(N_PEOPLE, seed=seed):
            for label, completeness in (("q given", world.completeness), ("q estimated", None)):
                row = family_row(world, na.Auto(completeness=completeness))
                rows.setdefault(f"{world.name:22} {label:12}", []).append(row)
                print(f"family {seed}   {world.name:22} {label:12} {row}", flush=True)
    for label, rows_of_label in rows.items():
        print(f"family mean {label} {mean_row(rows_of_label)}")


def family_row(world: Incomplete, auto: na.Auto) -> FamilyRow:
    """Measure ``auto`` on a synthetic graph."""
    candidates = auto.mixture(world.given).fit(world.given)
    chosen = candidates.above(auto.threshold)
    true = world.is_true(chosen.triples)
    true_candidates = world.is_true(candidates.triples)
    return FamilyRow(
        added=len(true),
        precision=mean(true),
        estimated=mean(chosen.confidence),
        recall=true.sum() / (len(world.truth) - len(world.given)),
        error=calibration_error(chosen.confidence, true),
        error_of_all=calibration_error(candidates.confidence, true_candidates),
        true=int(true_candidates.sum()),
        expected=float(candidates.confidence.sum()),
    )


def mean_row(rows: Sequence[FamilyRow]) -> FamilyRow:
    """Return the mean of each field over the graphs that have it."""
    columns = ([getattr(row, field.name) for row in rows] for field in fields(FamilyRow))
    return FamilyRow(*(float(np.nanmean(column)) for column in columns))


if __name__ == "__main__":
    main()
