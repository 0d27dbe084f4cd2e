"""Sentences and notes state the outcome as a person reads it."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nnmfaug.evaluation import metrics
from nnmfaug.evaluation.comparison import Comparison, compare
from nnmfaug.evaluation.metrics import METRICS, Ranks
from nnmfaug.evaluation.runs import Run, save_run
from nnmfaug.evaluation.sentences import advice, left_out, notes, sentence
from tests.evaluation.toy_runs import RUNS, toy_runs

COMPARISON = compare(RUNS, n_resamples=2000)


def worded(comparison: Comparison = COMPARISON, **values: float | str | None) -> str:
    row: dict[str, Any] = {
        "baseline_mean": 0.3531,
        "mean": 0.3269,
        "difference": -0.0262,
        "relative": -0.0742,
        "low": -0.0341,
        "high": -0.0179,
        "verdict": "worse",
    }
    changed = replace(comparison.rows[0], arm="nnmf", **(row | values))
    return sentence(replace(comparison, rows=(changed,), arms=("nnmf",)), changed.metric)


def test_the_sentence_says_what_a_person_wants_to_read() -> None:
    start = "nnmf: filtered MRR .353 → .327, −.026 or −7.4 % (95 % interval "
    assert worded() == start + "−.034 to −.018, 5 seeds): worse than baseline."
    assert worded(high=0.011, verdict="no difference shown").endswith("to +.011, 5 seeds): no difference shown.")
    late = worded(verdict="no difference shown")
    assert late.endswith("no difference shown (corrected for the number of arms).")


def test_small_and_large_numbers_are_readable() -> None:
    assert "(95 % interval −.0004 to +.0012, 5 seeds)" in worded(low=-0.0004, high=0.0012)
    assert "(95 % interval .0000 to .0000, 5 seeds)" in worded(low=-0.0, high=0.0)
    large = worded(
        metric="mr",
        baseline_mean=512.3,
        mean=498.04,
        difference=-14.26,
        relative=-0.0278,
        low=-20.14,
        high=-8,
        verdict="better",
    )
    start = "nnmf: filtered MR 512.3 → 498.0, −14.3 or −2.8 % (95 % interval −20.1 to −8.0, 5 seeds)"
    assert large == f"{start}: better than baseline."
    assert "Hits@10 1.000 → .327, −.026 or +0.4 % (" in worded(metric="hits@10", baseline_mean=1.0, relative=0.004)
    assert "MRR .000 → .327, −.026 (95" in worded(baseline_mean=0.0, relative=None)


def test_without_a_name_all_arms_have_a_line() -> None:
    lines = sentence(COMPARISON, "mr").splitlines()
    assert [line.split(":")[0] for line in lines] == ["good", "bad", "same"]
    assert lines[0] == sentence(COMPARISON, "mr", arm="good")


def test_one_seed_is_a_reason_for_no_verdict() -> None:
    first = compare([run for run in RUNS if run.seed == 0], n_resamples=2000)
    assert "no difference shown (one seed cannot tell" in sentence(first, arm="good")


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_has_a_sentence(metric: str) -> None:
    assert metric in sentence(COMPARISON, metric, arm="good").lower()


def test_a_new_metric_is_one_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "METRICS", (*METRICS, "hits@20"))
    comparison = compare(RUNS, metrics=metrics.METRICS, n_resamples=2000)
    assert comparison.row("good", "hits@20").verdict == "better"
    assert sentence(comparison, "hits@20", arm="good").startswith("good: filtered Hits@20 ")


# ── notes


def generated_run(arm: str = "nnmf", *, amount: object = 0.1, n_extra: int = 60, **generated: object) -> Run:
    counts = {"in_valid": 0, "in_test": 0, "test_rows": []} | generated
    ranks = Ranks(filtered=np.ones((4, 2)), raw=np.ones((4, 2)))
    return Run(arm, 0, ranks, {"arm": {"amount": amount}, "generated": counts}, n_extra=n_extra)


BASELINE = Run("baseline", 0, Ranks(filtered=np.full((4, 2), 2.0), raw=np.full((4, 2), 2.0)))


def test_runs_without_generated_triples_have_no_notes() -> None:
    assert list(notes([])) == []
    assert list(notes([BASELINE])) == []
    assert list(notes(RUNS)) == []
    assert list(notes([BASELINE, generated_run()])) == []


def test_fewer_triples_than_requested_are_noted_unless_the_amount_is_a_limit() -> None:
    assert list(notes([generated_run(amount=1000)])) == [
        "nnmf: only 60 triples were available, 1,000 were requested"
    ]
    assert list(notes([generated_run(amount=60)])) == []
    assert list(notes([generated_run(amount=0.5)])) == []
    assert list(notes([generated_run("auto", amount=1000)])) == []


def test_generated_triples_in_valid_or_test_are_noted() -> None:
    assert list(notes([generated_run(in_valid=1234)])) == ["nnmf: 1,234 of its triples are in valid, 0 in test"]
    (note,) = notes([generated_run("file:x.tsv", in_test=2)])
    assert note.endswith(
        "0 of its triples are in valid, 2 in test; if they were copied from there, the comparison is not fair"
    )


def test_the_gain_is_noted_apart_from_test_triples_that_were_generated() -> None:
    (_, note) = notes([BASELINE, generated_run(in_test=1, test_rows=[3])])
    expected = "nnmf: MRR on the test triples that were generated 0.5000 → 1.0000, on the others 0.5000 → 1.0000"
    assert note == expected


def test_other_arms_of_a_folder_are_noted(tmp_path: Path) -> None:
    for run in (BASELINE, generated_run("random"), generated_run("typed")):
        save_run(run, tmp_path)
    (note,) = left_out([BASELINE], tmp_path)
    assert note.startswith(f"{tmp_path} also contains runs of other arms")
    assert note.endswith("to compare all, add: --arm random --arm typed")
    assert list(left_out([BASELINE, generated_run("random"), generated_run("typed")], tmp_path)) == []


@pytest.mark.parametrize(
    "arm", ["file:my triples.tsv", "x; echo hello", "$(date)", "`date`", "it's", "a\nb", "~", "-o"]
)
def test_names_of_arms_are_quoted_where_they_are_to_be_pasted(tmp_path: Path, arm: str) -> None:
    save_run(generated_run(arm), tmp_path)
    (note,) = left_out([BASELINE], tmp_path)
    options = note.partition("to compare all, add: ")[2]
    assert shlex.split(options) == ["--arm", arm]


# which arm to use


def advised(effects: dict[str, float], n_seeds: int = 5) -> str:
    """The advice on arms that make ranks larger or smaller, with their MRR left out."""
    runs = toy_runs(effects, seeds=range(n_seeds))
    return re.sub(r" \(\.\d{3}\)|(?<=MRR) \.\d{3}", "", advice(runs, compare(runs, n_resamples=2000)))


CHOSEN = "It was chosen by these test results, so expect a little less on other triples."


def test_the_best_arm_is_advised_with_what_it_is_better_than() -> None:
    text = advised({"baseline": 0.0, "good": -0.2, "best": -0.5, "bad": 0.3})
    assert text == f"Use best: filtered MRR, better than baseline, good and bad. {CHOSEN}"


def test_arms_that_may_be_as_good_are_named() -> None:
    text = advised({"baseline": 0.0, "one": -0.3, "two": -0.3})
    assert re.fullmatch(
        rf"Use (one|two): filtered MRR, better than baseline; no difference shown to (one|two)\. {CHOSEN}", text
    )


def test_a_single_arm_is_not_chosen_among_several() -> None:
    assert advised({"baseline": 0.0, "good": -0.3}) == "Use good: filtered MRR, better than baseline."


def test_the_numbers_are_the_mrr_of_the_arms() -> None:
    means = {each.arm: each.means["mrr"] for each in COMPARISON.summaries}
    text = advice(RUNS, COMPARISON)
    for arm in ("baseline", "bad", "same"):
        assert f"{arm} ({means[arm]:.3f})".replace("(0.", "(.") in text
    assert f"Use good: filtered MRR {means['good']:.3f}".replace(" 0.", " .") in text


def test_the_baseline_is_advised_if_nothing_is_shown_to_be_better() -> None:
    assert advised({"baseline": 0.0, "bad": 0.3}) == (
        "No arm is shown to be better than baseline, which has the highest filtered MRR: use it."
    )
    higher = advised({"baseline": 0.0, "hardly": -0.01})
    assert higher == (
        "No arm is shown to be better than baseline: use it, or run more seeds. The highest MRR is that of hardly."
    )


def test_one_seed_is_no_basis_for_advice() -> None:
    assert advised({"baseline": 0.0, "good": -0.9}, n_seeds=1) == (
        "No arm is shown to be better than baseline: one seed cannot show it."
    )


def test_how_rules_count_is_a_note() -> None:
    ranks = Ranks(filtered=np.ones((5, 2)), raw=np.ones((5, 2)))
    mix = {"temperature": 0.51234, "weight": 2.0, "epsilon": 0.01}
    (note,) = notes([Run("combined", 3, ranks, {"mix": mix})])
    assert note.startswith("combined, seed 3: ")
    assert note.endswith("T = 0.512, w = 2, ε = 0.01")
    (note,) = notes([Run("combined", 3, ranks, {"mix": {**mix, "weight": 0.0}})])
    assert note.endswith("the model alone is best, so rules do not count")
    assert list(notes([Run("rules-alone", 0, ranks, {"mix": None})])) == []
