"""Steps: matrices, path counts and bodies equal a walk over the triples; keys are found behind the sieve."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import nnmfaug as na
from nnmfaug.augmenters.rules.steps import BoolMatrix, StepPairs, Steps, ends, without_diagonal
from nnmfaug.graph.keys import SortedKeys
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from tests.examples import examples

Pair = tuple[int, int]
LOOP_AND_CYCLE = [("a", "r", "a"), ("a", "r", "b"), ("b", "r", "c"), ("c", "s", "a"), ("a", "s", "b")]


@st.composite
def toy_graphs(draw: st.DrawFn) -> KnowledgeGraph:
    entity = st.integers(0, 5)
    relation = st.integers(0, 1)
    ids = draw(st.lists(st.tuples(entity, relation, entity), max_size=18))
    names = na.Vocabulary.from_names([f"e{i}" for i in range(6)], ["r0", "r1"])
    return KnowledgeGraph.from_labels(((f"e{h}", f"r{r}", f"e{t}") for h, r, t in ids), names)


def walk_step(graph: KnowledgeGraph, step: int) -> set[Pair]:
    """The pairs of one step, from the triples."""
    relation = step % graph.n_relations
    forwards = {(h, t) for h, r, t in graph.triples.tolist() if r == relation and h != t}
    return forwards if step == relation else {(t, h) for h, t in forwards}


def walk_path(graph: KnowledgeGraph, path: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All chains of entities along a path; an entity may occur twice."""
    chains: list[tuple[int, ...]] = [(entity,) for entity in range(graph.n_entities)]
    for step in path:
        pairs = walk_step(graph, step)
        chains = [(*chain, y) for chain in chains for x, y in pairs if x == chain[-1]]
    return chains


def stored_pairs(matrix: BoolMatrix) -> set[Pair]:
    rows, columns = ends(matrix)
    return set(zip(rows.tolist(), columns.tolist(), strict=True))


@given(graph=toy_graphs())
@settings(max_examples=examples(40))
def test_the_matrix_of_a_step_has_its_pairs_and_the_inverse_step_has_the_transpose(graph: KnowledgeGraph) -> None:
    steps = Steps(graph)
    for step in range(steps.n_steps):
        inverse = int(steps.inverse(np.array(step)))
        assert stored_pairs(steps.matrix(step)) == walk_step(graph, step)
        assert stored_pairs(steps.matrix(inverse)) == {(y, x) for x, y in walk_step(graph, step)}


@given(graph=toy_graphs())
@settings(max_examples=examples(40))
def test_a_body_joins_the_ends_of_all_paths_without_a_repeated_entity(graph: KnowledgeGraph) -> None:
    steps = Steps(graph)
    for length in (1, 2, 3):
        for path in itertools.product(range(steps.n_steps), repeat=length):
            chains = [chain for chain in walk_path(graph, path) if len(set(chain)) == len(chain)]
            assert stored_pairs(steps.body(path)) == {(chain[0], chain[-1]) for chain in chains}


@pytest.mark.parametrize("max_rows", [0, 1000])
@given(graph=toy_graphs())
@settings(max_examples=examples(20))
def test_degrees_tails_stops_and_returns_equal_those_of_the_triples(max_rows: int, graph: KnowledgeGraph) -> None:
    steps = Steps(graph)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nnmfaug.augmenters.rules.steps.MAX_ROWS", max_rows)
        assert (steps._row_begins is None) == (max_rows == 0)
    pairs = [walk_step(graph, step) for step in range(steps.n_steps)]
    for step, entity in itertools.product(range(steps.n_steps), range(steps.n)):
        expected = sorted(y for x, y in pairs[step] if x == entity)
        assert steps.stops(step, entity).tolist() == expected
        assert steps.degrees[entity, step] == len(expected)
        if step < graph.n_relations:
            assert steps.has_tail[entity, step] == bool(expected)
        for other in range(steps.n_steps):
            n_returns = sum((y, entity) in pairs[other] for y in expected)
            assert steps.returns(step)[entity, other] == n_returns


