"""Rules: planted ones are found, counts equal brute force, evidence is in train."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import nnmfaug as na
from nnmfaug.augmenters.rules.joins import pairs_of
from nnmfaug.augmenters.rules.mining import Limits, mine
from nnmfaug.augmenters.rules.rule_set import RuleSet
from nnmfaug.augmenters.rules.table import Threshold
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import LabelledTriple
from tests.adversarial import (
    Rows,
    many_inverses,
    many_relations,
    relations_of_one_hub,
    relations_of_one_pair,
    run_limited,
    write_rows,
)
from tests.examples import examples

Counts = tuple[int, int, int]
Body = tuple[tuple[str, bool], ...]
Said = tuple[str, frozenset[tuple[str, str]]]
"""The relation that a rule concludes, and for which pairs."""
path_rules = partial(na.Rules, constants=False)
NO_LIMITS = Limits(max_paths=10**6, budget=10**12, max_rules=10**9)
EVERYTHING = path_rules(depth=3, min_support=1, min_confidence=1e-9, prior=0.0)


def brute_force(rows: list[LabelledTriple], depth: int) -> dict[Said, tuple[int, Counts]]:
    """Length of the shortest body, support, size and PCA size by what rules say, by walking over names."""
    edges: dict[tuple[str, bool], set[tuple[str, str]]] = defaultdict(set)
    for h, r, t in rows:
        if h != t:
            edges[r, False].add((h, t))
            edges[r, True].add((t, h))
    found: dict[Said, tuple[int, Counts]] = {}
    for length in range(1, depth + 1):
        for body in itertools.product(sorted(edges), repeat=length):
            walks = [(x, y) for x, y in edges[body[0]]]
            chains: list[tuple[str, ...]] = walks  # type: ignore[assignment]
            for step in body[1:]:
                chains = [(*c, y) for c in chains for x, y in edges[step] if x == c[-1] and y not in c]
            pairs = {(c[0], c[-1]) for c in chains}
            for r in {r for r, _ in edges}:
                if body == ((r, False),):
                    continue
                known = edges[r, False]
                heads = {h for h, _ in known}
                support = len(pairs & known)
                if support:
                    counts = (support, len(pairs), sum(x in heads for x, _ in pairs))
                    found.setdefault((r, frozenset(pairs)), (length, counts))
    return found


def said(rules: RuleSet) -> dict[Said, tuple[int, Counts]]:
    """What rules say: their relation and the pairs of their bodies."""
    names = rules.graph.vocabulary
    found: dict[Said, tuple[int, Counts]] = {}
    for i, ((relation, body), counts) in enumerate(as_dict(rules).items()):
        x, y = pairs_of(rules.steps, rules.paths.path(i))
        pairs = frozenset((names.entities[a], names.entities[b]) for a, b in zip(x, y, strict=True))
        assert (relation, pairs) not in found, "two rules that say the same"
        found[relation, pairs] = (len(body), counts)
    return found


def as_dict(rules: RuleSet) -> dict[tuple[str, Body], Counts]:
    names, table, found = rules.graph.vocabulary.relations, rules.paths.table, {}
    for i in range(len(rules)):
        body = tuple((names[step % len(names)], step >= len(names)) for step in rules.paths.path(i))
        assert (names[table.heads[i]], body) not in found, "a rule twice"
        counts = (int(table.support[i]), int(table.sizes[i]), int(table.pca_sizes[i]))
        found[names[table.heads[i]], body] = counts
    return found


@st.composite
def toy_rows(draw: st.DrawFn, max_size: int = 22) -> list[LabelledTriple]:
    entity, relation = st.integers(0, 6), st.integers(0, 2)
    ids = draw(st.lists(st.tuples(entity, relation, entity), min_size=1, max_size=max_size))
    return sorted({(f"e{h}", f"r{r}", f"e{t}") for h, r, t in ids})


class TestMining:
    @given(rows=toy_rows())
    @settings(max_examples=examples(60))
    def test_counts_equal_brute_force(self, rows: list[LabelledTriple]) -> None:
        rules = EVERYTHING.mine(KnowledgeGraph.from_labels(rows))
        assert said(rules) == brute_force(rows, 3)

    @given(rows=toy_rows(max_size=12))
    @settings(max_examples=examples(10))
    def test_counts_of_four_steps_equal_brute_force(self, rows: list[LabelledTriple]) -> None:
        rules = replace(EVERYTHING, depth=4).mine(KnowledgeGraph.from_labels(rows))
        assert said(rules) == brute_force(rows, 4)

    @pytest.mark.slow
    def test_chunks_change_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        graph = na.read_splits("nations").train
        graph = na.KnowledgeGraph(graph.vocabulary, graph.triples[graph.triples[:, 1] < 6])
        before = mine(graph, Threshold(2, 0.1, 5.0), NO_LIMITS, depth=3)
        monkeypatch.setattr("nnmfaug.augmenters.rules.mining.CHUNK_COLUMNS", 40)
        monkeypatch.setattr("nnmfaug.augmenters.rules.mining.CHUNK_PATHS", 100)
        monkeypatch.setattr("nnmfaug.augmenters.rules.mining.CHUNK_CELLS", 100)
        after = mine(graph, Threshold(2, 0.1, 5.0), NO_LIMITS, depth=3)
        for column in ("bodies", "heads", "support", "sizes", "pca_sizes"):
            assert np.array_equal(getattr(before, column), getattr(after, column))

    @pytest.mark.parametrize("confidence", ["standard", "pca"])
    @pytest.mark.slow
    def test_the_threshold_leaves_out_exactly_what_is_below_it(self, confidence: str) -> None:
        graph = na.read_splits("nations").train
        loose = path_rules(min_support=1, min_confidence=0.01, confidence=confidence)  # type: ignore[arg-type]
        strict = path_rules(min_support=7, min_confidence=0.6, confidence=confidence)  # type: ignore[arg-type]
        everything, some = loose.mine(graph), strict.mine(graph)
        kept = (everything.paths.table.support >= 7) & (everything.confidence >= 0.6)
        assert 0 < kept.sum() < len(everything)
        assert np.array_equal(some.paths.table.bodies, everything.paths.table.bodies[kept])
        assert np.array_equal(some.confidence, everything.confidence[kept])

    def test_bodies_that_are_too_large_are_skipped_and_counted(self) -> None:
        hub = [(f"x{i}", "to", "hub") for i in range(30)] + [("hub", "from", f"y{i}") for i in range(30)]
        graph = KnowledgeGraph.from_labels([*hub, *((f"x{i}", "met", f"y{i}") for i in range(30))])
        rules = path_rules(max_paths=800).mine(graph)
        assert rules.paths.table.unpaid == 0
        assert rules.skipped == 3  # to ∘ from, to ∘ to⁻¹, from⁻¹ ∘ from
        assert not path_rules(max_paths=900).mine(graph).skipped
        assert "met" not in {rules.graph.vocabulary.relations[head] for head in rules.paths.table.heads}

    def test_a_budget_leaves_out_the_largest_bodies_and_counts_them(self) -> None:
        graph = na.read_splits("umls").train
        every = path_rules(min_confidence=0.001).mine(graph)
        some = path_rules(min_confidence=0.001, budget=800_000).mine(graph)
        is_long = some.paths.table.bodies[:, 1] >= 0
        assert some.skipped == some.paths.table.unpaid > 0
        assert 0 < is_long.sum() < (every.paths.table.bodies[:, 1] >= 0).sum()
        assert set(as_dict(some).items()) <= set(as_dict(every).items())

    def test_a_budget_pays_for_short_bodies_before_long_ones(self) -> None:
        graph = na.family(60, seed=1).given
        every = as_dict(path_rules(depth=3).mine(graph))
        numbers = []
        for budget in (10**3, 10**4, 10**5, 10**6, 10**9):
            rules = path_rules(depth=3, budget=budget).mine(graph)
            some = as_dict(rules)
            assert {(r, counts) for (r, _), counts in some.items()} <= {
                (r, counts) for (r, _), counts in every.items()
            }
            assert (rules.skipped > 0) == (budget < 10**9)
            lengths = [len(body) for _, body in some]
            if 3 in lengths:
                short = {rule for rule in every if len(rule[1]) < 3}
                assert short <= set(some)
            numbers.append(len(some))
        assert numbers == sorted(numbers)
        assert numbers[0] < numbers[2] < numbers[-1] == len(every)

    def test_what_a_budget_pays_for_does_not_depend_on_names(self) -> None:
        graph = na.family(60, seed=1).given
        swapped = {r: f"{len(r):02}{r}"[::-1] for r in graph.vocabulary.relations}
        renamed = KnowledgeGraph.from_labels([(h[::-1], swapped[r], t[::-1]) for h, r, t in graph.labels()])
        method = path_rules(depth=3, budget=10**6)
        one, two = method.mine(graph), method.mine(renamed)
        expected = {
            (swapped[relation], frozenset((x[::-1], y[::-1]) for x, y in pairs)): counts
            for (relation, pairs), counts in said(one).items()
        }
        assert one.skipped == two.skipped > 0
        assert said(two) == expected

    @pytest.mark.parametrize("product_cost", [0, 10**9])
    def test_joins_and_products_count_the_same(self, product_cost: int, monkeypatch: pytest.MonkeyPatch) -> None:
        graph = na.family(40, seed=1).given
        monkeypatch.setattr("nnmfaug.augmenters.rules.mining.ENTITIES_PER_PATH", 10**9)
        limits = Limits(max_paths=10**6, budget=10**17, max_rules=10**9)
        before = mine(graph, Threshold(2, 0.1, 5.0), limits, depth=3)
        monkeypatch.setattr("nnmfaug.augmenters.rules.mining.PRODUCT_COST", product_cost)
        after = mine(graph, Threshold(2, 0.1, 5.0), limits, depth=3)
        for column in ("bodies", "heads", "support", "sizes", "pca_sizes"):
            assert np.array_equal(getattr(before, column), getattr(after, column))

    @pytest.mark.parametrize("confidence", ["standard", "pca"])
    def test_the_best_rules_are_the_same_if_the_others_are_forgotten_on_the_way(self, confidence: str) -> None:
        graph = na.read_splits("nations").train
        every = path_rules(confidence=confidence, max_rules=10**9).mine(graph)  # type: ignore[arg-type]
        best = path_rules(confidence=confidence, max_rules=500).mine(graph)  # type: ignore[arg-type]
        rows = np.sort(every.order()[:500])
        assert np.array_equal(best.paths.table.bodies, every.paths.table.bodies[rows])
        assert np.array_equal(best.paths.table.heads, every.paths.table.heads[rows])
        assert np.array_equal(best.confidence, every.confidence[rows])
        assert every.cut == 0
        assert best.cut > 0
        assert len(best) + best.cut + best.dropped == len(every) + every.dropped

    def test_rules_that_are_selected_are_counted_with_those_beyond_them(self) -> None:
        every = path_rules(depth=1).mine(na.read_splits("nations").train)
        few = path_rules(max_rules=20).select(every)
        assert (len(few), few.cut, few.dropped) == (20, len(every) - 20, every.dropped)

    @pytest.mark.parametrize(
        ("rows", "depth"),
        [
            (many_relations(20_000, 2), 2),
            (many_inverses(20_000), 2),
            (relations_of_one_pair(20_000), 2),
            (relations_of_one_hub(40, 2200), 2),
            (relations_of_one_hub(20, 500), 3),
            (relations_of_one_hub(40, 2200), 3),
            (many_relations(20_000, 2), 3),
        ],
    )
    def test_graphs_that_explode_are_mined_in_bounded_time_and_memory(
        self, rows: Rows, depth: int, tmp_path: Path
    ) -> None:
        path = write_rows(rows, tmp_path / "graph.tsv")
        done = run_limited("rules", path, "--depth", str(depth), cwd=tmp_path, gigabytes=2)
        assert not done.returncode, done.stderr

    def test_planted_rules_are_found_and_no_others(self) -> None:
        rng = np.random.default_rng(0)
        people = [f"p{i}" for i in range(400)]
        rows: list[LabelledTriple] = []
        for i, (a, b, c) in enumerate(rng.permutation(people).reshape(-1, 4)[:, :3].tolist()):
            rows += [(a, "parent", b), (b, "parent", c)]
            rows += [(a, "grandparent", c)] if i % 10 else []
            rows += [(c, "grandchild", a)] if i % 9 else []
        for a, b in rng.permutation(people)[:200].reshape(-1, 2).tolist():
            rows += [(a, "spouse", b), (b, "spouse", a)]
        rules = path_rules(min_support=20, min_confidence=0.5).mine(KnowledgeGraph.from_labels(rows))
        assert {rules.describe(i) for i in range(len(rules))} == {
            "grandparent(x, y) ← parent(x, z), parent(z, y)",
            "grandparent(x, y) ← grandchild(y, x)",
            "grandchild(x, y) ← grandparent(y, x)",
            "grandchild(x, y) ← parent(z, x), parent(y, z)",
            "spouse(x, y) ← spouse(y, x)",
            "parent(x, y) ← grandparent(x, z), parent(y, z)",
            "parent(x, y) ← grandchild(z, x), parent(y, z)",
            "parent(x, y) ← parent(z, x), grandparent(z, y)",
            "parent(x, y) ← parent(z, x), grandchild(y, z)",
        }

    def test_of_rules_that_say_the_same_the_shortest_remains(self) -> None:
        rows: list[LabelledTriple] = []
        for i in range(10):
            rows += [(f"a{i}", "parent", f"b{i}"), (f"b{i}", "parent", f"c{i}")]
            rows += [(f"a{i}", "grandparent", f"c{i}"), (f"c{i}", "grandchild", f"a{i}")]
        rules = path_rules(min_confidence=0.6).mine(KnowledgeGraph.from_labels(rows))
        texts = [rules.describe(i) for i in range(len(rules))]
        assert [text for text in texts if text.startswith("grand")] == [
            "grandchild(x, y) ← grandparent(y, x)",
            "grandparent(x, y) ← grandchild(y, x)",
        ]
        assert rules.dropped == 4  # grandparent and grandchild by two parents, and parent by grandchild
        for a in ("fading", "noisy-or"):
            new, _ = rules.conclude_all(a, 10**9)
            assert (new.best_rules[:, 1] == -1).all()

    @pytest.mark.parametrize("rows", [[], [("a", "r", "a")], [("a", "r", "b")]])
    def test_a_graph_without_rules_has_no_candidates(self, rows: list[LabelledTriple]) -> None:
        dist = path_rules().fit(KnowledgeGraph.from_labels(rows))
        assert dist.support_size == 0
        with pytest.raises(na.SamplingError, match="nothing in train supports one"):
            dist.top(1)


class TestConclusions:
    @given(rows=toy_rows())
    @settings(max_examples=examples(30))
    def test_confidence_is_the_best_or_the_union_of_all_rules(self, rows: list[LabelledTriple]) -> None:
        graph = KnowledgeGraph.from_labels(rows)
        rules = path_rules(min_support=1, min_confidence=0.01, prior=1.0)
        doubt: dict[LabelledTriple, float] = defaultdict(lambda: 1.0)
        best: dict[LabelledTriple, float] = defaultdict(float)
        for (head, pairs), (_, (support, size, _)) in brute_force(rows, 2).items():
            c = support / (size + 1)
            for x, y in pairs:
                if c >= 0.01 and (x, head, y) not in rows:
                    doubt[x, head, y] *= 1 - c
                    best[x, head, y] = max(best[x, head, y], c)
        for combine, expected in (("max", best), ("noisy-or", {k: 1 - v for k, v in doubt.items()})):
            dist = na.Rules(**{**vars(rules), "combine": combine}).fit(graph)
            got = dict(zip(dist.top(dist.n_new).labels, dist.confidence.tolist(), strict=True))
            assert got == pytest.approx(dict(expected))
            assert (np.diff(dist.confidence) <= 0).all()

    @pytest.mark.parametrize("depth", [1, 2, 3, 4])
    @pytest.mark.slow
    def test_evidence_is_in_train_and_makes_up_the_body(self, depth: int) -> None:
        train = na.family(60, seed=1).given
        dist = path_rules(depth=depth).fit(train)
        sample = dist.sample(40, seed=0)
        known = set(train.labels())
        for (h, r, t), evidence in zip(sample.labels, dist.explain(sample.triples), strict=True):
            assert evidence.source == "rules"
            assert evidence.reason.startswith(f"{r}(x, y) ← ")
            assert set(evidence.triples) <= known
            assert 1 <= len(evidence.triples) <= depth
            places = [h]
            for a, _, b in evidence.triples:
                assert places[-1] in (a, b)
                places.append(b if places[-1] == a else a)
            assert places[-1] == t
            assert len(set(places)) == len(places)

    def test_the_most_certain_rules_come_first_when_there_are_too_many_candidates(self) -> None:
        train = na.family(60, seed=1).given
        everything = path_rules().fit(train)
        some = path_rules(max_candidates=200).fit(train)
        assert 0 < some.support_size <= 200 < everything.support_size
        assert np.array_equal(some.confidence, everything.confidence[: len(some.confidence)])


@pytest.mark.parametrize(
    "wrong",
    [
        {"depth": 5},
        {"budget": 0},
        {"confidence": "best"},
        {"combine": "min"},
        {"min_support": 0},
        {"min_confidence": 0.0},
        {"prior": -1.0},
        {"sharpness": -1.0},
    ],
)
def test_settings_that_mean_nothing_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        path_rules(**wrong).fit(na.family(30, seed=0).given)  # type: ignore[arg-type]


@pytest.mark.usefixtures("archives")
@pytest.mark.parametrize(
    ("name", "depth", "least"),
    [("dl50a", 2, (0.97, 0.58)), ("wn18rr", 2, (0.50, 0.25)), ("dl50a", 3, (0.96, 0.8))],
)
def test_the_best_candidates_are_confirmed_by_valid_and_test(
    name: str, depth: int, least: tuple[float, float]
) -> None:
    splits = na.read_splits(name)
    dist = path_rules(depth=depth).fit(splits.train)
    for share, bar in zip((0.05, 0.1), least, strict=True):
        triples = dist.top(int(share * len(splits.train))).triples
        assert (splits.valid.contains(triples) | splits.test.contains(triples)).mean() >= bar
