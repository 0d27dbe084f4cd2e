"""What holds for everything that can be fitted to a train graph and asked for new triples."""

from __future__ import annotations

import inspect
import itertools
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import nnmfaug as na
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.quality.auto import default_generators

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
OTHERS = {"Augmenter", "Duplicate", "Given", "ImportedRules"}
"""The protocol; a control that repeats train; triples from elsewhere, which need not be of this train graph; and
rules from a file, whose list equals that of the mined ones (``rules/test_imported.py``)."""
each = pytest.mark.parametrize("name", FAMILY)


@cache
def train_graph() -> KnowledgeGraph:
    return na.family(40, seed=0).given


@cache
def fitted(name: str) -> Any:
    return FAMILY[name].fit(train_graph(), seed=0)


@cache
def everything() -> NDArray[np.int64]:
    """All triples of ids."""
    n, r = train_graph().n_entities, train_graph().n_relations
    return np.array(list(itertools.product(range(n), range(r), range(n))))


def test_every_augmenter_is_in_this_suite() -> None:
    public = {name: getattr(na, name) for name in na.__all__}
    augmenters = {name for name, value in public.items() if inspect.isclass(value) and _fits_a_graph(value)}
    assert augmenters - OTHERS == set(FAMILY)


def _fits_a_graph(value: type) -> bool:
    return hasattr(value, "fit") and "graph" in inspect.signature(value.fit).parameters


@each
def test_a_fitted_augmenter_is_a_distribution(name: str) -> None:
    members = {member for member in dir(na.Distribution) if not member.startswith("_")}
    assert members == {"graph", "support_size", "n_new", "log_prob", "draw", "sample", "top", "restrict"}
    assert all(hasattr(fitted(name), member) for member in members)
    assert isinstance(fitted(name), na.Ranked) == isinstance(fitted(name), na.Listed)


@each
def test_top_is_new_and_the_most_probable(name: str) -> None:
    dist = fitted(name)
    best = dist.top(30)
    logs = dist.log_prob(everything()[~train_graph().contains(everything())])
    assert len(best) == 30
    assert not train_graph().contains(best.triples).any()
    np.testing.assert_allclose(best.log_prob, np.sort(logs)[::-1][:30], rtol=1e-12)
    with pytest.raises(na.SamplingError) as caught:
        dist.top(dist.n_new + 1)
    assert caught.value.available == dist.n_new


@each
def test_a_restricted_distribution_is_the_conditional_one(name: str) -> None:
    dist = fitted(name)
    names = train_graph().vocabulary
    h, r, t = dist.top(1).labels[0]
    some_heads = sorted({h, *(label[0] for label in dist.sample(20, seed=0).labels)})
    part = dist.restrict(relations=[r], heads=some_heads)
    triples = everything()
    heads = np.isin(triples[:, 0], [names.entity_ids[head] for head in some_heads])
    inside = heads & (triples[:, 1] == names.relation_ids[r])
    weights = np.where(inside, np.exp(dist.log_prob(triples)), 0)
    np.testing.assert_allclose(np.exp(part.log_prob(triples)), weights / weights.sum(), rtol=1e-9, atol=1e-300)
    assert part.support_size == (weights > 0).sum()
    assert set(part.top(part.n_new).labels) == set(part.sample(part.n_new, seed=3).labels)
    assert dist.restrict(relations=[r], heads=[h], tails=[t]).top(1).labels == [(h, r, t)]


@each
def test_what_is_excluded_is_left_out(name: str) -> None:
    dist = fitted(name)
    gone = dist.top(5).graph
    rest = dist.restrict(exclude=gone)
    assert rest.n_new == dist.n_new - 5
    assert rest.support_size == dist.support_size
    assert not gone.contains(rest.top(20).triples).any()
    assert not gone.contains(rest.sample(20, seed=0).triples).any()
    np.testing.assert_allclose(rest.log_prob(gone.triples), dist.log_prob(gone.triples))


@each
def test_names_that_train_does_not_have_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="unknown entity 'no one'"):
        fitted(name).restrict(heads=["no one"])
    with pytest.raises(ValueError, match=r"did you mean \['x'\]"):
        fitted(name).restrict(relations="x")


@each
def test_a_sample_carries_the_probability_of_a_calibrated_method(name: str) -> None:
    best = fitted(name).top(5)
    if name in ("Mixture", "Auto"):
        np.testing.assert_array_equal(best.probability, best.source.confidence_of(best.triples))
        assert best.first(2).probability is not None
        assert len(best.first(2).probability) == 2
    else:
        assert best.probability is best.first(2).probability is None
    assert best.first(2).labels == best.labels[:2]
    columns = ["head", "relation", "tail", "log_prob", "probability"]
    assert list(best.to_dataframe().columns) == columns[: 4 if best.probability is None else 5]


