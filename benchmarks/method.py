"""Our implementation against a literal one of the paper with scipy and scikit-learn, in one run.

The reference forms C = A·Bᵀ as a dense array, factorises it with scikit-learn's NMF, clusters W' = [W₁, W₂ᵀ] with
its Ward linkage, and samples in a loop, one draw of Algorithm 1 at a time. It may use all cores; ours uses one.

    python benchmarks/method.py [--only dl50a|wn18rr|fb15k-237|sampling|memory|growth] [--full]

All parts take some minutes and, for the reference on WN18RR, most of the free memory; ``--full`` adds its Ward
step there (another few minutes, 13 GB). Every figure is for p = 8 and 50 clusters.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.cluster import AgglomerativeClustering
from sklearn.decomposition import non_negative_factorization
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

import nnmfaug as na
from nnmfaug.augmenters.nnmf.affinity import Affinity
from timing import least_seconds, seconds

Array = NDArray[np.float32] | NDArray[np.float64]

P, N_CLUSTERS = 8, 50


def at_least(what: str, ratio: float, bar: float) -> None:
    """Print a ratio and whether it reaches the bar."""
    print(f"{what}: {ratio:,.1f} x as fast; bar ≥ {bar:,} x: {'met' if ratio >= bar else 'not met'}")


def at_most(what: str, ratios: Sequence[float], bar: float) -> None:
    """Print the ratios of time from each size to the next, and whether the largest is within the bar."""
    each = " ".join(f"{ratio:.2f}" for ratio in ratios)
    print(f"{what}: {each}; worst {max(ratios):.2f}; bar ≤ {bar} x: {'met' if max(ratios) <= bar else 'not met'}")


def counted(graph: na.KnowledgeGraph) -> tuple[csr_array, csr_array]:
    """A and B of the entities that occur in a triple, counted by scipy."""
    h, r, t = graph.triples[graph.triples[:, 0] != graph.triples[:, 2]].T
    seen, places = np.unique(np.concatenate([h, t]), return_inverse=True)
    ones = np.ones(len(h))
    shape = (len(seen), graph.n_relations)
    a = csr_array((ones, (places[: len(h)], r)), shape=shape)
    b = csr_array((ones, (places[len(h) :], r)), shape=shape)
    return a, b


def explicit(a: csr_array, b: csr_array, kind: str) -> Array | csr_array:
    """C = A·Bᵀ in full: ``float64`` or ``float32`` for a dense array, ``sparse`` for scipy's."""
    if kind == "sparse":
        return csr_array(a @ b.T)
    product: Array = csr_array(a.astype(kind) @ b.astype(kind).T).toarray()
    return product


def factorised(c: Array | csr_array, n_iter: int | None, start: tuple[Array, Array] | None = None) -> list[Array]:
    """W₁ and W₂ by scikit-learn's NMF, without the final error, which would take two more arrays.

    Makes exactly ``n_iter`` iterations; with None, scikit-learn's ``tol`` and ``max_iter`` decide.
    """
    how = {"tol": 1e-4, "max_iter": 200} if n_iter is None else {"tol": 0, "max_iter": n_iter}
    w, h = start or (None, None)
    init = "nndsvd" if start is None else "custom"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Maximum number of iterations")
        w1, w2, _ = non_negative_factorization(
            c, W=w, H=h, n_components=P, init=init, solver="cd", random_state=0, **how
        )
    return [w1, w2]


def ward(factors: Sequence[Array]) -> NDArray[np.int64]:
    """Labels by scikit-learn's Ward linkage of W'."""
    rows = np.hstack([factors[0], factors[1].T])
    return np.asarray(AgglomerativeClustering(n_clusters=N_CLUSTERS).fit_predict(rows))


def reference_fit(graph: na.KnowledgeGraph, n_iter: int | None = None) -> list[Array]:
    """Run the whole reference; return its factors."""
    factors = factorised(explicit(*counted(graph), "float64"), n_iter)
    ward(factors)
    return factors


