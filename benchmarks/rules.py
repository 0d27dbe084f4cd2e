"""Rule mining and leaving out triples, each against a plainer way: python benchmarks/rules.py [--only PART].

``speed``: time to count all rules of one and two steps on WN18RR, against a miner over dictionaries; both must
count the same. ``memory``: peak memory of a process that mines FB15k-237 and lists the conclusions. ``left-out``:
confidences of rules without a train triple, from counts, against mining without that triple. ``refits``: time of
calibrating rules by leaving out every triple, one at a time, against five hold-out refits. ``constants``: peak
memory of ``auto`` on FB15k-237; time to count its rules with constants against a miner over dictionaries; and what
they add to the time of mining paths. The data sets must be installed, see ``nnmfaug datasets``.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np

import nnmfaug as na
from left_out import leave_out
from nnmfaug.augmenters.rules.attributes import Attributes
from nnmfaug.augmenters.rules.constant_mining import mine_constants
from nnmfaug.augmenters.rules.constant_table import ConstantTable
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.quality.calibration import Calibration, calibrate
from nnmfaug.quality.default_rules import default_rules
from nnmfaug.quality.holdout import refit
from nnmfaug.quality.leave_one_out import leave_one_out
from plain_constants import PlainMiner, counts_of
from timing import seconds

Rule = tuple[int, tuple[int, ...]]
Counts = dict[Rule, tuple[int, int, int]]

MIN_SUPPORT = 3
BARS = {"speed": 20.0, "memory": 2.0, "left-out": 0.02, "refits": 3.0, "constants": 5.0, "added": 1.5}
N_LEFT_OUT = 200
COMPLETENESS = 0.8
"""Any value takes the same time."""
NO_LIMIT = 10**9


def main() -> None:
    """Print one line per part and data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=tuple(PARTS))
    chosen = parser.parse_args().only
    for name in PARTS if chosen is None else [chosen]:
        PARTS[name]()


def speed() -> None:
    """Time both miners on WN18RR, medians of three runs, and compare their counts."""
    train = na.read_splits("wn18rr").train
    method = na.Rules(
        min_support=MIN_SUPPORT,
        min_confidence=1e-9,
        prior=0.0,
        max_paths=NO_LIMIT,
        max_rules=NO_LIMIT,
        constants=False,
    )
    rules = method.mine(train)
    expected = mine_plainly(train)
    ours, plain = seconds(lambda: method.mine(train), lambda: mine_plainly(train))
    table = rules.paths.table
    rows = zip(table.support.tolist(), table.sizes.tolist(), table.pca_sizes.tolist(), strict=True)
    counts = {(int(table.heads[i]), rules.paths.path(i)): row for i, row in enumerate(rows)}
    n_missing = len(expected) - len(counts)  # those that say the same as shorter rules
    is_same = counts.items() <= expected.items() and n_missing == table.dropped
    agreement = "the same counts" if is_same else "DIFFERENT COUNTS"
    speed_up = f"{plain / ours:.1f} x as fast as the plain miner (bar {BARS['speed']})"
    print(f"WN18RR: {len(counts):,} rules, {agreement}, {speed_up}")


def memory() -> None:
    """Print the peak memory of this process."""
    dist = na.Rules().fit(na.read_splits("fb15k-237").train)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"FB15k-237: {dist.support_size:,} triples listed, peak memory {peak:.2f} GB (bar {BARS['memory']})")


def left_out() -> None:
    """Compare confidences without a triple, from counts and by mining again, for 200 random train triples."""
    for name in ("umls", "dl50a"):
        train = na.read_splits(name).train
        pairs = leave_out(default_rules(train), train, N_LEFT_OUT)
        equal = "equal" if pairs.one_step_is_exact() else "DIFFERENT"
        differences = pairs.relative_differences()
        median, high = np.quantile(differences, [0.5, 0.95])
        print(
            f"{name}: {pairs.one_step.sum():,} confidences of rules of one step, {equal}; "
            f"{len(differences):,} of longer rules, {np.mean(differences > 0):.1%} different; "
            f"relative difference: median {median:.2%} (bar {BARS['left-out']:.0%}), 95 % within {high:.2%}, "
            f"all within {differences.max():.1%}; {pairs.n_vanished():,} of rules that vanish",
            flush=True,
        )