def test_steps_side_by_side_are_their_matrices_beside_each_other_in_the_order_given() -> None:
    steps = Steps(KnowledgeGraph.from_labels(LOOP_AND_CYCLE))
    chosen = np.array([3, 0, 2])
    expected = np.hstack([steps.matrix(step).toarray() for step in chosen])
    assert np.array_equal(steps.side_by_side(chosen).toarray(), expected)
    assert steps.side_by_side(chosen[:0]).shape == (3, 0)


@given(graph=toy_graphs())
@settings(max_examples=examples(20))
def test_third_steps_side_by_side_are_the_bodies_beside_each_other(graph: KnowledgeGraph) -> None:
    steps = Steps(graph)
    thirds = np.array([3, 0, 1])
    for first, second in itertools.product(range(steps.n_steps), repeat=2):
        bodies = steps.third_steps(first, second, thirds).toarray().reshape(steps.n, len(thirds), steps.n)
        for place, third in enumerate(thirds.tolist()):
            expected = steps.body((first, second, third)).toarray()
            assert np.array_equal(bodies[:, place] & ~np.eye(steps.n, dtype=bool), expected)


def test_the_inverse_of_no_step_is_no_step() -> None:
    steps = Steps(KnowledgeGraph.from_labels(LOOP_AND_CYCLE))
    assert steps.inverse(np.array([0, 1, 2, 3, -1])).tolist() == [2, 3, 0, 1, -1]


class TestStepPairs:
    @given(graph=toy_graphs())
    @settings(max_examples=examples(40))
    def test_exactly_the_pairs_of_the_graph_are_found_with_all_their_steps(self, graph: KnowledgeGraph) -> None:
        steps = Steps(graph)
        keys = np.arange(steps.n**2)
        rows, pairs = steps.pairs.find(keys)
        expected = {step: walk_step(graph, step) for step in range(steps.n_steps)}
        assert {divmod(int(key), steps.n) for key in keys[rows]} == set().union(*expected.values())
        for row, pair in zip(rows.tolist(), pairs.tolist(), strict=True):
            found, lengths = steps.pairs.steps_of(np.array([pair]))
            ordered_pair = divmod(row, steps.n)
            assert found.tolist() == [step for step, known in expected.items() if ordered_pair in known]
            assert lengths.tolist() == [len(found)]

    def test_keys_that_pass_the_sieve_by_chance_are_rejected(self) -> None:
        rng = np.random.default_rng(0)
        known = np.unique(rng.integers(0, 10**12, 500))
        pairs = StepPairs(SortedKeys(known), np.arange(len(known) + 1), np.zeros(len(known), dtype=np.int64))
        asked = np.concatenate([known[::7], rng.integers(0, 10**12, 100_000)])
        rows, places = pairs.find(asked)
        assert np.array_equal(rows, np.flatnonzero(np.isin(asked, known)))
        assert np.array_equal(known[places], asked[rows])

    def test_steps_of_several_pairs_come_one_pair_after_the_other(self) -> None:
        pairs = StepPairs(SortedKeys(np.array([1, 5, 9])), np.array([0, 2, 3, 6]), np.array([0, 4, 1, 0, 2, 3]))
        steps, lengths = pairs.steps_of(np.array([2, 0, 2]))
        assert steps.tolist() == [0, 2, 3, 0, 4, 0, 2, 3]
        assert lengths.tolist() == [3, 2, 3]

    @pytest.mark.parametrize("rows", [[], [("a", "r", "a")]])
    def test_a_graph_without_steps_has_no_pairs(self, rows: list[tuple[str, str, str]]) -> None:
        pairs = Steps(KnowledgeGraph.from_labels(rows)).pairs
        assert len(pairs) == 0
        assert [len(part) for part in pairs.find(np.arange(3))] == [0, 0]


def test_without_diagonal_leaves_all_else() -> None:
    steps = Steps(KnowledgeGraph.from_labels(LOOP_AND_CYCLE))
    matrix = steps.side_by_side(np.array([0])) @ steps.matrix(2)
    assert matrix.diagonal().any()
    expected = matrix.toarray() & ~np.eye(3, dtype=bool)
    assert np.array_equal(without_diagonal(matrix).toarray(), expected)