def our_fit(graph: na.KnowledgeGraph, n_iter: int | None = None) -> na.TripleDistribution:
    """Fit ours, with the stopping rule of the reference."""
    nmf = na.NMF(P, tol=1e-4, max_iter=200) if n_iter is None else na.NMF(P, tol=0, max_iter=n_iter)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "violation still above tol")
        return na.NNMFAug(embed=nmf, cluster=na.Agglomerative(N_CLUSTERS)).fit(graph)


def our_factors(dist: na.TripleDistribution) -> na.Factors:
    """The factors of a fit."""
    assert isinstance(dist.factors, na.Factors)
    return dist.factors


def same_work(graph: na.KnowledgeGraph, dist: na.TripleDistribution, theirs: Sequence[Array]) -> None:
    """Print the final misfit of ours as a fraction of the reference's."""
    c = explicit(*counted(graph), "float64")
    assert isinstance(c, np.ndarray)
    c -= theirs[0] @ theirs[1]
    ratio = our_factors(dist).objective[-1] / (0.5 * float(np.vdot(c, c)))
    print(f"    ours ends at {ratio:.4f} of the reference's misfit ‖C − W₁W₂‖²")


def dl50a(full: bool) -> None:
    """Time the whole fit on a small graph."""
    del full
    graph = na.read_splits("dl50a").train
    dist = our_fit(graph)

    def on_one_thread() -> None:  # on a busy machine two can be several times slower than one
        with threadpool_limits(1):
            reference_fit(graph)

    ours, *theirs = seconds(lambda: our_fit(graph), lambda: reference_fit(graph), on_one_thread, repeats=5)
    at_least("DL50a, fit, against the whole reference on one thread or all, the faster", min(theirs) / ours, 20)
    same_work(graph, dist, reference_fit(graph))


def fb15k237(full: bool) -> None:
    """Time the whole fit on a dense graph, where nearly all rows differ."""
    del full
    graph = na.read_splits("fb15k-237").train
    n_iter = 20
    dist = our_fit(graph, n_iter)
    reference: list[list[Array]] = []
    ours = seconds(lambda: our_fit(graph, n_iter))[0]
    theirs = seconds(lambda: reference.append(reference_fit(graph, n_iter)), repeats=1)[0]
    at_least(f"FB15k-237, fit with {n_iter} iterations, against the whole reference", theirs / ours, 3)
    same_work(graph, dist, reference[0])


def kind_that_fits(n: int, n_nonzero: int) -> str:
    """The kind of C that takes at most 0.6 of the free memory: the sparse product and the dense array together."""
    free = int(Path("/proc/meminfo").read_text().split("MemAvailable:")[1].split()[0]) * 1024
    for kind, size in (("float64", 8), ("float32", 4)):
        if n * n * size + n_nonzero * (size + 4) < 0.6 * free:
            return kind
    return "sparse"


