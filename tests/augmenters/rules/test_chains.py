"""The first chain along a path is that of a walk over all of them, and hubs are not listed to find it."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import nnmfaug as na
from nnmfaug.augmenters.rules.chains import FIRST_PART, Chains, first_common
from nnmfaug.augmenters.rules.steps import Steps
from nnmfaug.core.arrays import Bools, Ids
from nnmfaug.graph.keys import SortedKeys
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from tests.adversarial import Rows, hub_with_a_rule, run_limited, two_hubs_with_a_rule, write_rows
from tests.augmenters.rules.test_steps import toy_graphs, walk_path
from tests.examples import examples

row = st.lists(st.integers(0, 400), unique=True, max_size=200).map(sorted)


@pytest.mark.parametrize(("length", "every"), [(1, 1), (2, 1), (3, 1), (4, 5)])
@given(graph=toy_graphs())
@settings(max_examples=examples(15))
def test_the_first_chain_is_the_smallest_of_all_chains(length: int, every: int, graph: KnowledgeGraph) -> None:
    chains = Chains(Steps(graph))
    for path in list(itertools.product(range(2 * graph.n_relations), repeat=length))[::every]:
        smallest: dict[tuple[int, int], tuple[int, ...]] = {}
        for chain in sorted(walk_path(graph, path)):
            if len(set(chain)) == len(chain):
                smallest.setdefault((chain[0], chain[-1]), chain)
        for (x, y), chain in smallest.items():
            assert chains.first(path, x, y) == chain


@given(one=row, other=row, n=st.integers(1, 3))
def test_first_common_numbers_are_those_of_the_intersection(one: list[int], other: list[int], n: int) -> None:
    expected = sorted(set(one) & set(other))[:n]
    assert first_common(np.array(one, dtype=np.int64), np.array(other, dtype=np.int64), n) == tuple(expected)


@pytest.mark.parametrize(("rows", "depth"), [(hub_with_a_rule(1000), 2), (two_hubs_with_a_rule(1000), 3)])
def test_explanations_look_at_few_neighbours_of_a_hub(
    rows: Rows, depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    dist = na.Rules(depth=depth).fit(KnowledgeGraph.from_labels(rows))
    best = dist.top(200)
    n_looked_up = 0
    contain = SortedKeys.contain

    def counting(self: SortedKeys, keys: Ids) -> Bools:
        nonlocal n_looked_up
        n_looked_up += len(keys)
        return contain(self, keys)

    monkeypatch.setattr(SortedKeys, "contain", counting)
    evidence = dist.explain(best.triples)
    assert {len(part.triples) for part in evidence} == {depth}
    assert n_looked_up <= FIRST_PART * len(best)


def test_everything_that_follows_at_a_hub_is_written_with_its_evidence_in_bounded_time(tmp_path: Path) -> None:
    path = write_rows(hub_with_a_rule(60_000), tmp_path / "graph.tsv")
    done = run_limited("augment", path, "--method", "rules", "--all", "-o", "extra.tsv", cwd=tmp_path)
    assert not done.returncode, done.stderr
    lines = (tmp_path / "extra.tsv.scores.tsv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 12_000
    assert lines[1].endswith('[["hub", "a", "n0"], ["n0", "b", "m0"]]')