def refits() -> None:
    """Time both ways of calibrating the default rules, medians of three runs."""
    for name in ("umls", "dl50a", "kinships", "nations"):
        train = na.read_splits(name).train
        method = default_rules(train)
        once, again = seconds(
            partial(calibrate_by_leaving_one_out, method, train), partial(calibrate_by_refits, method, train)
        )
        speed_up = f"{again / once:.1f} x as fast as refits (bar {BARS['refits']})"
        print(f"{name}: calibrated in {once:.2f} s, {speed_up}", flush=True)


def calibrate_by_leaving_one_out(method: na.Rules, train: na.KnowledgeGraph) -> Calibration:
    """Mine once, and calibrate."""
    recovery = leave_one_out(method, train).recovery
    return calibrate(recovery, train.n_relations, COMPLETENESS)


def calibrate_by_refits(method: na.Rules, train: na.KnowledgeGraph) -> Calibration:
    """Mine once, and five times without a tenth of train, and calibrate."""
    recovery = refit(method.fit, method.fit(train))
    return calibrate(recovery, train.n_relations, COMPLETENESS)


def constants() -> None:
    """Print memory and speed of rules with constants, and what they add to paths."""
    auto_memory()
    constants_speed()
    for name in ("wn18rr", "dl50a"):
        constants_added(name)


def auto_memory() -> None:
    """Print the peak memory of a new process that mines, calibrates and lists; Linux only."""
    code = (
        "import time; import nnmfaug as na\n"
        "dist = na.Auto().fit(na.read_splits('fb15k-237').train)\n"
        "peak = open('/proc/self/status').read().split('VmHWM:')[1].split()[0]\n"
        "print(dist.support_size, peak, time.process_time())"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    n_listed, peak, cpu = map(float, done.stdout.split())
    print(
        f"FB15k-237: {n_listed:,.0f} triples listed by auto, {cpu:.0f} s of CPU time, "
        f"peak memory {peak * 1024 / 1e9:.2f} GB (bar {BARS['memory']})",
        flush=True,
    )


def constants_speed() -> None:
    """Time both miners of rules with constants on FB15k-237, medians of three runs, and compare their counts."""
    train = na.read_splits("fb15k-237").train
    method = default_rules(train)
    ours, plain = seconds(lambda: table_of_constants(method, train), lambda: PlainMiner(train, method).mine())
    counts = counts_of(table_of_constants(method, train))
    miner = PlainMiner(train, method)
    agreement = "the same counts" if miner.are_the_same(counts, miner.mine()) else "DIFFERENT COUNTS"
    speed_up = f"{plain / ours:.1f} x as fast as the plain miner (bar {BARS['constants']})"
    print(f"FB15k-237: {len(counts):,} rules with constants, {agreement}, {speed_up}", flush=True)


def table_of_constants(method: na.Rules, train: na.KnowledgeGraph) -> ConstantTable:
    """Count the rules with constants, however many there are."""
    attributes = Attributes(Steps(train), method.min_support)
    return mine_constants(attributes, method.threshold, max_pairs=NO_LIMIT, max_rules=NO_LIMIT)


def constants_added(name: str) -> None:
    """Time mining of all default rules and of paths alone, medians of three runs."""
    train = na.read_splits(name).train
    everything, paths = na.Rules(depth=3), na.Rules(depth=3, constants=False)
    both, alone = seconds(partial(everything.mine, train), partial(paths.mine, train))
    ratio = f"{both / alone:.2f} x the time of paths alone (bar {BARS['added']})"
    print(f"{name}: paths of three steps and rules with constants, {ratio}", flush=True)


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


PARTS: dict[str, Callable[[], None]] = {
    "speed": speed,
    "memory": memory,
    "left-out": left_out,
    "refits": refits,
    "constants": constants,
}

if __name__ == "__main__":
    main()
