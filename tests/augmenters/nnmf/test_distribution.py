"""The law of the paper against brute force on toy graphs, and what is drawn from it."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy.stats import chi2

import nnmfaug.augmenters.nnmf.distribution
import nnmfaug.augmenters.nnmf.normaliser
import nnmfaug.augmenters.nnmf.proposals
from nnmfaug.augmenters.nnmf.distribution import TripleDistribution
from nnmfaug.augmenters.nnmf.law import ClusterLaw
from nnmfaug.augmenters.nnmf.partition import Partition
from nnmfaug.augmenters.nnmf.proposals import Proposer
from nnmfaug.augmenters.nnmf.support import common
from nnmfaug.augmenters.nnmf.weights import (
    ClustersByPairs,
    ClustersBySize,
    ClusterWeights,
    CountProduct,
    PairsByDegree,
    PairWeights,
    UniformClusters,
    UniformPairs,
)
from nnmfaug.core.engines.base import running_on
from nnmfaug.core.engines.processes import Processes
from nnmfaug.core.errors import SamplingError
from nnmfaug.graph.counts import Counts
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary
from tests.examples import examples

CLUSTER_WEIGHTS: list[ClusterWeights] = [UniformClusters(), ClustersBySize(), ClustersByPairs()]
PAIR_WEIGHTS: list[PairWeights] = [UniformPairs(), PairsByDegree()]
RELATION_LAWS = [CountProduct(), CountProduct(0.01), CountProduct(0.0, 2.0), CountProduct(0.5, 0.5)]
Triple = tuple[int, int, int]


def distribution(
    graph: KnowledgeGraph,
    labels: list[int],
    clusters: ClusterWeights = CLUSTER_WEIGHTS[0],
    pairs: PairWeights = PAIR_WEIGHTS[0],
    relations: CountProduct = RELATION_LAWS[0],
) -> TripleDistribution:
    counts = Counts.of(graph)
    partition = Partition(np.array(labels, dtype=np.int32))
    everything = np.ones(graph.n_entities, dtype=bool)
    law = ClusterLaw(
        counts,
        partition.labels.astype(np.int64),
        clusters(partition.sizes),
        *pairs(counts),
        relations,
        everything,
        everything,
        np.ones(graph.n_relations, dtype=bool),
    )
    return TripleDistribution(graph, law, partition)


def brute_force(
    dist: TripleDistribution, clusters: ClusterWeights, pairs: PairWeights
) -> tuple[dict[Triple, float], float]:
    """Eq. 2 in plain loops: the probability of every triple, and the chance that a draw gives one."""
    labels = dist.partition.labels.tolist()
    a, b = dist.law.counts.heads.toarray(), dist.law.counts.tails.toarray()
    as_head, as_tail = pairs(dist.law.counts)
    sizes = np.array([labels.count(c) for c in range(max(labels) + 1)])
    chance = clusters(sizes) / max(clusters(sizes).sum(), 1e-300)
    law = dist.law.relation_law
    found: dict[Triple, float] = {}
    for c in range(len(sizes)):
        members = [e for e, label in enumerate(labels) if label == c]
        total = sum(as_head[h] * as_tail[t] for h, t in itertools.permutations(members, 2))
        for h, t in itertools.permutations(members, 2):
            d = [
                (int(x) * int(y) + law.smoothing) ** (1 / law.temperature) for x, y in zip(a[h], b[t], strict=True)
            ]
            for r, weight in enumerate(d):
                if weight > 0 and as_head[h] * as_tail[t] > 0:
                    found[h, r, t] = chance[c] * as_head[h] * as_tail[t] / total * weight / sum(d)
    z = sum(found.values())
    return {triple: p / z for triple, p in found.items()}, z


def everything(graph: KnowledgeGraph) -> NDArray[np.int64]:
    ids = itertools.product(range(graph.n_entities), range(graph.n_relations), range(graph.n_entities))
    return np.array(list(ids)).reshape(-1, 3)


@st.composite
def toys(draw: st.DrawFn) -> tuple[KnowledgeGraph, list[int]]:
    entity, relation = st.integers(0, 6), st.integers(0, 2)
    rows = draw(st.lists(st.tuples(entity, relation, entity), min_size=3, max_size=14))
    graph = KnowledgeGraph.from_labels([(f"e{h}", f"r{r}", f"e{t}") for h, r, t in rows])
    labels = draw(st.lists(st.integers(-1, 1), min_size=graph.n_entities, max_size=graph.n_entities))
    return graph, labels if max(labels) >= 0 else [0] * graph.n_entities


@pytest.mark.parametrize("clusters", CLUSTER_WEIGHTS)
@pytest.mark.parametrize("pairs", PAIR_WEIGHTS)
@pytest.mark.parametrize("relations", RELATION_LAWS)
@given(toy=toys())
@settings(max_examples=examples(25))
def test_log_prob_is_the_law_of_the_paper_and_sums_to_one(
    toy: tuple[KnowledgeGraph, list[int]], clusters: ClusterWeights, pairs: PairWeights, relations: CountProduct
) -> None:
    graph, labels = toy
    dist = distribution(graph, labels, clusters, pairs, relations)
    expected, chance = brute_force(dist, clusters, pairs)
    assert dist.law.least_support_size <= dist.support_size == len(expected)
    assert dist.n_new == len(set(expected) - set(map(tuple, graph.triples.tolist())))
    if not expected:
        return
    assert dist.acceptance == pytest.approx(chance, rel=1e-9)
    triples = everything(graph)
    got = np.exp(dist.log_prob(triples))
    assert got.sum() == pytest.approx(1, abs=1e-9)
    assert got == pytest.approx(
        [expected.get((h, r, t), 0.0) for h, r, t in triples.tolist()], rel=1e-9, abs=1e-15
    )


@pytest.mark.parametrize("relations", RELATION_LAWS)
@given(toy=toys(), data=st.data())
@settings(max_examples=examples(40))
def test_a_condition_renormalises_the_law_exactly(
    toy: tuple[KnowledgeGraph, list[int]], relations: CountProduct, data: st.DataObject
) -> None:
    graph, labels = toy
    dist = distribution(graph, labels, relations=relations)
    names = graph.vocabulary
    some_relations = data.draw(st.sets(st.sampled_from(names.relations), min_size=1))
    heads, tails = (data.draw(st.sets(st.sampled_from(names.entities), min_size=1)) for _ in range(2))
    triples = everything(graph)
    named = KnowledgeGraph(names, triples.astype(np.int32)).labels()
    allowed = [r in some_relations and h in heads and t in tails for h, r, t in named]
    expected = np.exp(dist.log_prob(triples)) * allowed if dist.support_size else np.zeros(len(triples))
    if expected.sum() == 0:
        with pytest.raises(SamplingError, match="no triple is possible"):
            dist.restrict(relations=some_relations, heads=heads, tails=tails)
        return
    restricted = dist.restrict(relations=some_relations, heads=heads, tails=tails)
    assert np.exp(restricted.log_prob(triples)) == pytest.approx(expected / expected.sum(), abs=1e-9)
    assert restricted.support_size == np.count_nonzero(expected)


LARGER = KnowledgeGraph.from_labels(
    [
        ("a", "r", "b"),
        ("b", "r", "c"),
        ("c", "s", "d"),
        ("d", "s", "a"),
        ("d", "r", "d"),
        ("e", "r", "a"),
        ("a", "s", "e"),
    ]
)
TOY = KnowledgeGraph.from_labels(
    [
        ("a", "r", "b"),
        ("a", "r", "c"),
        ("b", "r", "c"),
        ("b", "s", "a"),
        ("c", "s", "b"),
        ("d", "s", "a"),
        ("d", "r", "e"),
    ]
)
TOY_LABELS = [0, 0, 0, 1, 1]


def p_value(dist: TripleDistribution, truth: dict[Triple, float], seed: int, n: int = 200_000) -> float:
    drawn = dist.draw(n, seed=seed).tolist()
    assert set(map(tuple, drawn)) <= set(truth)
    counted = dict.fromkeys(truth, 0)
    for h, r, t in drawn:
        counted[h, r, t] += 1
    statistic = sum((counted[triple] - n * p) ** 2 / (n * p) for triple, p in truth.items())
    return float(chi2.sf(statistic, len(truth) - 1))


@pytest.mark.parametrize("pairs", PAIR_WEIGHTS)
@pytest.mark.parametrize("relations", RELATION_LAWS)
def test_draws_follow_the_law_and_would_not_follow_a_law_that_is_ten_percent_off(
    pairs: PairWeights, relations: CountProduct
) -> None:
    dist = distribution(TOY, TOY_LABELS, UniformClusters(), pairs, relations)
    truth, _ = brute_force(dist, UniformClusters(), pairs)
    if not relations.smoothing:
        assert len(truth) <= 20
    assert p_value(dist, truth, seed=5) > 0.001
    likeliest = max(truth, key=lambda triple: truth[triple])
    wrong = {triple: p * (1.1 if triple == likeliest else 1) for triple, p in truth.items()}
    total = sum(wrong.values())
    assert p_value(dist, {triple: p / total for triple, p in wrong.items()}, seed=5) < 1e-6


def ring(n: int) -> KnowledgeGraph:
    """Every entity is head and tail of the one relation, so that all pairs are possible."""
    return KnowledgeGraph.from_labels([(f"e{i:04}", "next", f"e{(i + 1) % n:04}") for i in range(n)])


def test_samples_are_new_unique_and_as_many_as_asked_whichever_way_they_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = ring(60)
    dist = distribution(graph, [0] * 30 + [1] * 30)
    assert dist.n_new == 2 * 30 * 29 - 58
    for always_listed in (0, 1 << 18):
        monkeypatch.setattr(nnmfaug.augmenters.nnmf.distribution, "ALWAYS_LISTED", always_listed)
        for n in (0, 1, 300, dist.n_new):
            sample = dist.sample(n, seed=0)
            assert len(set(map(tuple, sample.triples.tolist()))) == n
            assert not graph.contains(sample.triples).any()
            assert np.isfinite(sample.log_prob).all()
            assert (dist.partition.labels[sample.triples[:, 2]] == dist.clusters_of(sample.triples)).all()


@pytest.mark.slow
def test_the_first_of_a_sample_follow_the_law_given_that_they_are_new(monkeypatch: pytest.MonkeyPatch) -> None:
    dist = distribution(LARGER, [0] * 5)
    truth, _ = brute_force(dist, UniformClusters(), UniformPairs())
    new = {triple: p for triple, p in truth.items() if not LARGER.contains([triple])[0]}
    assert len(new) > 5
    for always_listed in (0, 1 << 18):
        monkeypatch.setattr(nnmfaug.augmenters.nnmf.distribution, "ALWAYS_LISTED", always_listed)
        n = 3000
        first = [tuple(dist.sample(1, seed=seed).triples[0].tolist()) for seed in range(n)]
        total = sum(new.values())
        statistic = sum((first.count(t) - n * p / total) ** 2 / (n * p / total) for t, p in new.items())
        assert chi2.sf(statistic, len(new) - 1) > 0.001


def test_asking_for_too_many_says_how_many_there_are_and_gives_them() -> None:
    dist = distribution(ring(10), [0] * 10)
    with pytest.raises(SamplingError, match="only 80 are possible") as caught:
        dist.sample(81, seed=0)
    assert caught.value.available == 80
    assert len(caught.value.partial) == 80  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n=-1"):
        dist.sample(-1, seed=0)


def test_top_are_the_most_probable_new_triples() -> None:
    dist = distribution(TOY, TOY_LABELS, pairs=PairsByDegree())
    truth, _ = brute_force(dist, UniformClusters(), PairsByDegree())
    new = sorted((-p, t) for t, p in truth.items() if not TOY.contains([t])[0])
    top = dist.top(len(new))
    assert np.exp(top.log_prob) == pytest.approx([-p for p, _ in new])
    assert set(map(tuple, top.triples[:1].tolist())) <= {t for p, t in new if math.isclose(p, new[0][0])}


def test_quotas_and_exclusions_are_kept() -> None:
    rows = [(f"e{i}", f"r{i % 3}", f"e{(i + 1) % 20}") for i in range(20)]
    graph = KnowledgeGraph.from_labels(rows)
    dist = distribution(graph, [0] * 20)
    sample = dist.sample_each({"r0": 5, "r2": 9}, seed=0)
    assert [r for _, r, _ in sample.labels].count("r0") == 5
    assert [r for _, r, _ in sample.labels].count("r2") == 9
    without = dist.restrict(exclude=sample.graph)
    assert without.n_new == dist.n_new - 14
    rest = without.sample(without.n_new, seed=0)
    assert not sample.graph.contains(rest.triples).any()


@pytest.mark.slow
def test_workers_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nnmfaug.augmenters.nnmf.distribution, "ALWAYS_LISTED", 0)
    dist = distribution(ring(2000), [0] * 2000)
    alone = dist.sample(70_000, seed=3)
    with running_on(Processes(2)):
        together = dist.sample(70_000, seed=3)
    assert alone.triples.tobytes() == together.triples.tobytes()
    assert dist.sample(100, seed=4).triples.tobytes() != alone.triples[:100].tobytes()


def test_few_compatible_pairs_do_not_slow_the_sampler_down() -> None:
    """Counted in proposals, not in seconds: one in 10⁵ pairs is possible, yet no proposal is lost."""
    n = 40_000
    rows = [(f"h{i}", "r", f"t{i}") for i in range(20)] + [(f"x{i}", f"s{i}", f"y{i}") for i in range(n // 2)]
    graph = KnowledgeGraph.from_labels(rows)
    dist = distribution(graph, [0] * graph.n_entities)
    assert dist.acceptance < 1e-4
    block = nnmfaug.augmenters.nnmf.proposals.Proposer(dist.law, 0)(0)
    assert len(block) == nnmfaug.augmenters.nnmf.proposals.DRAW_BLOCK


def test_an_estimated_normaliser_says_so_and_is_close(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = distribution(TOY, TOY_LABELS)
    assert exact.exact
    monkeypatch.setattr(nnmfaug.augmenters.nnmf.normaliser, "MAX_ROW_PAIRS", 0)
    estimated = distribution(TOY, TOY_LABELS)
    assert not estimated.exact
    assert estimated.acceptance == pytest.approx(exact.acceptance, rel=0.01)


def test_an_unknown_name_in_a_condition_is_named() -> None:
    dist = distribution(TOY, TOY_LABELS)
    with pytest.raises(ValueError, match="unknown relation 'zz'"):
        dist.restrict(relations=["zz"])
    with pytest.raises(ValueError, match="unknown entity 'zz'"):
        dist.restrict(tails=["zz"])


@pytest.mark.parametrize("what", ["relations", "heads", "tails"])
def test_a_string_where_names_are_needed_is_not_taken_apart(what: str) -> None:
    with pytest.raises(ValueError, match=rf"{what}='a': a list of names is needed, did you mean \['a'\]\?"):
        distribution(TOY, TOY_LABELS).restrict(**{what: "a"})  # type: ignore[arg-type]


APART = KnowledgeGraph.from_labels(
    [("a", "r", "b"), ("c", "r", "d"), ("c", "s", "a"), ("e", "s", "b"), ("a", "loop", "a")],
    Vocabulary.from_names("abcdef", ("r", "s", "loop", "never")),
)
"""In clusters {a, b}, {c, d} and {e}; f is in none."""


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ({"relations": []}, "the conditions together leave no relation"),
        (
            {"relations": ["never"]},
            "no triple of train, self-loops aside, has relation 'never'; smoothing above 0",
        ),
        ({"relations": ["loop", "never"]}, "has relation 'loop' or 'never'"),
        ({"heads": ["b"]}, "no triple of train, self-loops aside, has head 'b';"),
        ({"heads": ["b"], "relations": ["r"]}, "has head 'b' and relation 'r'"),
        ({"heads": ["e"], "relations": ["r"]}, "has head 'e' and relation 'r'"),
        ({"tails": ["c"], "relations": ["s"]}, "has tail 'c' and relation 's'"),
        ({"heads": ["b", "d", "f"], "relations": ["s"]}, "has head 'b' or 'd' or 'f' and relation 's'"),
        ({"heads": ["e"], "tails": ["d"]}, "no relation occurs in train with head 'e' and with tail 'd'"),
        ({"heads": ["a"], "tails": ["d"]}, "no cluster holds both head 'a' and tail 'd' of the same relation"),
        (
            {"heads": ["c"], "tails": ["b"], "relations": ["r"]},
            "no cluster holds both head 'c' and tail 'b'; fewer clusters may",
        ),
        ({"relations": ["s"]}, "no cluster holds both head 'c' or 'e' and tail 'a' or 'b'; fewer clusters may"),
    ],
)
def test_the_condition_that_leaves_no_triple_is_named(condition: dict[str, list[str]], reason: str) -> None:
    dist = distribution(APART, [0, 0, 1, 1, 2, -1])
    with pytest.raises(SamplingError, match="no triple is possible: .*" + re.escape(reason)) as caught:
        dist.restrict(**condition)  # type: ignore[arg-type]
    assert caught.value.available == 0


def test_conditions_that_contradict_each_other_noise_and_one_entity_twice_are_named_too() -> None:
    dist = distribution(APART, [0, 0, 1, 1, -1, -1])
    with pytest.raises(SamplingError, match="the conditions together leave no head"):
        dist.restrict(heads=["a"]).restrict(heads=["c"])
    with pytest.raises(SamplingError, match="head 'e' is in no cluster"):
        dist.restrict(heads=["e"])
    smooth = distribution(APART, [0, 0, 1, 1, 2, -1], relations=CountProduct(0.1))
    with pytest.raises(SamplingError, match="only 'a' could be head and tail"):
        smooth.restrict(heads=["a"], tails=["a"])
    with pytest.raises(SamplingError, match="no cluster holds both head 'a' and tail 'c'; fewer clusters may"):
        smooth.restrict(heads=["a"], tails=["c"])
    alone = distribution(APART, [0, 1, 2, 3, 4, -1])
    for ask in (alone.draw, alone.sample):
        with pytest.raises(SamplingError, match=r"possible: no cluster holds both head .* of the same relation"):
            ask(1, seed=0)


def test_where_all_is_known_nobody_is_told_to_ask_for_less() -> None:
    dist = distribution(KnowledgeGraph.from_labels([("a", "r", "b"), ("a", "r", "c")]), [0, 0, 0])
    none = r"no new triple is possible: all 2 possible triples are known; fewer clusters or smoothing"
    with pytest.raises(SamplingError, match=none):
        dist.sample(1, seed=0)
    with pytest.raises(SamplingError, match=none):
        dist.top(1)


def test_a_number_of_triples_is_whole() -> None:
    dist = distribution(ring(10), [0] * 10)
    for n in (2.5, 2.0, "2", None):
        for ask in (dist.sample, dist.draw):
            with pytest.raises(ValueError, match=f"n={n!r}: must be a whole number"):
                ask(n, seed=0)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="must be a whole number"):
            dist.top(n)  # type: ignore[arg-type]
    assert len(dist.sample(np.int64(2), seed=0)) == len(dist.top(np.uint8(2))) == 2  # type: ignore[arg-type]


def test_a_quota_that_cannot_be_met_names_its_relation() -> None:
    dist = distribution(APART, [0, 0, 1, 1, 2, -1])
    with pytest.raises(SamplingError, match="relation 's': no triple is possible: no cluster"):
        dist.sample_each({"s": 1}, seed=0)


@pytest.mark.parametrize("value", [-1.0, math.inf, math.nan])
def test_smoothing_and_temperature_are_finite(value: float) -> None:
    with pytest.raises(ValueError, match=f"smoothing={value}: must be a finite number from 0"):
        CountProduct(value)
    with pytest.raises(ValueError, match=f"temperature={value}: must be a finite number above 0"):
        CountProduct(temperature=value)


@given(st.lists(st.integers(0, 30), max_size=40), st.lists(st.integers(0, 30), max_size=40))
def test_what_two_ascending_arrays_share_is_their_intersection(a: list[int], b: list[int]) -> None:
    first, second = (np.sort(np.array(x, dtype=np.int64)) for x in (a, b))
    np.testing.assert_array_equal(common(first, second), np.intersect1d(first, second))


@pytest.mark.parametrize("pairs", PAIR_WEIGHTS)
def test_the_guide_finds_the_rectangle_that_a_search_finds(pairs: PairWeights) -> None:
    proposer = Proposer(distribution(TOY, TOY_LABELS, pairs=pairs).law, 0)
    steps = np.linspace(0, 1, 2 * nnmfaug.augmenters.nnmf.proposals.GUIDE, endpoint=False)
    uniform = np.concatenate([steps, np.nextafter(steps[1:], 0), np.random.default_rng(0).random(10_000)])
    searched = np.searchsorted(proposer.cumulative, uniform * proposer.cumulative[-1], side="right")
    np.testing.assert_array_equal(
        proposer._rectangles(uniform), np.minimum(searched, len(proposer.cumulative) - 1)
    )
