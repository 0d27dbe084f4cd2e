"""A trained model: its predictions."""

from __future__ import annotations

import numpy as np
import pytest

import nnmfaug as na

ONE = na.TrainOptions(threads=1)


@pytest.fixture(scope="module")
def trained(splits: na.Splits) -> na.Trained:
    return na.LinkPredictor(model="rotate", dim=8, epochs=2).train(splits, options=ONE)


def test_answers_are_sorted_by_score(trained: na.Trained) -> None:
    scores = [answer.score for answer in trained.predict(head="china", relation="embassy", n=14)]
    assert scores == sorted(scores, reverse=True)


def test_answers_that_are_known_triples_are_marked(splits: na.Splits, trained: na.Trained) -> None:
    facts = set(splits.together().labels())
    for answer in trained.predict(head="china", relation="embassy", n=14):
        assert answer.known == (("china", "embassy", answer.entity) in facts)
    for answer in trained.predict(tail="china", relation="embassy", n=14):
        assert answer.known == ((answer.entity, "embassy", "china") in facts)


def test_a_filter_may_be_given(splits: na.Splits, trained: na.Trained) -> None:
    by_default = trained.rank(splits.valid)
    without_test = trained.rank(splits.valid, known=splits.train_and_valid())
    nothing = na.KnowledgeGraph(splits.vocabulary, splits.train.triples[:0])
    assert (by_default.filtered <= without_test.filtered).all()
    assert (by_default.filtered < without_test.filtered).any(), "test triples no longer make a rank smaller"
    np.testing.assert_array_equal(
        trained.rank(splits.valid, known=splits.together()).filtered, by_default.filtered
    )
    np.testing.assert_array_equal(trained.rank(splits.valid, known=nothing).filtered, by_default.raw)
    np.testing.assert_array_equal(without_test.raw, by_default.raw)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"head": "chine", "relation": "embassy"}, "unknown entity 'chine'; did you mean 'china'"),
        ({"head": "china", "relation": "loves"}, "unknown relation 'loves'"),
        ({"head": "china", "tail": "china", "relation": "embassy"}, "give a head to predict tails, or a tail"),
        ({"relation": "embassy"}, "give a head to predict tails, or a tail"),
    ],
)
def test_a_question_without_an_answer_is_refused_with_advice(
    trained: na.Trained, question: dict[str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        trained.predict(**question)  # type: ignore[arg-type]
