"""Choosing the number of clusters by what was hidden."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize_scalar

import nnmfaug as na
from nnmfaug.augmenters.nnmf.model_selection import fit_epsilon
from nnmfaug.augmenters.nnmf.nnmfaug import default_clusters
from tests.cli.commands import run


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


@pytest.mark.parametrize("clusterer", [na.Agglomerative("auto"), na.KMeans("auto", n_init=1)])
@pytest.mark.slow
def test_auto_is_fitted_with_the_numbers_that_select_chooses(clusterer: na.Agglomerative | na.KMeans) -> None:
    links = [(h, "links", t) for h, _, t in blocks(4, 20).labels()]  # across blocks only the clusters forbid them
    graph = na.KnowledgeGraph.from_labels([*blocks(4, 20).labels(), *links])
    method = na.NNMFAug(na.NMF("auto"), clusterer)
    chosen, selection = na.select(method, graph, seed=1)
    assert selection.identifiable
    assert isinstance(chosen.cluster, na.Agglomerative | na.KMeans)
    assert isinstance(chosen.embed, na.NMF)
    assert "auto" not in (chosen.cluster.n_clusters, chosen.embed.n_components)
    found, expected = method.fit(graph, seed=1), chosen.fit(graph, seed=1)
    assert found.partition == expected.partition
    assert found.support_size == expected.support_size
    assert method.resolve(graph, seed=1) == (chosen, selection)


def test_only_what_is_auto_is_chosen() -> None:
    method, selection = na.NNMFAug(na.NMF(3), na.Agglomerative("auto")).resolve(blocks(4, 20))
    assert selection is not None
    assert {candidate.n_components for candidate in selection.candidates} == {3}
    assert method.embed == na.NMF(3)
    plain = na.NNMFAug(na.NMF(3), na.Agglomerative(2))
    assert plain.resolve(blocks(4, 20)) == (plain, None)


def test_auto_on_a_graph_that_cannot_tell_fits_the_defaults_and_warns_why() -> None:
    rows = [(f"h{i}", f"r{i % 9}", f"t{i}") for i in range(60)]
    graph, method = na.KnowledgeGraph.from_labels(rows), na.NNMFAug(na.NMF("auto"), na.Agglomerative("auto"))
    with pytest.warns(UserWarning, match="not identifiable on this graph") as caught:
        dist = method.fit(graph)
    assert dist.partition.n_clusters == default_clusters(graph) == 1
    assert isinstance(dist.factors, na.Factors)
    assert dist.factors.head.shape[1] == na.NMF().n_components
    assert Path(caught[0].filename).name == Path(__file__).name
    chosen, selection = method.resolve(na.KnowledgeGraph.from_labels(rows[:1]))
    assert chosen == na.NNMFAug(na.NMF(), na.Agglomerative(1))
    assert selection is not None
    assert selection.reason == "not identifiable on this graph: it has too few triples to hide any"


def test_more_clusters_than_rows_of_factors_are_passed_over() -> None:
    """Rows of counts can differ where all factors are zero: here those of the smaller block."""
    rows = [(f"a{i}", "r", f"b{i * j % 9}") for i in range(20) for j in range(1 + i % 5)]
    graph = na.KnowledgeGraph.from_labels([*rows, *((f"c{i}", "s", f"d{i % (1 + i // 2)}") for i in range(9))])
    method = na.NNMFAug(na.NMF(1), na.Agglomerative(1))
    most = na.Counts.of(graph).n_distinct_rows()
    _, selection = na.select(method, graph, clusters=range(1, most), components=None)
    tried = [candidate.n_clusters for candidate in selection.candidates]
    assert tried == list(range(1, len(tried) + 1))
    assert 1 < len(tried) < most - 1
    _, selection = na.select(na.NNMFAug(na.NMF(1), na.Agglomerative(2)), graph, clusters=(10**6,), components=None)
    assert [candidate.n_clusters for candidate in selection.candidates] == [2]


def test_only_methods_with_numbers_can_be_chosen() -> None:
    with pytest.raises(ValueError, match="numbers to choose"):
        na.select(na.NNMFAug(cluster=na.DBSCAN(eps=0.5)), blocks(2, 8))
    with pytest.raises(ValueError, match="numbers to choose"):
        na.NNMFAug(na.NMF("auto"), na.HDBSCAN()).fit(blocks(2, 8))


def test_the_command_chooses_and_keeps_the_curve(tmp_path: Path) -> None:
    done = run(
        "augment",
        "nations",
        "--method",
        "nnmf",
        "--clusters",
        "auto",
        "--components",
        "4",
        "-o",
        "x.tsv",
        "--json",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    selection = json.loads(done.stdout)["selection"]
    assert {candidate["n_components"] for candidate in selection["candidates"]} == {4}
    assert len(selection["candidates"]) >= 4
    assert selection["reason"] in done.stderr
    manifest = json.loads((tmp_path / "x.tsv.json").read_text())
    assert manifest["selection"] == selection
    assert isinstance(manifest["method"]["cluster"]["n_clusters"], int)
    assert (
        run("augment", "nations", "--method", "nnmf", "--clusters", "some", "-o", "y.tsv", cwd=tmp_path).returncode
        == 2
    )
