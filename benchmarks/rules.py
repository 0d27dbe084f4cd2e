"""Rule mining against a plain miner over dictionaries, in one process: python benchmarks/rules.py [--only PART].

``speed``: time to count all rules of one and two steps on WN18RR; both miners must count the same. ``memory``:
peak memory of a process that mines FB15k-237 and lists the conclusions. The data sets must be installed, see
``nnmfaug datasets``.
"""

from __future__ import annotations

import argparse
import resource
from collections import Counter, defaultdict
from itertools import product

import nnmfaug as na
from timing import seconds

Rule = tuple[int, tuple[int, ...]]
Counts = dict[Rule, tuple[int, int, int]]

MIN_SUPPORT = 3
BARS = {"speed": 20.0, "memory": 2.0}


def main() -> None:
    """Print one line per part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=tuple(BARS))
    chosen = parser.parse_args().only
    if chosen in (None, "speed"):
        speed()
    if chosen in (None, "memory"):
        memory()


def speed() -> None:
    """Time both miners on WN18RR, medians of three runs, and compare their counts."""
    train = na.read_splits("wn18rr").train
    no_limit = 10**9
    method = na.Rules(
        min_support=MIN_SUPPORT, min_confidence=1e-9, prior=0.0, max_paths=no_limit, max_rules=no_limit
    )
    rules = method.mine(train)
    expected = mine_plainly(train)
    ours, plain = seconds(lambda: method.mine(train), lambda: mine_plainly(train))
    table = rules.table
    rows = zip(table.support.tolist(), table.sizes.tolist(), table.pca_sizes.tolist(), strict=True)
    counts = {(int(table.heads[i]), rules.path(i)): row for i, row in enumerate(rows)}
    agreement = "the same counts" if counts == expected else "DIFFERENT COUNTS"
    speed_up = f"{plain / ours:.1f} x as fast as the plain miner (bar {BARS['speed']})"
    print(f"WN18RR: {len(counts):,} rules, {agreement}, {speed_up}")


def memory() -> None:
    """Print the peak memory of this process."""
    dist = na.Rules().fit(na.read_splits("fb15k-237").train)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"FB15k-237: {dist.support_size:,} triples listed, peak memory {peak:.2f} GB (bar {BARS['memory']})")


def mine_plainly(train: na.KnowledgeGraph) -> Counts:
    """Count support, size and PCA size of every rule with dictionaries and sets."""
    n_relations = train.n_relations
    edges: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    relations_of: dict[tuple[int, int], list[int]] = defaultdict(list)
    for h, r, t in train.triples.tolist():
        if h != t:
            edges[r][h].add(t)
            edges[r + n_relations][t].add(h)
            relations_of[h, t].append(r)
    steps = sorted(edges)
    counts: Counts = {}
    for path in [*((step,) for step in steps), *product(steps, repeat=2)]:
        pairs = {(x, y) for x, y in walk(edges, path) if x != y}
        support = Counter(r for pair in pairs for r in relations_of.get(pair, ()))
        for r, hits in support.items():
            if hits >= MIN_SUPPORT and path != (r,):
                pca_size = sum(x in edges[r] for x, _ in pairs)
                counts[r, tuple(path)] = (hits, len(pairs), pca_size)
    return counts


def walk(edges: dict[int, dict[int, set[int]]], path: tuple[int, ...]) -> set[tuple[int, int]]:
    """Return the pairs (first entity, last entity) of all walks along a path."""
    if len(path) == 1:
        return {(x, y) for x, ys in edges[path[0]].items() for y in ys}
    second = edges[path[1]]
    return {(x, y) for x, zs in edges[path[0]].items() for z in zs if z in second for y in second[z]}


if __name__ == "__main__":
    main()
