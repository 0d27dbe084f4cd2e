"""Factors against scikit-learn and SciPy on the C that nnmfaug never forms, and what holds for every embedding."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, replace
from functools import cache
from typing import Any, get_args

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, strategies as st
from sklearn import decomposition as sklearn_decomposition
from threadpoolctl import threadpool_info, threadpool_limits  # type: ignore[import-untyped]

import nnmfaug as na
from nnmfaug.augmenters.nnmf import nmf, nndsvd, spectral
from nnmfaug.augmenters.nnmf.affinity import Affinity
from nnmfaug.augmenters.nnmf.nmf import NMF, ConvergenceWarning, Factors, Start
from nnmfaug.augmenters.nnmf.spectral import Spectral
from nnmfaug.core import blocks, sparse
from nnmfaug.core.arrays import Array
from nnmfaug.core.sparse import DistinctRows
from nnmfaug.graph.counts import Counts

Row = tuple[str, str, str]
NAMES = ["nations", "kinships", "umls", "dl50a"]
SMALL = NAMES[:3]
PENALTIES = [(0.0, 0.0), (5.0, 0.0), (5.0, 1.0), (5.0, 0.3)]
row = st.tuples(st.sampled_from("abcdefg"), st.sampled_from("rstuv"), st.sampled_from("abcdefg"))
some = st.lists(row, min_size=1, max_size=30, unique=True)

TWICE = [(h, r, t) for r in ("r", "same as r") for h, t in ("ab", "ac", "db")]
"""Two relations with equal columns."""
RANK_TWO: list[Row] = [*TWICE, ("x", "s", "y"), ("x", "s", "z")]
"""Three relations, C of rank 2, in two blocks: an NNDSVD start is exact."""


@cache
def load(name: str) -> Counts:
    return Counts.of(na.read_splits(name).train)


@cache
def explicit(name: str) -> Array:
    return explicit_of(load(name))


@cache
def svd(name: str) -> tuple[Array, Array, Array]:
    u, s, vt = scipy.linalg.svd(explicit(name))
    return u, s, vt


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """For the implementations compared with: on a busy machine, threads of BLAS wait for each other."""
    with threadpool_limits(1, "blas"):
        yield


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    if chosen == "dl50a":
        request.getfixturevalue("archives")
    return chosen


def toy(rows: list[Row]) -> Counts:
    return Counts.of(na.KnowledgeGraph.from_labels(rows))


def explicit_of(counts: Counts) -> Array:
    seen = counts.seen
    return np.asarray(counts.heads[seen].toarray() @ counts.tails[seen].toarray().T, dtype=np.float64)


def quiet(nmf: NMF, counts: Counts, seed: int = 0) -> Factors:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return nmf.fit(counts, seed=seed)


def start_of(nmf: NMF, counts: Counts, seed: int = 0) -> tuple[Array, Array]:
    start = quiet(replace(nmf, max_iter=0), counts, seed)
    return start.head[counts.seen], start.tail[counts.seen]


def scikit_learn(nmf: NMF, c: Array, start: tuple[Array, Array]) -> tuple[Array, Array, int]:
    penalty = nmf.alpha / len(c)
    plain = sklearn_decomposition.NMF(
        nmf.n_components,
        init="custom",
        solver="cd",
        shuffle=False,
        tol=nmf.tol,
        max_iter=nmf.max_iter,
        alpha_W=penalty,
        alpha_H=penalty,
        l1_ratio=nmf.l1_ratio,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        w = plain.fit_transform(c, W=start[0].copy(), H=start[1].T.copy())
    return w, plain.components_.T, plain.n_iter_


def objective_of(nmf: NMF, c: Array, w: Array, h: Array) -> float:
    absolute, squared = w.sum() + h.sum(), np.sum(w**2) + np.sum(h**2)
    omega = nmf.l1_ratio * absolute + 0.5 * (1 - nmf.l1_ratio) * squared
    return float(0.5 * np.sum((c - w @ h.T) ** 2) + nmf.alpha * omega)


def nndsvd_of(c: Array, parts: tuple[Array, Array, Array], p: int, *, fill: bool) -> list[Array]:
    """The definition, as in Boutsidis and Gallopoulos and in scikit-learn, from an SVD of all of C."""
    u, s, vt = parts
    rank = int(np.sum(s > 1e-12 * s[0]))
    w, h = np.zeros((len(c), p)), np.zeros((len(c), p))
    w[:, 0], h[:, 0] = np.sqrt(s[0]) * np.abs(u[:, 0]), np.sqrt(s[0]) * np.abs(vt[0])
    for k in range(1, min(p, rank)):
        halves = [(np.maximum(sign * u[:, k], 0), np.maximum(sign * vt[k], 0)) for sign in (1, -1)]
        norms = [(np.linalg.norm(x), np.linalg.norm(y)) for x, y in halves]
        (x, y), (m, n) = max(zip(halves, norms, strict=True), key=lambda pair: pair[1][0] * pair[1][1])
        size = np.sqrt(s[k] * m * n)
        w[:, k], h[:, k] = size * x / m, size * y / n
    for x in (w, h):
        x[x < 1e-6] = c.mean() if fill else 0
    return [w, h]


def deviation(found: Array, expected: Array) -> float:
    """Largest error of a row, relative to that row."""
    scale = np.maximum(np.linalg.norm(expected, axis=1), 1e-9 * np.abs(expected).max())
    return float(np.max(np.linalg.norm(found - expected, axis=1) / scale))


# ── NMF against other implementations


@pytest.mark.parametrize(("alpha", "l1_ratio"), PENALTIES)
@pytest.mark.parametrize("init", ["nndsvda", "nndsvd"])
def test_factors_and_number_of_iterations_are_those_of_scikit_learn(
    name: str, alpha: float, l1_ratio: float, init: Start
) -> None:
    nmf = NMF(8, alpha, l1_ratio, init, tol=1e-4, max_iter=30 if name == "dl50a" else 200)
    counts, c = load(name), explicit(name)
    found = quiet(nmf, counts)
    w, h, n_iter = scikit_learn(nmf, c, start_of(nmf, counts))
    assert found.n_iter == n_iter
    assert deviation(found.head[counts.seen], w) < 1e-7
    assert deviation(found.tail[counts.seen], h) < 1e-7
    assert found.objective[-1] == pytest.approx(objective_of(nmf, c, w, h), rel=1e-7)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("tol", [1e-2, 1e-3])
def test_a_random_start_leads_where_scikit_learn_gets_from_it(name: str, tol: float) -> None:
    nmf, counts = NMF(5, init="random", tol=tol), load(name)
    found = quiet(nmf, counts, seed=3)
    w, h, n_iter = scikit_learn(nmf, explicit(name), start_of(nmf, counts, seed=3))
    assert found.n_iter == n_iter
    assert deviation(found.head[counts.seen], w) < 1e-7
    assert deviation(found.tail[counts.seen], h) < 1e-7


@pytest.mark.parametrize("fill", [True, False])
def test_the_start_is_nndsvd_of_the_exact_svd(name: str, fill: bool) -> None:
    nmf, counts = NMF(8, init="nndsvda" if fill else "nndsvd"), load(name)
    for found, expected in zip(
        start_of(nmf, counts), nndsvd_of(explicit(name), svd(name), 8, fill=fill), strict=True
    ):
        assert deviation(found, expected) < 1e-7


@pytest.mark.parametrize("fill", [True, False])
def test_beyond_the_rank_of_c_the_start_is_zero_or_the_mean(fill: bool) -> None:
    counts = toy(RANK_TWO)
    c = explicit_of(counts)
    found = start_of(NMF(5, init="nndsvda" if fill else "nndsvd"), counts)
    for x, expected in zip(found, nndsvd_of(c, scipy.linalg.svd(c), 5, fill=fill), strict=True):
        np.testing.assert_allclose(x, expected, rtol=1e-12)
        assert (x[:, 2:] == (c.mean() if fill else 0)).all()


def test_a_random_start_is_half_normal_of_the_scale_scikit_learn_takes() -> None:
    head, tail = start_of(NMF(8, init="random"), load("umls"))
    start = np.concatenate([head, tail])
    scale = np.sqrt(explicit("umls").mean() / 8)
    assert (start > 0).all()
    assert np.sqrt(np.mean(start**2)) == pytest.approx(scale, rel=0.05)
    assert np.mean(start) == pytest.approx(scale * np.sqrt(2 / np.pi), rel=0.05)
    assert abs(np.corrcoef(head.ravel(), tail.ravel())[0, 1]) < 0.1, "heads and tails are drawn apart"


# ── what NMF promises by itself


def test_the_defaults_converge_to_a_lower_objective_than_the_start_without_zeros(name: str) -> None:
    found, filled = NMF().fit(load(name)), quiet(NMF(init="nndsvda"), load(name))
    assert found.converged
    assert found.objective[-1] < 0.7 * filled.objective[-1]


def test_a_zero_of_the_start_can_become_positive_unless_its_column_is_beyond_the_rank(name: str) -> None:
    counts = load(name)
    start, found = quiet(NMF(max_iter=0), counts), quiet(NMF(), counts)
    zeros = (start.features == 0)[counts.seen]
    assert zeros.mean() > 0.3
    assert (found.features[counts.seen][zeros] > 0).mean() > 0.1
    beyond = quiet(NMF(5, tol=0, max_iter=20), toy(RANK_TWO))
    assert not beyond.head[:, 2:].any()
    assert not beyond.tail[:, 2:].any()


@given(some, st.sampled_from(PENALTIES), st.sampled_from(get_args(Start)), st.integers(1, 4))
def test_the_objective_is_the_explicit_one_and_never_rises(
    rows: list[Row], penalty: tuple[float, float], init: Start, p: int
) -> None:
    nmf, counts = NMF(p, *penalty, init=init, max_iter=10), toy(rows)
    if not counts.seen.any():
        return
    c = explicit_of(counts)
    found = quiet(nmf, counts)
    assert len(found.objective) == found.n_iter + 1
    assert found.objective[0] == pytest.approx(
        objective_of(nmf, c, *start_of(nmf, counts)), rel=1e-9, abs=1e-12 * np.sum(c**2)
    )
    assert found.objective[-1] == pytest.approx(
        objective_of(nmf, c, found.head[counts.seen], found.tail[counts.seen]), rel=1e-9, abs=1e-12 * np.sum(c**2)
    )
    assert max(np.diff(found.objective), default=0) <= 1e-9 * found.objective[0] + 1e-12 * np.sum(c**2)


def test_the_objective_of_an_exact_fit_is_not_lost_to_cancellation() -> None:
    counts = toy([(f"{h}{i}", r, t) for i in range(1000) for h, r, t in RANK_TWO])
    found = NMF(2, init="nndsvd", tol=0, max_iter=3).fit(counts)
    assert all(0 <= value < 1e-25 * Affinity.of(counts).squared_norm() for value in found.objective)


def test_more_iterations_reach_a_lower_objective_than_the_start() -> None:
    found = quiet(NMF(4), load("umls"))
    assert found.objective[-1] < 0.5 * found.objective[0]
    assert found.converged


def test_a_tighter_tolerance_never_stops_earlier() -> None:
    iterations = [quiet(NMF(4, tol=tol, max_iter=100), load("umls")).n_iter for tol in (1e-2, 1e-3, 1e-5, 0)]
    assert iterations == sorted(iterations)
    assert iterations[0] < iterations[-1] == 100


@pytest.mark.parametrize("init", ["nndsvda", "nndsvd"])
def test_distinct_rows_give_what_all_rows_give(init: Start) -> None:
    rows: list[Row] = [(f"{h}{i}", r, f"{t}{i % 4}") for i in range(30) for h, r, t in RANK_TWO]
    rows += [(f"a{i}", "s", "x0") for i in range(5)] + [("x0", "u", "a1"), ("x1", "u", "a2")]
    counts, nmf = toy(rows), NMF(2, 0.1, 0.5, init=init, max_iter=40)
    sides = replace(nmf, init="random")._sides(counts)
    assert len(counts.head_rows) < len(sides[0]) == counts.n_entities
    plain = nmf._descend(sides[0], sides[1], *start_of(nmf, counts))
    found = quiet(nmf, counts)
    assert found.n_iter == plain.n_iter
    assert found.converged == plain.converged
    np.testing.assert_allclose(found.objective, plain.objective, rtol=1e-10)
    assert deviation(found.features, plain.features) < 1e-9


@given(some)
def test_entities_with_equal_counts_have_equal_rows(rows: list[Row]) -> None:
    twins = [(h.upper(), r, t) for h, r, t in rows if h != t] + [(h, r, t) for h, r, t in rows if h != t]
    graph = na.KnowledgeGraph.from_labels([*twins, *((h, r, t.upper()) for h, r, t in twins)])
    found, ids = quiet(NMF(2), Counts.of(graph)), graph.vocabulary.entity_ids
    for entity in {h for h, _, _ in twins if h.islower()}:
        assert np.array_equal(found.features[ids[entity]], found.features[ids[entity.upper()]])


@pytest.mark.parametrize(
    "method",
    [*(NMF(3, init=init, max_iter=20, tol=0) for init in get_args(Start)), Spectral(3), Spectral(3, True)],
)
def test_entities_and_relations_without_a_triple_change_no_bit(method: NMF | Spectral) -> None:
    train = na.read_splits("umls").train
    names = na.Vocabulary.from_names(
        [*train.vocabulary.entities, "0 first", "n between", "~ last"],
        [*train.vocabulary.relations, "0 first", "n between", "~ last"],
    )
    larger = train.with_vocabulary(names)
    loops = na.KnowledgeGraph.from_labels(
        [
            *larger.labels(),
            ("n between", "n between", "n between"),
            ("0 first", train.vocabulary.relations[0], "0 first"),
        ],
        names,
    )
    before = method.fit(Counts.of(train), seed=5).features
    after = method.fit(Counts.of(loops), seed=5).features
    places = [names.entity_ids[entity] for entity in train.vocabulary.entities]
    assert np.array_equal(after[places], before)
    assert not np.delete(after, places, axis=0).any()
    assert len(after) == len(before) + 3


def test_the_seed_matters_for_a_random_start_only() -> None:
    for init in get_args(Start):
        nmf = NMF(3, init=init, max_iter=3, tol=0)
        first, again, other = (nmf.fit(load("nations"), seed=seed).features for seed in (1, 1, 2))
        assert np.array_equal(first, again)
        assert np.array_equal(first, other) == (init != "random")
    first, other = (Spectral().fit(load("nations"), seed=seed).features for seed in (1, 2))
    assert np.array_equal(first, other)


@pytest.mark.parametrize("method", [NMF(2, max_iter=1, tol=0), Spectral(4)])
def test_blas_has_one_thread_inside_and_gets_the_others_back(
    method: NMF | Spectral, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside: list[set[int]] = []
    plain = nndsvd.triangle

    def threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    def watched(side: DistinctRows, more: Array | None = None) -> Array:
        inside.append(threads())
        return plain(side, more)

    for module in (nndsvd, nmf, spectral):
        monkeypatch.setattr(module, "triangle", watched)
    with threadpool_limits(2, "blas"):
        method.fit(toy(RANK_TWO))  # of an exact fit, the objective alone is by LAPACK
        assert threads() == {2}
    assert inside
    assert all(seen == {1} for seen in inside)


@pytest.mark.parametrize("method", [NMF(4, 1, 0.5), NMF(4, init="nndsvd", max_iter=20, tol=0), Spectral(4)])
def test_many_blocks_of_rows_give_what_one_gives(method: NMF | Spectral, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = method.fit(load("umls")).features

    def small(n_rows: int, size: int = 0) -> list[slice]:
        assert size >= 0
        return blocks.blocks(n_rows, size=7)

    for module in (sparse, nndsvd, nmf):
        monkeypatch.setattr(module, "blocks", small)
    np.testing.assert_allclose(method.fit(load("umls")).features, whole, rtol=0, atol=1e-9 * np.abs(whole).max())


def test_features_are_head_and_tail_side_by_side_and_nothing_can_be_changed() -> None:
    found = NMF(3).fit(load("nations"))
    assert np.array_equal(found.features, np.hstack([found.head, found.tail]))
    vectors = Spectral(3).fit(load("nations"))
    for array in (found.head, found.tail, found.features, vectors.features, vectors.eigenvalues):
        assert array.dtype == np.float64
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(FrozenInstanceError):
        found.n_iter = 0  # type: ignore[misc]


@pytest.mark.parametrize("rows", [[], [("a", "r", "a")]])
def test_a_graph_without_triples_that_count_has_zero_rows(rows: list[Row]) -> None:
    counts = toy(rows)
    found = NMF(2).fit(counts)
    assert (found.objective, found.n_iter, found.converged) == ((0.0,), 0, True)
    for features in (
        found.features,
        Spectral(4).fit(counts).features,
        Spectral(2, directed=True).fit(counts).features,
    ):
        assert features.shape == (len(rows), 4)
        assert not features.any()


# ── warnings and errors


def test_stopping_before_convergence_warns() -> None:
    with pytest.warns(ConvergenceWarning, match=r"above tol=0\.001 after max_iter=3 iterations"):
        found = NMF(3, init="nndsvd", max_iter=3).fit(load("umls"))
    assert not found.converged
    assert found.n_iter == 3


def test_a_tolerance_of_zero_asks_for_all_iterations_and_does_not_warn() -> None:
    found = NMF(3, tol=0, max_iter=7).fit(load("umls"))
    assert (found.n_iter, found.converged) == (7, False)


def test_as_many_components_as_relations_warn_that_c_has_no_higher_rank() -> None:
    NMF(2, tol=0, max_iter=1).fit(toy(RANK_TWO))
    with pytest.warns(
        UserWarning, match=r"n_components=3: C has rank at most 3, .* W₁ = A, W₂ = Bᵀ is already exact"
    ):
        NMF(3, tol=0, max_iter=1).fit(toy(RANK_TWO))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_components": 0}, "n_components=0: must be at least 1, or 'auto'"),
        ({"n_components": "many"}, "n_components='many': must be at least 1, or 'auto'"),
        ({"alpha": -1.0}, r"alpha=-1\.0: must be finite and not negative"),
        ({"alpha": float("inf")}, "alpha=inf: must be finite"),
        ({"alpha": float("nan")}, "alpha=nan: must be finite"),
        ({"l1_ratio": 1.5}, r"l1_ratio=1\.5: must be between 0 and 1"),
        ({"init": "nndsvdar"}, "init='nndsvdar': must be one of nndsvd, nndsvda, random"),
        ({"tol": -1e-9}, "tol=-1e-09: must be at least 0"),
        ({"tol": float("nan")}, "tol=nan: must be at least 0"),
        ({"max_iter": -1}, "max_iter=-1: must be at least 0"),
    ],
)
def test_bad_arguments_are_named_with_their_value(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NMF(**arguments)


def test_auto_is_not_for_factors_alone() -> None:
    with pytest.raises(ValueError, match=r"n_components='auto': chosen by NNMFAug .* na\.select"):
        NMF("auto").fit(load("nations"))


def test_a_negative_seed_is_refused_where_something_is_drawn() -> None:
    with pytest.raises(ValueError, match="seed=-1"):
        NMF(2, init="random").fit(load("nations"), seed=-1)


def test_the_used_part_of_distinct_rows_is_what_the_used_part_has_distinct() -> None:
    rows: list[Row] = [("b", "r", "c"), ("d", "r", "c"), ("d", "s", "b"), ("e", "r", "c"), ("f", "t", "f")]
    counts = toy(rows)  # f has no triple that counts, and t none at all
    for matrix, distinct in ((counts.heads, counts.head_rows), (counts.tails, counts.tail_rows)):
        found = nndsvd.used_rows(distinct, counts.seen)
        expected = DistinctRows.of(nndsvd.used(matrix, counts.seen))
        np.testing.assert_array_equal(found.rows.toarray(), expected.rows.toarray())
        np.testing.assert_array_equal(found.inverse, expected.inverse)
        np.testing.assert_array_equal(found.counts, expected.counts)
