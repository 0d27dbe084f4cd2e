"""Estimated precision against graphs whose whole truth is known, and against valid and test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.core.progress import reporting_to
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.completeness import DEFAULT_COMPLETENESS
from nnmfaug.quality.precision import jeffreys_interval
from tests.quality.graphs import noise

pytestmark = pytest.mark.slow  # each fits several times


def test_intervals_of_proportions_cover_them() -> None:
    rng = np.random.default_rng(0)
    intervals = [jeffreys_interval(int(k), 50) for k in rng.binomial(50, 0.2, size=2000)]
    assert 0.93 <= np.mean([low <= 0.2 <= high for low, high in intervals]) <= 0.975
    assert jeffreys_interval(0, 10)[0] == 0
    assert jeffreys_interval(10, 10)[1] == 1


class TestKnownTruth:
    @pytest.mark.parametrize("n", [200, 500, 1000])
    def test_the_estimate_is_close_if_completeness_is_given(self, n: int) -> None:
        for seed in range(3):
            world = na.family(200, seed=seed)
            precision = world.is_true(na.Rules().fit(world.given).top(n).triples).mean()
            estimate = na.estimate_precision(na.Rules(), world.given, n, completeness=0.8)
            assert estimate.precision == pytest.approx(precision, abs=0.10)

    def test_the_interval_covers_the_precision_if_completeness_is_estimated(self) -> None:
        covered = []
        for seed in range(10):
            world = na.family(200, seed=seed)
            precision = world.is_true(na.Rules().fit(world.given).top(200).triples).mean()
            estimate = na.estimate_precision(na.Rules(), world.given, 200, seed=seed)
            covered.append(estimate.low <= precision <= estimate.high)
        assert np.mean(covered) >= 0.8

    def test_triples_of_the_published_sampler_are_nearly_all_false(self) -> None:
        world = na.family(200, seed=0)
        method = na.NNMFAug(cluster=na.Agglomerative(20))
        estimate = na.estimate_precision(method, world.given, 300)
        precision = world.is_true(method.fit(world.given, seed=0).sample(300, seed=0).triples).mean()
        assert estimate.low <= precision <= estimate.high < 0.15

    def test_bands_and_relations_add_up(self) -> None:
        world = na.family(100, seed=0)
        estimate = na.estimate_precision(na.Rules(), world.given, 300)
        bands = estimate.bands
        assert sum(band.n for band in bands) == estimate.n == 300
        assert all(band.recovered <= band.listed for band in bands)
        assert estimate.precision == pytest.approx(sum(band.n * band.precision for band in bands) / 300)
        assert set(estimate.per_relation) <= set(world.given.vocabulary.relations)
        assert [band.low for band in bands] == sorted((band.low for band in bands), reverse=True)

    def test_a_band_counts_what_its_precision_rests_on(self) -> None:
        estimate = na.estimate_precision(na.Rules(), na.read_splits("nations").train, 50)
        for band in estimate.bands:
            assert band.recovered > 0.5 * band.precision * band.listed
        assert estimate.low > 0.1

    def test_the_completeness_of_a_method_is_that_of_its_estimate(self) -> None:
        graph = na.family(60, seed=0).given
        assert na.estimate_precision(na.Auto(completeness=0.6), graph).completeness == 0.6


class TestSize:
    def test_the_default_is_the_whole_list(self) -> None:
        graph = na.family(40, seed=0).given
        n = na.Rules().fit(graph).support_size
        estimate = na.estimate_precision(na.Rules(), graph)
        assert estimate == na.estimate_precision(na.Rules(), graph, n)
        assert estimate.n == n

    def test_the_default_without_a_list_is_a_tenth_of_the_graph(self) -> None:
        graph = na.family(40, seed=0).given
        estimate = na.estimate_precision(na.TypedTriples(), graph)
        assert estimate.n == len(graph) // 10
        assert estimate == na.estimate_precision(na.TypedTriples(), graph, len(graph) // 10)

    def test_of_a_tiny_graph_at_least_one_triple_is_drawn(self) -> None:
        graph = KnowledgeGraph.from_labels([("a", "r", "b"), ("b", "r", "c"), ("c", "s", "a")])
        assert na.estimate_precision(na.RandomTriples(), graph).n == 1

    def test_an_empty_list_is_no_error(self) -> None:
        graph = KnowledgeGraph.from_labels([(f"a{i}", "r", f"b{i}") for i in range(30)])
        estimate = na.estimate_precision(na.Rules(), graph)
        assert (estimate.n, estimate.precision, estimate.low, estimate.high) == (0, 0, 0, 0)
        assert estimate.bands == ()
        assert estimate.per_relation == {}


class TestAugmentersOfAugmenters:
    """Auto and Mixture of rules alone leave one out; others are refitted."""

    def test_auto_is_precise_on_a_family(self) -> None:
        world = na.family(100, seed=0)
        dist = na.Auto().fit(world.given, seed=0)
        estimate = na.estimate_precision(na.Auto(), world.given, seed=0)
        precision = world.is_true(dist.triples).mean()
        assert estimate.n == dist.support_size > 10
        assert estimate.low <= precision <= estimate.high
        assert estimate.precision > 0.5

    def test_a_mixture_ranks_its_better_augmenter_first(self) -> None:
        graph = na.family(40, seed=0).given
        method = na.Mixture((na.Rules(), na.TypedTriples()))
        top = na.estimate_precision(method, graph, 20)
        whole = na.estimate_precision(method, graph)
        assert whole.n > top.n == 20
        assert whole.precision < top.precision

    def test_auto_that_adds_nothing_has_an_estimate_of_none(self) -> None:
        with pytest.warns(UserWarning, match="no triple is worth adding") as caught:
            estimate = na.estimate_precision(na.Auto(), noise(60, 1, 284, seed=0))
        assert (estimate.n, estimate.precision) == (0, 0)
        assert len(caught) == 1

    def test_auto_of_rules_needs_no_refit(self) -> None:
        tasks: list[str] = []
        with reporting_to(lambda task, *_: tasks.append(task)):
            na.estimate_precision(na.Auto((na.Rules(depth=1),), threshold=0.1), na.family(40, seed=0).given)
        assert "applying rules" in tasks
        assert not {"refitting", "estimating precision"} & set(tasks)

    def test_the_seed_changes_no_estimate_of_rules(self) -> None:
        graph = na.read_splits("nations").train
        for method in (na.Rules(), na.Auto()):
            assert na.estimate_precision(method, graph, seed=0) == na.estimate_precision(method, graph, seed=1)

    def test_the_estimate_of_auto_is_near_its_own_probabilities(self) -> None:
        for name in ("nations", "umls"):
            train = na.read_splits(name).train
            own = na.Auto().fit(train).confidence.mean()
            assert na.estimate_precision(na.Auto(), train).precision == pytest.approx(own, abs=0.12)


class TestLittleEvidence:
    @pytest.mark.parametrize(("n", "relations", "size"), [(60, 1, 284), (100, 5, 2500)])
    def test_rules_of_a_random_graph_are_not_believed(self, n: int, relations: int, size: int) -> None:
        assert na.estimate_precision(na.Rules(), noise(n, relations, size, seed=0), 100).precision < 0.3

    def test_few_recovered_triples_are_not_believed(self) -> None:
        rows = [(f"a{i}", "r", f"b{i}") for i in range(20)] + [(f"a{i}", "s", f"b{i}") for i in range(10)]
        graph = KnowledgeGraph.from_labels(rows)
        assert na.estimate_precision(na.RandomTriples(), graph, 1).precision < 0.1

    def test_a_graph_without_rules_has_the_default_completeness(self) -> None:
        graph = KnowledgeGraph.from_labels([(f"a{i}", "r", f"b{i % 7}") for i in range(60)])
        estimate = na.estimate_precision(na.RandomTriples(), graph, 50)
        assert estimate.completeness == DEFAULT_COMPLETENESS
        assert estimate.low == 0
        assert estimate.precision < 0.2

    def test_a_refit_that_lists_nothing_is_no_error(self) -> None:
        rows = [(f"a{i}", "r", f"b{i}") for i in range(40)] + [(f"a{i}", "s", f"b{i}") for i in range(35)]
        graph = KnowledgeGraph.from_labels(rows)
        for seed in range(6):
            assert na.estimate_precision(na.Rules(), graph, 50, fraction=0.8, seed=seed).n <= 50


class TestArguments:
    @pytest.mark.parametrize("completeness", [0.0, 1.0, float("nan")])
    def test_a_completeness_is_between_zero_and_one(self, completeness: float) -> None:
        with pytest.raises(ValueError, match="completeness"):
            na.estimate_precision(na.Rules(), na.family(30, seed=0).given, 5, completeness=completeness)
        for method in (na.Auto, na.Mixture):
            with pytest.raises(ValueError, match="completeness"):
                method(completeness=completeness)

    @pytest.mark.parametrize("wrong", [{"n": 0}, {"n": -1}, {"fraction": 0.0}, {"fraction": 1.0}, {"n_refits": 1}])
    def test_settings_without_a_meaning_are_refused(self, wrong: dict[str, Any]) -> None:
        ((name, value),) = wrong.items()
        with pytest.raises(ValueError, match=f"^{name}={value}:"):
            na.estimate_precision(na.Rules(), na.family(30, seed=0).given, **{"n": 5, **wrong})


@pytest.mark.usefixtures("archives")
@pytest.mark.parametrize("name", ["dl50a", "wn18rr"])
def test_valid_and_test_confirm_the_estimate(name: str) -> None:
    splits = na.read_splits(name)
    known = len(splits.train) / len(splits.together())
    assert na.estimate_completeness(splits.train) == pytest.approx(known, abs=0.05)
    for amount in (0.05, 0.1, 0.2):
        n = int(amount * len(splits.train))
        triples = na.Rules().fit(splits.train).top(n).triples
        confirmed = (splits.valid.contains(triples) | splits.test.contains(triples)).mean()
        estimate = na.estimate_precision(na.Rules(), splits.train, n)
        assert estimate.precision == pytest.approx(confirmed, abs=0.07)
        assert estimate.low <= confirmed <= estimate.high
