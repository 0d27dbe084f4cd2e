"""Choosing the number of clusters by what was hidden."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import nnmfaug as na
from nnmfaug.selection import fit_epsilon
from test_cli import run


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20), st.floats(1e-9, 0.1))
def test_epsilon_is_the_most_likely_one(probabilities: list[float], uniform: float) -> None:
    p = np.array(probabilities)

    def loss(epsilon: float) -> float:
        return -float(np.log((1 - epsilon) * p + epsilon * uniform).mean())

    best = minimize_scalar(loss, bounds=(1e-12, 1), method="bounded", options={"xatol": 1e-12}).fun
    assert loss(fit_epsilon(p, uniform, n_iter=2000)) <= best + 1e-3


def blocks(n_blocks: int, size: int) -> na.KnowledgeGraph:
    """Blocks of entities that only link inside, each by a relation pair of its own: the clusters are certain."""
    rng = np.random.default_rng(0)
    rows: list[tuple[str, str, str]] = []
    for block in range(n_blocks):
        for h in range(size):
            tails = rng.choice(size, 5, replace=False)
            rows.extend((f"b{block}e{h:02}", f"r{block}", f"b{block}e{t:02}") for t in tails)
    return na.KnowledgeGraph.from_labels(rows)


def test_a_graph_of_clear_blocks_is_identifiable_and_needs_no_more_clusters_than_blocks() -> None:
    method, selection = na.select(
        na.NNMFAug(na.NMF(3), na.Agglomerative(30)), blocks(4, 20), clusters=(1, 4), components=(3,)
    )
    assert selection.identifiable
    assert isinstance(method.cluster, na.Agglomerative)
    assert method.cluster.n_clusters in (1, 4)
    scores = {c.n_clusters: c.score for c in selection.candidates}
    assert max(scores[1], scores[4]) > scores[30]
    assert all(0 <= c.reachable <= 1 and 0 <= c.epsilon <= 1 for c in selection.candidates)


def test_a_graph_that_cannot_tell_keeps_the_defaults_and_says_so() -> None:
    rows = [(f"h{i}", f"r{i % 3}", f"t{i}") for i in range(60)]
    given_method = na.NNMFAug(na.NMF(2), na.Agglomerative(2))
    method, selection = na.select(
        given_method, na.KnowledgeGraph.from_labels(rows), clusters=(1, 2), components=(1,)
    )
    assert not selection.identifiable
    assert "not identifiable on this graph" in selection.reason
    assert method == given_method


def test_only_methods_with_numbers_can_be_chosen() -> None:
    with pytest.raises(ValueError, match="numbers to choose"):
        na.select(na.NNMFAug(cluster=na.DBSCAN(eps=0.5)), blocks(2, 8))


@pytest.mark.filterwarnings("ignore::nnmfaug.embedding.ConvergenceWarning")
def test_the_command_chooses_and_keeps_the_curve(tmp_path: Path) -> None:
    done = run(
        "augment", "nations", "--clusters", "auto", "--components", "4", "-o", "x.tsv", "--json", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    selection = json.loads(done.stdout)["selection"]
    assert {candidate["n_components"] for candidate in selection["candidates"]} == {4}
    assert len(selection["candidates"]) >= 4
    assert selection["reason"] in done.stderr
    assert run("augment", "nations", "--clusters", "some", "-o", "y.tsv", cwd=tmp_path).returncode == 2
