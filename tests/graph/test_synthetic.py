"""Synthetic graphs: rules do what is said of them, counted again in plain Python."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.graph.synthetic import CONFIDENCES, Blueprint

WORLD = na.synthesize(2_000, 20_000, 13, seed=3, missing=0.2)
Pairs = set[tuple[str, str]]


def pairs_of(graph: na.KnowledgeGraph) -> dict[str, Pairs]:
    pairs: dict[str, Pairs] = {name: set() for name in graph.vocabulary.relations}
    for head, relation, tail in graph.labels():
        pairs[relation].add((head, tail))
    return pairs


def joined(body: str, pairs: dict[str, Pairs]) -> Pairs:
    """The pairs (x, y) of a body such as ``a(x, z), b(z, y)``."""
    first, *others = re.findall(r"(\w+)\((\w), (\w)\)", body)
    if not others:
        return {(t, h) if first[1] == "y" else (h, t) for h, t in pairs[first[0]]}
    ends: dict[str, set[str]] = {}
    for z, y in pairs[others[0][0]]:
        ends.setdefault(z, set()).add(y)
    return {(x, y) for x, z in pairs[first[0]] for y in ends.get(z, ()) if x != y}


def test_a_rule_has_the_numbers_that_are_counted() -> None:
    given, missing = pairs_of(WORLD.given), pairs_of(WORLD.missing)
    assert len(WORLD.rules) == 6
    for rule in WORLD.rules:
        body = joined(rule.body, given)
        assert rule.n_pairs == len(body) > 100
        assert rule.support == len(body & given[rule.head])
        assert rule.n_missing == len(missing[rule.head])


def test_true_triples_of_a_planted_relation_follow_from_true_triples() -> None:
    truth = {name: pairs | pairs_of(WORLD.missing)[name] for name, pairs in pairs_of(WORLD.given).items()}
    for rule in WORLD.rules:
        body = joined(rule.body, truth)
        assert truth[rule.head] <= body
        share = len(truth[rule.head]) / len(body)
        assert share == pytest.approx(rule.confidence, abs=5 * 0.5 / np.sqrt(len(body)))


def test_the_graph_has_a_rule_with_its_confidence_up_to_what_is_missing() -> None:
    world = na.synthesize(20_000, 200_000, 30, seed=0, missing=0.2)
    assert {rule.confidence for rule in world.rules} == set(CONFIDENCES)
    for rule in world.rules:
        expected = rule.confidence * 0.8
        error = np.sqrt(expected * (1 - expected) / rule.n_pairs)
        assert rule.support / rule.n_pairs == pytest.approx(expected, abs=5 * error)


def as_anyburl(rule: na.PlantedRule) -> str:
    """Write a rule as AnyBURL does, without spaces."""
    variables = str.maketrans("xyz", "XYA")
    text = f"{rule.head}(x,y)<={rule.body}".replace(" ", "")
    return re.sub(r"\(.*?\)", lambda match: match[0].translate(variables), text)


def test_a_miner_finds_the_rules_with_the_numbers_of_the_graph(tmp_path: Path) -> None:
    na.write_rules(na.Rules(constants=False, min_support=5).mine(WORLD.given), tmp_path / "rules.txt")
    mined = {}
    for line in (tmp_path / "rules.txt").read_text().splitlines():
        n_pairs, support, _, text = line.split("\t")
        mined[text.replace(" ", "")] = (int(n_pairs), int(support))
    for rule in WORLD.rules:
        assert mined[as_anyburl(rule)] == (rule.n_pairs, rule.support)


def test_missing_triples_are_a_random_part_of_the_truth() -> None:
    n_given, n_missing = len(WORLD.given), len(WORLD.missing)
    assert not WORLD.given.contains(WORLD.missing.triples).any()
    assert n_missing / (n_given + n_missing) == pytest.approx(0.2, abs=0.01)
    assert n_given == pytest.approx(20_000, rel=0.05)
    assert len(na.synthesize(2_000, 20_000, 13, seed=3, missing=0).missing) == 0


def test_few_entities_have_most_triples_and_relations_have_types() -> None:
    degrees = Counter(WORLD.given.triples[:, [0, 2]].ravel().tolist())
    popular = sum(n for _, n in degrees.most_common(200))
    assert 0.25 < popular / (2 * len(WORLD.given)) < 0.6, "a tenth of the entities"
    pairs_by_relation = pairs_of(WORLD.given)
    for pairs in pairs_by_relation.values():
        assert not {head for head, _ in pairs} & {tail for _, tail in pairs}
    assert max(Counter(head for head, _ in pairs_by_relation["r01_belongs"]).values()) == 1


def test_one_seed_is_one_graph_and_a_relation_does_not_depend_on_the_others() -> None:
    again = na.synthesize(2_000, 20_000, 13, seed=3, missing=0.2)
    other = na.synthesize(2_000, 20_000, 13, seed=4, missing=0.2)
    assert again.given.digest() == WORLD.given.digest()
    assert again.rules == WORLD.rules
    assert other.given.digest() != WORLD.given.digest()
    part = Blueprint(2_000, 20_000, 13, seed=3, missing=0.2).part(8)
    rows = WORLD.given.triples[WORLD.given.triples[:, 1] == 8]
    assert np.array_equal(part.triples(given=True), rows)


def test_what_is_missing_does_not_change_what_is_true() -> None:
    some, many = (Blueprint(500, n, 6, seed=0, missing=x).part(0) for x, n in ((0.1, 9_000), (0.4, 6_000)))
    assert np.array_equal(some.heads, many.heads)
    assert np.array_equal(some.is_given | many.is_given, some.is_given), "missing triples are nested"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((39, 100, 5, 0), "n_entities"),
        ((100, 9, 5, 0), "n_triples"),
        ((100, 100, 0, 0), "n_relations"),
        ((100, 100, 5, 0, 1.0), "missing"),
        ((100, 100_000, 5, 0), r"n_triples=100000: too many for 100 entities and 5 relations"),
    ],
)
def test_what_cannot_be_is_refused(arguments: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Blueprint(*arguments)
