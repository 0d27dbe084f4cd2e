"""The document has every number of a comparison, and its file is JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.evaluation.breakdown import breakdown
from nnmfaug.evaluation.comparison import to_json
from nnmfaug.evaluation.metrics import summary
from nnmfaug.evaluation.sentences import advice
from nnmfaug.evaluation.strata import derivable_strata

SPLITS = na.Splits.merge(
    "toy",
    train=na.KnowledgeGraph.from_labels([("a", "likes", "b"), ("b", "knows", "c"), ("c", "likes", "a")]),
    test=na.KnowledgeGraph.from_labels([("a", "likes", "c"), ("b", "likes", "c"), ("a", "knows", "c")]),
)


def runs_of(arm: str, generated: dict[str, Any] | None = None, **settings: Any) -> list[na.Run]:
    runs = []
    for seed in range(2):
        ranks = np.random.default_rng([len(arm), seed]).integers(1, 4, size=(3, 2)).astype(np.float64)
        of_arm = {"arm": {"amount": 5} if generated else None, "generated": generated}
        curve = ({"epoch": 1, "mrr": 0.5},)
        run = na.Run(
            arm, seed, na.Ranks(filtered=ranks, raw=ranks + 1), {**settings, **of_arm}, curve=curve, n_extra=5
        )
        runs.append(run)
    return runs


BASELINE = runs_of("baseline", data={"name": "toy"})
AUTO = runs_of("auto", {"in_valid": 0, "in_test": 1, "test_rows": [2]}, data={"name": "toy"})
DERIVABLE = np.array([False, True, False])
DOCUMENT = na.comparison_document([*BASELINE, *AUTO], SPLITS, derivable=DERIVABLE)
COMMON = ["format", "version", "arms", "runs", "settings"]


def as_json(value: object) -> Any:
    return json.loads(json.dumps(value))


def test_the_document_has_its_keys_in_order() -> None:
    details = ["sentence", "advice", "by_relation", "by_degree", "by_seen", "by_derivable", "mrr_by_generated"]
    assert list(DOCUMENT) == [*COMMON, "filtered", "raw", *details]
    assert (DOCUMENT["format"], DOCUMENT["version"]) == ("nnmfaug comparison", 2)
    assert DOCUMENT["arms"] == {"baseline": None, "auto": {"amount": 5}}
    assert DOCUMENT["settings"] == {"data": {"name": "toy"}}


def test_a_run_has_its_metrics_and_curve() -> None:
    assert [(entry["arm"], entry["seed"]) for entry in DOCUMENT["runs"]] == [
        ("baseline", 0),
        ("baseline", 1),
        ("auto", 0),
        ("auto", 1),
    ]
    last = DOCUMENT["runs"][-1]
    assert list(last) == ["arm", "seed", "n_extra", "generated", "seconds", "metrics", "curve"]
    assert last["metrics"]["raw"] == summary(AUTO[1].ranks.raw)
    assert last["generated"]["test_rows"] == [2]
    assert last["curve"] == [{"epoch": 1, "mrr": 0.5}]


def test_the_numbers_are_those_of_the_functions() -> None:
    runs = [*BASELINE, *AUTO]
    assert DOCUMENT["filtered"] == to_json(na.compare(runs))
    assert DOCUMENT["raw"] == to_json(na.compare(runs, kind="raw"))
    assert DOCUMENT["sentence"] == [na.sentence(na.compare(runs))]
    assert DOCUMENT["advice"] == advice(runs, na.compare(runs))
    assert DOCUMENT["by_relation"] == as_json([asdict(group) for group in breakdown(runs, SPLITS)])
    assert DOCUMENT["by_degree"] == as_json([asdict(group) for group in breakdown(runs, SPLITS, by="degree")])
    assert DOCUMENT["by_seen"] == as_json([asdict(group) for group in breakdown(runs, SPLITS, by="seen")])
    derivable = breakdown(runs, SPLITS, by=derivable_strata(DERIVABLE))
    assert DOCUMENT["by_derivable"] == as_json([asdict(group) for group in derivable])
    assert DOCUMENT["mrr_by_generated"] == as_json([asdict(parts) for parts in na.mrr_by_generated(runs)])
    assert [parts["arm"] for parts in DOCUMENT["mrr_by_generated"]] == ["auto"]


def test_one_arm_has_its_numbers_and_nothing_to_compare() -> None:
    assert list(na.comparison_document(BASELINE, SPLITS)) == COMMON


def test_without_rules_nothing_is_said_about_them() -> None:
    assert "by_derivable" not in na.comparison_document([*BASELINE, *AUTO], SPLITS)


def test_comparisons_that_are_given_are_used() -> None:
    runs = [*BASELINE, *AUTO]
    narrow = na.compare(runs, "auto", level=0.5, n_resamples=500)
    document = na.comparison_document(runs, SPLITS, comparisons={"filtered": narrow})
    assert document["filtered"] == to_json(narrow)
    assert "raw" not in document
    assert [each["arm"] for each in document["by_degree"][0]["differences"]] == ["baseline"]
    assert document["sentence"][0].startswith("baseline: ")
    assert na.comparison_document(runs, SPLITS, comparisons={}) == {key: DOCUMENT[key] for key in COMMON}


def test_a_pilot_is_any_value_with_its_three_fields() -> None:
    @dataclass(frozen=True)
    class Outcome:
        amount: int
        scores: dict[int, float]
        errors: dict[int, float]

    document = na.comparison_document(BASELINE, SPLITS, pilot=Outcome(10, {0: 0.25, 10: 0.5}, {0: 0.125, 10: 0.0}))
    expected = {"amount": 10, "mrr_on_valid": {"0": 0.25, "10": 0.5}, "errors": {"0": 0.125, "10": 0.0}}
    assert document["pilot"] == expected


def test_a_file_holds_the_document(tmp_path: Path) -> None:
    path = na.write_comparison(DOCUMENT, tmp_path / "new")
    assert path == tmp_path / "new" / "comparison.json"
    assert json.loads(path.read_text(encoding="utf-8")) == DOCUMENT
    assert [each.name for each in path.parent.iterdir()] == ["comparison.json"]


@pytest.mark.parametrize("name", ["é", "名", "file:\udcff.tsv"])
def test_names_of_all_kinds_can_be_written(name: str, tmp_path: Path) -> None:
    path = na.write_comparison({"arms": {name: None}}, tmp_path)
    assert json.loads(path.read_text(encoding="utf-8")) == {"arms": {name: None}}
