"""Priors over answers: what is listed, with other ids, and from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.augmenters.listed_prior import read_listed_prior, write_listed_prior
from nnmfaug.augmenters.translated_prior import with_names

Named = dict[tuple[str, str, str], float]


@pytest.fixture(scope="module")
def prior() -> na.ListedPrior:
    return na.ListedPrior(na.Rules(depth=1).fit(na.family(60, seed=0).given))


def named_answers(prior: na.Prior, *, heads: bool) -> Named:
    """Ask for all answers to all queries, and return the triples by name."""
    names = prior.graph.vocabulary
    pairs = np.array([(e, r) for e in range(len(names.entities)) for r in range(len(names.relations))])
    answers = prior.answers(pairs, heads=heads)
    result = {}
    for row, entity, probability in zip(*(x.tolist() for x in answers), strict=True):
        given, relation = pairs[row].tolist()
        h, t = (entity, given) if heads else (given, entity)
        triple = (names.entities[h], names.relations[relation], names.entities[t])
        assert triple not in result, "each entity at most once"
        result[triple] = probability
    return result


def listed(prior: na.ListedPrior) -> Named:
    labels = na.KnowledgeGraph(prior.graph.vocabulary, prior.dist.triples).labels()
    return dict(zip(labels, prior.dist.confidence.tolist(), strict=True))


@pytest.mark.parametrize("heads", [True, False])
def test_the_answers_to_all_queries_are_the_listed_triples(prior: na.ListedPrior, heads: bool) -> None:
    assert named_answers(prior, heads=heads) == listed(prior) != {}


@pytest.mark.parametrize("heads", [True, False])
def test_other_ids_do_not_change_the_answers(prior: na.ListedPrior, heads: bool) -> None:
    names = prior.graph.vocabulary
    more = na.Vocabulary.from_names(("0", "k", "zz", *names.entities), ("0", "zz", *names.relations))
    translated = with_names(prior, more)
    assert named_answers(translated, heads=heads) == listed(prior)
    triples = prior.dist.top(5).graph
    assert translated.explain(triples.with_vocabulary(more).triples) == prior.explain(triples.triples)


def test_the_same_names_need_no_translation(prior: na.ListedPrior) -> None:
    assert with_names(prior, prior.graph.vocabulary) is prior


def test_a_query_asked_twice_is_answered_twice(prior: na.ListedPrior) -> None:
    (h, r, _), *_ = prior.dist.triples.tolist()
    once = prior.answers(np.array([[h, r]]), heads=False)
    twice = prior.answers(np.array([[h, r], [h, r]]), heads=False)
    assert twice.entities.tolist() == once.entities.tolist() * 2
    assert twice.rows.tolist() == [0] * len(once.rows) + [1] * len(once.rows)


def test_a_listed_prior_comes_back_from_its_file(prior: na.ListedPrior, tmp_path: Path) -> None:
    write_listed_prior(prior, tmp_path / "prior.npz")
    loaded = read_listed_prior(tmp_path / "prior.npz", prior.graph.vocabulary)
    assert loaded.graph == prior.graph
    assert listed(loaded) == listed(prior)
