"""Rules with two attributes in the body: counts equal brute force, planted rules are found."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import nnmfaug as na
from nnmfaug.augmenters.rules.attributes import NONE, Attributes
from nnmfaug.augmenters.rules.combining import Conclusions
from nnmfaug.augmenters.rules.conjunctions import MIN_GAIN, mine_conjunctions
from nnmfaug.augmenters.rules.constant_mining import mine_constants
from nnmfaug.augmenters.rules.constant_queries import ConstantQueries
from nnmfaug.augmenters.rules.constant_table import ConstantTable
from nnmfaug.augmenters.rules.rule_set import RuleSet
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.augmenters.rules.table import Threshold
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import LabelledTriple
from tests.examples import examples

Attribute = tuple[str, bool, str | None]
"""Relation, whether it is inverted, and its end; None for any."""
Body = frozenset[Attribute]
Counts = dict[tuple[Attribute, Body], tuple[int, int]]
THRESHOLD = Threshold(min_support=1, min_confidence=0.1, prior=0.5)
EVERYTHING = 10**9
ENTITIES = "abcdefg"
ROWS = st.lists(
    st.tuples(st.sampled_from(ENTITIES), st.sampled_from("rst"), st.sampled_from(ENTITIES)),
    min_size=1,
    max_size=30,
)


def graph_of(rows: list[LabelledTriple]) -> KnowledgeGraph:
    """A graph whose ids do not depend on the rows that are left out."""
    vocabulary = na.Vocabulary(tuple(ENTITIES), tuple("rst"))
    return KnowledgeGraph.from_labels(rows, vocabulary=vocabulary)


def mine_both(graph: KnowledgeGraph, **limits: int) -> tuple[ConstantTable, ConstantTable]:
    """The rules with one attribute in the body, and those with two; nothing is cut unless asked for."""
    attributes = Attributes(Steps(graph), THRESHOLD.min_support)
    singles = mine_constants(attributes, THRESHOLD, max_pairs=EVERYTHING, max_rules=EVERYTHING)
    defaults = {"max_pairs": EVERYTHING, "max_parts": EVERYTHING, "max_conjunctions": EVERYTHING}
    return singles, mine_conjunctions(attributes, THRESHOLD, singles, **(defaults | limits))


def attribute_of(code: int, graph: KnowledgeGraph) -> Attribute:
    step, end = divmod(code, graph.n_entities + 1)
    names = graph.vocabulary
    relation = names.relations[step % graph.n_relations]
    return relation, step >= graph.n_relations, None if end == graph.n_entities else names.entities[end]


def counts_of(table: ConstantTable, graph: KnowledgeGraph) -> Counts:
    """Head and body of each rule by name → support and size."""
    counts = {}
    for head, bodies, support, size in zip(
        table.heads.tolist(), table.bodies.tolist(), table.support.tolist(), table.sizes.tolist(), strict=True
    ):
        body = frozenset(attribute_of(code, graph) for code in bodies if code != NONE)
        counts[attribute_of(head, graph), body] = (support, size)
    assert len(counts) == len(table)
    return counts


def entities_by_attribute(rows: list[LabelledTriple]) -> dict[Attribute, set[str]]:
    entities: dict[Attribute, set[str]] = defaultdict(set)
    for h, r, t in rows:
        if h != t:
            for x, is_inverted, y in ((h, False, t), (t, True, h)):
                entities[r, is_inverted, y].add(x)
                entities[r, is_inverted, None].add(x)
    return entities


def count(entities: dict[Attribute, set[str]], head: Attribute, body: Body) -> tuple[int, int]:
    """Support and size of a rule, by intersecting sets of names."""
    both = set.intersection(*(entities[each] for each in body)) - {head[2]}
    return len(both & entities[head]), len(both)


def ratio(counts: tuple[int, int]) -> float:
    return counts[0] / (counts[1] + THRESHOLD.prior)


def brute_force(rows: list[LabelledTriple], singles: Counts) -> Counts:
    """All pairs of rules of the same head that are wanted."""
    entities = entities_by_attribute(rows)
    bodies = defaultdict(list)
    for head, body in singles:
        if body and body != {(*head[:2], None)}:
            bodies[head].append(body)
    wanted = {}
    for head, parts in bodies.items():
        for one, other in itertools.combinations(parts, 2):
            counts = count(entities, head, one | other)
            better = max(ratio(count(entities, head, part)) for part in (one, other))
            if counts[0] >= THRESHOLD.min_support and ratio(counts) >= max(
                THRESHOLD.min_confidence, better + MIN_GAIN
            ):
                wanted[head, one | other] = counts
    return wanted


@settings(max_examples=examples(200), deadline=None)
@given(ROWS)
def test_counts_equal_brute_force_over_names(rows: list[LabelledTriple]) -> None:
    graph = graph_of(rows)
    singles, table = mine_both(graph)
    assert counts_of(table, graph) == brute_force(rows, counts_of(singles, graph))


@settings(max_examples=examples(100), deadline=None)
@given(ROWS, st.integers(0, 99))
def test_the_left_out_confidence_is_that_of_mining_again_without_the_triple(
    rows: list[LabelledTriple], number: int
) -> None:
    graph = graph_of(rows)
    _, table = mine_both(graph)
    assume(len(table) > 0)
    rule = number % len(table)
    (relation, is_inverted, end), body = list(counts_of(table, graph))[rule]
    head = relation, is_inverted, end
    entities = entities_by_attribute(rows)
    subject = min(set.intersection(*(entities[each] for each in (head, *body))))
    left_out = (end, relation, subject) if is_inverted else (subject, relation, end)
    others = [row for row in rows if row != left_out]
    again = count(entities_by_attribute(others), head, body)
    smaller = graph_of(others)
    mined_again = counts_of(mine_both(smaller)[1], smaller)
    assert mined_again.get((head, body), again) == again
    passes = again[0] >= THRESHOLD.min_support and ratio(again) >= THRESHOLD.min_confidence
    assert table.left_out_confidence(THRESHOLD)[rule] == pytest.approx(ratio(again) if passes else 0.0)


def planted() -> list[LabelledTriple]:
    """Whoever lives in Bern and works in Geneva speaks French; either alone says little. p0 does not speak yet."""
    rows = [(f"p{i}", "lives_in", "bern" if i < 20 else "rome") for i in range(40)]
    rows += [(f"p{i}", "works_in", "geneva" if i % 2 == 0 else "oslo") for i in range(40)]
    return rows + [(f"p{i}", "speaks", "french" if i % 2 == 0 and i < 20 else "german") for i in range(1, 40)]


PLANTED = KnowledgeGraph.from_labels(planted())
METHOD = na.Rules(depth=1, atoms=2, combine="fading")
PLANTED_RULE = "speaks(x, french) ← lives_in(x, bern), works_in(x, geneva)"


def conjunctions_of(rules: RuleSet) -> list[str]:
    rows = np.flatnonzero(rules.constants.table.bodies[:, 1] != NONE)
    return [rules.constants.describe(int(rule)) for rule in rows]


def test_a_planted_conjunction_is_found() -> None:
    assert PLANTED_RULE in conjunctions_of(METHOD.mine(PLANTED))


def test_bodies_have_one_attribute_unless_asked_for() -> None:
    assert conjunctions_of(na.Rules().mine(PLANTED)) == []


def test_the_evidence_is_a_train_triple_for_each_attribute() -> None:
    listed = METHOD.fit(PLANTED)
    triple = KnowledgeGraph.from_labels([("p0", "speaks", "french")], PLANTED.vocabulary).triples
    (evidence,) = listed.explain(triple)
    assert evidence.rules[0][0] == PLANTED_RULE
    assert set(evidence.triples) == {("p0", "lives_in", "bern"), ("p0", "works_in", "geneva")}


def listed_tails(conclusions: Conclusions, graph: KnowledgeGraph) -> dict[tuple[int, ...], tuple[float, ...]]:
    triples = graph.vocabulary.from_keys(conclusions.keys).tolist()
    return {
        tuple(triple): tuple(parts) for triple, parts in zip(triples, conclusions.by_kind.tolist(), strict=True)
    }


def test_answers_to_queries_equal_the_list() -> None:
    table = METHOD.mine(PLANTED).constants.table
    table = table.take(table.bodies[:, 1] != NONE)
    rules = RuleSet.of(PLANTED, METHOD.mine(PLANTED).paths.table, METHOD.threshold, table)
    new, known = rules.conclude_all(METHOD.combine, 10**6)
    listed = listed_tails(new, PLANTED) | listed_tails(known, PLANTED)
    wanted = {triple: parts[1:] for triple, parts in listed.items() if any(parts[1:])}
    pairs = np.array(list(np.ndindex(PLANTED.n_entities, PLANTED.n_relations)))
    answered: dict[tuple[int, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for side, answers in enumerate(ConstantQueries(rules.constants).answer(pairs, heads=False)):
        for row, entity, confidence in zip(*(column.tolist() for column in answers), strict=True):
            answered[*pairs[row].tolist(), entity][side] = confidence
    assert wanted
    assert {triple: tuple(parts) for triple, parts in answered.items()} == wanted


def test_the_number_per_head_and_the_budget_are_respected() -> None:
    rng = np.random.default_rng(0)
    rows = [(ENTITIES[h], "rst"[r], ENTITIES[t]) for h, r, t in rng.integers(0, (7, 3, 7), size=(40, 3)).tolist()]
    graph = graph_of(rows)
    _, everything = mine_both(graph)
    _, few = mine_both(graph, max_conjunctions=2)
    _, none = mine_both(graph, max_pairs=0)
    _, n_of_head = np.unique(everything.heads, return_counts=True)
    assert n_of_head.max() > 2
    assert len(few) == np.minimum(n_of_head, 2).sum()
    assert few.cut == len(everything) - len(few)
    assert len(none) == 0
    assert none.skipped >= len(n_of_head)


@pytest.mark.parametrize("atoms", [0, 3])
def test_a_body_has_one_or_two_attributes(atoms: int) -> None:
    with pytest.raises(ValueError, match="1 or 2"):
        replace(METHOD, atoms=atoms)
