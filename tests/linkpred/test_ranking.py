"""Ranks against brute force and against PyKEEN's evaluator."""

from typing import Any

import numpy as np
import pytest
import torch

import nnmfaug as na
from nnmfaug.evaluation.metrics import realistic_rank, summary
from nnmfaug.graph.completions import Completions
from nnmfaug.linkpred import ranking
from nnmfaug.linkpred.ranking import ModelScores, all_scores, rank
from tests.linkpred.toy_models import Table


@pytest.mark.parametrize("n_values", [1, 2, 4, 1000])
def test_ranks_are_those_of_brute_force_with_ties(splits: na.Splits, n_values: int) -> None:
    known, test = splits.together(), splits.test
    model: Any = Table(known.n_entities, known.n_relations, n_values)
    ranks = rank(ModelScores(model), test, known)
    facts = {tuple(row) for row in known.triples.tolist()}
    everyone = range(known.n_entities)
    for i, (h, r, t) in enumerate(test.triples.tolist()):
        heads, tails = model.scores[:, r, t].numpy(), model.scores[h, r].numpy()
        mask_h = np.array([(x, r, t) in facts for x in everyone])
        mask_t = np.array([(h, r, x) in facts for x in everyone])
        raw = [realistic_rank(heads, h), realistic_rank(tails, t)]
        filtered = [realistic_rank(heads, h, mask_h), realistic_rank(tails, t, mask_t)]
        assert ranks.raw[i].tolist() == raw
        assert ranks.filtered[i].tolist() == filtered


@pytest.mark.parametrize("reciprocal", [True, False])
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_filtered_metrics_are_those_of_pykeen(reciprocal: bool) -> None:
    from pykeen.evaluation import RankBasedEvaluator

    splits = na.read_splits("umls")
    settings = na.LinkPredictor(model="transe", dim=8, epochs=2, reciprocal=reciprocal)
    trained = settings.train(splits, options=na.TrainOptions(threads=1))
    ours = summary(trained.rank(splits.test).filtered)
    train, valid, test = (na.to_pykeen(graph).mapped_triples for _, graph in splits.items())
    theirs = RankBasedEvaluator().evaluate(
        trained.model, test, batch_size=64, additional_filter_triples=[train, valid], use_tqdm=False
    )
    for name in ("mrr", "mr", "hits@1", "hits@3", "hits@5", "hits@10"):
        assert ours[name] == pytest.approx(theirs.get_metric(f"both.realistic.{name}"), rel=1e-5)


def test_no_generated_triple_is_in_the_filter(splits: na.Splits) -> None:
    extra = na.TypedTriples().fit(splits.train).sample(100, seed=0).graph
    trained = na.LinkPredictor(model="transe", dim=8, epochs=1).train(splits, na.TrainingSet(splits.train, extra))
    assert trained.known == splits.together()


@pytest.mark.usefixtures("archives")
def test_all_triples_of_wn18rr_are_ranked_among_all_entities() -> None:
    splits = na.read_splits("wn18rr")
    trained = na.LinkPredictor(model="transe", dim=4, epochs=1, batch_size=8192, negatives=8).train(splits)
    ranks = trained.rank(splits.test)
    assert len(ranks) == 3134
    assert trained.model.num_entities == 40_943
    assert ranks.raw.max() > 40_000


def test_a_model_that_diverged_is_named(splits: na.Splits) -> None:
    model: Any = Table(14, 55)
    model.scores[:] = torch.nan
    with pytest.raises(ValueError, match="diverged, use a smaller learning rate"):
        rank(ModelScores(model), splits.test, splits.together())


def test_known_lists_every_completion_once() -> None:
    completions = Completions(np.array([[0, 1], [2, 0], [0, 1]]), np.array([5, 6, 7]), n_relations=2)
    rows, entities = completions(np.array([[0, 1], [1, 1], [2, 0], [0, 1]]))
    assert list(zip(rows.tolist(), entities.tolist(), strict=True)) == [(0, 5), (0, 7), (2, 6), (3, 5), (3, 7)]


@pytest.mark.parametrize("batch_scores", [1, 14 * 7])
def test_batches_change_nothing(splits: na.Splits, monkeypatch: pytest.MonkeyPatch, batch_scores: int) -> None:
    model: Any = Table(14, 55)
    whole = rank(ModelScores(model), splits.test, splits.together())
    monkeypatch.setattr(ranking, "BATCH_SCORES", batch_scores)
    parts = rank(ModelScores(model), splits.test, splits.together())
    np.testing.assert_array_equal(parts.filtered, whole.filtered)
    np.testing.assert_array_equal(parts.raw, whole.raw)


def test_a_hidden_entity_is_not_a_candidate(splits: na.Splits) -> None:
    model: Any = Table(14, 55, n_values=1000)
    test = splits.test
    without = test.triples[(test.triples[:, 0] != 3) & (test.triples[:, 2] != 3)]
    triples = na.KnowledgeGraph(test.vocabulary, without)
    hidden = rank(ModelScores(model), triples, splits.together(), hidden=[3])
    model.scores[3] = -torch.inf
    model.scores[:, :, 3] = -torch.inf
    np.testing.assert_array_equal(hidden.raw, rank(ModelScores(model), triples, splits.together()).raw)
    assert hidden.raw.max() <= 13


def test_all_scores_are_those_of_the_model() -> None:
    model: Any = Table(14, 55)
    np.testing.assert_array_equal(all_scores(model, 4, 7, heads=False), model.scores[4, 7])
    np.testing.assert_array_equal(all_scores(model, 4, 7, heads=True), model.scores[:, 7, 4])
