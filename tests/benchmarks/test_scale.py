"""The measurements of sizes: the page shows them, and a small one can be made anywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scale import exponents, growth_table, measure_sizes, table

ROOT = Path(__file__).parents[2]
DOCUMENT = json.loads((ROOT / "docs" / "results" / "scale.json").read_text())
PAGE = (ROOT / "docs" / "scale.md").read_text()


def test_the_page_shows_what_was_measured() -> None:
    assert table(DOCUMENT["rows"]) in PAGE
    assert growth_table(DOCUMENT["rows"]) in PAGE


def test_growth_follows_from_the_measurements() -> None:
    assert list(exponents(DOCUMENT["rows"])) == DOCUMENT["growth"]


def test_planted_rules_were_found_with_their_numbers_as_the_page_says() -> None:
    *smaller, largest = [row for row in DOCUMENT["rows"] if row["method"] == "rules"]
    assert len(smaller) >= 3
    assert all(row["planted_rules_found"] == row["planted_rules"] > 0 for row in smaller)
    assert f"{largest['planted_rules_found']} of {largest['planted_rules']}" in PAGE


@pytest.mark.slow
def test_a_small_graph_is_measured_stage_by_stage() -> None:
    nnmf, rules = measure_sizes([20_000], "1GB")
    for row in (nnmf, rules):
        assert row["triples"] == pytest.approx(20_000, rel=0.1)
        assert row["generated"] > 0
        assert set(row["stages"]) == {"read", "generate", "write"}
        assert row["peak_bytes"] == max(stage["peak_bytes"] for stage in row["stages"].values())
    assert nnmf["planted_rules_found"] is None
    assert rules["planted_rules_found"] == rules["planted_rules"] > 0
