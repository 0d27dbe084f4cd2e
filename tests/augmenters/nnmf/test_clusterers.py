"""Partitions, and the clusterers against scikit-learn and scipy on the rows repeated."""

from __future__ import annotations

import dataclasses
import tracemalloc
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cut_tree, linkage
from sklearn import cluster as sklearn_cluster
from sklearn.metrics import adjusted_rand_score as agreement

from nnmfaug.augmenters.nnmf import agglomeration, clusterers as clustering
from nnmfaug.augmenters.nnmf.agglomeration import Centres, Linkage, Matrix, cut, merge_all
from nnmfaug.augmenters.nnmf.clusterers import DBSCAN, HDBSCAN, Agglomerative, KMeans, cost
from nnmfaug.augmenters.nnmf.micro_clusters import micro_clusters
from nnmfaug.augmenters.nnmf.partition import Clusterer, Partition, cluster
from nnmfaug.core.distinct import distinct_rows
from nnmfaug.core.progress import reporting_to
from tests.examples import examples

Array = NDArray[np.float64]
Ids = NDArray[np.intp]
LINKAGES: tuple[Linkage, ...] = ("ward", "average", "complete", "single")
FAMILY: list[Clusterer] = [
    *(Agglomerative(n_clusters=4, linkage=name) for name in LINKAGES),
    KMeans(n_clusters=4),
    DBSCAN(eps=0.6, min_samples=6),
    HDBSCAN(min_cluster_size=8),
]


def repeated(seed: int, n_distinct: int, n_features: int, most: int = 6) -> Array:
    """Random rows, each standing 1 to ``most`` times, in random order."""
    rng = np.random.default_rng(seed)
    rows = rng.gamma(0.5, size=(n_distinct, n_features))
    return rng.permutation(np.repeat(rows, rng.integers(1, most + 1, n_distinct), axis=0))


def clumps(seed: int = 0) -> Array:
    """Five clumps of rows and some far from all, a quarter of them twice."""
    rng = np.random.default_rng(seed)
    rows = np.concatenate(
        [rng.normal(rng.uniform(-4, 4, 3), 0.3, size=(24, 3)) for _ in range(5)]
        + [rng.uniform(-9, 9, size=(6, 3))]
    )
    return rng.permutation(np.concatenate([rows, rows[::4]]))


def fit(clusterer: Clusterer, rows: Array, seed: int = 0) -> Partition:
    return cluster(clusterer, rows, np.ones(len(rows), dtype=np.bool_), seed=seed)


def sets(partition: Partition, names: NDArray[np.intp]) -> set[frozenset[int]]:
    """The clusters as sets of names, those in none as one more set."""
    groups = [frozenset(names[partition.labels == c].tolist()) for c in range(-1, partition.n_clusters)]
    return set(groups)


def sum_of_squares(rows: Array, labels: NDArray[Any]) -> float:
    """The sum of squares within clusters."""
    return sum(float(((rows[labels == c] - rows[labels == c].mean(0)) ** 2).sum()) for c in np.unique(labels))


# --- Partition -------------------------------------------------------------------------------------------------

labels = st.lists(st.integers(-1, 6), max_size=30).map(lambda values: np.array(values, dtype=np.int64))


@given(labels)
def test_members_are_the_labelled_entities_cluster_by_cluster(given_labels: NDArray[np.int64]) -> None:
    partition = Partition(given_labels.astype(np.int32))
    assert sorted(partition.members.tolist()) == np.flatnonzero(given_labels >= 0).tolist()
    assert partition.n_clusters == len(set(given_labels.tolist()) - {-1})
    assert partition.sizes.sum() == len(partition.members)
    for c in range(partition.n_clusters):
        inside = partition.members[partition.indptr[c] : partition.indptr[c + 1]]
        assert inside.tolist() == np.flatnonzero(partition.labels == c).tolist()
        assert len(inside) == partition.sizes[c] > 0


@given(labels)
def test_renumbering_keeps_who_is_with_whom_and_orders_by_smallest_entity(given_labels: NDArray[np.int64]) -> None:
    found = Partition(given_labels.astype(np.int32)).labels
    together = given_labels[:, None] == given_labels
    assert np.array_equal(found[:, None] == found, together)
    assert np.array_equal(found == -1, given_labels == -1)
    first = [int(np.flatnonzero(found == c)[0]) for c in range(found.max(initial=-1) + 1)]
    assert first == sorted(first)


