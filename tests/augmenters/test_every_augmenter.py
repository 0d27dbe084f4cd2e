"""What holds for everything that can be fitted to a train graph and asked for new triples."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.mixture import default_generators

WORLD = na.family(40, seed=0)
TRAIN = WORLD.given
SMALL = na.Rules(min_support=2, depth=2)
FAMILY: dict[str, Any] = {
    "NNMFAug": na.NNMFAug(cluster=na.Agglomerative(2)),
    "RandomTriples": na.RandomTriples(),
    "TypedTriples": na.TypedTriples(),
    "Rules": SMALL,
    "Nearby": na.Nearby(cluster=na.Agglomerative(2)),
    "Mixture": na.Mixture((SMALL, na.TypedTriples())),
    "Auto": na.Auto((SMALL,), threshold=0.2),
}
each = pytest.mark.parametrize("name", FAMILY)
FITTED = {name: method.fit(TRAIN, seed=0) for name, method in FAMILY.items()}


def test_every_augmenter_is_in_this_suite() -> None:
    public = {name: getattr(na, name) for name in na.__all__}
    fitted = {
        name
        for name, value in public.items()
        if inspect.isclass(value) and hasattr(value, "fit") and _on_graph(value)
    }
    assert fitted == set(FAMILY)


def _on_graph(value: type) -> bool:
    parameters = inspect.signature(value.fit).parameters  # type: ignore[attr-defined]
    return "graph" in parameters


@each
def test_what_is_sampled_is_new_and_different_and_of_train(name: str) -> None:
    sample = FITTED[name].sample(40, seed=1)
    triples = sample.triples
    assert len(sample) == len({tuple(row) for row in triples.tolist()}) == 40
    assert not TRAIN.contains(triples).any()
    assert (triples[:, 0] != triples[:, 2]).all()
    used = set(TRAIN.triples[:, [0, 2]].ravel().tolist())
    assert set(triples[:, [0, 2]].ravel().tolist()) <= used


@each
def test_the_same_seed_gives_the_same_triples(name: str) -> None:
    again = FAMILY[name].fit(TRAIN, seed=0).sample(30, seed=3)
    assert np.array_equal(again.triples, FITTED[name].sample(30, seed=3).triples)


@each
def test_the_law_sums_to_one_and_is_above_zero_on_its_support_alone(name: str) -> None:
    dist, n, r = FITTED[name], TRAIN.n_entities, TRAIN.n_relations
    everything = np.array(list(itertools.product(range(n), range(r), range(n))))
    probabilities = np.exp(dist.log_prob(everything))
    assert probabilities.sum() == pytest.approx(1)
    assert (probabilities > 0).sum() == dist.support_size
    assert ((probabilities > 0) & ~TRAIN.contains(everything)).sum() == dist.n_new


@each
def test_draws_are_of_the_support(name: str) -> None:
    draws = FITTED[name].draw(200, seed=0)
    assert draws.shape == (200, 3)
    assert np.isfinite(FITTED[name].log_prob(draws)).all()


@each
def test_more_than_there_is_raises_with_what_there_is(name: str) -> None:
    with pytest.raises(na.SamplingError) as caught:
        FITTED[name].sample(FITTED[name].n_new + 1, seed=0)
    assert caught.value.available == FITTED[name].n_new


@each
def test_names_that_train_does_not_use_change_nothing(name: str) -> None:
    names = TRAIN.vocabulary.union(na.Vocabulary.from_names(["aaa", "person_0000x", "zzz"], ["a", "z"]))
    wider = FAMILY[name].fit(TRAIN.with_vocabulary(names), seed=0)
    assert wider.sample(40, seed=2).labels == FITTED[name].sample(40, seed=2).labels


def test_names_that_train_does_not_use_do_not_change_how_deep_rules_go() -> None:
    dense = na.read_splits("kinships").train
    wider = dense.with_vocabulary(dense.vocabulary.union(na.Vocabulary.from_names(map(str, range(2000)), ["z"])))
    assert default_generators(wider) == default_generators(dense) == (na.Rules(depth=2),)


class TestListed:
    def test_top_is_the_most_probable(self) -> None:
        dist = FITTED["Rules"]
        best = dist.top(20)
        assert (np.diff(best.log_prob) <= 0).all()
        assert best.log_prob.min() >= np.sort(dist.log_prob(dist.triples))[-20]

    def test_samples_follow_the_law(self) -> None:
        triples = np.array([[0, 0, 1], [0, 0, 2], [1, 0, 2]], dtype=np.int32)
        graph = KnowledgeGraph.from_labels([("c", "r", "a"), ("c", "r", "b")])
        dist = na.Listed(graph, triples, np.array([0.8, 0.4, 0.2]), sharpness=2.0)
        first = [dist.sample(1, seed=seed).labels[0] for seed in range(3000)]
        expected = np.array([64, 16, 4]) / 84
        seen = [first.count(label) / 3000 for label in dist.top(3).labels]
        assert seen == pytest.approx(expected, abs=0.03)

    def test_conditions_hold_and_what_is_excluded_is_left_out(self) -> None:
        dist = FITTED["Rules"]
        relation = dist.top(1).labels[0][1]
        some = dist.restrict(relations=[relation])
        assert {r for _, r, _ in some.everything().labels} == {relation}
        without = some.restrict(exclude=some.top(3).graph)
        assert without.n_new == some.n_new - 3
        assert not set(without.everything().labels) & set(some.top(3).labels)
        assert without.support_size == some.support_size
        with pytest.raises(na.SamplingError, match="none of those listed"):
            dist.restrict(relations=["parent_of"], heads=["person_0000"], tails=["person_0001"])

    @pytest.mark.parametrize("name", ["Rules", "Mixture"])
    def test_what_is_not_listed_has_no_evidence(self, name: str) -> None:
        with pytest.raises(ValueError, match="not among the listed triples"):
            FITTED[name].explain(TRAIN.triples[:1])

    def test_above_keeps_what_is_confident_enough(self) -> None:
        dist = FITTED["Mixture"]
        assert np.array_equal(dist.above(0.3).confidence, dist.confidence[dist.confidence >= 0.3])


class TestMixture:
    def test_the_better_generator_comes_first_and_every_triple_knows_its_source(self) -> None:
        dist = FITTED["Mixture"]
        sources = [evidence.source for evidence in dist.explain(dist.triples)]
        assert set(sources[:20]) == {"rules"}
        assert sources.count("typedtriples") > 50
        drawn = np.array([source == "typedtriples" for source in sources])
        assert dist.confidence[drawn].mean() < dist.confidence[~drawn][:50].mean() / 5

    def test_no_generators_are_refused(self) -> None:
        with pytest.raises(ValueError, match="needs a generator"):
            na.Mixture(()).fit(TRAIN)

    def test_auto_says_why_it_adds_nothing(self) -> None:
        graph = KnowledgeGraph.from_labels([(f"a{i}", "r", f"b{i % 7}") for i in range(60)])
        with pytest.warns(UserWarning, match="no triple is worth adding"):
            dist = na.Auto().fit(graph)
        assert dist.n_new == len(dist.everything()) == 0

    @pytest.mark.parametrize("threshold", [0.0, 1.5])
    def test_a_threshold_is_a_probability(self, threshold: float) -> None:
        with pytest.raises(ValueError, match="threshold"):
            na.Auto(threshold=threshold)


def test_what_is_no_graph_is_told_where_its_graph_is() -> None:
    splits = na.read_splits("nations")
    for fit in (
        na.Rules().fit,
        na.NNMFAug().fit,
        na.Auto().fit,
        na.RandomTriples().fit,
        na.Nearby().fit,
        na.augment,
    ):
        with pytest.raises(TypeError, match=r"KnowledgeGraph is needed, not Splits: use its \.train"):
            fit(splits)  # type: ignore[arg-type]
    drawn = na.RandomTriples().fit(splits.train).sample(5, seed=0)
    with pytest.raises(TypeError, match=r"not Sample: use its \.graph"):
        na.diagnose(drawn, splits)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"not list$"):
        na.estimate_completeness([1, 2])  # type: ignore[arg-type]


def test_arms_say_what_they_cannot_do() -> None:
    splits = na.read_splits("nations")
    mars = na.KnowledgeGraph.from_labels([("mars", "embassy", "usa")])
    with pytest.raises(ValueError, match="'mars' is not a name"):
        na.diagnose(mars, splits)
    with pytest.raises(ValueError, match="must be a share of train"):
        na.Augmentation(na.Rules(), 500.0)
    with pytest.raises(ValueError, match="sharpness=-1"):
        na.Mixture(sharpness=-1)


def test_a_list_leaves_the_arrays_it_is_given_alone() -> None:
    rows, sure = np.array([[0, 0, 2]], dtype=np.int32), np.array([0.5])
    graph = na.KnowledgeGraph.from_labels([("a", "r", "b"), ("b", "r", "c")])
    dist = na.Listed(graph, rows, sure)
    assert rows.flags.writeable
    assert not dist.triples.flags.writeable
    assert dist.explain([[0, 0, 2]])[0].reason == ""