def wn18rr(full: bool) -> None:
    """Time a fit on a large graph: the reference makes few iterations, and its time is extrapolated to ours."""
    graph = na.read_splits("wn18rr").train
    counts = na.Counts.of(graph)
    n = int(counts.seen.sum())
    n_nonzero = Affinity.of(counts).n_nonzero()
    kind = kind_that_fits(n, n_nonzero)
    n_iter = our_factors(our_fit(graph)).n_iter
    ours = seconds(lambda: our_fit(graph))[0]
    a, b = counted(graph)
    products: list[Array | csr_array] = []
    forming = seconds(lambda: products.append(explicit(a, b, kind)), repeats=1)[0]
    c = products.pop()
    factors: list[list[Array]] = []
    three = seconds(lambda: factors.append(factorised(c, 3)), repeats=1)[0]
    start = factors[0][0], factors[0][1]
    one, five = (seconds(lambda k=k: factorised(c, k, start), repeats=1)[0] for k in (1, 5))  # type: ignore[misc]
    each = (five - one) / 4
    storage = "scipy's sparse" if kind == "sparse" else f"a dense {kind}"
    print(f"WN18RR, C of {n:,} x {n:,}, {n_nonzero / n**2:.0%} nonzero, is {storage} array for the reference")
    at_least("WN18RR, fit, against forming C and 3 iterations, no Ward", (forming + three) / ours, 100)
    whole = forming + three
    print(f"    of which {forming / whole:.0%} is forming C and {3 * each / whole:.0%} iterating")
    extrapolated = forming + three + (n_iter - 3) * each
    print(
        f"    and {extrapolated / ours:,.0f} x, extrapolated to {n_iter} iterations, at which ours has converged"
    )
    many = 200
    ours_many = seconds(lambda: our_fit(graph, many))[0]
    extrapolated = forming + three + (many - 3) * each
    at_least(f"WN18RR, {many} iterations, the reference extrapolated, no Ward", extrapolated / ours_many, 1000)
    if full:
        del c
        extrapolated += seconds(lambda: ward(factors[0]), repeats=1)[0]
        at_least(f"WN18RR, {many} iterations, extrapolated, and Ward, measured", extrapolated / ours_many, 1000)


def loop(
    clusters: Sequence[NDArray[np.intp]],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    known: set[tuple[int, int, int]],
    n: int,
) -> set[tuple[int, int, int]]:
    """Algorithm 1, one draw at a time, until there are n new triples."""
    rng = np.random.default_rng(0)
    n_relations = a.shape[1]
    sample: set[tuple[int, int, int]] = set()
    while len(sample) < n:
        members = clusters[int(rng.integers(len(clusters)))]
        h, t = members[rng.integers(len(members), size=2)]
        if h == t:
            continue
        d = a[h] * b[t]
        total = d.sum()
        if total == 0:
            continue
        triple = int(h), int(rng.choice(n_relations, p=d / total)), int(t)
        if triple not in known:
            sample.add(triple)
    return sample


def sampling(full: bool) -> None:
    """Time sampling on WN18RR; preparation counts for ours, but not for the loop."""
    del full
    graph = na.read_splits("wn18rr").train
    n = 20_000
    dist = our_fit(graph)
    labels = dist.partition.labels
    clusters = [np.flatnonzero(labels == cluster) for cluster in range(dist.partition.n_clusters)]
    a, b = dist.law.counts.heads.toarray(), dist.law.counts.tails.toarray()
    known = {(h, r, t) for h, r, t in graph.triples.tolist()}
    fresh = iter([our_fit(replace(graph)) for _ in range(3)])  # without cached values
    first, again, theirs = seconds(
        lambda: next(fresh).sample(n, seed=0),
        lambda: dist.sample(n, seed=0),
        lambda: loop(clusters, a, b, known, n),
    )
    at_least(f"WN18RR, {n:,} new triples, first call, against the loop", theirs / first, 50)
    at_least(f"WN18RR, {n:,} new triples, any later call, against the loop", theirs / again, 50)


