"""Groups of test triples: a partition, as loops over the names find it."""

from __future__ import annotations

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.evaluation.breakdown import breakdown
from nnmfaug.evaluation.metrics import Ranks, contributions
from nnmfaug.evaluation.runs import Run
from nnmfaug.evaluation.strata import Strata, derivable_strata, stratify


@pytest.fixture(scope="module")
def splits() -> na.Splits:
    """Splits with each kind of test triple."""
    rng = np.random.default_rng(0)
    rows = [(f"e{h}", f"r{r}", f"e{t}") for h, r, t in rng.integers(0, [12, 4, 12], size=(90, 3)).tolist()]
    graph = na.KnowledgeGraph.from_labels(list(dict.fromkeys(rows)))
    return na.split(graph, valid=0, test=0.5, seed=0)


def random_runs(n_triples: int) -> list[Run]:
    rng = np.random.default_rng(1)
    runs = []
    for arm in ("baseline", "arm"):
        for seed in range(3):
            ranks = rng.integers(1, 20, size=(n_triples, 2)).astype(float)
            runs.append(Run(arm, seed, Ranks(filtered=ranks, raw=ranks + 1)))
    return runs


def seen_by_loops(splits: na.Splits) -> dict[str, list[int]]:
    heads = {(h, r) for h, r, _ in splits.train.labels()}
    tails = {(r, t) for _, r, t in splits.train.labels()}
    groups: dict[str, list[int]] = {}
    for row, (h, r, t) in enumerate(splits.test.labels()):
        if (h, r) in heads and (r, t) in tails:
            name = "head and tail seen with the relation"
        elif (h, r) in heads:
            name = "only the head seen with the relation"
        elif (r, t) in tails:
            name = "only the tail seen with the relation"
        else:
            name = "neither seen with the relation"
        groups.setdefault(name, []).append(row)
    return groups


def test_what_was_seen_is_what_loops_find(splits: na.Splits) -> None:
    expected = seen_by_loops(splits)
    assert len(expected) == 4, "every kind of triple occurs"
    assert {name: rows.tolist() for name, rows in stratify(splits, "seen").groups()} == expected


def test_the_mrr_of_a_group_is_that_of_a_loop(splits: na.Splits) -> None:
    runs = random_runs(len(splits.test))
    expected = seen_by_loops(splits)
    for group in breakdown(runs, splits, by="seen"):
        rows = expected[group.name]
        (difference,) = group.differences
        for arm, mean in (("baseline", difference.baseline_mean), ("arm", difference.mean)):
            ranks = [run.ranks.filtered[row] for run in runs if run.arm == arm for row in rows]
            assert mean == pytest.approx(np.mean([(1 / head + 1 / tail) / 2 for head, tail in ranks]))
        assert group.n_triples == len(rows)


def test_derivable_triples_are_compared_apart(splits: na.Splits) -> None:
    runs = random_runs(len(splits.test))
    derivable = np.arange(len(splits.test)) % 3 == 0
    groups = breakdown(runs, splits, by=derivable_strata(derivable))
    assert [group.name for group in groups] == ["derivable by rules", "not derivable by rules"]
    for group, mask in zip(groups, (derivable, ~derivable), strict=True):
        means = [contributions(run.ranks.filtered, "mrr")[mask].mean() for run in runs if run.arm == "arm"]
        assert group.differences[0].mean == pytest.approx(np.mean(means))
        assert group.n_triples == mask.sum()


def test_a_group_without_triples_is_left_out() -> None:
    assert [name for name, _ in derivable_strata(np.ones(3, dtype=np.bool_)).groups()] == ["derivable by rules"]


def test_strata_that_do_not_fit_are_refused(splits: na.Splits) -> None:
    with pytest.raises(ValueError, match="labels: must be from 0 to below 2"):
        Strata(("a", "b"), np.array([0, 2]))
    with pytest.raises(ValueError, match=r"strata of 3 triples, but there are \d+ test triples"):
        breakdown(random_runs(len(splits.test)), splits, by=derivable_strata(np.ones(3, dtype=np.bool_)))
