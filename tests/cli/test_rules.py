"""``nnmfaug rules`` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nnmfaug as na
from tests.cli.commands import run


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """A folder with ``family.tsv``, a synthetic graph in which rules hold."""
    na.write_triples(na.family(60, seed=0).given, tmp_path / "family.tsv")
    return tmp_path


def test_rules_are_listed_by_confidence(family: Path) -> None:
    done = run("rules", "family.tsv", "--depth", "1", "--json", cwd=family)
    rules = json.loads(done.stdout)["rules"]
    confidences = [rule["confidence"] for rule in rules]
    assert confidences == sorted(confidences, reverse=True)
    assert "parent_of(x, y) ← child_of(y, x)" in {rule["rule"] for rule in rules}


def test_rules_of_one_relation_are_counted_and_the_first_are_shown(family: Path) -> None:
    done = run("rules", "family.tsv", "--relation", "spouse_of", "--top", "1", cwd=family)
    assert "spouse_of(x, y) ←" in done.stdout
    assert "29 rules; showing the 1 with the highest confidence" in done.stderr


def test_a_graph_without_rules_has_none_to_show(tmp_path: Path) -> None:
    (tmp_path / "one.tsv").write_text("a\tr\tb\n")
    done = run("rules", "one.tsv", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "0 rules\n")


# kinds


def test_rules_without_a_body_are_shown_only_if_they_are_asked_for(tmp_path: Path) -> None:
    found = {}
    for kind in ("path", "head", "tail", "usual"):
        found[kind] = json.loads(
            run("rules", "umls", "--kind", kind, "--top", "9999", "--json", cwd=tmp_path).stdout
        )
        assert {rule["kind"] for rule in found[kind]["rules"]} == {kind}
        is_usual = [rule["rule"].endswith(" ← true") for rule in found[kind]["rules"]]
        assert all(is_usual) if kind == "usual" else not any(is_usual)
    default = json.loads(run("rules", "umls", "--json", cwd=tmp_path).stdout)
    assert default["found"] == sum(found[kind]["found"] for kind in ("path", "head", "tail"))
    rules = na.Rules().mine(na.read_splits("umls").train)
    assert default["found"] + found["usual"]["found"] == len(rules)


def test_a_rule_without_a_body_is_noted_where_it_concludes_nothing(family: Path) -> None:
    run("rules", "family.tsv", "--kind", "usual", "--export", "usual.txt", cwd=family)
    n = len((family / "usual.txt").read_text().splitlines())
    options = ("--method", "rules", "--rules", "usual.txt", "--amount", "3")
    done = run("augment", "family.tsv", *options, "-o", "x.tsv", cwd=family)
    note, error = done.stderr.splitlines()
    assert note == f"note: usual.txt: rules without a body ({n}) answer queries but conclude no triple"
    assert error == "error: no new triple is possible: no rule of usual.txt concludes one"


# examples


@pytest.mark.parametrize("width", [80, 120])
def test_examples_are_indented_below_their_rule(
    tmp_path: Path, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    done = run("rules", "umls", "--top", "3", "--explain", cwd=tmp_path)
    header, *lines = done.stdout.splitlines()
    assert header.split() == ["confidence", "support", "pairs", "kind", "rule"]
    assert max(map(len, lines)) <= width
    first = [line for line in lines if line.strip()[:2] == "0."]
    assert [line.index("isa") for line in first[:2]] == [header.index("rule")] * 2
    examples = [line for line in lines if "in train: " in line]
    assert len(examples) == 3 + 4 + 6
    assert all(line.startswith(("    in train: ", "    not in train: ")) for line in examples)
    others = [line for line in lines if line not in (*first, *examples)]
    assert others
    assert all(line.startswith(" " * 8) for line in others)


# what is left out


def test_rules_that_say_the_same_and_rules_beyond_the_limit_are_counted_separately(family: Path) -> None:
    kinds = [option for kind in ("path", "head", "tail", "usual") for option in ("--kind", kind)]
    every = json.loads(run("rules", "family.tsv", *kinds, "--json", cwd=family).stdout)
    few = json.loads(run("rules", "family.tsv", *kinds, "--max-rules", "50", "--json", cwd=family).stdout)
    assert (every["beyond_limit"], every["lowest_kept"]) == (0, {"paths": None, "constants": None})
    assert every["dropped"] == every["redundant"] > 0
    assert few["found"] == 100  # paths, and rules with constants
    assert few["dropped"] == few["redundant"] + few["beyond_limit"]
    assert few["found"] + few["dropped"] == every["found"] + every["dropped"]
    assert few["beyond_limit"] > 0
    assert 0.05 < few["lowest_kept"]["constants"] < few["lowest_kept"]["paths"] < 1


def test_the_limit_is_large_enough_for_all_rules_of_three_steps(tmp_path: Path) -> None:
    done = run("rules", "umls", "--depth", "3", "--no-constants", "--top", "1", cwd=tmp_path)
    same = "left out 119,032 rules that say the same as others"
    assert f"205,843 rules; showing the 1 with the highest confidence; {same}\n" in done.stderr


def test_the_summary_says_where_the_best_rules_end(family: Path) -> None:
    options = ("--no-constants", "--max-rules", "10")
    found = json.loads(run("rules", "family.tsv", *options, "--json", cwd=family).stdout)
    lowest = min(rule["confidence"] for rule in found["rules"])
    assert found["lowest_kept"]["paths"] == lowest
    n_beyond = found["beyond_limit"]
    summary = run("rules", "family.tsv", *options, cwd=family).stderr
    assert f"left out {n_beyond} paths beyond the best 10, whose lowest confidence is {lowest:.3f}" in summary


def test_after_filters_the_summary_says_that_it_counts_before_them(family: Path) -> None:
    done = run("rules", "family.tsv", "--kind", "path", cwd=family)
    assert "; before filtering, left out " in done.stderr
    assert "filtering" not in run("rules", "family.tsv", cwd=family).stderr


# refusals


@pytest.mark.parametrize("option", [("--kind", "head"), ("--kind", "usual"), ("--constant", "isa")])
def test_rules_with_constants_are_either_excluded_or_asked_for(tmp_path: Path, option: tuple[str, str]) -> None:
    done = run("rules", "umls", "--no-constants", *option, cwd=tmp_path)
    assert done.returncode == 2
    assert "--no-constants and --" in done.stderr
    assert "cannot be combined: leave out one of them" in done.stderr
