"""What each generator gets right, from train alone: python benchmarks/generators.py dl50a wn18rr umls.

A tenth of train is drawn from each law, and of one that lists its triples the most probable are taken as well;
``auto`` takes as many as it finds worth adding. Confirmed is the share that is in valid or test. With ``--family``
the same for made-up worlds, where all that is true is known, with a fifth missing.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import nnmfaug as na
from nnmfaug.augmenters.base import Augmenter, Distribution

Triples = NDArray[np.int32]
Check = Callable[[Triples], NDArray[np.bool_]]


def main() -> None:
    """Print one line per data set and generator."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", metavar="dataset")
    parser.add_argument("--family", type=int, default=0, metavar="SEEDS", help="number of made-up worlds")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in args.datasets:
        splits = na.read_splits(name)
        missing = len(splits.together()) - len(splits.train)
        for label, method in generators(splits.train).items():
            measure(f"{name:10} {label}", method, splits.train, splits.together().contains, missing)
        measure_auto(name, splits.train, splits.together().contains, missing)
    for seed in range(args.family):
        world = na.family(200, seed=seed)
        measure_auto(f"family {seed}", world.given, world.is_true, len(world.missing))


def generators(train: na.KnowledgeGraph) -> dict[str, Augmenter[Distribution]]:
    """The paper's law, the same with better pairs, and rules."""
    clusters = na.Agglomerative(min(20, max(na.Counts.of(train).n_distinct_rows() // 20, 1)))
    return {
        "the paper's law": na.NNMFAug(cluster=clusters),
        "pairs with a common neighbour": na.Nearby(cluster_pairs=False, constraints=None),
        "… and two clusters": na.Nearby(constraints=None),
        "… and constraints, one cluster": na.Nearby(cluster_pairs=False),
        "all three": na.Nearby(),
        "rules": na.Rules(),
    }


def measure(
    label: str, method: Augmenter[Distribution], train: na.KnowledgeGraph, true: Check, missing: int
) -> None:
    """Print the share of true triples among a tenth of train, and a twentieth if there is an order."""
    dist, n = method.fit(train), len(train) // 10
    drawn = np.mean(true(dist.sample(min(n, dist.n_new), seed=0).triples))
    line = f"{label:42} {n:7,} drawn: {drawn:.4f}"
    if isinstance(dist, na.Listed):
        best = np.asarray(true(dist.top(min(n, dist.n_new)).triples))
        line += f", best: {best.mean():.4f}, best half: {best[: len(best) // 2].mean():.4f}"
        line += f", recall {best.sum() / missing:.3f}"
    print(line, flush=True)


def measure_auto(label: str, train: na.KnowledgeGraph, true: Check, missing: int) -> None:
    """Print what ``auto`` adds, how much of it is true, and how much it thought would be."""
    dist = na.Auto().fit(train)
    found = np.asarray(true(dist.everything().triples))
    share, thought = (float(np.mean(x)) if len(x) else 0.0 for x in (found, dist.confidence))
    print(
        f"{label:10} {'auto':31} {len(found):7,} added: {share:.4f}, thought {thought:.4f}, "
        f"recall {found.sum() / missing:.3f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
