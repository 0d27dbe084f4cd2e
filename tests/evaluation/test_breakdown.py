"""Parts of the test triples are compared as the whole is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.evaluation.breakdown import breakdown, mrr_by_generated
from nnmfaug.evaluation.metrics import METRICS, Ranks, contributions
from nnmfaug.evaluation.runs import Run
from nnmfaug.evaluation.strata import By

TRAIN = [("hub", "likes", f"leaf{i}") for i in range(25)] + [("hub", "knows", "mid")] + [("mid", "knows", "mid")]
TRAIN += [("mid", "knows", f"leaf{i}") for i in range(3)] + [("two", "likes", "leaf3"), ("hub", "likes", "two")]
TEST = [("hub", "knows", "leaf9"), ("hub", "knows", "two"), ("mid", "likes", "hub"), ("mid", "likes", "new")]
TEST += [("leaf0", "likes", "mid"), ("hub", "likes", "hub")]
SPLITS = na.Splits.merge(
    "toy", train=na.KnowledgeGraph.from_labels(TRAIN), test=na.KnowledgeGraph.from_labels(TEST)
)


def random_runs(n_seeds: int = 4) -> list[Run]:
    rng = np.random.default_rng(0)
    runs = []
    for arm in ("baseline", "arm", "other"):
        for seed in range(n_seeds):
            ranks = rng.integers(1, 20, size=(len(TEST), 2)).astype(float)
            runs.append(Run(arm, seed, Ranks(filtered=ranks, raw=ranks + 1)))
    return runs


RUNS = random_runs()


def degree(name: str) -> int:
    return sum(name in (head, tail) for head, _, tail in TRAIN)


def test_degrees_count_train_triples_of_the_rarer_entity() -> None:
    assert [degree(name) for name in ("hub", "mid", "two", "leaf0", "leaf9", "new")] == [27, 5, 2, 2, 1, 0]
    sizes = {group.name: group.n_triples for group in breakdown(RUNS, SPLITS, by="degree")}
    assert sizes == {"0": 1, "1–2": 3, "3–5": 1, ">20": 1}


@pytest.mark.parametrize("low", [1, 3, 6, 11, 21])
def test_bands_begin_where_their_names_say(low: int) -> None:
    for n, expected in ((low - 1, False), (low, True)):
        train = na.KnowledgeGraph.from_labels([("a", "r", f"x{i}") for i in range(max(n, 1))])
        test = na.KnowledgeGraph.from_labels([("a", "r", "a")] if n else [("b", "r", "b")])
        splits = na.Splits.merge("toy", train=train, test=test)
        ranks = Ranks(filtered=np.ones((1, 2)), raw=np.ones((1, 2)))
        (group,) = breakdown([Run(arm, 0, ranks) for arm in ("baseline", "x")], splits, by="degree")
        name = {1: "1–2", 3: "3–5", 6: "6–10", 11: "11–20", 21: ">20"}[low]
        assert (group.name == name) == expected


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("by", ["relation", "degree", "seen"])
def test_groups_are_a_partition_with_the_means_of_a_loop(by: By, metric: str) -> None:
    groups = breakdown(RUNS, SPLITS, by=by, metric=metric)
    assert sum(group.n_triples for group in groups) == len(TEST)
    for place, arm in enumerate(("arm", "other")):
        own = [contributions(run.ranks.filtered, metric).mean() for run in RUNS if run.arm == arm]
        mean = sum(group.n_triples * group.differences[place].mean for group in groups) / len(TEST)
        assert mean == pytest.approx(np.mean(own))
        assert {group.differences[place].arm for group in groups} == {arm}


def test_a_relation_is_compared_on_its_triples_only() -> None:
    groups = {group.name: group for group in breakdown(RUNS, SPLITS, kind="raw", metric="mr")}
    assert list(groups) == ["knows", "likes"]
    rows = [i for i, (_, relation, _) in enumerate(SPLITS.test.labels()) if relation == "knows"]
    assert groups["knows"].n_triples == len(rows) == 2
    means = {
        arm: np.mean([run.ranks.raw[rows].mean() for run in RUNS if run.arm == arm]) for arm in ("baseline", "arm")
    }
    first = groups["knows"].differences[0]
    assert (first.baseline_mean, first.mean) == pytest.approx((means["baseline"], means["arm"]))
    assert first.difference == pytest.approx(means["arm"] - means["baseline"])
    assert first.low is not None
    assert first.high is not None
    assert first.low <= first.difference <= first.high
    assert first.seeds == (0, 1, 2, 3)


def test_a_single_triple_has_no_interval() -> None:
    for group in breakdown(RUNS, SPLITS, by="degree"):
        assert all((each.low is None) == (group.n_triples == 1) for each in group.differences)


def test_it_is_the_same_every_time() -> None:
    assert breakdown(RUNS, SPLITS) == breakdown(random_runs(), SPLITS)


def test_other_splits_and_words_are_refused() -> None:
    with pytest.raises(ValueError, match="runs with 6 test triples, but nations has 201: give the splits"):
        breakdown(RUNS, na.read_splits("nations"))
    with pytest.raises(ValueError, match="by='entity': must be 'relation', 'degree', 'seen', or strata"):
        breakdown(RUNS, SPLITS, by="entity")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="level=0"):
        breakdown(RUNS, SPLITS, level=0)
    with pytest.raises(ValueError, match="no run of it"):
        breakdown(RUNS, SPLITS, baseline="none")


# ── by whether a test triple was generated


def reported(arm: str, seed: int, places: list[float], rows: list[int] | None) -> Run:
    ranks = np.array([places, places]).T
    settings = {"generated": None if rows is None else {"test_rows": rows}}
    return Run(arm, seed, Ranks(filtered=ranks, raw=ranks + 7), settings)


BEFORE = [reported("baseline", 0, [1, 2, 4, 4], None), reported("baseline", 1, [1, 1, 1, 1], None)]
AFTER = [reported("auto", 0, [1, 1, 1, 2], []), reported("auto", 1, [2, 2, 2, 1], [3])]


def test_each_seed_has_its_own_generated_triples() -> None:
    (parts,) = mrr_by_generated([*BEFORE, *AFTER])
    assert (parts.arm, parts.seeds, parts.n_generated, parts.n_others) == ("auto", (0, 1), 1, 7)
    assert (parts.baseline_on_generated, parts.on_generated) == (1, 1)
    assert parts.baseline_on_others == pytest.approx((1 + 1 / 2 + 1 / 4 + 1 / 4 + 3) / 7)
    assert parts.on_others == pytest.approx((1 + 1 + 1 + 1 / 2 + 3 / 2) / 7)


def test_generated_triples_are_paired_by_seed_in_any_order() -> None:
    expected = mrr_by_generated([*BEFORE, *AFTER])
    assert mrr_by_generated([*BEFORE[::-1], *AFTER]) == expected
    assert mrr_by_generated([*BEFORE, reported("baseline", 2, [9, 9, 9, 9], None), *AFTER[::-1]]) == expected


def test_the_two_parts_together_are_the_mrr() -> None:
    runs = [replace(run, settings={"generated": {"test_rows": [run.seed, 5]}}) for run in RUNS]
    for parts in mrr_by_generated(runs):
        mrr = np.mean([contributions(run.ranks.filtered, "mrr").mean() for run in runs if run.arm == parts.arm])
        whole = parts.n_generated * parts.on_generated + parts.n_others * parts.on_others
        assert whole / (parts.n_generated + parts.n_others) == pytest.approx(mrr)


@pytest.mark.parametrize(
    "rows", [(None, None), ([], []), ([0, 1, 2, 3], [0, 1, 2, 3]), ([1], None)], ids=["none", "no", "all", "some"]
)
def test_an_arm_without_both_parts_is_left_out(rows: tuple[list[int] | None, list[int] | None]) -> None:
    runs = [reported("x", seed, [1, 2, 3, 4], each) for seed, each in enumerate(rows)]
    assert [parts.arm for parts in mrr_by_generated([*BEFORE, *runs, *AFTER])] == ["auto"]


def test_another_baseline_may_be_named() -> None:
    (parts,) = mrr_by_generated([*BEFORE, *AFTER, reported("x", 0, [1, 1, 1, 1], [0])], "auto")[-1:]
    assert parts.arm == "x"
    assert (parts.baseline_on_others, parts.on_others) == pytest.approx((2.5 / 3, 1))
    with pytest.raises(ValueError, match="no run of it"):
        mrr_by_generated(BEFORE, "auto")
