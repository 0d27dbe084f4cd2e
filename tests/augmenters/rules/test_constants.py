"""Rules with constants: counts equal brute force, planted ones are found, conclusions and queries agree."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import nnmfaug as na
from nnmfaug.augmenters.rules import constant_mining, constant_queries, constant_rules
from nnmfaug.augmenters.rules.combining import combine_best, find_best_rules
from nnmfaug.augmenters.rules.constant_queries import ConstantQueries
from nnmfaug.augmenters.rules.constant_rules import ConstantRules
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import LabelledTriple
from tests.adversarial import relations_of_one_hub, run_limited, write_rows
from tests.examples import examples

Attribute = tuple[str, bool, str | None]
"""Relation, whether it is read backwards, and its other end; None for any."""
Counts = tuple[int, int]
Rule = tuple[Attribute, Attribute | None]
EVERYTHING = na.Rules(depth=1, min_support=1, min_confidence=1e-9, prior=0.0)


def holders(rows: list[LabelledTriple]) -> dict[Attribute, set[str]]:
    """The entities that have each attribute."""
    entities: dict[Attribute, set[str]] = defaultdict(set)
    for h, r, t in rows:
        if h != t:
            for x, inverted, end in ((h, False, t), (t, True, h)):
                entities[r, inverted, end].add(x)
                entities[r, inverted, None].add(x)
    return entities


def subjects(rows: list[LabelledTriple], head: Attribute, body: Attribute) -> set[str]:
    """The entities that a body holds for without the triple that is concluded about them."""
    relation, inverted, constant = head
    assert constant is not None
    if body != (relation, inverted, None):
        return holders(rows)[body] - {constant}
    others: list[LabelledTriple] = []
    for h, r, t in rows:
        concluded = r == relation and (h if inverted else t) == constant
        if not concluded:
            others.append((h, r, t))
    return holders(others)[body] - {constant}


def brute_force(rows: list[LabelledTriple]) -> dict[Rule, Counts]:
    """Support and size of every rule that has support."""
    entities = holders(rows)
    counts: dict[Rule, Counts] = {}
    for head, known in entities.items():
        if head[2] is None:
            continue
        for body in set(entities) - {head}:
            found = subjects(rows, head, body)
            if found & known:
                counts[head, body] = (len(found & known), len(found))
        counts[head, None] = (len(known), len(entities[head[0], head[1], None] - {head[2]}))
    return counts


def attribute(code: int, rules: ConstantRules) -> Attribute | None:
    if code < 0:
        return None
    names = rules.steps.graph.vocabulary
    step, end = divmod(code, rules.steps.n + 1)
    relation = names.relations[step % len(names.relations)]
    return relation, step >= len(names.relations), None if end == rules.steps.n else names.entities[end]


def as_dict(rules: ConstantRules) -> dict[Rule, Counts]:
    counts: dict[Rule, Counts] = {}
    for i in range(len(rules)):
        head = attribute(int(rules.table.heads[i]), rules)
        assert head is not None
        body = attribute(int(rules.table.bodies[i, 0]), rules)
        assert (head, body) not in counts, "a rule twice"
        counts[head, body] = (int(rules.table.support[i]), int(rules.table.sizes[i]))
    return counts


@st.composite
def toy_rows(draw: st.DrawFn) -> list[LabelledTriple]:
    entity, relation = st.integers(0, 6), st.integers(0, 2)
    ids = draw(st.lists(st.tuples(entity, relation, entity), min_size=1, max_size=25))
    return sorted({(f"e{h}", f"r{r}", f"e{t}") for h, r, t in ids})


def is_left_out(rows: list[LabelledTriple], rule: Rule, counts: dict[Rule, Counts]) -> bool:
    """Whether another rule of the same head says the same, or more with no less confidence."""
    head, body = rule
    if body is None:
        return False
    found = subjects(rows, head, body)
    support, size = counts[rule]
    general: Rule = (head, (body[0], body[1], None))
    if body[2] is not None and general in counts:
        more_support, more_size = counts[general]
        if more_support / more_size >= support / size:
            return True
    own = (head[0], head[1], None)
    return any(
        other is not None and other != body and own not in (other, body) and subjects(rows, head, other) == found
        for of, other in counts
        if of == head
    )


class TestMining:
    @given(rows=toy_rows())
    @settings(max_examples=examples(60))
    def test_counts_equal_brute_force(self, rows: list[LabelledTriple]) -> None:
        rules = EVERYTHING.mine(KnowledgeGraph.from_labels(rows)).constants
        counts = as_dict(rules)
        expected = brute_force(rows)
        assert counts.items() <= expected.items()
        for rule in expected.keys() - counts.keys():
            assert is_left_out(rows, rule, expected)

    @given(rows=toy_rows())
    @settings(max_examples=examples(40))
    def test_no_two_rules_have_equal_conclusions_for_the_same_head(self, rows: list[LabelledTriple]) -> None:
        rules = EVERYTHING.mine(KnowledgeGraph.from_labels(rows)).constants
        concluded: dict[Attribute, list[frozenset[str]]] = defaultdict(list)
        entities = holders(rows)
        for head, body in as_dict(rules):
            if body is not None and body != (head[0], head[1], None):
                concluded[head].append(frozenset(entities[body]))
        for sets in concluded.values():
            assert len(sets) == len(set(sets))

    def test_planted_rules_are_found_and_no_others(self) -> None:
        people = [f"p{i:03}" for i in range(300)]
        rows = [(p, "born_in", "boston" if i % 3 else "rome") for i, p in enumerate(people)]
        rows += [(p, "nationality", "USA" if i % 3 else "Italy") for i, p in enumerate(people) if i % 10]
        rows += [(p, "speaks", f"l{i % 50}") for i, p in enumerate(people)]
        rules = na.Rules(depth=1, min_support=20, min_confidence=0.6).mine(KnowledgeGraph.from_labels(rows))
        texts = {rules.describe(i): round(float(rules.confidence[i]), 3) for i in range(len(rules))}
        assert texts == {
            "nationality(x, USA) ← born_in(x, boston)": round(180 / 205, 3),
            "nationality(x, USA) ← true": round(180 / 275, 3),
            "nationality(x, Italy) ← born_in(x, rome)": round(90 / 105, 3),
            "born_in(x, boston) ← nationality(x, USA)": round(180 / 185, 3),
            "born_in(x, boston) ← nationality(x, z)": round(180 / 275, 3),
            "born_in(x, rome) ← nationality(x, Italy)": round(90 / 95, 3),
            "born_in(x, boston) ← true": round(200 / 305, 3),
            "born_in(x, boston) ← speaks(x, z)": round(200 / 305, 3),
        }

    def test_a_body_does_not_use_the_triple_that_is_concluded(self) -> None:
        rows = [(f"p{i}", "likes", "tea") for i in range(10)] + [(f"p{i}", "likes", f"x{i}") for i in range(4)]
        rules = na.Rules(depth=1, min_support=1, prior=0.0).mine(KnowledgeGraph.from_labels(rows))
        (rule,) = [i for i in range(len(rules)) if rules.describe(i) == "likes(x, tea) ← likes(x, z)"]
        assert (rules.support[rule], rules.sizes[rule]) == (4, 4)  # not the six that like tea alone

    @pytest.mark.parametrize("chunk", [1, 50])
    def test_chunks_change_nothing(self, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
        graph = na.family(60, seed=1).given
        method = na.Rules(depth=1)
        before = method.mine(graph)
        before_new, before_known = before.conclude_all("fading", 10**9)
        monkeypatch.setattr(constant_mining, "CHUNK_PAIRS", chunk)
        monkeypatch.setattr(constant_rules, "CHUNK_CONCLUSIONS", chunk)
        after = method.mine(graph)
        for column in ("heads", "bodies", "support", "sizes"):
            assert np.array_equal(getattr(before.constants.table, column), getattr(after.constants.table, column))
        new, known = after.conclude_all("fading", 10**9)
        for one, two in ((before_new, new), (before_known, known)):
            assert np.array_equal(one.keys, two.keys)
            assert np.array_equal(one.best_rules, two.best_rules)
            assert np.array_equal(one.by_kind, two.by_kind)

    def test_the_best_rules_remain_and_the_others_are_counted(self) -> None:
        graph = na.family(60, seed=1).given
        every = na.Rules(depth=1).mine(graph).constants
        best = na.Rules(depth=1, max_constant_rules=50).mine(graph).constants
        assert len(best) == 50
        assert best.table.dropped == every.table.dropped
        assert (every.table.cut, best.table.cut) == (0, len(every) - 50)
        assert best.confidence.min() >= np.sort(every.confidence)[-51]

    def test_a_budget_leaves_out_the_heads_of_most_pairs_and_counts_them(self) -> None:
        graph = na.family(60, seed=1).given
        some = na.Rules(depth=1, budget=3000).mine(graph).constants
        every = na.Rules(depth=1).mine(graph).constants
        assert some.table.skipped > 0
        assert as_dict(some).items() < as_dict(every).items()

    @pytest.mark.parametrize("rows", [[], [("a", "r", "a")], [("a", "r", "b")]])
    def test_a_graph_without_rules_has_none(self, rows: list[LabelledTriple]) -> None:
        rules = na.Rules().mine(KnowledgeGraph.from_labels(rows))
        assert not len(rules)
        new, known = rules.conclude_all("max", 10)
        assert not len(new.keys) + len(known.keys)

    def test_a_hub_is_mined_in_bounded_time_and_memory(self, tmp_path: Path) -> None:
        path = write_rows(relations_of_one_hub(40, 2200), tmp_path / "graph.tsv")
        done = run_limited("rules", path, "--depth", "1", cwd=tmp_path, gigabytes=2)
        assert not done.returncode, done.stderr


class TestConclusions:
    @given(rows=toy_rows())
    @settings(max_examples=examples(30))
    def test_confidence_is_that_of_the_best_rule(self, rows: list[LabelledTriple]) -> None:
        graph = KnowledgeGraph.from_labels(rows)
        method = na.Rules(depth=1, min_support=1, min_confidence=0.01, prior=1.0)
        new = method.mine(graph).conclude("max", 10**9)
        best: dict[LabelledTriple, float] = defaultdict(float)
        for (head, body), (support, size) in brute_force(rows).items():
            if body is None or support < 0.01 * (size + 1):
                continue
            for x in subjects(rows, head, body):
                relation, inverted, c = head
                assert c is not None
                triple = (c, relation, x) if inverted else (x, relation, c)
                if triple not in rows:
                    best[triple] = max(best[triple], support / (size + 1))
        labels = KnowledgeGraph(graph.vocabulary, graph.vocabulary.from_keys(new.keys)).labels()
        by_constants = dict(zip(labels, new.by_kind[:, 1:].max(axis=1).tolist(), strict=True))
        assert {triple: c for triple, c in by_constants.items() if c} == pytest.approx(dict(best))

    def test_evidence_is_in_train_and_about_the_triple(self) -> None:
        train = na.family(60, seed=1).given
        dist = na.Rules(depth=1, min_confidence=0.2).fit(train)
        known = set(train.labels())
        seen = set()
        sample = dist.sample(200, seed=0)
        for (h, _, t), evidence in zip(sample.labels, dist.explain(sample.triples), strict=True):
            assert set(evidence.triples) <= known
            if "(x, y) ←" not in evidence.reason:
                ((a, _, b),) = evidence.triples
                assert {a, b} & {h, t}
                seen.add("z" in evidence.reason)
        assert seen == {False, True}

    def test_of_too_many_new_triples_the_best_remain(self) -> None:
        graph = na.family(60, seed=1).given
        rules = na.Rules(depth=1).mine(graph).constants
        every, _ = rules.conclude(10**9)
        best, _ = rules.conclude(100)
        highest = np.sort(rules.confidence[every.rules[:, 0]])[::-1]
        assert 0 < len(best.keys) <= 100
        assert rules.confidence[best.rules[:, 0]].min() >= highest[100]


class TestQueries:
    @pytest.mark.parametrize("heads", [False, True])
    @pytest.mark.parametrize("seed", [0, 1])
    def test_answers_are_all_conclusions(self, seed: int, heads: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(constant_queries, "CHUNK_ANSWERS", 50)
        ids = np.random.default_rng(seed).integers(0, [12, 3, 12], size=(70, 3))
        graph = KnowledgeGraph.from_labels([(f"e{h:02}", f"r{r}", f"e{t:02}") for h, r, t in ids.tolist()])
        rules = na.Rules(depth=1, min_support=1, min_confidence=0.01, prior=1.0).mine(graph)
        with_body = ConstantRules(
            rules.steps, rules.constants.table.take(rules.constants.table.has_body), rules.threshold
        )
        pairs = np.array([(e, r) for e in range(graph.n_entities) for r in range(graph.n_relations)])
        answers = ConstantQueries(with_body).answer(pairs, heads=heads)
        new, known = rules.conclude_all("fading", 10**9)
        for kind, side in enumerate(answers, 1):
            asked, relation = pairs[side.rows].T
            columns = (side.entities, relation, asked) if heads else (asked, relation, side.entities)
            keys = graph.vocabulary.keys(np.stack(columns, axis=1).astype(np.int32))
            listed = {
                key: confidence
                for part in (new, known)
                for key, confidence in zip(part.keys.tolist(), part.by_kind[:, kind].tolist(), strict=True)
                if confidence
            }
            assert dict(zip(keys.tolist(), side.confidence.tolist(), strict=True)) == pytest.approx(listed)
            assert len(listed) > 50

    def test_a_rule_without_a_body_answers_every_query_of_its_relation(self) -> None:
        rows = [(f"p{i}", "born_in", "rome") for i in range(6)] + [("q", "likes", "p0"), ("q", "likes", "p1")]
        graph = KnowledgeGraph.from_labels(rows)
        rules = na.Rules(depth=1, min_support=3, prior=0.0).mine(graph).constants
        query = np.array([[graph.vocabulary.entity_ids["q"], graph.vocabulary.relation_ids["born_in"]]])
        usual = ConstantQueries(rules).usual(query, heads=False)
        assert usual.entities.tolist() == [graph.vocabulary.entity_ids["rome"]]
        assert usual.confidence.tolist() == pytest.approx([1.0])
        assert not any(len(answers.rows) for answers in ConstantQueries(rules).answer(query, heads=False))


class TestBestRules:
    @given(
        cells=st.lists(st.integers(0, 5), max_size=40),
        seed=st.integers(0, 10),
        offset=st.sampled_from([0, 2**62]),
    )
    def test_are_the_first_three_by_rank(self, cells: list[int], seed: int, offset: int) -> None:
        rng = np.random.default_rng(seed)
        pairs = sorted({(cell, int(rng.integers(8))) for cell in cells})
        rank = rng.permutation(8)
        best = find_best_rules(
            np.array([c for c, _ in pairs], dtype=np.int64) + offset,
            np.array([r for _, r in pairs], dtype=np.int64),
            rank,
        )
        for cell, rules in zip((best.keys - offset).tolist(), best.rules.tolist(), strict=True):
            expected = sorted((r for c, r in pairs if c == cell), key=lambda r: rank[r])[:3]
            assert [rule for rule in rules if rule >= 0] == expected
        assert (best.keys - offset).tolist() == sorted({c for c, _ in pairs})

    def test_are_combined_as_all_rules_if_there_are_three(self) -> None:
        best = np.array([[0.9, 0.5, 0.2], [0.4, 0.0, 0.0]])
        assert combine_best(best, "max").tolist() == [0.9, 0.4]
        assert combine_best(best, "noisy-or") == pytest.approx([1 - 0.1 * 0.5 * 0.8, 0.4])
        assert combine_best(best, "fading") == pytest.approx([1 - 0.1 * 0.5**0.5 * 0.8**0.25, 0.4])
