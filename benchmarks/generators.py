"""Precision of each augmenter, fitted to train alone: python benchmarks/generators.py dl50a wn18rr umls.

A number of triples equal to a tenth of train is drawn from each distribution; from one that lists its triples,
the highest-confidence ones are taken as well. ``auto`` takes all that it finds worth adding. A triple is
confirmed if it is in valid or test. With ``--family``, the same for synthetic graphs with a fifth of the facts
missing, where the whole truth is known.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np

import nnmfaug as na
from nnmfaug.augmenters.base import Augmenter, Distribution
from nnmfaug.core.arrays import Bools, IntArray

Check = Callable[[IntArray], Bools]


def main() -> None:
    """Print one line per data set and augmenter."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", metavar="dataset")
    parser.add_argument("--family", type=int, default=0, metavar="SEEDS", help="number of synthetic graphs")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in args.datasets:
        measure_dataset(name)
    for seed in range(args.family):
        world = na.family(200, seed=seed)
        measure_auto(f"family {seed}", world.given, world.is_true, len(world.missing))


def measure_dataset(name: str) -> None:
    """Print the lines of one data set."""
    splits = na.read_splits(name)
    together = splits.together()
    n_missing = len(together) - len(splits.train)
    for label, method in augmenters(splits.train).items():
        measure(f"{name:10} {label}", method, splits.train, together.contains, n_missing)
    measure_auto(name, splits.train, together.contains, n_missing)


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


def measure_auto(label: str, train: na.KnowledgeGraph, is_true: Check, n_missing: int) -> None:
    """Print the number of triples that ``auto`` adds, their precision, the estimated precision, and the recall."""
    dist = na.Auto().fit(train)
    true = np.asarray(is_true(dist.everything().triples))
    n = len(true)
    precision = float(true.mean()) if n else 0.0
    estimate = float(dist.confidence.mean()) if n else 0.0
    print(
        f"{label:10} {'auto':31} {n:7,} added: {precision:.4f}, estimated {estimate:.4f}, "
        f"recall {true.sum() / n_missing:.3f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
