"""Rules that were exported and imported list the same triples as the mined ones, also when calibrated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nnmfaug as na

SETTINGS = [
    na.Rules(depth=2, min_support=2),
    na.Rules(depth=1, min_confidence=0.2, combine="fading"),
    na.Rules(depth=2, confidence="pca", combine="noisy-or", prior=1.0),
]


def train_graph() -> na.KnowledgeGraph:
    return na.family(60, seed=0).given


def imported(settings: na.Rules, folder: Path) -> na.ImportedRules:
    na.write_rules(settings.mine(train_graph()), folder / "rules.txt")
    return na.ImportedRules.of(folder / "rules.txt", settings)


@pytest.mark.parametrize("settings", SETTINGS)
def test_imported_rules_list_what_the_mined_ones_list(settings: na.Rules, tmp_path: Path) -> None:
    mined = settings.fit(train_graph())
    read = imported(settings, tmp_path).fit(train_graph())
    np.testing.assert_array_equal(read.triples, mined.triples)
    np.testing.assert_array_equal(read.confidence, mined.confidence)
    best = mined.top(20)
    assert read.top(20).labels == best.labels
    assert read.explainer is not None
    assert mined.explainer is not None
    assert read.explainer.explain(best.triples) == mined.explainer.explain(best.triples)


def test_auto_gives_imported_rules_the_same_probabilities(tmp_path: Path) -> None:
    settings = na.Rules(depth=2, combine="fading")
    mined = na.Auto((settings,)).fit(train_graph())
    read = na.Auto((imported(settings, tmp_path),)).fit(train_graph())
    assert mined.n_new > 5
    np.testing.assert_array_equal(read.triples, mined.triples)
    np.testing.assert_array_equal(read.confidence, mined.confidence)


def test_the_precision_of_imported_rules_is_estimated_by_leaving_one_out(tmp_path: Path) -> None:
    settings = na.Rules(depth=1)
    mined = na.estimate_precision(settings, train_graph(), 50)
    assert na.estimate_precision(imported(settings, tmp_path), train_graph(), 50) == mined


def test_rules_below_the_threshold_are_left_out(tmp_path: Path) -> None:
    settings = na.Rules(depth=1)
    few = na.ImportedRules.of(imported(settings, tmp_path).path, na.Rules(min_confidence=0.6))
    n_mined = len(settings.mine(train_graph()))
    with pytest.warns(UserWarning, match="with a support below 3 or a confidence below 0.6 on train") as caught:
        rules = few.mine(train_graph())
    assert 0 < len(rules) < n_mined
    assert f": left out {n_mined - len(rules):,} rules with" in str(caught[0].message)
    assert rules.confidence.min() >= 0.6


def test_bodies_of_too_many_paths_are_skipped_as_when_they_are_mined(tmp_path: Path) -> None:
    settings = na.Rules(depth=2, constants=False)
    path = imported(settings, tmp_path).path
    rules = na.ImportedRules.of(path, na.Rules(max_paths=100)).mine(train_graph())
    assert rules.skipped > rules.paths.table.unpaid == 0
    with_budget = na.ImportedRules.of(path, na.Rules(budget=1000)).mine(train_graph())
    assert with_budget.skipped == with_budget.paths.table.unpaid > 0
    assert 0 < len(rules) < len(settings.mine(train_graph()))
