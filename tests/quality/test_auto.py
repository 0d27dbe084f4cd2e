"""Auto: it adds true triples where rules have evidence, and nothing to noise."""

from __future__ import annotations

import warnings

import pytest

import nnmfaug as na
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from tests.quality.graphs import noise, renamed

pytestmark = pytest.mark.slow  # each fits several times


@pytest.mark.parametrize("seed", range(5))
def test_triples_added_to_a_family_are_true(seed: int) -> None:
    world = na.family(200, seed=seed)
    true = world.is_true(na.Auto().fit(world.given, seed=seed).everything().triples)
    assert true.mean() >= 0.95
    assert true.sum() >= 0.3 * len(world.missing)  # docs/quality.md: why not more


@pytest.mark.usefixtures("archives")
@pytest.mark.parametrize("name", ["nations", "umls", "kinships", "dl50a", "family"])
def test_the_same_triples_with_any_seed_and_any_names(name: str) -> None:
    graph = na.family(100, seed=0).given if name == "family" else na.read_splits(name).train
    other, old_names = renamed(graph, seed=7)
    dist = na.Auto().fit(graph, seed=0)
    one = dict(zip(dist.everything().labels, dist.confidence.tolist(), strict=True))
    dist = na.Auto().fit(other, seed=1)
    two = {
        (old_names[h], r, old_names[t]): probability
        for (h, r, t), probability in zip(dist.everything().labels, dist.confidence.tolist(), strict=True)
    }
    assert one == two


@pytest.mark.parametrize(("n", "relations", "size"), [(60, 1, 284), (100, 5, 2500)])
def test_nothing_is_added_to_a_random_graph(n: int, relations: int, size: int) -> None:
    with pytest.warns(UserWarning, match="no triple is worth adding: no estimated probability reaches 0.50"):
        assert na.Auto().fit(noise(n, relations, size, seed=0)).n_new == 0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n", "relations", "size"), [(10, 2, 60), (20, 3, 100), (30, 3, 300), (15, 1, 80)])
def test_hardly_anything_is_added_to_a_small_one(n: int, relations: int, size: int, seed: int) -> None:
    graph = noise(n, relations, size, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert na.Auto().fit(graph).n_new < 0.1 * len(graph)


@pytest.mark.parametrize("seed", range(3))
def test_few_recovered_triples_are_not_believed(seed: int) -> None:
    rows = [(f"a{i}", "r", f"b{i}") for i in range(20)] + [(f"a{i}", "s", f"b{i}") for i in range(10)]
    with pytest.warns(UserWarning, match="no triple is worth adding"):
        assert na.Auto().fit(KnowledgeGraph.from_labels(rows), seed=seed).n_new == 0
