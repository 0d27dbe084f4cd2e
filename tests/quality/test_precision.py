"""Precision without labels: the formula against a simulation, the estimate against a closed world."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import nnmfaug as na
from nnmfaug.augmenters.listed import Listed
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.calibration import Completeness, calibrate, jeffreys, surest, truth
from nnmfaug.quality.holdout import Conclusions, Refits, kinds, refit
from nnmfaug.quality.precision import LEAST_COMPLETENESS, USUAL_COMPLETENESS

Array = npt.NDArray[Any]


def alike(relations: npt.ArrayLike, confidence: Array) -> Conclusions:
    """Triples of these relations, each of a head and a tail of its own, of which the same is known."""
    n, kind = len(confidence), np.zeros(len(confidence), dtype=np.int64)
    rows = np.stack([np.arange(n), np.asarray(relations), n + np.arange(n)], axis=1).astype(np.int32)
    return Conclusions(rows, confidence, kind, np.ones((n, 2), dtype=np.int64))


class TestFormula:
    @pytest.mark.parametrize(("q", "rho"), [(0.8, 0.9), (0.5, 0.3), (0.95, 1.0)])
    def test_odds_of_coming_back_tell_the_probability_of_truth(self, q: float, rho: float) -> None:
        """Facts are true with chance rho, known with chance q, left out with chance s: count what comes back."""
        rng, n, s = np.random.default_rng(0), 400_000, 0.1
        true = rng.random(n) < rho
        known = true & (rng.random(n) < q)
        out = known & (rng.random(n) < s)
        unknown_to_refit = ~known | out
        back = out[unknown_to_refit].mean()
        odds = back / (1 - back) / s
        expected = true[~known].mean()
        assert truth(np.array([np.log(odds)]), q)[0] == pytest.approx(expected, abs=0.03)

    def test_the_share_left_out_does_not_tell_the_completeness(self) -> None:
        """Two worlds of other completeness and the same graph: what comes back is the same, whatever the share."""
        for s in (0.1, 0.2, 0.3):
            back = [rho * q * s / (1 - rho * q * (1 - s)) for q, rho in ((0.9, 0.5), (0.5, 0.9))]
            assert back[0] == pytest.approx(back[1])

    def test_probabilities_end_at_one(self) -> None:
        assert truth(np.array([-np.inf, 0.0, 10.0]), 0.5).tolist() == [0.0, 1.0, 1.0]

    def test_intervals_of_shares_hold_the_share(self) -> None:
        rng = np.random.default_rng(0)
        hits = rng.binomial(50, 0.2, size=2000)
        held = [low <= 0.2 <= high for low, high in (jeffreys(int(k), 50) for k in hits)]
        assert 0.93 <= np.mean(held) <= 0.975
        assert jeffreys(0, 10)[0] == 0
        assert jeffreys(10, 10)[1] == 1


class TestCalibration:
    def test_kinds_say_what_is_known_already(self) -> None:
        graph = KnowledgeGraph.from_labels([("a", "r", "b"), ("c", "r", "d"), ("a", "s", "d")])
        ids = KnowledgeGraph.from_labels(
            [("a", "r", "c"), ("b", "r", "d"), ("a", "r", "d"), ("b", "s", "a"), ("c", "s", "d")],
            graph.vocabulary,
            sort=False,
        )
        assert kinds(graph, ids.triples).tolist() == [1, 2, 7, 0, 6]

    def test_a_correction_is_learnt_where_relations_differ(self) -> None:
        rng = np.random.default_rng(0)
        rows = [(f"a{i}", f"r{i % 2}", f"b{i}") for i in range(2000)]
        graph = KnowledgeGraph.from_labels(rows)

        def fit(part: KnowledgeGraph) -> Listed:
            """What is missing: all of the even relation, and of the odd one with the wrong tails."""
            left = graph.triples[~part.contains(graph.triples)]
            odd = left[:, 1] == 1
            left[odd, 2] = rng.permutation(left[odd, 2])
            listed = left[(left[:, 1] == 0) | ~graph.contains(left)]
            return Listed(part, listed.astype(np.int32), np.full(len(listed), 0.5))

        found = calibrate(refit(fit, fit(graph), seed=0), graph.n_relations, Completeness(0.5))
        even, odd = found.log_odds(alike([0, 1], np.full(2, 0.5)))
        assert even > odd + 2

    def test_each_relation_has_its_own_slope(self) -> None:
        rng = np.random.default_rng(0)
        relation, sure = rng.integers(2, size=4000), rng.random(4000) < 0.5
        chance = np.where(relation == 1, 0.4, np.where(sure, 0.8, 0.01))  # of relation 1, confidence tells nothing
        listed = alike(relation, np.where(sure, 0.8, 0.3))
        refits = Refits(listed, rng.random(4000) < chance, np.arange(4000) % 5, 0.1)
        ends = alike([0, 0, 1, 1], np.array([0.3, 0.8] * 2))
        found = calibrate(refits, 2, Completeness(0.5)).log_odds(ends)
        wanted = np.log([0.01 / 0.99, 0.8 / 0.2, 0.4 / 0.6, 0.4 / 0.6]) - np.log(0.1)
        assert np.abs(found - wanted).max() < 0.6

    @pytest.mark.parametrize(("n", "sure"), [(5, False), (200, True)])
    def test_if_all_comes_back_it_is_believed_if_it_is_much(self, n: int, sure: bool) -> None:
        listed = alike(np.zeros(n, np.int64), np.full(n, 0.9))
        everything = Refits(listed, np.ones(n, np.bool_), np.arange(n) % 5, 0.1)
        odds = calibrate(everything, 1, Completeness(0.8)).log_odds(alike([0], np.array([0.9])))
        assert (truth(odds, 0.8) > 0.99).all() if sure else (truth(odds, 0.8) < 1e-6).all()

    def test_nothing_that_comes_back_is_no_error(self) -> None:
        graph = na.read_splits("nations").train
        nothing = Listed(graph, np.zeros((0, 3), dtype=np.int32), np.zeros(0))
        found = calibrate(refit(lambda _: nothing, nothing), graph.n_relations, Completeness(0.9))
        assert not len(found(graph, nothing.triples, nothing.confidence))


Uneven = tuple[KnowledgeGraph, Conclusions, Refits, Array, float]


@pytest.fixture(scope="module")
def world() -> Uneven:
    """Of what relation 0 lists all is true; of relation 1 half, which is listed for the well-known only."""
    rng = np.random.default_rng(0)
    person, relation, thing = (ids.ravel() for ids in np.mgrid[:400, :2, 400:500])
    listed = (relation == 0) | (person < 200)
    rows = np.column_stack([person, relation, thing])[listed].astype(np.int32)
    well, sure = rows[:, 0] < 200, rows[:, 1] == 0
    true = sure | (rng.random(len(rows)) < 0.5)
    known = true & (rng.random(len(rows)) < np.where(well, 0.95, 0.4))
    confidence = np.where(sure, 0.9, 0.6)
    graph = KnowledgeGraph(na.Vocabulary.from_names([f"e{i:03}" for i in range(500)], "ab"), rows[known])

    def fit(part: KnowledgeGraph) -> Listed:
        rest = ~part.contains(rows)
        return Listed(part, rows[rest], confidence[rest])

    full = fit(graph)
    conclusions = Conclusions.of(graph, full.triples, full.confidence)
    return graph, conclusions, refit(fit, full, seed=0), true[~known], known.sum() / true.sum()


class TestUnevenlyKnown:
    """Of half of the people, nearly all is known; of the others, less than half."""

    def test_how_much_is_known_of_somebody_is_seen(self, world: Uneven) -> None:
        _, listed, refits, _, share = world
        known = calibrate(refits, 2, Completeness(0.5)).known(listed)
        well = listed.triples[:, 0] < 200
        assert known[well].min() > known[~well].max()
        held = surest(refits, 2)
        assert held.slope is not None
        assert held.slope > 0.5
        assert held.share == pytest.approx(share, abs=0.08)

    def test_what_is_missing_person_by_person_is_not_taken_for_false(self, world: Uneven) -> None:
        graph, listed, refits, true, _ = world
        found = calibrate(refits, 2, surest(refits, 2))(graph, listed.triples, listed.confidence)
        well, sure = listed.triples[:, 0] < 200, listed.triples[:, 1] == 0
        for group in (well & sure, ~well & sure, ~sure):
            assert found[group].mean() == pytest.approx(true[group].mean(), abs=0.1)

    def test_what_is_listed_beyond_what_refits_saw_changes_nothing(
        self, world: Uneven, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        graph, listed, refits, _, _ = world
        found, sure = calibrate(refits, 2, surest(refits, 2)), listed.triples[:, 1] == 0
        seen, beyond = listed.triples[sure], listed.triples[~sure]
        alone = found(graph, seen, np.full(len(seen), 0.9))
        monkeypatch.setattr("nnmfaug.quality.calibration.MAX_SEEN", len(seen))
        confidence = np.repeat([0.9, 0.1], [len(seen), len(beyond)])
        together = found(graph, np.concatenate([seen, beyond]), confidence)
        assert np.array_equal(together[: len(seen)], alone)
        assert together[len(seen) :].max() < 1e-6

    def test_a_given_completeness_is_that_of_all(self, world: Uneven) -> None:
        _, _, refits, _, share = world
        held = surest(refits, 2)
        found = calibrate(refits, 2, Completeness(share, held.slope))
        known = found.known(refits.listed, refits.number)[refits.hit]
        each = 1 / (1 + np.exp(-found.level - found.slope * known))
        assert len(each) / (1 / each).sum() == pytest.approx(share)


class TestNoise:
    """A random graph has rules, too, of which none is sure."""

    @pytest.mark.parametrize(("n", "relations", "size"), [(60, 1, 284), (100, 5, 2500)])
    def test_nothing_is_added_to_a_random_graph(self, n: int, relations: int, size: int) -> None:
        ids = np.random.default_rng(0).integers(0, [n, relations, n], size=(size, 3))
        graph = KnowledgeGraph.from_labels([(f"e{h}", f"r{r}", f"e{t}") for h, r, t in ids.tolist() if h != t])
        with pytest.warns(UserWarning, match="no triple is worth adding"):
            assert na.Auto().fit(graph).n_new == 0
        assert na.estimate_completeness(graph) == LEAST_COMPLETENESS
        assert na.estimate_precision(na.Rules(), graph, 100).precision < 0.3

    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize(("n", "relations", "size"), [(10, 2, 60), (20, 3, 100), (30, 3, 300), (15, 1, 80)])
    def test_hardly_anything_is_added_to_a_small_one(self, n: int, relations: int, size: int, seed: int) -> None:
        ids = np.random.default_rng(seed).integers(0, [n, relations, n], size=(size, 3))
        graph = KnowledgeGraph.from_labels([(f"e{h}", f"r{r}", f"e{t}") for h, r, t in ids.tolist() if h != t])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert na.Auto().fit(graph).n_new < 0.1 * len(graph)

    def test_few_that_come_back_are_not_believed(self) -> None:
        rows = [(f"a{i}", "r", f"b{i}") for i in range(20)] + [(f"a{i}", "s", f"b{i}") for i in range(10)]
        graph = KnowledgeGraph.from_labels(rows)
        for seed in range(3):
            with pytest.warns(UserWarning, match="no triple is worth adding"):
                assert na.Auto().fit(graph, seed=seed).n_new == 0
        assert na.estimate_precision(na.RandomTriples(), graph, 1).precision < 0.1

    def test_three_triples_say_nothing(self) -> None:
        graph = KnowledgeGraph.from_labels([("a", "r", "b"), ("b", "r", "c"), ("c", "s", "a")])
        dist = na.Mixture((na.Rules(min_support=1), na.TypedTriples())).fit(graph)
        assert dist.confidence.max() < 0.2


class TestEstimate:
    @pytest.mark.parametrize("n", [200, 500, 1000])
    def test_is_close_to_the_truth_of_a_closed_world_if_completeness_is_given(self, n: int) -> None:
        worlds = [na.family(200, seed=seed) for seed in range(3)]
        for world in worlds:
            true = world.is_true(na.Rules().fit(world.given).top(n).triples).mean()
            found = na.estimate_precision(na.Rules(), world.given, n, completeness=0.8)
            assert found.precision == pytest.approx(true, abs=0.10)

    def test_its_interval_covers_the_truth_if_completeness_is_estimated(self) -> None:
        covered = []
        for seed in range(10):
            world = na.family(200, seed=seed)
            true = world.is_true(na.Rules().fit(world.given).top(200).triples).mean()
            found = na.estimate_precision(na.Rules(), world.given, 200, seed=seed)
            covered.append(found.low <= true <= found.high)
        assert np.mean(covered) >= 0.8

    def test_says_that_the_published_sampler_is_nearly_always_wrong(self) -> None:
        world = na.family(200, seed=0)
        method = na.NNMFAug(cluster=na.Agglomerative(20))
        found = na.estimate_precision(method, world.given, 300)
        true = world.is_true(method.fit(world.given, seed=0).sample(300, seed=0).triples).mean()
        assert found.low <= true <= found.high < 0.15

    def test_completeness_of_what_is_missing_at_random(self) -> None:
        truth_ = na.family(200, seed=0).truth
        for share in (0.1, 0.3):
            train = na.split(truth_, valid=0, test=share, seed=0).train
            assert na.estimate_completeness(train) == pytest.approx(1 - share, abs=0.04)

    def test_a_graph_without_rules_is_told_nothing(self) -> None:
        graph = KnowledgeGraph.from_labels([(f"a{i}", "r", f"b{i % 7}") for i in range(60)])
        found = na.estimate_precision(na.RandomTriples(), graph, 50)
        assert found.completeness == USUAL_COMPLETENESS
        assert found.low == 0
        assert found.precision < 0.2

    def test_bands_and_relations_add_up(self) -> None:
        world = na.family(100, seed=0)
        found = na.estimate_precision(na.Rules(), world.given, 300)
        assert sum(band.n for band in found.bands) == found.n == 300
        assert found.precision == pytest.approx(sum(band.n * band.precision for band in found.bands) / 300)
        assert set(found.per_relation) <= set(world.given.vocabulary.relations)
        assert [band.low for band in found.bands] == sorted((band.low for band in found.bands), reverse=True)

    @pytest.mark.parametrize("completeness", [0.0, 1.0, float("nan")])
    def test_a_completeness_is_between_zero_and_one(self, completeness: float) -> None:
        with pytest.raises(ValueError, match="completeness"):
            na.estimate_precision(na.Rules(), na.family(30, seed=0).given, 5, completeness=completeness)
        for method in (na.Auto, na.Mixture):
            with pytest.raises(ValueError, match="completeness"):
                method(completeness=completeness)

    @pytest.mark.parametrize("wrong", [{"n": 0}, {"n": -1}, {"share": 0.0}, {"share": 1.0}, {"n_refits": 1}])
    def test_settings_that_mean_nothing_are_refused(self, wrong: dict[str, Any]) -> None:
        ((name, value),) = wrong.items()
        with pytest.raises(ValueError, match=f"(^|[ ,]){name}={value}[,:]"):
            na.estimate_precision(na.Rules(), na.family(30, seed=0).given, **{"n": 5, **wrong})


@pytest.mark.parametrize("seed", range(5))
def test_auto_is_right_on_a_closed_world(seed: int) -> None:
    world = na.family(200, seed=seed)
    right = world.is_true(na.Auto().fit(world.given, seed=seed).everything().triples)
    assert right.mean() >= 0.95
    assert right.sum() >= 0.5 * len(world.missing)


@pytest.mark.usefixtures("archives")
@pytest.mark.parametrize("name", ["dl50a", "wn18rr"])
def test_the_estimate_is_what_valid_and_test_confirm(name: str) -> None:
    splits = na.read_splits(name)
    known = len(splits.train) / len(splits.together())
    assert na.estimate_completeness(splits.train) == pytest.approx(known, abs=0.05)
    for share in (0.05, 0.1, 0.2):
        n = int(share * len(splits.train))
        triples = na.Rules().fit(splits.train).top(n).triples
        confirmed = (splits.valid.contains(triples) | splits.test.contains(triples)).mean()
        found = na.estimate_precision(na.Rules(), splits.train, n)
        assert found.precision == pytest.approx(confirmed, abs=0.06)
        assert found.low <= confirmed <= found.high


class TestFewAndAlike:
    def test_a_refit_that_lists_nothing_is_no_error(self) -> None:
        rows = [(f"a{i}", "r", f"b{i}") for i in range(40)] + [(f"a{i}", "s", f"b{i}") for i in range(35)]
        graph = KnowledgeGraph.from_labels(rows)
        for seed in range(6):
            assert na.estimate_precision(na.Rules(), graph, 50, share=0.8, seed=seed).n <= 50

    @pytest.mark.parametrize("n", [200, 214, 300])
    def test_what_is_known_of_all_alike_counts_for_nothing(self, n: int) -> None:
        """Of couples the same is known; celebrities, of whom there is more, are alone in not having s."""
        rows = [(f"a{i:03}", "r", f"b{i:03}") for i in range(n)]
        rows += [(f"a{i:03}", "s", f"b{i:03}") for i in range(n) if i % 5]
        for i in range(20):
            rows += [(f"x{i}", "r", f"y{i}"), *((f"x{i}", "likes", f"z{i}-{j}") for j in range(30))]
        dist = na.Mixture().fit(KnowledgeGraph.from_labels(rows))
        assert dist.n_new > 20
        assert dist.confidence.max() < 0.05

    def test_if_little_comes_back_the_surest_are_those_of_most_confidence(self) -> None:
        rng = np.random.default_rng(0)
        confidence = np.repeat([0.9, 0.2], [30, 70])
        hit = np.repeat([True, False], [20, 80])
        order = rng.permutation(100)
        refits = Refits(alike(np.zeros(100), confidence[order]), hit[order], np.arange(100) % 5, 0.1)
        assert surest(refits, 1).share > 0.9
