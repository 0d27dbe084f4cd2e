"""Test triples that rules conclude, as a list of all conclusions has them."""

from __future__ import annotations

import pytest

import nnmfaug as na
from nnmfaug.quality.auto import default_generators


@pytest.mark.parametrize("name", ["nations", "umls", "family"])
def test_derivable_triples_are_those_among_all_conclusions(name: str, family: na.Splits) -> None:
    splits = family if name == "family" else na.read_splits(name)
    (rules,) = default_generators(splits.train)
    conclusions = set(map(tuple, rules.fit(splits.train).triples.tolist()))  # type: ignore[attr-defined]
    expected = [tuple(triple) in conclusions for triple in splits.test.triples.tolist()]
    assert any(expected)
    assert name == "family" or not all(expected)
    assert na.find_derivable(splits.train, splits.test).tolist() == expected


def test_a_triple_is_derivable_if_a_body_joins_its_entities() -> None:
    parents = [(f"p{i}", "parent", f"p{i + 1}") for i in range(8)]
    children = [(child, "child", parent) for parent, _, child in parents[:-1]]
    test = na.KnowledgeGraph.from_labels([("p8", "child", "p7"), ("p7", "child", "p8"), ("p8", "knows", "p7")])
    train = na.KnowledgeGraph.from_labels([*parents, *children])
    splits = na.Splits.merge("toy", train=train, test=test)
    derivable = na.find_derivable(splits.train, splits.test).tolist()
    assert dict(zip(splits.test.labels(), derivable, strict=True)) == {
        ("p8", "child", "p7"): True,  # child(x, y) ← parent(y, x)
        ("p7", "child", "p8"): False,
        ("p8", "knows", "p7"): False,
    }


def test_triples_may_be_numbered_in_their_own_way(family: na.Splits) -> None:
    renumbered = na.KnowledgeGraph.from_labels(family.test.labels())
    assert renumbered.vocabulary != family.vocabulary
    expected = na.find_derivable(family.train, family.test).tolist()
    assert na.find_derivable(family.train, renumbered).tolist() == expected
