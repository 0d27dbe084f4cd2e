"""``nnmfaug rules``, ``estimate``, and ``augment`` by rules and auto, as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import nnmfaug as na
from tests.cli.test_main import run


@pytest.fixture
def world(tmp_path: Path) -> Path:
    na.write_triples(na.family(60, seed=0).given, tmp_path / "world.tsv")
    return tmp_path


def test_rules_are_listed_the_surest_first(world: Path) -> None:
    done = run("rules", "world.tsv", "--depth", "1", "--json", cwd=world)
    found = json.loads(done.stdout)
    confidences = [rule["confidence"] for rule in found["rules"]]
    assert confidences == sorted(confidences, reverse=True)
    assert "parent_of(x, y) ← child_of(y, x)" in {rule["rule"] for rule in found["rules"]}
    done = run("rules", "world.tsv", "--relation", "spouse_of", "--top", "1", cwd=world)
    assert "spouse_of(x, y) ←" in done.stdout
    assert "the 1 surest shown" in done.stderr


def test_auto_writes_triples_with_reasons_and_amount_is_a_limit(world: Path) -> None:
    done = run("augment", "world.tsv", "--amount", "5", "-o", "few.tsv", cwd=world)
    assert done.returncode == 0, done.stderr
    assert len(na.read_triples(world / "few.tsv")) == 5
    lines = (world / "few.tsv.scores.tsv").read_text().splitlines()
    assert lines[0].split("\t") == ["line", "confidence", "source", "reason", "evidence"]
    known = set(na.read_triples(world / "world.tsv").labels())
    for line in lines[1:]:
        _, confidence, source, reason, evidence = line.split("\t")
        assert float(confidence) > 0.5
        assert source == "rules"
        assert "←" in json.loads(reason)
        assert {tuple(triple) for triple in json.loads(evidence)} <= known
    more = run("augment", "world.tsv", "--amount", "100000", "-o", "all.tsv", cwd=world)
    assert more.returncode == 0, more.stderr
    assert 5 < len(na.read_triples(world / "all.tsv")) < 100_000


def test_conditions_that_nothing_meets_leave_an_empty_file_and_the_reason(world: Path) -> None:
    done = run(
        "augment", "world.tsv", "--head", "person_0000", "--tail", "person_0000", "-o", "none.tsv", cwd=world
    )
    assert done.returncode == 0, done.stderr
    assert "no triple is worth adding: of " in done.stderr
    assert (world / "none.tsv").read_text() == ""


def test_a_graph_without_sure_rules_gets_nothing_and_the_reason(tmp_path: Path) -> None:
    ids = np.random.default_rng(0).integers(0, [60, 1, 60], size=(284, 3)).tolist()
    rows = [(f"e{h}", "r", f"e{t}") for h, _, t in ids if h != t]
    na.write_triples(na.KnowledgeGraph.from_labels(rows), tmp_path / "noise.tsv")
    done = run("augment", "noise.tsv", "-o", "x.tsv", cwd=tmp_path)
    assert done.returncode == 0
    assert "no triple is worth adding" in done.stderr
    assert (tmp_path / "x.tsv").read_text() == ""
    told = run("estimate", "noise.tsv", cwd=tmp_path).stdout
    assert "no rule here is sure enough to tell" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("augment", "umls", "--clusterer", "kmeans", "-o", "x.tsv"),
            "--clusterer is for --method nnmf, not for auto",
        ),
        (("augment", "umls", "--workers", "2", "-o", "x.tsv"), "--workers is for --method nnmf, not for auto"),
        (("augment", "umls", "--method", "nnmf", "--depth", "2", "-o", "x.tsv"), "--depth is for --method rules"),
        (("augment", "umls", "--method", "rules", "--threshold", "0.2", "-o", "x.tsv"), "--threshold is for"),
        (("augment", "umls", "--threshold", "2", "-o", "x.tsv"), "threshold=2.0: must be above 0"),
        (
            ("augment", "umls", "--relation", "affect", "-o", "x.tsv"),
            "unknown relation 'affect'; did you mean 'affects'",
        ),
        (
            ("augment", "umls", "--quota", "affect=2", "-o", "x.tsv"),
            "unknown relation 'affect'; did you mean 'affects'",
        ),
        (
            ("estimate", "umls", "--method", "random", "--depth", "2"),
            "--depth is for --method rules, not for random",
        ),
        (("estimate", "umls", "--completeness", "1"), "completeness=1.0: must be above 0 and below 1"),
        (("estimate", "umls", "--amount", "0"), "less than one"),
        (("rules", "umls", "--min-confidence", "2"), "min_confidence=2.0: must be above 0 and at most 1"),
        (("rules", "umls", "--relation", "affect"), "--relation affect: the graph has no such relation"),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_mixture_keeps_both_generators_at_any_depth(world: Path) -> None:
    done = run("augment", "world.tsv", "--method", "mixture", "--depth", "1", "--all", "-o", "m.tsv", cwd=world)
    assert done.returncode == 0, done.stderr
    sources = {line.split("\t")[2] for line in (world / "m.tsv.scores.tsv").read_text().splitlines()[1:]}
    assert sources == {"rules", "nnmfaug"}


def test_too_many_by_rules_says_what_to_do(world: Path) -> None:
    done = run("augment", "world.tsv", "--method", "rules", "--amount", "1000000", "-o", "x.tsv", cwd=world)
    assert done.returncode == 1
    assert "pass --all to get them all" in done.stderr
