"""Constraints: learnt from train, edited, and kept by what is generated; and pairs with a common neighbour."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.augmenters.neighbours import _near
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from tests.adversarial import hub

ROWS = [
    *((f"c{i}", "has mother", f"m{i // 3}") for i in range(30)),
    *((f"c{i}", "knows", f"c{(i + k) % 30}") for i in range(30) for k in (0, 1, 2)),
    *((f"c{i}", "married", f"m{i}") for i in range(10)),
]
GRAPH = KnowledgeGraph.from_labels(ROWS)


def ids(*rows: tuple[str, str, str]) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
    return KnowledgeGraph.from_labels(rows, GRAPH.vocabulary, sort=False).triples


class TestConstraints:
    def test_what_holds_in_train_is_learnt(self) -> None:
        found = na.Constraints.learn(GRAPH)
        assert found.functional == {"has mother", "married"}
        assert found.inverse_functional == {"married"}
        assert found.irreflexive == {"has mother", "married"}

    def test_a_few_exceptions_are_forgiven_and_few_triples_teach_nothing(self) -> None:
        rows = [(f"a{i}", "r", f"b{i}") for i in range(99)] + [("a0", "r", "b1"), ("x", "s", "y")]
        assert na.Constraints.learn(KnowledgeGraph.from_labels(rows)).functional == {"r"}
        strict = na.Constraints.learn(KnowledgeGraph.from_labels(rows), tolerance=0, min_triples=1)
        assert strict.functional == {"s"}

    def test_what_breaks_a_constraint_is_not_allowed(self) -> None:
        found = na.Constraints.learn(GRAPH)
        asked = ids(
            ("c0", "has mother", "m5"),  # has one
            ("m0", "has mother", "m5"),
            ("m1", "married", "m2"),  # has a spouse
            ("m0", "has mother", "m0"),
            ("c0", "knows", "c9"),
        )
        assert found.allow(GRAPH, asked).tolist() == [False, True, False, False, True]
        assert na.Constraints(typed=frozenset({"knows"})).allow(GRAPH, ids(("c0", "knows", "m0"))).tolist() == [
            False
        ]

    def test_they_can_be_edited(self) -> None:
        found = na.Constraints.learn(GRAPH)
        asked = ids(("c0", "has mother", "m5"))
        assert found.without("has mother").allow(GRAPH, asked).all()
        assert not replace(na.Constraints(), functional=frozenset({"has mother"})).allow(GRAPH, asked).any()


class TestNearby:
    def test_pairs_have_a_neighbour_in_common_that_is_no_hub(self) -> None:
        rows = [("a", "r", "z"), ("b", "s", "z"), ("c", "r", "d"), *((f"x{i}", "r", "hub") for i in range(5))]
        graph = KnowledgeGraph.from_labels(rows)
        names = graph.vocabulary.entities
        assert {(names[h], names[t]) for h, t in zip(*_near(graph, 4), strict=True)} == {("a", "b"), ("b", "a")}
        assert len(_near(graph, 5)[0]) == 2 + 5 * 4

    @pytest.mark.parametrize("pairs", [True, False])
    def test_the_law_is_the_product_of_its_three_parts(self, pairs: bool) -> None:
        train = na.read_splits("nations").train
        method = na.Nearby(
            na.NMF(4), na.Agglomerative(3), cluster_pairs=pairs, constraints=None, max_degree=10_000
        )
        dist = method.fit(train)
        labels = na.NNMFAug(na.NMF(4), na.Agglomerative(3)).fit(train).partition.labels
        a, b = np.zeros((2, train.n_entities, train.n_relations))
        cells = np.zeros((3, 3))
        for h, r, t in train.triples.tolist():
            if h != t:
                a[h, r] += 1
                b[t, r] += 1
                cells[labels[h], labels[t]] += 1
        near = set(zip(*(ends.tolist() for ends in _near(train, 10_000)), strict=True))
        inside = [(h, t) for h, t in near if pairs or labels[h] == labels[t]]
        size = np.zeros((3, 3))
        for h, t in inside:
            size[labels[h], labels[t]] += 1
        expected = {}
        for (h, t), r in itertools.product(inside, range(train.n_relations)):
            both = a[h] * b[t]
            mass = cells[labels[h], labels[t]] if pairs else 1.0
            if both[r] * mass > 0 and not train.contains([[h, r, t]])[0]:
                expected[h, r, t] = mass / size[labels[h], labels[t]] * both[r] / both.sum()
        got = np.exp(dist.log_prob(np.array(list(expected))))
        assert dist.support_size == len(expected)
        assert got == pytest.approx(np.array(list(expected.values())) / sum(expected.values()))

    def test_constraints_hold_in_what_is_listed(self) -> None:
        method = na.Nearby(na.NMF(2), na.Agglomerative(2))
        learnt = na.Constraints.learn(GRAPH)
        assert learnt.allow(GRAPH, method.fit(GRAPH).triples).all()
        free = replace(method, constraints=None).fit(GRAPH)
        assert not learnt.allow(GRAPH, free.triples).all()
        with pytest.raises(ValueError, match="constraints='guess'"):
            na.Nearby(constraints="guess")


def test_more_pairs_than_memory_holds_are_refused_with_a_remedy() -> None:
    graph = na.KnowledgeGraph.from_labels(hub(10_001))
    with pytest.raises(ValueError, match=r"100,030,002 pairs .* choose a lower max_degree"):
        na.Nearby(max_degree=10**6).fit(graph)
