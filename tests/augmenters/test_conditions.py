"""Conditions on generated triples: names, masks, exclusions, quotas; and drawing without replacement."""

from __future__ import annotations

import itertools
import json
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

import nnmfaug as na
from nnmfaug.augmenters.conditions import Conditions, Masks, exclude_also, in_any, race_order, take_each

GRAPH = na.KnowledgeGraph.from_labels(
    [("a", "likes", "b"), ("b", "likes", "c"), ("c", "likes", "d"), ("d", "hates", "a"), ("a", "hates", "c")]
)
NAMES = GRAPH.vocabulary
EVERY_ID = np.array(list(itertools.product(range(4), range(2), range(4))), dtype=np.int32)


@pytest.fixture
def dist() -> na.Distribution:
    return na.RandomTriples().fit(GRAPH)


# Conditions


def test_known_names_pass_the_check() -> None:
    Conditions(("likes",), ("a",), ("b", "c"), None, {"hates": 3}).check(NAMES)


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        (Conditions(relations=("like",)), "unknown relation 'like'; did you mean 'likes'"),
        (Conditions(heads=("x",)), "unknown entity 'x'; choose one of: a, b, c, d"),
        (Conditions(tails=("x",)), "unknown entity 'x'; choose one of: a, b, c, d"),
        (Conditions(quotas={"hate": 2}), "unknown relation 'hate'; did you mean 'hates'"),
    ],
    ids=["relation", "head", "tail", "quota"],
)
def test_an_unknown_name_is_refused(conditions: Conditions, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        conditions.check(NAMES)


def test_no_conditions_leave_the_distribution_as_it_is(dist: na.Distribution) -> None:
    assert Conditions().apply(dist) is dist


def test_conditions_restrict_the_distribution(dist: na.Distribution) -> None:
    known = na.KnowledgeGraph.from_labels([("a", "likes", "c")], NAMES)
    part = Conditions(("likes",), ("a",), ("b", "c", "d"), known).apply(dist)
    assert part.n_new == 1, "a likes b is in train, a likes c is excluded"
    assert part.sample(1, seed=0).labels == [("a", "likes", "d")]


def test_quotas_restrict_to_their_relations(dist: na.Distribution) -> None:
    part = Conditions(relations=("likes",), quotas={"hates": 2}).apply(dist)
    assert {r for _, r, _ in part.sample(part.n_new, seed=0).labels} == {"hates"}


def test_the_settings_are_plain_data() -> None:
    settings = Conditions(("likes",), None, None, GRAPH, {"hates": 3}).settings()
    assert json.loads(json.dumps(settings)) == {
        "relations": ["likes"],
        "heads": None,
        "tails": None,
        "quotas": {"hates": 3},
        "exclude_sha256": GRAPH.digest(),
    }


# Masks


def test_none_allows_every_triple() -> None:
    assert Masks.of(NAMES, None, None, None).allow(EVERY_ID).all()


def test_masks_allow_exactly_the_named_triples() -> None:
    masks = Masks.of(NAMES, ["hates"], ["a", "d"], iter(["b"]))
    allowed = na.KnowledgeGraph(NAMES, EVERY_ID[masks.allow(EVERY_ID)])
    assert allowed.labels() == [("a", "hates", "b"), ("d", "hates", "b")]


def test_no_names_allow_no_triple() -> None:
    assert not Masks.of(NAMES, [], None, None).allow(EVERY_ID).any()


def test_text_in_the_place_of_a_list_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"relations='likes': a list of names is needed, did you mean \['likes'\]"
    ):
        Masks.of(NAMES, "likes", None, None)


# exclusions


def test_nothing_to_exclude_changes_nothing() -> None:
    assert exclude_also((GRAPH,), None, NAMES) == (GRAPH,)


def test_excluded_triples_with_unknown_names_are_left_out() -> None:
    other = na.KnowledgeGraph.from_labels(
        [("a", "likes", "c"), ("a", "likes", "nobody"), ("nobody", "likes", "a"), ("a", "knows", "b")]
    )
    *_, excluded = exclude_also((GRAPH,), other, NAMES)
    assert excluded.vocabulary == NAMES
    assert excluded.labels() == [("a", "likes", "c")]


def test_a_triple_of_any_graph_is_in_any() -> None:
    other = na.KnowledgeGraph.from_labels([("a", "likes", "c")], NAMES)
    present = in_any((GRAPH, other), EVERY_ID)
    assert set(na.KnowledgeGraph(NAMES, EVERY_ID[present]).labels()) == {*GRAPH.labels(), *other.labels()}
    assert not in_any((), EVERY_ID).any()


# quotas


def test_each_relation_gets_its_quota_in_order_of_name(dist: na.Distribution) -> None:
    triples = take_each(dist, {"likes": 3, "hates": 2}, lambda part, n: part.sample(n, seed=0))
    rows = na.KnowledgeGraph(NAMES, triples).labels()
    assert [r for _, r, _ in rows] == ["hates"] * 2 + ["likes"] * 3
    assert len(set(rows)) == 5


def test_no_quotas_take_no_triples(dist: na.Distribution) -> None:
    assert take_each(dist, {}, lambda part, n: part.sample(n, seed=0)).shape == (0, 3)


def test_a_quota_that_is_too_large_names_its_relation(dist: na.Distribution) -> None:
    with pytest.raises(na.SamplingError, match="relation 'likes': 500 new triples were requested, but only 9"):
        take_each(dist, {"likes": 500}, lambda part, n: part.sample(n, seed=0))


# drawing without replacement


WEIGHTS = np.array([0.5, 0.3, 0.15, 0.05])
N_DRAWS = 20_000


def orders(n_draws: int) -> list[tuple[int, ...]]:
    rng = np.random.default_rng(0)
    return [tuple(race_order(np.log(WEIGHTS), rng).tolist()) for _ in range(n_draws)]


def probability(order: tuple[int, ...]) -> float:
    """Probability of drawing in this order: the product of wᵢ over the sum of the weights that are left."""
    weights = WEIGHTS[list(order)]
    left = np.cumsum(weights[::-1])[::-1]
    return float(np.prod(weights / left))


def test_orders_are_as_frequent_as_draws_without_replacement() -> None:
    counts = Counter(orders(N_DRAWS))
    every_order = list(itertools.permutations(range(4)))
    expected = np.array([probability(order) for order in every_order]) * N_DRAWS
    observed = [counts[order] for order in every_order]
    assert chisquare(observed, expected).pvalue > 0.001


def test_an_order_has_every_thing_once() -> None:
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders(20))


def test_a_weight_of_zero_comes_last() -> None:
    with np.errstate(divide="ignore"):
        log_weights = np.log(np.array([0.0, 1.0, 1.0]))
    rng = np.random.default_rng(0)
    assert {race_order(log_weights, rng)[-1] for _ in range(50)} == {0}
