"""Splitting: nothing is lost, nothing is in two parts, and train knows every name."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import nnmfaug as na

Row = tuple[str, str, str]
entity = st.sampled_from("abcdefg")
relation = st.sampled_from("rst")
rows = st.sets(st.tuples(entity, relation, entity), min_size=1, max_size=25)
seeds = st.integers(0, 2**32)


def names(triples: list[Row]) -> tuple[set[str], set[str]]:
    return {name for h, _, t in triples for name in (h, t)}, {r for _, r, _ in triples}


def most_that_can_leave(triples: list[Row]) -> int:
    """Try every subset."""
    whole = names(triples)
    for kept in range(len(triples) + 1):
        if any(names(list(chosen)) == whole for chosen in itertools.combinations(triples, kept)):
            return len(triples) - kept
    return 0


@given(rows, st.integers(0, 8), st.integers(0, 8), seeds)
def test_parts_are_disjoint_exact_and_leave_every_name_in_train(
    triples: set[Row], valid: int, test: int, seed: int
) -> None:
    graph = na.KnowledgeGraph.from_labels(triples)
    try:
        splits = na.split(graph, valid=valid, test=test, seed=seed)
    except na.DataError:
        assume(False)
    parts = {name: part.labels() for name, part in splits.items()}
    assert [len(parts[name]) for name in ("train", "valid", "test")] == [len(graph) - valid - test, valid, test]
    assert sorted(itertools.chain(*parts.values())) == sorted(triples)
    assert names(parts["train"]) == names(list(triples))
    assert splits.vocabulary == graph.vocabulary
    assert splits.together().digest() == graph.digest()
    assert all(part == sorted(part) for part in parts.values()), "the order of the graph is kept"


@given(rows, st.integers(0, 6), st.integers(0, 6), seeds)
def test_the_same_seed_gives_the_same_split(triples: set[Row], valid: int, test: int, seed: int) -> None:
    graph = na.KnowledgeGraph.from_labels(triples)

    def attempt() -> na.Splits | str:
        try:
            return na.split(graph, valid=valid, test=test, seed=seed)
        except na.DataError as error:
            return str(error)

    assert attempt() == attempt()


def test_another_seed_gives_another_split_and_each_triple_may_go() -> None:
    graph = na.KnowledgeGraph.from_labels((str(i), "r", str(j)) for i in range(6) for j in range(6))
    tests = [na.split(graph, valid=3, test=5, seed=seed).test for seed in range(60)]
    assert len({part.digest() for part in tests}) > 50
    assert {row for part in tests for row in part.labels()} == set(graph.labels())


@given(st.sets(st.tuples(entity, relation, entity), min_size=1, max_size=9), seeds)
def test_more_than_can_leave_is_an_error_with_the_counts(triples: set[Row], seed: int) -> None:
    graph = na.KnowledgeGraph.from_labels(triples)
    most = most_that_can_leave(sorted(triples))
    with pytest.raises(na.DataError, match=re.escape(f"of {len(graph)} triples")) as caught:
        na.split(graph, valid=1, test=most, seed=seed)
    assert f"{most + 1} were requested" in str(caught.value)


def test_a_demand_that_can_be_met_is_met_or_the_message_blames_the_seed() -> None:
    path = [("a", "r", "b"), ("b", "r", "c"), ("c", "r", "d"), ("d", "r", "e"), ("e", "r", "f")]
    assert most_that_can_leave(path) == 2
    graph = na.KnowledgeGraph.from_labels(path)
    for seed in range(20):
        try:
            splits = na.split(graph, valid=1, test=1, seed=seed)
        except na.DataError as error:
            assert "seed" in str(error), f"two of these triples can leave, but: {error}"  # noqa: PT017
        else:
            assert len(splits.train) == 3


def test_an_entity_only_in_a_loop_stays_in_train() -> None:
    graph = na.KnowledgeGraph.from_labels([("a", "r", "b"), ("b", "r", "a"), ("x", "r", "x"), ("a", "r", "a")])
    for seed in range(20):
        assert ("x", "r", "x") in na.split(graph, valid=0, test=2, seed=seed).train.labels()


def test_names_without_triples_stay_in_the_vocabulary() -> None:
    vocabulary = na.Vocabulary.from_names(["a", "b", "unused"], ["r", "unused"])
    graph = na.KnowledgeGraph.from_labels([("a", "r", "b"), ("b", "r", "a")], vocabulary)
    splits = na.split(graph, valid=0, test=1, seed=0, name="mine")
    assert splits.vocabulary == vocabulary
    assert splits.name == "mine"


@pytest.mark.parametrize(("valid", "test"), [(-1, 0), (0, -2)])
def test_a_negative_size_is_refused_with_its_value(valid: int, test: int) -> None:
    graph = na.KnowledgeGraph.from_labels([("a", "r", "b")])
    with pytest.raises(ValueError, match="must be a number of triples"):
        na.split(graph, valid=valid, test=test, seed=0)


def test_splitting_an_unsorted_graph_keeps_its_order() -> None:
    triples = [(str(9 - i), "r", str(j)) for i in range(10) for j in range(10)]
    graph = na.KnowledgeGraph.from_labels(triples, sort=False)
    splits = na.split(graph, valid=10, test=10, seed=1)
    place = {row: i for i, row in enumerate(triples)}
    for part in (splits.train, splits.valid, splits.test):
        assert (np.diff([place[row] for row in part.labels()]) > 0).all()


def test_splitting_nothing_off_gives_the_graph_back() -> None:
    graph = na.KnowledgeGraph.from_labels([("a", "r", "b")])
    splits = na.split(graph, valid=0, test=0, seed=0)
    assert splits.train == graph
    assert len(splits.valid) == len(splits.test) == 0
