"""Random triples, with and without types: the law against brute force, and what is drawn from it."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Hashable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy.stats import chi2

import nnmfaug as na
from nnmfaug.augmenters import uniform as relation_product
from nnmfaug.augmenters.uniform import RelationUniform
from nnmfaug.core.errors import SamplingError
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import LabelledTriple, Vocabulary
from tests.examples import examples

Key = TypeVar("Key", bound=Hashable)
Control = na.RandomTriples | na.TypedTriples
CONTROLS: list[Control] = [na.RandomTriples(), na.TypedTriples()]
ROWS = [
    ("a", "likes", "b"),
    ("b", "likes", "c"),
    ("c", "likes", "a"),
    ("a", "likes", "d"),
    ("a", "knows", "b"),
    ("b", "knows", "a"),
    ("d", "owns", "e"),
    ("e", "likes", "e"),  # no more than this one makes e a head
    ("f", "likes", "f"),
    ("a", "sees", "a"),
]
TOY = KnowledgeGraph.from_labels(ROWS)
both = pytest.mark.parametrize("control", CONTROLS, ids=lambda control: type(control).__name__)


def brute_force(control: Control, rows: list[LabelledTriple]) -> dict[LabelledTriple, float]:
    """The probability of every possible triple, by names and sets."""
    facts = sorted({row for row in rows if row[0] != row[2]})
    as_head, as_tail = defaultdict(set), defaultdict(set)
    for h, r, t in facts:
        as_head[r].add(h)
        as_tail[r].add(t)
    frequency = Counter(r for _, r, _ in facts)
    found: dict[LabelledTriple, float] = {}
    for r in frequency:
        heads, tails, chance = as_head[r], as_tail[r], frequency[r] / len(facts)
        if isinstance(control, na.RandomTriples):
            heads = tails = {e for h, _, t in facts for e in (h, t)}
            chance = 1 / len(frequency)
        pairs = [(h, t) for h, t in itertools.product(heads, tails) if h != t]
        found |= {(h, r, t): chance / len(pairs) for h, t in pairs}
    return found


def everything(graph: KnowledgeGraph) -> NDArray[np.int64]:
    ids = itertools.product(range(graph.n_entities), range(graph.n_relations), range(graph.n_entities))
    return np.array(list(ids)).reshape(-1, 3)


def named(graph: KnowledgeGraph, triples: NDArray[np.int32] | NDArray[np.int64]) -> list[LabelledTriple]:
    names = graph.vocabulary
    return [(names.entities[h], names.relations[r], names.entities[t]) for h, r, t in triples.tolist()]


def too_far(seen: Counter[Key], expected: dict[Key, float]) -> bool:
    """Whether χ² says that the counts are not of this law."""
    n = sum(seen.values())
    assert set(seen) <= set(expected)
    statistic = sum((seen[key] - n * p) ** 2 / (n * p) for key, p in expected.items())
    return bool(statistic > chi2.ppf(0.9999, len(expected) - 1))


@st.composite
def rows(draw: st.DrawFn) -> list[LabelledTriple]:
    entity, relation = st.integers(0, 6), st.integers(0, 2)
    ids = draw(st.lists(st.tuples(entity, relation, entity), min_size=1, max_size=20))
    found = [(f"e{h}", f"r{r}", f"e{t}") for h, r, t in ids]
    return found if any(h != t for h, _, t in found) else [*found, ("e0", "r0", "e1")]


@both
@given(toy=rows(), seed=st.integers(0, 99))
@settings(max_examples=examples(60))
def test_all_that_can_be_sampled_is_the_support_without_the_graph(
    control: Control, toy: list[LabelledTriple], seed: int
) -> None:
    graph, expected = KnowledgeGraph.from_labels(toy), brute_force(control, toy)
    dist = control.fit(graph)
    triples = everything(graph)
    got = np.exp(dist.log_prob(triples))
    assert got.sum() == pytest.approx(1, abs=1e-12)
    assert got == pytest.approx([expected.get(row, 0) for row in named(graph, triples)], rel=1e-12)
    assert dist.support_size == len(expected)
    assert dist.n_new == len(set(expected) - set(toy))
    sample = dist.sample(dist.n_new, seed=seed)
    assert len(sample) == dist.n_new
    assert set(sample.labels) == set(expected) - set(toy)
    some = dist.sample(dist.n_new // 2, seed=seed).labels
    assert len(set(some)) == dist.n_new // 2
    assert set(some) <= set(sample.labels)


@both
def test_draws_follow_the_law(control: Control) -> None:
    draws = control.fit(TOY).draw(50_000, seed=0)
    assert draws.dtype == np.int32
    assert not too_far(Counter(named(TOY, draws)), brute_force(control, ROWS))


def successive(law: dict[LabelledTriple, float], n: int) -> dict[tuple[LabelledTriple, ...], float]:
    """The probability of every sequence of n different new triples, drawn one by one."""
    total = sum(law.values())
    found = {}
    for sequence in itertools.permutations(law, n):
        left, chance = total, 1.0
        for row in sequence:
            chance *= law[row] / left
            left -= law[row]
        found[sequence] = chance
    return found


NEARLY_FULL = [
    ("a", "r", "b"),
    ("b", "r", "c"),
    ("c", "r", "a"),
    ("c", "s", "a"),
    ("b", "s", "c"),
    ("d", "q", "a"),
]
NEARLY_EMPTY = [*((f"{i}", "r", f"{(i + 1) % 5}") for i in range(5)), ("0", "s", "2"), ("1", "s", "3")]


@pytest.mark.parametrize(
    ("toy", "n"), [(NEARLY_FULL, 1), (NEARLY_FULL, 2), (NEARLY_FULL, 3), (NEARLY_EMPTY, 1), (NEARLY_EMPTY, 2)]
)
def test_a_sample_is_a_sequence_of_draws_given_that_they_are_new_and_differ(
    toy: list[LabelledTriple], n: int
) -> None:
    dist = na.TypedTriples().fit(KnowledgeGraph.from_labels(toy))
    new = {row: p for row, p in brute_force(na.TypedTriples(), toy).items() if row not in toy}
    seen = Counter(tuple(dist.sample(n, seed=seed).labels) for seed in range(4000))
    assert not too_far(seen, successive(new, n))


@pytest.mark.parametrize("span", [None, 0.5])
def test_the_order_of_relations_is_right_in_one_span_and_in_many(
    monkeypatch: pytest.MonkeyPatch, span: float | None
) -> None:
    """Against drawing one by one; a span is cut short, so that what is left over must be drawn too."""
    weights, left = np.array([0.5, 0.1, 0.02]), np.array([1, 3, 10])
    law = {("", str(group), str(i)): w for group, w in enumerate(weights.tolist()) for i in range(left[group])}
    expected: dict[tuple[int, ...], float] = defaultdict(float)
    for sequence, p in successive(law, 3).items():
        expected[tuple(int(group) for _, group, _ in sequence)] += p
    if span:
        monkeypatch.setattr(relation_product, "_span", lambda *_: span)
    rng = np.random.default_rng(0)
    seen = Counter(tuple(relation_product._race(weights, left, 3, rng).tolist()) for _ in range(5000))
    assert not too_far(seen, expected)


def test_a_span_is_long_enough_and_not_far_too_long() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        weights, left = rng.random(20) ** 8 + 1e-12, rng.integers(0, 10**9, 20)
        wanted = float(rng.integers(1, int(0.9 * left.sum())))
        expected = -np.expm1(-weights * relation_product._span(weights, left, wanted)) @ left
        assert wanted <= expected <= 2 * wanted + 1
    assert relation_product._span(np.ones(2), np.array([3, 4]), 6.9) == np.inf


def faults(control: Control, train: KnowledgeGraph, sample: na.Sample) -> list[str]:
    """Check by names and sets alone."""
    known = set(train.labels())
    facts = [row for row in known if row[0] != row[2]]
    entities, relations = {e for h, _, t in facts for e in (h, t)}, {r for _, r, _ in facts}
    heads, tails = {(h, r) for h, r, _ in facts}, {(r, t) for _, r, t in facts}
    found = [] if len(set(sample.labels)) == len(sample) else ["repeated"]
    for h, r, t in sample.labels:
        if (h, r, t) in known:
            found.append(f"known {h, r, t}")
        if h == t or r not in relations or not {h, t} <= entities:
            found.append(f"impossible {h, r, t}")
        if isinstance(control, na.TypedTriples) and not ((h, r) in heads and (r, t) in tails):
            found.append(f"of the wrong type {h, r, t}")
    return found


@both
@pytest.mark.parametrize("n", [0, 1, 500, 5_000])
def test_samples_of_umls_are_valid_in_every_respect(control: Control, n: int) -> None:
    train = na.read_splits("umls").train
    sample = control.fit(train).sample(n, seed=3)
    assert len(sample) == n
    assert faults(control, train, sample) == []
    assert sample.log_prob.shape == (n,)
    assert np.isfinite(sample.log_prob).all()


@both
@pytest.mark.parametrize("name", ["wn18rr", "fb15k-237"])
def test_samples_of_large_graphs_are_valid_and_exact_in_number(
    archives: Path, control: Control, name: str
) -> None:
    assert archives.is_dir()
    train = na.read_splits(name).train
    dist = control.fit(train)
    if isinstance(control, na.RandomTriples):
        n = len({e for h, _, t in train.triples.tolist() if h != t for e in (h, t)})
        n_relations = len({r for h, r, t in train.triples.tolist() if h != t})
        assert dist.support_size == n * (n - 1) * n_relations > 10**10
    loops = int((train.triples[:, 0] == train.triples[:, 2]).sum())
    assert dist.n_new == dist.support_size - len(train) + loops
    sample = dist.sample(50_000, seed=1)
    assert len(sample) == 50_000
    assert faults(control, train, sample) == []


def test_a_large_support_can_be_exhausted() -> None:
    train = na.read_splits("umls").train
    dist = na.RandomTriples().fit(train)
    assert dist.support_size == 135 * 134 * 46
    assert len(dist.sample(dist.n_new - 1, seed=0).graph._sorted_keys) == dist.n_new - 1


def test_frequent_relations_run_dry_and_the_others_go_on() -> None:
    """Nearly all of the weight is on a relation without a new pair, and on one with a single new pair."""
    grid = [(f"a{i}", "full", f"b{j}") for i in range(40) for j in range(40)]
    nearly = [(h, "nearly", t) for h, _, t in grid][1:]
    rare = [(f"c{i}", "rare", f"d{i}") for i in range(60)]
    graph = KnowledgeGraph.from_labels([*grid, *nearly, *rare])
    dist = na.TypedTriples().fit(graph)
    assert dist.n_new == 1 + 60 * 59
    for n in (100, 3_000, dist.n_new):
        counts = Counter(r for _, r, _ in dist.sample(n, seed=0).labels)
        assert counts["full"] == 0
        assert counts["rare"] + counts["nearly"] == n
        assert counts["nearly"] <= 1
    assert counts["nearly"] == 1


@both
def test_asking_for_too_much_tells_how_much_there_is_and_gives_it(control: Control) -> None:
    dist = control.fit(TOY)
    with pytest.raises(SamplingError, match=f"only {dist.n_new} are possible") as caught:
        dist.sample(dist.n_new + 1, seed=0)
    assert caught.value.available == dist.n_new
    assert isinstance(caught.value.partial, na.Sample)
    assert set(caught.value.partial.labels) == set(brute_force(control, ROWS)) - set(ROWS)


def test_too_much_to_list_is_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relation_product, "MAX_LISTED", 3)
    with pytest.raises(SamplingError) as caught:
        na.RandomTriples().fit(TOY).sample(10**9, seed=0)
    assert caught.value.partial is None


def test_a_graph_without_a_new_triple_ends_at_once() -> None:
    graph = KnowledgeGraph.from_labels([(f"a{i}", "r", f"b{j}") for i in range(30) for j in range(30)])
    dist = na.TypedTriples().fit(graph)
    assert dist.n_new == len(dist.sample(0, seed=0)) == 0
    with pytest.raises(SamplingError) as caught:
        dist.sample(1, seed=0)
    assert caught.value.available == 0


@both
def test_names_of_valid_and_test_change_nothing(control: Control) -> None:
    splits = na.read_splits("umls")
    strangers = KnowledgeGraph.from_labels([("aaa", "a new relation", "zzz"), ("mmm", "affects", "zzz")])
    with_strangers = na.Splits.merge("x", train=splits.train, valid=strangers, test=splits.test)
    alone = KnowledgeGraph.from_labels(splits.train.labels())
    fits = [control.fit(train) for train in (splits.train, with_strangers.train, alone)]
    for n in (500, 5_000, fits[0].n_new if isinstance(control, na.TypedTriples) else 9_000):
        assert len({tuple(dist.sample(n, seed=1).labels) for dist in fits}) == 1
    assert len({tuple(named(dist.graph, dist.draw(500, seed=1))) for dist in fits}) == 1


@both
def test_a_seed_is_a_sample(control: Control) -> None:
    train = na.read_splits("nations").train
    triples = [control.fit(train, seed=i).sample(800, seed=seed).triples for i, seed in enumerate((5, 5, 6))]
    assert triples[0].tobytes() == triples[1].tobytes() != triples[2].tobytes()
    draws = [control.fit(train).draw(100, seed=seed) for seed in (5, 5, 6)]
    assert draws[0].tobytes() == draws[1].tobytes() != draws[2].tobytes()


@both
def test_fitting_needs_a_triple_between_two_entities(control: Control) -> None:
    empty = KnowledgeGraph(Vocabulary.from_names("ab", "r"), np.zeros((0, 3), dtype=np.int32))
    for graph in (empty, KnowledgeGraph.from_labels([("a", "r", "a")])):
        with pytest.raises(ValueError, match="no triple between two different entities"):
            control.fit(graph)


def test_arguments_that_make_no_sense_are_told() -> None:
    dist = na.TypedTriples().fit(TOY)
    for call in (dist.draw, dist.sample):
        with pytest.raises(ValueError, match="n=-1: must not be negative"):
            call(-1, seed=0)
        with pytest.raises(ValueError, match=r"n=1\.5: must be a whole number"):
            call(1.5, seed=0)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="seed=-1"):
            call(1, seed=-1)
    with pytest.raises(ValueError, match="shape"):
        dist.log_prob([0, 0, 1])


def test_a_fitted_control_cannot_be_changed() -> None:
    dist = na.TypedTriples().fit(TOY)
    assert isinstance(dist, RelationUniform)
    part = dist.restrict(relations=["likes"])
    for array in (dist.relations, dist.chances, dist.heads, dist.tails, dist.sets.keys, part.sets.keys):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
