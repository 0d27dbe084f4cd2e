"""Triples from elsewhere as an augmenter: their order is kept, and they must be new."""

from __future__ import annotations

import numpy as np
import pytest

import nnmfaug as na

TRAIN = na.KnowledgeGraph.from_labels([("a", "likes", "b"), ("b", "likes", "c"), ("c", "hates", "a")])


def graph_of(*rows: tuple[str, str, str]) -> na.KnowledgeGraph:
    """The rows in this order, with names and ids of their own."""
    names = na.KnowledgeGraph.from_labels(list(rows)).vocabulary
    ids = [(names.entity_ids[h], names.relation_ids[r], names.entity_ids[t]) for h, r, t in rows]
    return na.KnowledgeGraph(names, np.array(ids, dtype=np.int32))


ROWS = (("c", "likes", "a"), ("a", "hates", "c"), ("b", "likes", "a"))


@pytest.mark.parametrize("rows", [ROWS, ROWS[::-1]], ids=["one order", "the reverse"])
def test_the_order_is_kept(rows: tuple[tuple[str, str, str], ...]) -> None:
    dist = na.Given(graph_of(*rows)).fit(TRAIN)
    assert dist.top(3).labels == list(rows)
    assert dist.top(2).labels == list(rows[:2])


def test_the_triples_have_the_ids_of_train() -> None:
    dist = na.Given(graph_of(*ROWS)).fit(TRAIN)
    assert dist.top(3).graph.vocabulary == TRAIN.vocabulary


def test_every_triple_has_the_same_confidence() -> None:
    dist = na.Given(graph_of(*ROWS)).fit(TRAIN)
    np.testing.assert_array_equal(dist.confidence, [1.0, 1.0, 1.0])
    np.testing.assert_allclose(np.exp(dist.log_prob(dist.triples)), [1 / 3, 1 / 3, 1 / 3])


def test_triples_of_train_are_refused_with_their_source_and_the_first_of_them() -> None:
    known = graph_of(*ROWS, ("b", "likes", "c"), ("a", "likes", "b"))
    message = r"^x\.tsv: 2 of these triples are in train, the first is \(b, likes, c\): remove them$"
    with pytest.raises(na.DataError, match=message):
        na.Given(known, "x.tsv").fit(TRAIN)


def test_without_a_source_the_message_starts_with_the_number() -> None:
    with pytest.raises(na.DataError, match=r"^1 of these triples are in train"):
        na.Given(graph_of(("a", "likes", "b"))).fit(TRAIN)


@pytest.mark.parametrize("row", [("a", "likes", "nobody"), ("a", "knows", "b")], ids=["entity", "relation"])
def test_a_name_that_train_does_not_have_is_refused(row: tuple[str, str, str]) -> None:
    unknown = row[2] if row[1] == "likes" else row[1]
    with pytest.raises((ValueError, KeyError), match=unknown):
        na.Given(graph_of(row)).fit(TRAIN)


def test_no_triples_are_an_empty_distribution() -> None:
    empty = na.KnowledgeGraph(TRAIN.vocabulary, np.zeros((0, 3), dtype=np.int32))
    dist = na.Given(empty).fit(TRAIN)
    assert (dist.support_size, dist.n_new) == (0, 0)