@given(labels, st.permutations(range(7)))
def test_equal_partitions_are_equal_whatever_the_numbers(
    given_labels: NDArray[np.int64], names: list[int]
) -> None:
    renamed = np.array([*names, -1])[given_labels]
    assert Partition(renamed.astype(np.int32)) == Partition(given_labels.astype(np.int32))


@given(labels)
def test_a_partition_is_read_only_and_apart_from_what_it_was_made_of(given_labels: NDArray[np.int64]) -> None:
    source = given_labels.astype(np.int32)
    partition = Partition(source)
    assert not any(a.flags.writeable for a in (partition.labels, partition.indptr, partition.members))
    assert [a.dtype for a in (partition.labels, partition.indptr, partition.members)] == [
        np.int32,
        np.int64,
        np.int32,
    ]
    before = partition.labels.copy()
    source[:] = 5
    assert np.array_equal(partition.labels, before)


def test_different_partitions_are_not_equal() -> None:
    assert Partition(np.array([0, 0, 1], dtype=np.int32)) != Partition(np.array([0, 1, 1], dtype=np.int32))
    assert Partition(np.array([0, -1], dtype=np.int32)) != Partition(np.array([0, 0], dtype=np.int32))


@pytest.mark.parametrize("bad", [np.array([0.5]), np.array([[0]]), np.array([-2, 0]), np.array([True])])
def test_labels_that_cannot_be_are_refused(bad: NDArray[Any]) -> None:
    with pytest.raises(ValueError, match=r"labels of shape .* must be a row of integers from -1"):
        Partition(bad)


# --- agglomerative, against other implementations --------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_ward_on_distinct_rows_is_sklearns_on_all(seed: int) -> None:
    rows = repeated(seed, n_distinct=30 + 7 * seed, n_features=1 + seed % 9)
    n_distinct = len(np.unique(rows, axis=0))
    for n_clusters in (1, 2, 7, n_distinct // 2, n_distinct - 1, n_distinct):
        found = fit(Agglomerative(n_clusters), rows)
        theirs = sklearn_cluster.AgglomerativeClustering(n_clusters, linkage="ward").fit_predict(rows)
        assert found.n_clusters == n_clusters
        assert agreement(theirs, found.labels) == 1.0, n_clusters


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["average", "complete", "single"])
def test_other_linkages_on_distinct_rows_are_sklearns_and_scipys_on_all(seed: int, name: Linkage) -> None:
    rows = repeated(seed, n_distinct=60, n_features=1 + seed)
    tree = linkage(rows, name)
    for n_clusters in (2, 7, 30, 60):
        found = fit(Agglomerative(n_clusters, linkage=name), rows).labels
        theirs = sklearn_cluster.AgglomerativeClustering(n_clusters, linkage=name).fit_predict(rows)
        assert agreement(theirs, found) == 1.0, n_clusters
        assert agreement(cut_tree(tree, [n_clusters])[:, 0], found) == 1.0, n_clusters


@pytest.mark.parametrize("name", ["ward", "average"])
def test_how_often_a_row_stands_decides(name: Linkage) -> None:
    """So the tests above would see weights that are left out."""
    rows = repeated(0, n_distinct=60, n_features=3, most=40)
    alone = np.unique(rows, axis=0)
    inverse = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    found, without = fit(Agglomerative(7, name), rows), fit(Agglomerative(7, name), alone)
    assert agreement(found.labels, without.labels[inverse]) < 1.0


@pytest.mark.parametrize("name", LINKAGES)
def test_weights_and_the_plain_computation_agree(name: Linkage) -> None:
    """The same code on the rows repeated, each weighing 1, needs no other implementation to be right."""
    rows = repeated(3, n_distinct=80, n_features=4)
    plain = Agglomerative(9, name).label_rows(rows, np.ones(len(rows), dtype=np.int64), seed=0)
    assert agreement(plain, fit(Agglomerative(9, name), rows).labels) == 1.0


@pytest.mark.parametrize("name", LINKAGES)
@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_the_scale_of_features_does_not_matter(name: Linkage, scale: float) -> None:
    rows = repeated(1, n_distinct=40, n_features=3) / 100
    assert fit(Agglomerative(6, name), rows * scale) == fit(Agglomerative(6, name), rows)