@each
def test_what_is_sampled_is_new_and_different_and_of_train(name: str) -> None:
    sample = fitted(name).sample(40, seed=1)
    triples = sample.triples
    assert len(sample) == len({tuple(row) for row in triples.tolist()}) == 40
    assert not train_graph().contains(triples).any()
    assert (triples[:, 0] != triples[:, 2]).all()
    used = set(train_graph().triples[:, [0, 2]].ravel().tolist())
    assert set(triples[:, [0, 2]].ravel().tolist()) <= used


@each
def test_the_same_seed_gives_the_same_triples(name: str) -> None:
    again = FAMILY[name].fit(train_graph(), seed=0).sample(30, seed=3)
    assert np.array_equal(again.triples, fitted(name).sample(30, seed=3).triples)


@each
def test_probabilities_sum_to_one_and_are_above_zero_on_its_support_alone(name: str) -> None:
    dist = fitted(name)
    probabilities = np.exp(dist.log_prob(everything()))
    assert probabilities.sum() == pytest.approx(1)
    assert (probabilities > 0).sum() == dist.support_size
    assert ((probabilities > 0) & ~train_graph().contains(everything())).sum() == dist.n_new


@each
def test_draws_are_of_the_support(name: str) -> None:
    draws = fitted(name).draw(200, seed=0)
    assert draws.shape == (200, 3)
    assert np.isfinite(fitted(name).log_prob(draws)).all()


@each
def test_more_than_there_is_raises_with_what_there_is(name: str) -> None:
    with pytest.raises(na.SamplingError) as caught:
        fitted(name).sample(fitted(name).n_new + 1, seed=0)
    assert caught.value.available == fitted(name).n_new


@each
def test_names_that_train_does_not_use_change_nothing(name: str) -> None:
    names = train_graph().vocabulary.union(na.Vocabulary.from_names(["aaa", "person_0000x", "zzz"], ["a", "z"]))
    wider = FAMILY[name].fit(train_graph().with_vocabulary(names), seed=0)
    assert wider.sample(40, seed=2).labels == fitted(name).sample(40, seed=2).labels


def test_names_that_train_does_not_use_do_not_change_how_deep_rules_go() -> None:
    dense = na.read_splits("kinships").train
    wider = dense.with_vocabulary(dense.vocabulary.union(na.Vocabulary.from_names(map(str, range(2000)), ["z"])))
    assert default_generators(wider) == default_generators(dense) == (na.Rules(depth=2, combine="fading"),)


class TestListed:
    def test_top_is_the_most_probable(self) -> None:
        dist = fitted("Rules")
        best = dist.top(20)
        assert (np.diff(best.log_prob) <= 0).all()
        assert best.log_prob.min() >= np.sort(dist.log_prob(dist.triples))[-20]

    def test_samples_follow_the_distribution(self) -> None:
        triples = np.array([[0, 0, 1], [0, 0, 2], [1, 0, 2]], dtype=np.int32)
        graph = KnowledgeGraph.from_labels([("c", "r", "a"), ("c", "r", "b")])
        dist = na.Listed(graph, triples, np.array([0.8, 0.4, 0.2]), sharpness=2.0)
        first = [dist.sample(1, seed=seed).labels[0] for seed in range(3000)]
        expected = np.array([64, 16, 4]) / 84
        seen = [first.count(label) / 3000 for label in dist.top(3).labels]
        assert seen == pytest.approx(expected, abs=0.03)

    def test_conditions_hold_and_what_is_excluded_is_left_out(self) -> None:
        dist = fitted("Rules")
        relation = dist.top(1).labels[0][1]
        some = dist.restrict(relations=[relation])
        assert {r for _, r, _ in some.everything().labels} == {relation}
        without = some.restrict(exclude=some.top(3).graph)
        assert without.n_new == some.n_new - 3
        assert not set(without.everything().labels) & set(some.top(3).labels)
        assert without.support_size == some.support_size
        with pytest.raises(na.SamplingError, match="none of those listed"):
            dist.restrict(relations=["parent_of"], heads=["person_0000"], tails=["person_0000"])

    @pytest.mark.parametrize("name", ["Rules", "Mixture"])
    def test_what_is_not_listed_has_no_evidence(self, name: str) -> None:
        with pytest.raises(ValueError, match="not among the listed triples"):
            fitted(name).explain(train_graph().triples[:1])

    def test_above_keeps_what_is_confident_enough(self) -> None:
        dist = fitted("Mixture")
        assert np.array_equal(dist.above(0.3).confidence, dist.confidence[dist.confidence >= 0.3])


class TestMixture:
    def test_the_better_generator_comes_first_and_every_triple_knows_its_source(self) -> None:
        dist = fitted("Mixture")
        sources = [evidence.source for evidence in dist.explain(dist.triples)]
        assert set(sources[:20]) == {"rules"}
        assert sources.count("typedtriples") > 50
        drawn = np.array([source == "typedtriples" for source in sources])
        assert dist.confidence[drawn].mean() < dist.confidence[~drawn][:50].mean() / 5

    def test_no_generators_are_refused(self) -> None:
        with pytest.raises(ValueError, match="at least one augmenter"):
            na.Mixture(()).fit(train_graph())

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
    with pytest.raises(ValueError, match="must be a fraction of train"):
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
