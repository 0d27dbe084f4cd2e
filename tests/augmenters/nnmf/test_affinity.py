"""Affinity: products and statistics equal those of the explicit matrix C = A·Bᵀ, with and without weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import nnmfaug as na
from nnmfaug.augmenters.nnmf.affinity import Affinity
from nnmfaug.core.arrays import Array
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from tests.examples import examples


@st.composite
def toy_graphs(draw: st.DrawFn) -> KnowledgeGraph:
    entity = st.integers(0, 6)
    relation = st.integers(0, 2)
    ids = draw(st.lists(st.tuples(entity, relation, entity), min_size=1, max_size=25))
    return KnowledgeGraph.from_labels((f"e{h}", f"r{r}", f"e{t}") for h, r, t in ids)


def explicit(graph: KnowledgeGraph) -> Array:
    """C, counted triple by triple."""
    a, b = np.zeros((2, graph.n_entities, graph.n_relations))
    for h, r, t in graph.triples.tolist():
        if h != t:
            a[h, r] += 1
            b[t, r] += 1
    return np.asarray(a @ b.T)


def distinct(graph: KnowledgeGraph) -> Affinity:
    """C as its distinct rows and columns with their weights."""
    heads = graph.counts.head_rows
    tails = graph.counts.tail_rows
    return Affinity(heads.rows, tails.rows, heads.counts, tails.counts)


@given(graph=toy_graphs())
@settings(max_examples=examples(60))
def test_statistics_equal_those_of_the_explicit_matrix_with_equal_rows_once_or_each(graph: KnowledgeGraph) -> None:
    c = explicit(graph)
    for affinity in (Affinity.of(graph.counts), distinct(graph)):
        assert affinity.sum() == c.sum()
        assert affinity.mean() == pytest.approx(c.mean())
        assert affinity.squared_norm() == pytest.approx((c**2).sum())
        assert affinity.n_nonzero() == np.count_nonzero(c)


@given(graph=toy_graphs())
@settings(max_examples=examples(60))
def test_rows_and_entries_equal_those_of_the_explicit_matrix(graph: KnowledgeGraph) -> None:
    c = explicit(graph)
    affinity = Affinity.of(graph.counts)
    assert affinity.shape == c.shape
    for i in range(len(c)):
        assert np.array_equal(affinity.row(i), c[i])
    assert affinity.entry(0, len(c) - 1) == c[0, -1]


@given(graph=toy_graphs())
@settings(max_examples=examples(60))
def test_products_sum_over_all_rows_of_the_full_matrix(graph: KnowledgeGraph) -> None:
    c = explicit(graph)
    heads = graph.counts.head_rows
    tails = graph.counts.tail_rows
    x = np.random.default_rng(0).random((len(tails), 2))
    y = np.random.default_rng(1).random((len(heads), 2))
    product = distinct(graph).matmul(x)
    transposed_product = distinct(graph).rmatmul(y)
    assert product[heads.inverse] == pytest.approx(c @ x[tails.inverse])
    assert transposed_product[tails.inverse] == pytest.approx(c.T @ y[heads.inverse])


def test_non_zeros_are_counted_block_by_block() -> None:
    train = na.read_splits("umls").train
    assert Affinity.of(train.counts).n_nonzero() == np.count_nonzero(explicit(train))
