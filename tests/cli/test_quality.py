"""``nnmfaug estimate``, and ``augment`` by rules, auto and mixture, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import nnmfaug as na
from tests.cli.commands import run


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """A folder with ``family.tsv``, a synthetic graph in which rules hold."""
    na.write_triples(na.family(60, seed=0).given, tmp_path / "family.tsv")
    return tmp_path


@pytest.fixture
def noise(tmp_path: Path) -> Path:
    """A folder with ``noise.tsv``, random triples of one relation, in which no rule holds."""
    ids = np.random.default_rng(0).integers(0, [60, 1, 60], size=(284, 3)).tolist()
    rows = [(f"e{h}", "r", f"e{t}") for h, _, t in ids if h != t]
    na.write_triples(na.KnowledgeGraph.from_labels(rows), tmp_path / "noise.tsv")
    return tmp_path


# augment by rules


def test_auto_writes_the_evidence_for_each_triple(family: Path) -> None:
    done = run("augment", "family.tsv", "--depth", "2", "--amount", "5", "-o", "few.tsv", cwd=family)
    assert done.returncode == 0, done.stderr
    assert len(na.read_triples(family / "few.tsv")) == 5
    header, *lines = (family / "few.tsv.scores.tsv").read_text().splitlines()
    assert header.split("\t") == ["line", "probability", "confidence", "source", "reason", "rules", "evidence"]
    known = set(na.read_triples(family / "family.tsv").labels())
    for line in lines:
        _, probability, confidence, source, reason, rules, evidence = line.split("\t")
        assert float(probability) >= 0.5
        assert float(confidence) >= json.loads(rules)[0][1]
        assert json.loads(rules)[0][0] == json.loads(reason)
        assert source == "rules"
        assert "←" in json.loads(reason)
        assert {tuple(triple) for triple in json.loads(evidence)} <= known


def test_the_amount_of_auto_is_a_limit(family: Path) -> None:
    done = run("augment", "family.tsv", "--depth", "2", "--amount", "100000", "-o", "all.tsv", cwd=family)
    assert done.returncode == 0, done.stderr
    assert 5 < len(na.read_triples(family / "all.tsv")) < 100_000
    assert "; estimated precision 0." in done.stderr


def test_conditions_that_no_triple_meets_leave_an_empty_file_and_the_reason(family: Path) -> None:
    conditions = ("--head", "person_0000", "--tail", "person_0000")
    done = run("augment", "family.tsv", "--depth", "2", *conditions, "-o", "none.tsv", cwd=family)
    assert done.returncode == 0, done.stderr
    assert "triples pass the threshold, but none meets the conditions" in done.stderr
    assert (family / "none.tsv").read_text() == ""


def test_a_graph_without_good_rules_gets_no_triple_and_the_reason(noise: Path) -> None:
    done = run("augment", "noise.tsv", "--depth", "2", "-o", "x.tsv", cwd=noise)
    assert done.returncode == 0
    assert "no triple is worth adding" in done.stderr
    assert (noise / "x.tsv").read_text() == ""


def test_a_mixture_keeps_both_augmenters_at_any_depth(family: Path) -> None:
    done = run("augment", "family.tsv", "--method", "mixture", "--depth", "1", "--all", "-o", "m.tsv", cwd=family)
    assert done.returncode == 0, done.stderr
    sources = {line.split("\t")[3] for line in (family / "m.tsv.scores.tsv").read_text().splitlines()[1:]}
    assert sources == {"rules", "nnmfaug"}


@pytest.mark.parametrize("method", [("auto", "--threshold", "0.001"), ("mixture",)], ids=lambda words: words[0])
def test_the_less_complete_the_graph_the_more_probable_the_triples(family: Path, method: tuple[str, ...]) -> None:
    precision = []
    for completeness in ("0.5", "0.99"):
        options = ("--depth", "1", "--completeness", completeness, "--amount", "200")
        done = run("augment", "family.tsv", "--method", *method, *options, "-o", f"{completeness}.tsv", cwd=family)
        assert done.returncode == 0, done.stderr
        manifest = json.loads((family / f"{completeness}.tsv.json").read_text())
        assert manifest["method"]["completeness"] == float(completeness)
        precision.append(manifest["estimated_precision"])
    assert precision[0] > precision[1]


@pytest.mark.parametrize("method", ["auto", "rules"])
def test_skipped_rule_bodies_are_noted(tmp_path: Path, method: str) -> None:
    rows = [(f"a{i}", "r", "hub") for i in range(2_300)] + [("hub", "s", f"b{i}") for i in range(2_300)]
    na.write_triples(na.KnowledgeGraph.from_labels(rows), tmp_path / "hub.tsv")
    rules = json.loads(run("rules", "hub.tsv", "--json", cwd=tmp_path).stdout)
    n_skipped = rules["skipped_bodies"]
    assert n_skipped
    options = ("--method", method, "--depth", "2", "--amount", "0")
    done = run("augment", "hub.tsv", *options, "-o", "x.tsv", cwd=tmp_path)
    assert f"note: skipped {n_skipped} rule bod" in done.stderr


def test_too_many_by_rules_are_refused_with_advice(family: Path) -> None:
    done = run("augment", "family.tsv", "--method", "rules", "--amount", "1000000", "-o", "x.tsv", cwd=family)
    assert done.returncode == 1
    assert "request fewer or pass --all to get them all" in done.stderr


# no triple


@pytest.mark.parametrize("method", ["auto", "rules"])
def test_an_empty_file_of_rules_is_refused(family: Path, method: str) -> None:
    (family / "empty.txt").touch()
    options = ("--method", method, "--rules", "empty.txt")
    done = run("augment", "family.tsv", *options, "-o", "x.tsv", cwd=family)
    assert (done.returncode, done.stderr) == (2, "error: empty.txt: contains no rule\n")


def test_where_no_rule_of_a_file_concludes_a_triple_the_notes_say_why(family: Path) -> None:
    (family / "weak.txt").write_text("9\t8\t0.9\tspouse_of(X,Y) <= parent_of(X,Y)\n")
    options = ("--method", "rules", "--rules", "weak.txt", "--amount", "3")
    done = run("augment", "family.tsv", *options, "-o", "x.tsv", cwd=family)
    note, error = done.stderr.splitlines()
    assert done.returncode == 1
    assert note == "note: weak.txt: left out 1 rule with a support below 3 or a confidence below 0.05 on train"
    assert error == "error: no new triple is possible: no rule of weak.txt concludes one"


@pytest.mark.parametrize("amount", [("--amount", "3"), ("--quota", "spouse_of=3")])
def test_a_budget_that_pays_for_nothing_is_the_reason(family: Path, amount: tuple[str, str]) -> None:
    options = ("--method", "rules", "--budget", "1", *amount)
    done = run("augment", "family.tsv", *options, "-o", "x.tsv", cwd=family)
    assert done.returncode == 1
    assert "no new triple is possible: no mined rule concludes one: skipped " in done.stderr
    assert " heads that the budget of 1 does not pay for; raise --budget\n" in done.stderr


def test_what_the_budget_does_not_pay_for_is_noted_also_if_there_are_too_few_triples(family: Path) -> None:
    options = ("--method", "rules", "--budget", "10k", "--amount", "1000000")
    done = run("augment", "family.tsv", *options, "-o", "x.tsv", cwd=family)
    note, error = done.stderr.splitlines()
    assert "the budget of 10k does not pay for; what rules with them conclude is missing; raise --budget" in note
    assert error.startswith("error: 1,000,000 new triples were requested, but only ")


def test_an_estimate_of_no_triples_is_null_for_machines(tmp_path: Path) -> None:
    done = run("estimate", "nations", "--budget", "1", "--json", cwd=tmp_path)
    estimate = json.loads(done.stdout)
    assert (estimate["n"], estimate["compared"]["n"], estimate["compared"]["in_test"]) == (0, 0, 0)
    assert {estimate[name] for name in ("precision", "low", "high")} == {None}
    assert {estimate["compared"][name] for name in ("novelty", "confirmed", "lift_over_typed", "f_tsp")} == {None}
    assert estimate["completeness"] == 0.8


def test_an_estimate_names_the_budget_that_pays_for_nothing(family: Path) -> None:
    done = run("estimate", "family.tsv", "--budget", "1", cwd=family)
    assert "does not pay for; raise --budget): there is nothing to estimate" in done.stderr


# estimate


def test_auto_is_estimated_with_a_table_and_sentences(family: Path) -> None:
    done = run("estimate", "family.tsv", "--depth", "1", cwd=family)
    assert done.returncode == 0, done.stderr
    title, header, *_, sentence = done.stdout.splitlines()
    assert title.startswith("auto, ")
    assert header.split() == ["probability", "triples", "recovered", "precision"]
    assert sentence.startswith("Estimated precision ")
    assert sentence.endswith("of all true facts (estimated from the highest-confidence rules).")


def test_valid_and_test_are_reported_only(tmp_path: Path) -> None:
    done = run("estimate", "nations", "--method", "random", "--completeness", "0.5", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "if train holds 50.0% of all true facts (as given)." in done.stdout
    assert "occur in valid or test (reported only, not used in the estimate)" in done.stdout


def test_where_auto_generates_nothing_there_is_nothing_to_estimate(noise: Path) -> None:
    done = run("estimate", "noise.tsv", "--depth", "1", cwd=noise)
    assert done.returncode == 0
    assert done.stderr.endswith("auto generates no triple for this graph: there is nothing to estimate\n")


def test_the_estimate_is_about_the_triples_that_augment_writes(family: Path) -> None:
    options = ("--depth", "1", "--completeness", "0.9")
    estimate = json.loads(run("estimate", "family.tsv", *options, "--json", cwd=family).stdout)
    assert run("augment", "family.tsv", *options, "-o", "x.tsv", cwd=family).returncode == 0
    assert estimate["n"] == len(na.read_triples(family / "x.tsv"))
    assert estimate["completeness"] == 0.9


def test_an_assumed_completeness_is_called_an_assumption(noise: Path) -> None:
    done = run("estimate", "noise.tsv", "--method", "rules", cwd=noise)
    assert "(an assumption: no rule has enough confidence to estimate it)" in done.stdout


def test_too_few_recovered_triples_are_called_the_reason_for_an_assumption(tmp_path: Path) -> None:
    rows = [(f"a{i}", "r", f"b{i}") for i in range(9)]
    back = [(t, r, h) for h, r, t in rows[:8]]
    na.write_triples(na.KnowledgeGraph.from_labels(rows + back), tmp_path / "few.tsv")
    done = run("estimate", "few.tsv", "--method", "rules", "--depth", "1", cwd=tmp_path)
    assert "if train holds 80.0% of all true facts (an assumption: rules recover too few triples" in done.stdout


# refusals


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("augment", "umls", "--clusterer", "kmeans", "-o", "x.tsv"),
            "--clusterer is for --method nnmf, not for auto",
        ),
        (
            ("augment", "umls", "--workers", "2", "--engine", "dask", "-o", "x.tsv"),
            "--engine and --workers cannot be combined",
        ),
        (("estimate", "umls", "--engine", "process"), "engine 'process': must be serial, processes, processes:N"),
        (("rules", "umls", "--engine", "tcp://192.0.2.1:8786"), "is not encrypted and not on this machine"),
        (
            ("augment", "umls", "--method", "nnmf", "--depth", "2", "-o", "x.tsv"),
            "--depth is for --method auto, rules, mixture, not for nnmf",
        ),
        (
            ("augment", "umls", "--method", "rules", "--threshold", "0.2", "-o", "x.tsv"),
            "--threshold is for --method auto, not for rules",
        ),
        (("augment", "umls", "--threshold", "2", "-o", "x.tsv"), "threshold=2.0: must be above 0"),
        (
            ("augment", "umls", "--method", "rules", "--completeness", "0.8", "-o", "x.tsv"),
            "--completeness is for --method auto, mixture, not for rules",
        ),
        (
            ("augment", "umls", "--completeness", "1", "-o", "x.tsv"),
            "completeness=1.0: must be above 0 and below 1",
        ),
        (("augment", "umls", "--relation", "affect", "-o", "x.tsv"), "unknown relation 'affect'"),
        (("augment", "umls", "--quota", "affect=2", "-o", "x.tsv"), "unknown relation 'affect'"),
        (("augment", "umls", "--quota", "isa", "-o", "x.tsv"), "--quota isa: must be a relation and a number"),
        (
            ("estimate", "umls", "--method", "random", "--depth", "2"),
            "--depth is for --method auto, rules, mixture, not for random",
        ),
        (("estimate", "umls", "--completeness", "1"), "completeness=1.0: must be above 0 and below 1"),
        (("estimate", "umls", "--amount", "0"), "--amount 0: less than one of 5,216 triples"),
        (("rules", "umls", "--min-confidence", "2"), "--min-confidence 2: must be above 0 and at most 1"),
        (("rules", "umls", "--min-confidence", "0"), "--min-confidence 0: must be above 0 and at most 1"),
        (("rules", "umls", "--budget", "0"), "--budget 0: must be at least 1"),
        (("rules", "umls", "--max-rules", "0"), "--max-rules 0: must be at least 1"),
        (("estimate", "umls", "--budget", "0.0"), "--budget 0.0: must be at least 1"),
        (("augment", "umls", "--budget", "5T", "-o", "x.tsv"), "--budget 5T: must be a number such as 2000, 500M"),
        (("augment", "umls", "--budget", "-3", "-o", "x.tsv"), "(k, M, G: thousand, million, billion)"),
        (
            ("rules", "umls", "--relation", "affect"),
            "--relation: unknown relation 'affect'; did you mean 'affects'",
        ),
    ],
)
def test_bad_options_are_refused_at_once(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert not list(tmp_path.iterdir())
