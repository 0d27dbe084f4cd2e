"""A training set: its size, its first triples, its weights."""

from __future__ import annotations

import numpy as np
import pytest

import nnmfaug as na


@pytest.fixture(scope="module")
def extra(splits: na.Splits) -> na.KnowledgeGraph:
    return na.RandomTriples().fit(splits.train).sample(50, seed=0).graph


def test_the_size_is_that_of_train_and_added_triples(splits: na.Splits, extra: na.KnowledgeGraph) -> None:
    assert na.TrainingSet(splits.train).size == len(splits.train)
    assert na.TrainingSet(splits.train, extra).size == len(splits.train) + 50


def test_the_first_triples_keep_their_weights(splits: na.Splits, extra: na.KnowledgeGraph) -> None:
    weights = np.linspace(0, 1, 50)
    part = na.TrainingSet(splits.train, extra, weights, na.Constant()).first(20)
    assert part.added is not None
    assert part.added.labels() == extra.labels()[:20]
    np.testing.assert_array_equal(part.weights, weights[:20])
    assert part.schedule == na.Constant()


def test_one_weight_holds_for_any_number_of_triples(splits: na.Splits, extra: na.KnowledgeGraph) -> None:
    assert na.TrainingSet(splits.train, extra, 0.5).first(20).weights == 0.5


def test_the_first_none_are_train_alone(splits: na.Splits, extra: na.KnowledgeGraph) -> None:
    part = na.TrainingSet(splits.train, extra, np.ones(50)).first(0)
    assert part.added is None
    assert part.size == len(splits.train)


def test_train_alone_has_no_first_triples(splits: na.Splits) -> None:
    data = na.TrainingSet(splits.train)
    assert data.first(5) is data


@pytest.mark.parametrize(
    ("weights", "weighted"), [(1.0, False), (1, False), (0.5, True), (np.ones(50), True)], ids=str
)
def test_a_weight_other_than_one_or_one_per_triple_is_weighted(
    splits: na.Splits, extra: na.KnowledgeGraph, weights: float, weighted: bool
) -> None:
    assert na.TrainingSet(splits.train, extra, weights).weighted == weighted


def test_there_is_one_weight_or_one_for_each_triple(splits: na.Splits, extra: na.KnowledgeGraph) -> None:
    with pytest.raises(ValueError, match="3 weights for 50 added triples: one number, or one for each"):
        na.TrainingSet(splits.train, extra, np.ones(3))
    with pytest.raises(ValueError, match="3 weights for 0 added triples"):
        na.TrainingSet(splits.train, weights=np.ones(3))


def test_another_vocabulary_changes_ids_but_no_names(splits: na.Splits, extra: na.KnowledgeGraph) -> None:
    names = splits.vocabulary
    wider = na.Vocabulary.from_names(["a new entity", *names.entities], names.relations)
    data = na.TrainingSet(splits.train, extra).with_vocabulary(wider)
    assert data.train.vocabulary == wider
    assert data.train.labels() == splits.train.labels()
    assert data.added is not None
    assert data.added.labels() == extra.labels()
