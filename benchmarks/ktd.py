"""Kernel triple distance of generated triples to test triples: python benchmarks/ktd.py umls.

All rows are measured with the same small reference model, so they can be compared with each other and with no
other table. A reference that knows train by heart puts train far from test: see the row of train first.
"""

from __future__ import annotations

import argparse
import warnings

import nnmfaug as na
from nnmfaug.graph.keys import unique_triples
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from reference_model import reference_features
from triple_distance import triple_distance


def main() -> None:
    """Print one line per generator."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("--triples", type=int, default=25_000)
    parser.add_argument("--epochs", type=int, default=20)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    splits = na.read_splits(args.dataset)
    features = reference_features(splits.train, epochs=args.epochs)
    test = features(splits.test)
    for name, graph in generated(splits.train, args.triples).items():
        found = triple_distance(test, features(graph))
        novelty = 1 - splits.train.contains(graph.triples).mean()
        print(
            f"{name:30} {len(graph):7,} triples, KTD {found.mean:.4f} ± {found.deviation:.4f}, {novelty:.0%} new"
        )


def generated(train: na.KnowledgeGraph, n: int) -> dict[str, na.KnowledgeGraph]:
    """The training set, random triples, the paper's method twice, and ours."""
    clusters = na.Agglomerative(min(50, max(na.Counts.of(train).n_distinct_rows() // 20, 1)))
    smoothed = na.NNMFAug(cluster=clusters, relations=na.CountProduct(1e-3)).fit(train)
    draws = unique_triples(smoothed.draw(n, seed=0), train.vocabulary, sort=False)
    random, paper = na.RandomTriples().fit(train), na.NNMFAug(cluster=clusters).fit(train)
    near, auto = na.Nearby(cluster=clusters).fit(train), na.Auto().fit(train)
    return {
        "train": train,
        "random": random.sample(min(n, random.n_new), seed=0).graph,
        "NNMFAug, smoothed, as in GeKC": KnowledgeGraph(train.vocabulary, draws),
        "NNMFAug": paper.sample(min(n, paper.n_new), seed=0).graph,
        "Nearby": near.sample(min(n, near.n_new), seed=0).graph,
        "Auto": auto.everything().graph,
    }


if __name__ == "__main__":
    main()
