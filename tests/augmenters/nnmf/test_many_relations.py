"""With very many relations the NMF has no dense matrix of their square, and agrees with the exact way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.augmenters.nnmf.affinity import Affinity
from nnmfaug.augmenters.nnmf.many_relations import MAX_DENSE_RELATIONS, squared_norm
from nnmfaug.augmenters.nnmf.nndsvd import nndsvd
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from tests.adversarial import Rows, many_relations, relations_of_one_hub, run_limited, write_rows


@pytest.mark.parametrize("n_components", [1, 3])
def test_a_start_of_more_components_than_the_rank_has_zero_columns(n_components: int) -> None:
    counts = KnowledgeGraph.from_labels([("a", "r", "b"), ("a", "s", "b")]).counts
    w, h = nndsvd(counts.head_rows, counts.tail_rows, n_components)
    affinity = (counts.head_rows.rows @ counts.tail_rows.rows.T).toarray()
    assert np.allclose(w @ h.T, affinity)
    assert not w[:, 1:].any()
    assert not h[:, 1:].any()


def test_the_norm_is_the_same_some_relations_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = na.read_splits("umls").train.counts
    heads = counts.head_rows
    tails = counts.tail_rows
    expected = Affinity(heads.rows, tails.rows, heads.counts, tails.counts).squared_norm()
    monkeypatch.setattr("nnmfaug.augmenters.nnmf.many_relations.MAX_CELLS", 100)
    assert squared_norm(heads.rows, tails.rows, heads.counts, tails.counts) == pytest.approx(expected)


@pytest.mark.parametrize("rows", [many_relations(5000, 2), relations_of_one_hub(5000, 2)])
def test_triples_of_many_relations_are_generated_in_bounded_time_and_memory(rows: Rows, tmp_path: Path) -> None:
    path = write_rows(rows, tmp_path / "graph.tsv")
    done = run_limited("augment", path, "--method", "nnmf", "-o", "extra.tsv", cwd=tmp_path, gigabytes=2)
    assert done.returncode in (0, 1), done.stderr  # 1: no new triple is possible
    assert "Traceback" not in done.stderr
    assert "Memory" not in done.stderr


def test_spectral_refuses_what_it_cannot_decompose() -> None:
    graph = KnowledgeGraph.from_labels(many_relations(MAX_DENSE_RELATIONS + 1))
    with pytest.raises(ValueError, match=r"2,001 relations: .* use NMF"):
        na.Spectral().fit(graph.counts)