def memory(full: bool) -> None:
    """Peak memory of a new process that reads, fits and samples; Linux only."""
    del full
    code = (
        "import warnings; import nnmfaug as na\n"
        "warnings.filterwarnings('ignore', 'violation still above tol')\n"
        f"method = na.NNMFAug(embed=na.NMF({P}), cluster=na.Agglomerative({N_CLUSTERS}))\n"
        "method.fit(na.read_splits('wn18rr').train).sample(20_000, seed=0)\n"
        "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    peak = int(done.stdout) * 1024 / 1e6
    verdict = "met" if peak < 500 else "not met"
    print(f"WN18RR, peak of reading, fit and {20_000:,} new triples: {peak:.0f} MB; bar < 500 MB: {verdict}")


@dataclass(frozen=True)
class NoFeatures:
    """An embedding and a clusterer that cost nothing: row i is in cluster i mod n_clusters."""

    n_clusters: int

    def fit(self, counts: na.Counts, *, seed: int = 0) -> na.Factors:
        """Return a row of zeros per entity."""
        del seed
        zeros = np.zeros((counts.n_entities, 1))
        return na.Factors(zeros, zeros, (), 0, converged=True)

    def fit_predict(self, rows: NDArray[np.float64], /) -> NDArray[np.intp]:
        """Assign the rows to the clusters in turn."""
        return np.arange(len(rows)) % self.n_clusters


def synthetic(n_triples: int) -> na.KnowledgeGraph:
    """A graph of random triples with a fifth as many entities and 50 relations."""
    rng = np.random.default_rng(0)
    n_entities = n_triples // 5
    n_relations = 50
    names = na.Vocabulary(
        tuple(f"e{i:07}" for i in range(n_entities)), tuple(f"r{i:02}" for i in range(n_relations))
    )
    h, t = rng.integers(n_entities, size=(2, n_triples + n_triples // 100))
    keys = np.unique(names.keys(np.stack([h, rng.integers(n_relations, size=len(h)), t], axis=1)))
    return na.KnowledgeGraph(names, names.from_keys(np.sort(rng.permutation(keys)[:n_triples])))


def growth(full: bool) -> None:
    """Ratio of times at doubled sizes."""
    del full
    sizes = [100_000 * 2**i for i in range(6)]
    spent: dict[str, list[float]] = {}

    def take(what: str, work: Callable[[], object]) -> None:
        spent.setdefault(what, []).append(least_seconds(work))

    for size in sizes:
        graph = synthetic(size)
        counts = na.Counts.of(graph)
        take("counting", lambda g=graph: na.Counts.of(g))  # type: ignore[misc]
        take("NMF, 10 iterations", lambda c=counts: na.NMF(P, tol=0, max_iter=10).fit(c))  # type: ignore[misc]
        for how, n_clusters in (("50 clusters", 50), ("clusters of 400", graph.n_entities // 400)):
            dealt = NoFeatures(n_clusters)
            dist = na.NNMFAug(embed=dealt, cluster=dealt).fit(graph)
            take(
                f"sampling a tenth, {how}, first call",
                lambda d=dist, n=size // 10: replace(d, law=replace(d.law)).sample(n, seed=0),  # type: ignore[misc]
            )
            dist.sample(10, seed=0)
            take(
                f"sampling a tenth, {how}, any later call",
                lambda d=dist, n=size // 10: d.sample(n, seed=0),  # type: ignore[misc]
            )
    print(
        f"Growth per doubling from {sizes[0]:,} to {sizes[-1]:,} triples, a fifth as many entities, 50 relations"
    )
    for what, times in spent.items():
        at_most(f"    {what}", [b / a for a, b in pairwise(times)], 2.3)
    times = []
    for n_rows in (1000 * 2**i for i in range(5)):
        rows, ones = np.random.default_rng(0).random((n_rows, 2 * P)), np.ones(n_rows, dtype=np.int64)
        times += seconds(lambda r=rows, o=ones: na.Agglomerative(N_CLUSTERS).label_rows(r, o, seed=0))  # type: ignore[misc]
    at_most("    Ward, 1,000 to 16,000 distinct rows", [b / a for a, b in pairwise(times)], 4.6)


PARTS: dict[str, Callable[[bool], None]] = {
    "dl50a": dl50a,
    "wn18rr": wn18rr,
    "fb15k-237": fb15k237,
    "sampling": sampling,
    "memory": memory,
    "growth": growth,
}


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--full", action="store_true", help="the reference's Ward step on WN18RR too: 13 GB")
    args = parser.parse_args()
    for name, part in PARTS.items():
        if args.only in (None, name):
            part(args.full)


if __name__ == "__main__":
    main()