def test_ward_finds_small_differences_far_from_the_origin() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, 200)
    rows = 1e8 + truth[:, None] * 1e-3 + rng.uniform(0, 1e-4, (200, 2))
    assert agreement(truth, fit(Agglomerative(5), rows).labels) == 1.0


@settings(max_examples=examples(150))
@given(
    st.lists(st.tuples(*[st.integers(0, 3)] * 2, st.integers(1, 3)), min_size=1, max_size=25),
    st.integers(1, 9),
    st.sampled_from(LINKAGES),
)
def test_ties_never_keep_it_from_ending_with_n_clusters(
    rows: list[tuple[int, int, int]], n_clusters: int, name: Linkage
) -> None:
    """Points of a grid, divided by 3 so that equal distances differ by rounding."""
    features = np.repeat([(x / 3, y / 3) for x, y, _ in rows], [n for _, _, n in rows], axis=0)
    n_clusters = min(n_clusters, len(np.unique(features, axis=0)))
    partition = fit(Agglomerative(n_clusters, name), features)
    assert partition.n_clusters == n_clusters
    assert len(partition.members) == len(features)


def test_a_merge_that_comes_nearer_than_its_parts_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounding could do that to any linkage; here it is the rule."""
    rng = np.random.default_rng(0)
    monkeypatch.setitem(agglomeration._UPDATES, "single", lambda a, b, _: np.minimum(a, b) * rng.random(len(a)))
    for _ in range(20):
        rows = rng.random((60, 2))
        assert fit(Agglomerative(9, "single"), rows).n_clusters == 9


def test_zero_and_minus_zero_are_one_row() -> None:
    assert fit(Agglomerative(2), np.array([[0.0], [1.0], [-0.0]])).labels.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match=r"n_clusters=3: there are only 2 distinct rows"):
        fit(Agglomerative(3), np.array([[0.0], [1.0], [-0.0]]))


def peak_bytes(clusterer: Agglomerative, rows: Array) -> int:
    counts = np.ones(len(rows), dtype=np.int64)
    tracemalloc.start()
    try:
        clusterer.label_rows(rows, counts, seed=0)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_ward_takes_memory_of_the_rows_not_of_their_pairs() -> None:
    rows = np.random.default_rng(0).random((5_000, 16))
    peak = peak_bytes(Agglomerative(50), rows)
    assert peak < 5_000**2 * 8 / 40
    needed = cost(Agglomerative(50), 5_000, 16)
    assert needed is not None
    assert needed.bytes / 2 < peak < needed.bytes


@pytest.mark.parametrize("name", ["average", "complete", "single"])
def test_the_memory_of_other_linkages_is_as_predicted(name: Linkage) -> None:
    needed = cost(Agglomerative(50, name), 1_000, 16)
    assert needed is not None
    peak = peak_bytes(Agglomerative(50, name), np.random.default_rng(0).random((1_000, 16)))
    assert 0.8 * needed.bytes < peak < 1.2 * needed.bytes


def test_progress_is_reported_and_comes_to_its_end() -> None:
    seen: list[tuple[str, int, int]] = []
    with reporting_to(lambda *what: seen.append(what)):
        fit(Agglomerative(5), np.random.default_rng(0).random((1_000, 2)))
    assert len(seen) > 3
    assert {(task, total) for task, _, total in seen} == {("clustering", 999)}
    done = [d for _, d, _ in seen]
    assert done == sorted(done)
    assert done[-1] == 999


# --- too many rows ---------------------------------------------------------------------------------------------


def test_above_the_limit_ward_is_approximate_says_so_and_is_close(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = rng.permutation(np.concatenate([rng.normal(3 * c, 0.4, size=(100, 4)) for c in range(6)]))
    exact = fit(Agglomerative(6), rows)
    monkeypatch.setattr(clustering, "MAX_EXACT_ROWS", 300)
    with pytest.warns(
        UserWarning, match=r"600 distinct rows .* 300: approximate tier, Ward of 120 micro-clusters"
    ):
        found = fit(Agglomerative(6), rows)
    assert found == exact
    with pytest.warns(UserWarning, match="Ward of 200 micro-clusters"):
        assert fit(Agglomerative(200), rows).n_clusters == 200


def test_micro_clusters_are_about_as_tight_as_bisecting_kmeans() -> None:
    rows = np.random.default_rng(0).gamma(0.3, size=(2_000, 5))
    theirs = sklearn_cluster.BisectingKMeans(400, random_state=0).fit_predict(rows)
    ours = micro_clusters(rows, np.ones(2_000), 400)
    assert sum_of_squares(rows, ours) < 1.3 * sum_of_squares(rows, theirs)


def test_micro_clusters_stand_at_the_mean_of_all_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = repeated(0, n_distinct=300, n_features=2, most=50)
    distinct, inverse, counts = distinct_rows(rows, np.arange(len(rows), dtype=np.intp))
    micro = micro_clusters(distinct, counts.astype(np.float64), 40)[inverse]
    means = np.stack([rows[micro == c].mean(axis=0) for c in range(40)])
    expected = np.asarray(Agglomerative(8).label_rows(means, np.bincount(micro), seed=0))[micro]
    monkeypatch.setattr(clustering, "MAX_EXACT_ROWS", 100)
    with pytest.warns(UserWarning, match="Ward of 40 micro-clusters"):
        assert agreement(expected, fit(Agglomerative(8), rows).labels) == 1.0


def test_rows_that_rounding_makes_equal_are_still_halved() -> None:
    rows = np.zeros((5, 2))
    rows[:, 0] = np.arange(5) * 5e-324
    assert sorted(micro_clusters(rows, np.ones(5), 5).tolist()) == [0, 1, 2, 3, 4]


def test_a_matrix_above_the_limit_is_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clustering, "MAX_BYTES", 1 << 20)
    rows = np.random.default_rng(0).random((1_000, 2))
    with pytest.raises(ValueError, match=r"'complete' of 1000 distinct rows needs .* GiB.*use linkage='ward'"):
        fit(Agglomerative(5, "complete"), rows)
    assert fit(Agglomerative(5), rows).n_clusters == 5


@pytest.mark.parametrize("clusterer", [Agglomerative("auto"), KMeans("auto")])
def test_auto_is_not_for_a_clustering_alone(clusterer: Agglomerative | KMeans) -> None:
    with pytest.raises(ValueError, match=r"n_clusters='auto': chosen by NNMFAug .* na\.select"):
        fit(clusterer, np.eye(3))
    with pytest.raises(ValueError, match="n_clusters='many': must be at least 1, or 'auto'"):
        type(clusterer)("many")  # type: ignore[arg-type]


def test_the_cost_includes_the_number_of_micro_clusters() -> None:
    assert cost(Agglomerative(), clustering.MAX_EXACT_ROWS, 4) == (20.0, 13_000_000, 0)
    for n_clusters, expected in (("auto", 20_000), (30_000, 30_000)):
        needed = cost(Agglomerative(n_clusters), clustering.MAX_EXACT_ROWS + 1, 4)  # type: ignore[arg-type]
        assert needed is not None
        assert needed.micro_clusters == expected


def test_costs_grow_with_the_square_up_to_the_limit_and_then_slowly() -> None:
    small, double, limit, huge = (
        cost(Agglomerative(), n, 16) for n in (10_000, 20_000, clustering.MAX_EXACT_ROWS, 10**6)
    )
    assert small is not None
    assert double is not None
    assert limit is not None
    assert huge is not None
    assert double.seconds == pytest.approx(4 * small.seconds)
    assert double.bytes == 2 * small.bytes
    assert huge.seconds < limit.seconds
    assert cost(KMeans(), 10, 2) is None


# --- scikit-learn's ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("eps", [0.3, 0.6, 1.2])
def test_dbscan_on_distinct_rows_is_sklearns_on_all(seed: int, eps: float) -> None:
    rows = repeated(seed, n_distinct=120, n_features=3)
    theirs = sklearn_cluster.DBSCAN(eps=eps, min_samples=6).fit(rows)
    found = fit(DBSCAN(eps, 6), rows).labels
    core, inverse = theirs.core_sample_indices_, distinct_rows(rows, np.arange(len(rows), dtype=np.intp))[1]
    assert np.array_equal(found == -1, theirs.labels_ == -1)
    assert agreement(theirs.labels_[core], found[core]) == 1.0
    ordered = np.concatenate([rows[inverse == i] for i in range(inverse.max() + 1)])
    theirs = sklearn_cluster.DBSCAN(eps=eps, min_samples=6).fit_predict(ordered)
    assert fit(DBSCAN(eps, 6), ordered) == Partition(theirs.astype(np.int32))


def test_dbscan_noise_is_in_no_cluster() -> None:
    partition = fit(DBSCAN(eps=0.5, min_samples=3), np.array([[0.0], [0.0], [9.0], [0.0], [5.0], [5.1], [5.2]]))
    assert partition.labels.tolist() == [0, 0, -1, 0, 1, 1, 1]
    assert partition.members.tolist() == [0, 1, 3, 4, 5, 6]


@pytest.mark.parametrize("seed", range(3))
def test_kmeans_counts_a_row_as_often_as_it_stands(seed: int) -> None:
    """At its end every row is nearest to the mean of its cluster, and the mean is over all rows."""
    rows = repeated(seed, n_distinct=600, n_features=3, most=60)
    alone, inverse = np.unique(rows, axis=0, return_inverse=True)

    def is_settled(labels: NDArray[np.int32]) -> bool:
        means = np.stack([rows[labels == c].mean(axis=0) for c in range(12)])
        return np.array_equal(((rows[:, None] - means) ** 2).sum(axis=2).argmin(axis=1), labels)

    assert is_settled(fit(KMeans(12), rows).labels)
    assert not is_settled(Partition(fit(KMeans(12), alone).labels[inverse.ravel()]).labels)


def test_kmeans_costs_what_sklearns_does_on_all_rows() -> None:
    theirs = sklearn_cluster.KMeans(4, n_init=10, random_state=0).fit(clumps())
    assert sum_of_squares(clumps(), fit(KMeans(4), clumps()).labels) == pytest.approx(theirs.inertia_)


def test_kmeans_draws_from_the_seed() -> None:
    rows = np.random.default_rng(0).random((300, 4))
    found = [fit(KMeans(20, n_init=1), rows, seed).labels.tobytes() for seed in (0, 0, 1, 2)]
    assert found[0] == found[1]
    assert len(set(found)) == 3


def test_any_fit_predict_is_a_clusterer() -> None:
    rows = clumps()
    for estimator in (sklearn_cluster.Birch(n_clusters=3), sklearn_cluster.MeanShift(), HDBSCAN()):
        theirs = np.asarray(estimator.fit_predict(rows))
        assert fit(estimator, rows) == Partition(theirs.astype(np.int32))


def test_hdbscan_is_sklearns_on_all_rows() -> None:
    theirs = sklearn_cluster.HDBSCAN(min_cluster_size=8, copy=True).fit_predict(clumps())
    assert (theirs == -1).any()
    assert fit(HDBSCAN(8), clumps()) == Partition(theirs.astype(np.int32))


# --- what holds for every clusterer ----------------------------------------------------------------------------


def test_the_family_is_whole() -> None:
    strategies: set[object] = {
        value
        for value in vars(clustering).values()
        if dataclasses.is_dataclass(value) and (hasattr(value, "label_rows") or hasattr(value, "fit_predict"))
    }
    assert strategies == {type(member) for member in FAMILY}
    assert all(type(member).__dataclass_params__.frozen for member in FAMILY)  # type: ignore[union-attr]


@pytest.mark.parametrize("clusterer", FAMILY, ids=repr)
class TestEveryClusterer:
    def test_finds_more_than_one_cluster(self, clusterer: Clusterer) -> None:
        assert 2 <= fit(clusterer, clumps()).n_clusters <= 12

    def test_gives_the_same_twice_and_leaves_the_features_alone(self, clusterer: Clusterer) -> None:
        rows = clumps()
        before = rows.copy()
        assert fit(clusterer, rows, seed=3) == fit(clusterer, rows, seed=3)
        assert np.array_equal(rows, before)

    def test_puts_entities_with_equal_rows_together(self, clusterer: Clusterer) -> None:
        rows = clumps()
        inverse = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
        found = fit(clusterer, rows).labels
        assert all(len(set(found[inverse == i].tolist())) == 1 for i in range(inverse.max() + 1))

    def test_does_not_depend_on_the_order_of_entities(self, clusterer: Clusterer) -> None:
        rows = clumps()
        names = np.random.default_rng(1).permutation(len(rows))
        assert sets(fit(clusterer, rows[names]), names) == sets(fit(clusterer, rows), np.arange(len(rows)))

    def test_sees_only_seen_entities(self, clusterer: Clusterer) -> None:
        rows = clumps()
        seen = np.random.default_rng(2).random(len(rows) + 50) < 0.5
        seen[np.flatnonzero(seen)[len(rows) :]] = False
        features = np.full((len(seen), 3), np.nan)
        features[seen] = rows[: seen.sum()]
        found = cluster(clusterer, features, seen, seed=0)
        assert (found.labels[~seen] == -1).all()
        assert Partition(found.labels[seen]) == fit(clusterer, rows[: seen.sum()])


def test_order_does_not_decide_ties() -> None:
    rows = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    for name in LINKAGES:
        expected = sets(fit(Agglomerative(7, name), rows), np.arange(36))
        for seed in range(3):
            names = np.random.default_rng(seed).permutation(36)
            assert sets(fit(Agglomerative(7, name), rows[names]), names) == expected


# --- what is refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Agglomerative(0), r"n_clusters=0: must be at least 1"),
        (
            lambda: Agglomerative(2, cast("Linkage", "centroid")),
            r"linkage='centroid': must be one of ward, average, complete, single",
        ),
        (lambda: KMeans(-1), r"n_clusters=-1: must be at least 1"),
        (lambda: KMeans(n_init=0), r"n_init=0: must be at least 1"),
        (lambda: DBSCAN(0.0), r"eps=0.0: must be a positive number"),
        (lambda: DBSCAN(float("nan")), r"eps=nan: must be a positive number"),
        (lambda: DBSCAN(1.0, 0), r"min_samples=0: must be at least 1"),
        (lambda: HDBSCAN(1), r"min_cluster_size=1: must be at least 2"),
        (lambda: fit(Agglomerative(5), np.eye(4)), r"n_clusters=5: there are only 4 distinct rows"),
        (lambda: fit(KMeans(3), np.array([[1.0], [1.0], [2.0]])), r"n_clusters=3: there are only 2 distinct rows"),
        (lambda: fit(KMeans(1), np.eye(2), seed=-1), r"seed=-1: must not be negative"),
        (lambda: fit(Agglomerative(1), np.array([[1.0], [np.nan]])), r"of 2 entities 2 are seen and 1 of these"),
        (
            lambda: cluster(Agglomerative(1), np.eye(2), np.zeros(2, dtype=bool), seed=0),
            r"of 2 entities 0 are seen",
        ),
        (lambda: cluster(Agglomerative(1), np.eye(2), np.ones(3, dtype=bool), seed=0), r"\(2, 2\).*\(3,\)"),
        (lambda: cluster(Agglomerative(1), np.eye(2), np.array([0, 1]), seed=0), r"int64 seen of shape \(2,\)"),
        (lambda: fit(Agglomerative(1), np.empty((3, 0))), r"features of shape \(3, 0\)"),
    ],
)
def test_what_cannot_be_is_refused_with_its_value(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("seed", range(5))
def test_ward_by_a_matrix_and_by_centres_are_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, weights = rng.random((120, 5)), rng.integers(1, 20, 120).astype(np.float64)
    by_matrix = merge_all(Matrix(rows, weights, "ward"), len(rows))
    by_centres = merge_all(Centres(rows, weights), len(rows))
    assert np.sort(by_matrix[1]) == pytest.approx(np.sort(by_centres[1]), rel=1e-9)
    for n_clusters in (2, 10, 60):
        labels = (cut(*merges, n_clusters) for merges in (by_matrix, by_centres))
        assert agreement(*labels) == 1


def merges_by_brute_force(rows: Array, weights: Array) -> tuple[Ids, Array]:
    """The same chain with every distance computed as a sum of squares."""

    class Plain(Centres):
        def _candidates(self, slot: int) -> Ids:
            return np.flatnonzero(np.isfinite(self._norms) & (np.arange(len(self.ids)) != slot))

    return merge_all(Plain(rows, weights), len(rows))


@pytest.mark.parametrize("scale", [1.0, 1e-7, 1e-9, 1e-12])
@pytest.mark.parametrize("decimals", [1, 16])
def test_bounds_rule_out_nothing_that_is_nearest_whatever_cancels(scale: float, decimals: int) -> None:
    rng = np.random.default_rng(7)
    rows = np.unique(0.5 + scale * rng.random((300, 4)).round(decimals), axis=0)  # near-equal, and many ties
    weights = rng.integers(1, 20, len(rows)).astype(np.float64)
    found, expected = merge_all(Centres(rows, weights), len(rows)), merges_by_brute_force(rows, weights)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])
