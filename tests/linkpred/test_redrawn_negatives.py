"""Negatives are unknown triples: which ones, with which chance, and what happens where there are none."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch

from nnmfaug.linkpred.redrawn_negatives import RedrawnNegativeSampler


def sampler(triples: list[tuple[int, int, int]], n_entities: int, n: int = 1) -> RedrawnNegativeSampler:
    return RedrawnNegativeSampler(
        mapped_triples=torch.tensor(triples), num_entities=n_entities, num_relations=1, num_negs_per_pos=n
    )


def drawn(negatives: RedrawnNegativeSampler, positive: tuple[int, int, int], n: int) -> Counter[tuple[int, ...]]:
    torch.manual_seed(0)
    triples = negatives.corrupt_batch(torch.tensor([positive] * n)).flatten(0, 1)
    return Counter(map(tuple, triples.tolist()))


def test_either_side_is_replaced_with_chance_half_by_any_entity_that_is_unknown() -> None:
    counts = drawn(sampler([(0, 0, 1), (0, 0, 2), (0, 0, 3), (4, 0, 1)], 6), (0, 0, 1), 60_000)
    tails = {(0, 0, t): 1 / 6 for t in (0, 4, 5)}
    heads = {(h, 0, 1): 1 / 8 for h in (1, 2, 3, 5)}
    assert counts.keys() == tails.keys() | heads.keys()
    for triple, chance in (tails | heads).items():
        assert counts[triple] / 60_000 == pytest.approx(chance, abs=4 * math.sqrt(chance / 60_000))


def test_every_positive_has_its_own_negatives() -> None:
    positives = torch.tensor([(0, 0, 1), (1, 0, 2)])
    negatives = sampler([(0, 0, 1), (1, 0, 2)], 50, n=40).corrupt_batch(positives)
    assert negatives.shape == (2, 40, 3)
    is_same = negatives == positives[:, None]
    assert (is_same.sum(2) == 2).all()
    assert {int((~is_same)[:, :, column].sum()) > 20 for column in (0, 2)} == {True}


def test_the_only_negative_of_a_side_is_found() -> None:
    known = [(h, 0, t) for h, unknown in ((0, 4999), (1, 7)) for t in range(5000) if t != unknown]
    torch.manual_seed(0)
    negatives = sampler(known, 5000, n=20).corrupt_batch(torch.tensor([(0, 0, 1), (1, 0, 1)]))
    tails = [set(triples[triples[:, 2] != 1][:, 2].tolist()) for triples in negatives]
    assert tails == [{4999}, {7}]


def test_where_a_side_has_no_negative_the_other_is_replaced() -> None:
    counts = drawn(sampler([(0, 0, 0), (0, 0, 1), (0, 0, 2)], 3), (0, 0, 1), 300)
    assert counts.keys() == {(1, 0, 1), (2, 0, 1)}


def test_a_triple_without_any_negative_is_refused() -> None:
    everything = [(h, 0, t) for h in range(2) for t in range(2)]
    with pytest.raises(ValueError, match=r"redraw=True: the triple of ids \[0, 0, 1\] has no negative"):
        drawn(sampler(everything, 2), (0, 0, 1), 1)
