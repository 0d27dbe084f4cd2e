"""What describe() says, against a few lines of plain Python that say the same in another way."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import nnmfaug as na
from nnmfaug.graph.counts import Counts
from nnmfaug.graph.describe import RelationStats
from tests.adversarial import many_relations, run_limited, write_rows

Row = tuple[str, str, str]
row = st.tuples(st.sampled_from("abcde"), st.sampled_from("rst"), st.sampled_from("abcde"))
some = st.lists(row, min_size=1, max_size=20, unique=True)
maybe = st.lists(row, max_size=10, unique=True)
other = st.tuples(st.sampled_from("abcxyz"), st.sampled_from("rsu"), st.sampled_from("abcxyz"))
others = st.lists(other, max_size=10, unique=True)


def splits_of(train: list[Row], valid: list[Row], test: list[Row]) -> na.Splits:
    parts = [na.KnowledgeGraph.from_labels(rows) for rows in (train, valid, test)]
    return na.Splits.merge("toy", train=parts[0], valid=parts[1], test=parts[2])


def mirrored(rows: list[Row], relation: str, partner: str) -> int:
    return sum(r == relation and h != t and (t, partner, h) in rows for h, r, t in rows)


def check_relation(found: RelationStats, rows: list[Row]) -> None:
    own = [(h, t) for h, r, t in rows if r == found.name]
    heads, tails = {h for h, _ in own}, {t for _, t in own}
    assert (found.triples, found.heads, found.tails) == (len(own), len(heads), len(tails))
    assert found.tails_per_head == pytest.approx(len(own) / len(heads))
    assert found.heads_per_tail == pytest.approx(len(own) / len(tails))
    assert found.symmetric == pytest.approx(mirrored(rows, found.name, found.name) / len(own))
    sizes = Counter(r for _, r, _ in rows)
    shares = {
        partner: mirrored(rows, found.name, partner) / max(len(own), sizes[partner])
        for partner in sizes
        if partner != found.name
    }
    best = max(shares.values(), default=0)
    assert found.inverse_fraction == pytest.approx(best)
    if best == 0:
        assert found.inverse is None
    else:
        assert found.inverse is not None
        assert shares[found.inverse] == pytest.approx(best)


@given(some)
def test_relations_are_measured_as_plain_python_does(rows: list[Row]) -> None:
    stats = na.describe(na.KnowledgeGraph.from_labels(rows))
    assert {found.name for found in stats.relations} == {r for _, r, _ in rows}
    for found in stats.relations:
        check_relation(found, rows)
    order = [(-found.triples, found.name) for found in stats.relations]
    assert order == sorted(order), "most triples first, then by name"


@given(some)
def test_distinct_rows_are_counted_as_plain_python_does(rows: list[Row]) -> None:
    signatures = set()
    for entity in "abcde":
        heads = Counter(r for h, r, t in rows if h == entity != t)
        tails = Counter(r for h, r, t in rows if t == entity != h)
        if heads or tails:
            signatures.add((frozenset(heads.items()), frozenset(tails.items())))
    graph = na.KnowledgeGraph.from_labels(rows)
    assert na.describe(graph).distinct_rows == Counts.of(graph).n_distinct_rows() == len(signatures)


@given(some)
def test_counts_are_those_of_plain_python(rows: list[Row]) -> None:
    graph = na.KnowledgeGraph.from_labels(rows)
    counts = Counts.of(graph)
    heads, tails = counts.heads.toarray(), counts.tails.toarray()
    for i, entity in enumerate(graph.vocabulary.entities):
        for j, relation in enumerate(graph.vocabulary.relations):
            assert heads[i, j] == sum(h == entity != t and r == relation for h, r, t in rows)
            assert tails[i, j] == sum(t == entity != h and r == relation for h, r, t in rows)


@given(some, others, others)
def test_splits_are_measured_as_plain_python_does(train: list[Row], valid: list[Row], test: list[Row]) -> None:
    splits = splits_of(train, valid, test)
    stats = na.describe(splits)
    rows = {name: part for name, part in (("train", train), ("valid", valid), ("test", test)) if part}
    assert [split.name for split in stats.splits] == list(rows)
    seen, known = {name for h, _, t in train for name in (h, t)}, {r for _, r, _ in train}
    for split in stats.splits:
        own = rows[split.name]
        assert split.triples == split.lines == len(own)
        assert split.duplicates == 0
        assert split.self_loops == sum(h == t for h, _, t in own)
        assert split.unseen_entities == len({name for h, _, t in own for name in (h, t)} - seen)
        assert split.unseen_relations == len({r for _, r, _ in own} - known)
        assert split.with_unseen == sum(not {h, t} <= seen or r not in known for h, r, t in own)
        before = list(rows)[: list(rows).index(split.name)]
        assert split.leaked == {name: len(set(own) & set(rows[name])) for name in before}
    everything = [*train, *valid, *test]
    assert stats.n_entities == len({name for h, _, t in everything for name in (h, t)})
    assert stats.n_relations == len({r for _, r, _ in everything})


def test_an_inverse_is_found_and_its_share_is_of_the_larger_relation() -> None:
    rows = [(f"c{i}", "child of", f"p{i}") for i in range(4)] + [(f"p{i}", "parent of", f"c{i}") for i in range(3)]
    found = {relation.name: relation for relation in na.describe(na.KnowledgeGraph.from_labels(rows)).relations}
    assert found["child of"].inverse == "parent of"
    assert found["parent of"].inverse == "child of"
    assert found["child of"].inverse_fraction == found["parent of"].inverse_fraction == 0.75


def test_lines_and_repeats_come_from_the_file(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("stats") / "x.tsv"
    path.write_text("a\tr\tb\n\na\tr\tb\nb\tr \tc\n")
    graph = na.read_triples(path)
    stats = na.describe(graph, name="x")
    (train,) = stats.splits
    assert (train.lines, train.triples, train.duplicates) == (4, 2, 1)
    assert stats.name == "x"
    assert stats.notes == (f"{path}: names that begin or end with white space, kept unchanged: 1",)


def test_an_empty_graph_has_no_relations_and_no_rows() -> None:
    stats = na.describe(na.KnowledgeGraph.from_labels([]))
    assert (stats.n_entities, stats.n_relations, stats.distinct_rows, stats.relations) == (0, 0, 0, ())
    assert [split.triples for split in stats.splits] == [0]


def test_names_without_triples_are_counted_but_not_described() -> None:
    vocabulary = na.Vocabulary.from_names(["a", "b", "unused"], ["r", "unused"])
    graph = na.KnowledgeGraph.from_labels([("a", "r", "b")], vocabulary)
    stats = na.describe(graph)
    assert (stats.n_entities, stats.n_relations) == (3, 2)
    assert [relation.name for relation in stats.relations] == ["r"]
    empty = na.describe(na.KnowledgeGraph.from_labels([], vocabulary))
    assert (empty.n_entities, empty.relations, empty.distinct_rows) == (3, (), 0)


@given(some, maybe)
def test_describing_does_not_depend_on_the_order_of_the_triples(train: list[Row], test: list[Row]) -> None:
    forward = na.describe(splits_of(train, [], test))
    backward = na.KnowledgeGraph.from_labels(train[::-1], sort=False)
    tests = na.KnowledgeGraph.from_labels(test[::-1], sort=False)
    assert na.describe(na.Splits.merge("toy", train=backward, test=tests)) == forward


def test_relations_are_compared_some_at_a_time_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = na.read_splits("nations").train
    expected = na.describe(graph)
    monkeypatch.setattr("nnmfaug.graph.describe.MAX_CELLS", 200)
    assert na.describe(graph) == expected


def test_the_memory_of_stats_does_not_grow_with_the_square_of_the_relations(tmp_path: Path) -> None:
    path = write_rows(many_relations(20_000), tmp_path / "graph.tsv")
    done = run_limited("stats", path, cwd=tmp_path, gigabytes=1.5)
    assert not done.returncode, done.stderr
    assert "20,000 relations" in done.stdout
