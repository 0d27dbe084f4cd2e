"""Names, triples and splits: what the rest stands on."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import pickle
import random

import numpy as np
import pytest
from hypothesis import given, strategies as st

import nnmfaug as na
from nnmfaug.core.blocks import blocks
from nnmfaug.graph import knowledge_graph

Row = tuple[str, str, str]
name = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=3)
few = st.sampled_from("abcd")
rows = st.lists(st.tuples(few, st.sampled_from("rs"), few), max_size=20)
ROWS = [("b", "s", "a"), ("a", "r", "b"), ("c", "r", "c")]


# --- Vocabulary ------------------------------------------------------------------------------------------------


@given(st.lists(name), st.lists(name))
def test_ids_follow_the_sorted_names(entities: list[str], relations: list[str]) -> None:
    vocabulary = na.Vocabulary.from_names(entities, relations)
    assert vocabulary.entities == tuple(sorted(set(entities)))
    assert vocabulary.relations == tuple(sorted(set(relations)))
    assert [vocabulary.entity_ids[e] for e in vocabulary.entities] == list(range(len(set(entities))))
    assert [vocabulary.relation_ids[r] for r in vocabulary.relations] == list(range(len(set(relations))))


@pytest.mark.parametrize(
    ("entities", "relations", "message"),
    [
        (("b", "a"), (), "entities must be sorted"),
        (("a", "a"), (), "entities must be sorted and without repeats"),
        ((), ("r", "r"), "relations must be sorted and without repeats"),
        (("", "a"), (), "an empty name among the entities"),
        ((), ("",), "an empty name among the relations"),
        (("a\ud800",), (), r"a name among the entities is not valid text.*\\ud800"),
    ],
)
def test_names_that_cannot_be_are_refused(
    entities: tuple[str, ...], relations: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        na.Vocabulary(entities, relations)


@given(st.lists(name), st.lists(name), st.lists(name))
def test_a_union_has_the_names_of_all(first: list[str], second: list[str], third: list[str]) -> None:
    parts = [na.Vocabulary.from_names(names, names[:2]) for names in (first, second, third)]
    union = parts[0].union(parts[1], parts[2])
    assert union.entities == tuple(sorted({*first, *second, *third}))
    assert union.relations == tuple(sorted({*first[:2], *second[:2], *third[:2]}))
    assert parts[0].union() == parts[0]


@given(st.integers(1, 9), st.integers(1, 9), st.data())
def test_keys_are_unique_sorted_as_triples_and_undone(n: int, m: int, data: st.DataObject) -> None:
    vocabulary = na.Vocabulary(tuple(map(str, range(n))), tuple(map(str, range(m))))
    ids = st.tuples(st.integers(0, n - 1), st.integers(0, m - 1), st.integers(0, n - 1))
    triples = data.draw(st.lists(ids, min_size=1, max_size=20))
    keys = vocabulary.keys(triples)
    assert vocabulary.from_keys(keys).tolist() == [list(triple) for triple in triples]
    assert [triples[i] for i in np.argsort(keys, kind="stable")] == sorted(triples)


def test_more_triples_than_64_bits_count_are_refused_with_the_sizes() -> None:
    class Many(tuple[str, ...]):
        __slots__ = ()

        def __len__(self) -> int:
            return 2**26

    vocabulary = na.Vocabulary((), ())
    object.__setattr__(vocabulary, "entities", Many())
    object.__setattr__(vocabulary, "relations", Many())
    with pytest.raises(ValueError, match=r"67108864 entities and 67108864 relations.*64 bits"):
        vocabulary.keys(np.zeros((1, 3)))


# --- KnowledgeGraph --------------------------------------------------------------------------------------------


def test_triples_are_a_read_only_int32_copy() -> None:
    given_ids = np.array([[0, 0, 1]], dtype=np.int64)
    graph = na.KnowledgeGraph(na.Vocabulary(("a", "b"), ("r",)), given_ids)  # type: ignore[arg-type]
    given_ids[0, 0] = 1
    assert graph.triples.tolist() == [[0, 0, 1]]
    assert graph.triples.dtype == np.int32
    with pytest.raises(ValueError, match="read-only"):
        graph.triples[0, 0] = 1
    own = np.array([[0, 0, 1]], dtype=np.int32)
    assert na.KnowledgeGraph(graph.vocabulary, own).triples is not own
    assert own.flags.writeable


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([[0, 0, 2]], r"ids from \[\(0, 0\), \(0, 0\), \(2, 2\)\].*\(2, 1, 2\)"),
        ([[0, 1, 0]], r"\(1, 1\)"),
        ([[-1, 0, 0]], r"ids from \[\(-1"),
        ([[0, 0, 1], [1, 0, 0], [0, 0, 1]], "1 repeated triples"),
        ([[0, 0, 0]] * 4, "3 repeated triples"),
        ([0, 0, 0], r"shape \(3,\)"),
        ([[0, 0]], r"shape \(1, 2\)"),
        ([[0, 0, 0, 0]], r"shape \(1, 4\)"),
    ],
)
def test_ids_that_cannot_be_are_refused_with_their_values(ids: list[object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        na.KnowledgeGraph(na.Vocabulary(("a", "b"), ("r",)), np.array(ids))


@pytest.mark.parametrize("big", [2**31, 2**32, 2**32 + 1, -(2**32), 2**63 - 1])
def test_an_id_too_large_for_32_bits_is_refused_and_does_not_wrap(big: int) -> None:
    ids = np.array([[big, 0, 0]], dtype=np.int64)
    with pytest.raises(ValueError, match=r"ids from|too large|out of bounds"):
        na.KnowledgeGraph(na.Vocabulary(("a", "b"), ("r",)), ids)  # type: ignore[arg-type]


def test_ids_that_are_no_whole_numbers_are_refused() -> None:
    with pytest.raises((ValueError, TypeError), match=r"0\.7|float|integer|whole"):
        na.KnowledgeGraph(na.Vocabulary(("a", "b"), ("r",)), np.array([[0.7, 0, 1]]))


@given(rows)
def test_from_labels_sorts_and_drops_repeats(triples: list[Row]) -> None:
    graph = na.KnowledgeGraph.from_labels(triples)
    assert graph.labels() == sorted(set(triples))
    assert graph.triples.tolist() == sorted(graph.triples.tolist())
    assert len(graph) == len(set(triples))


@given(rows)
def test_from_labels_without_sorting_keeps_the_first_of_each(triples: list[Row]) -> None:
    graph = na.KnowledgeGraph.from_labels(iter(triples), sort=False)
    assert graph.labels() == list(dict.fromkeys(triples))


def test_an_unknown_name_is_a_key_error_that_names_it() -> None:
    vocabulary = na.Vocabulary(("a",), ("r",))
    with pytest.raises(KeyError, match="stranger"):
        na.KnowledgeGraph.from_labels([("a", "r", "stranger")], vocabulary)


@given(rows, st.data())
def test_contains_says_what_a_set_says(triples: list[Row], data: st.DataObject) -> None:
    vocabulary = na.Vocabulary.from_names("abcd", "rs")
    order = data.draw(st.permutations(triples))
    graph = na.KnowledgeGraph.from_labels(order, vocabulary, sort=False)
    known = {tuple(row) for row in graph.triples.tolist()}
    asked = [(h, r, t) for h in range(4) for r in range(2) for t in range(4)]
    assert graph.contains(asked).tolist() == [row in known for row in asked]
    assert graph.contains(graph.triples).all()
    assert graph.contains(np.empty((0, 3), dtype=np.int32)).tolist() == []


@given(rows)
def test_contains_never_finds_ids_that_no_name_has(triples: list[Row]) -> None:
    graph = na.KnowledgeGraph.from_labels(triples, na.Vocabulary.from_names("abcd", "rs"))
    asked = np.array(list(itertools.product(range(-2, 7), range(-2, 5), range(-2, 7))))
    outside = asked[((asked < 0) | (asked >= (4, 2, 4))).any(axis=1)]
    try:
        found = graph.contains(outside)
    except ValueError:
        return
    assert outside[found].tolist() == []


@given(rows, st.lists(few), st.lists(name))
def test_another_vocabulary_changes_ids_and_no_names(triples: list[Row], more: list[str], also: list[str]) -> None:
    graph = na.KnowledgeGraph.from_labels(triples, sort=False)
    wide = graph.vocabulary.union(na.Vocabulary.from_names([*more, *also], also))
    moved = graph.with_vocabulary(wide)
    assert moved.labels() == graph.labels()
    assert moved.vocabulary == wide
    assert moved.digest() == graph.digest()
    assert moved.with_vocabulary(graph.vocabulary.union(wide)) == moved


def test_a_vocabulary_without_a_name_is_refused_with_the_name() -> None:
    graph = na.KnowledgeGraph.from_labels(ROWS)
    with pytest.raises(ValueError, match="'c' is not a name of the other vocabulary"):
        graph.with_vocabulary(na.Vocabulary(("a", "b"), ("r", "s")))


@given(rows, st.integers(), st.lists(name))
def test_the_digest_knows_triples_and_nothing_else(triples: list[Row], seed: int, unused: list[str]) -> None:
    graph = na.KnowledgeGraph.from_labels(triples)
    shuffled = random.Random(seed).sample(triples, len(triples)) + triples[:3]
    vocabulary = graph.vocabulary.union(na.Vocabulary.from_names(unused, unused))
    again = na.KnowledgeGraph.from_labels(shuffled, vocabulary, sort=False)
    assert again.digest() == graph.digest()
    for row in set(triples):
        smaller = na.KnowledgeGraph.from_labels([other for other in triples if other != row])
        assert smaller.digest() != graph.digest()


def test_the_digest_is_not_fooled_by_names_that_run_together() -> None:
    likes = [
        [("ab", "r", "c")],
        [("a", "br", "c")],
        [("a", "b", "rc")],
        [('a","b', "r", "c")],
        [("a", "r", "c"), ("a", "b", "c")],
        [("a", "r", 'c"]["a'), ("x", "b", "c")],
        [("c", "r", "ab")],
    ]
    assert len({na.KnowledgeGraph.from_labels(triples).digest() for triples in likes}) == len(likes)


def test_the_digest_stays_the_same_from_version_to_version() -> None:
    import hashlib

    text = '["a", "r", "b"]["b", "s", "a"]["c", "r", "\\u00e9"]'
    graph = na.KnowledgeGraph.from_labels([("c", "r", "é"), ("b", "s", "a"), ("a", "r", "b")])
    assert graph.digest() == hashlib.sha256(text.encode()).hexdigest()


@given(st.lists(st.tuples(*[st.text('"],[ \\a', min_size=1)] * 3), min_size=1))
def test_the_digest_is_that_of_rows_one_by_one(rows: list[Row]) -> None:
    graph = na.KnowledgeGraph.from_labels(rows)
    sha = hashlib.sha256()
    for row in graph.labels():
        sha.update(json.dumps(row).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knowledge_graph, "blocks", functools.partial(blocks, size=2))
        assert graph.digest() == sha.hexdigest()


def test_graphs_are_equal_by_names_triples_and_order_but_not_by_report() -> None:
    graph = na.KnowledgeGraph.from_labels(ROWS)
    report = na.ReadReport("x.tsv", "tsv", accepted=3)
    assert na.KnowledgeGraph(graph.vocabulary, graph.triples, report) == graph
    assert na.KnowledgeGraph(graph.vocabulary, graph.triples[::-1]) != graph
    assert graph != na.KnowledgeGraph.from_labels(ROWS[:2])
    assert graph != na.KnowledgeGraph.from_labels([("b", "s", "a"), ("a", "r", "b"), ("d", "r", "d")])
    assert graph != "graph"
    with pytest.raises(TypeError, match="unhashable"):
        hash(graph)


def test_a_graph_survives_the_way_to_another_process() -> None:
    graph = na.KnowledgeGraph.from_labels(ROWS)
    again = pickle.loads(pickle.dumps(graph))
    assert again == graph
    assert again.digest() == graph.digest()


def test_an_empty_graph_is_a_graph() -> None:
    graph = na.KnowledgeGraph.from_labels([])
    assert (len(graph), graph.n_entities, graph.n_relations, graph.labels()) == (0, 0, 0, [])
    assert graph.triples.shape == (0, 3)
    assert len(graph.digest()) == 64
    assert graph.contains(np.empty((0, 3), dtype=np.int32)).shape == (0,)


def test_lines_of_a_report_add_up() -> None:
    report = na.ReadReport("x", "tsv", accepted=5, rejected=4, blank=3, comment=2, header=1, duplicates=4)
    assert report.lines == 15


# --- Splits ----------------------------------------------------------------------------------------------------


@given(rows, rows, rows, st.lists(name))
def test_merge_gives_one_vocabulary_and_keeps_the_triples(
    train: list[Row], valid: list[Row], test: list[Row], more: list[str]
) -> None:
    graphs = [na.KnowledgeGraph.from_labels(part) for part in (train, valid, test)]
    names = na.Vocabulary.from_names(more, more)
    splits = na.Splits.merge("toy", train=graphs[0], valid=graphs[1], test=graphs[2], names=names)
    assert splits.train.vocabulary == splits.valid.vocabulary == splits.test.vocabulary == splits.vocabulary
    everything = [*train, *valid, *test]
    assert set(splits.vocabulary.entities) == {n for h, _, t in everything for n in (h, t)} | set(more)
    assert set(splits.vocabulary.relations) == {r for _, r, _ in everything} | set(more)
    assert [part.labels() for _, part in splits.items()] == [graph.labels() for graph in graphs]
    assert [part for part, _ in splits.items()] == ["train", "valid", "test"]
    assert splits.together().labels() == sorted(set(everything))
    assert splits.train_and_valid().labels() == sorted({*train, *valid})


def test_merge_keeps_the_reports() -> None:
    graph = na.KnowledgeGraph.from_labels(ROWS)
    report = na.ReadReport("x.tsv", "tsv", accepted=3)
    train = na.KnowledgeGraph(graph.vocabulary, graph.triples, report)
    splits = na.Splits.merge("toy", train=train, names=na.Vocabulary(("zzz",), ("zzz",)))
    assert splits.train.report == report
    assert splits.valid.report is None
    assert len(splits.valid) == len(splits.test) == 0


def test_splits_over_different_names_are_refused_with_the_way_out() -> None:
    graph = na.KnowledgeGraph.from_labels(ROWS)
    other = na.KnowledgeGraph.from_labels(ROWS[:1])
    with pytest.raises(ValueError, match=r"different vocabularies: use Splits\.merge"):
        na.Splits("toy", graph, graph, other)
