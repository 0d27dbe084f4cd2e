"""``nnmfaug augment`` as a user types it: what it says before, after, and where it cannot do what was asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nnmfaug as na
from nnmfaug.augmenters.nnmf import clusterers as clustering
from tests.cli.test_main import run


def augment(*arguments: str, cwd: Path) -> tuple[int, str]:
    done = run("augment", "--method", "nnmf", *arguments, "-o", "x.tsv", cwd=cwd)
    assert "Traceback" not in done.stderr
    assert (cwd / "x.tsv").exists() == (done.returncode == 0)
    return done.returncode, done.stderr


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """Four triples, and six more that are possible: every head with every other tail, but for the ring itself."""
    rows = [(f"e{i}", "next", f"e{(i + 1) % 4}") for i in range(4)]
    na.write_triples(na.KnowledgeGraph.from_labels(rows), tmp_path / "few.tsv")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--eps", "0.5"), ("--eps", "ward")),
        (("--clusterer", "hdbscan", "--eps", "0.5"), ("--eps", "hdbscan")),
        (("--clusterer", "dbscan", "--clusters", "3"), ("--clusters", "dbscan")),
        (("--clusterer", "hdbscan", "--clusters", "auto"), ("--clusters", "hdbscan")),
        (("--clusterer", "dbscan", "--components", "auto"), ("--components auto", "dbscan")),
        (("--all", "--amount", "5"), ("--all", "--amount")),
        (("--quota", "isa=3", "--amount", "5"), ("--quota", "--amount")),
        (("--quota", "isa=3", "--all"), ("--quota", "--all")),
        (("--quota", "isa=3", "--relation", "isa"), ("--quota", "--relation")),
        (("--quota", "isa=3", "--quota", "isa=4"), ("--quota isa=4", "twice")),
    ],
)
def test_options_that_say_nothing_to_each_other_are_refused_by_name(
    tmp_path: Path, arguments: tuple[str, ...], named: tuple[str, str]
) -> None:
    code, message = augment("umls", *arguments, cwd=tmp_path)
    assert code == 2
    assert all(name in message for name in named)


def test_the_default_amount_is_at_least_one_and_a_share_that_is_none_is_refused(few: Path) -> None:
    assert augment("few.tsv", cwd=few)[0] == 0
    assert len(na.read_triples(few / "x.tsv")) == 1
    (few / "x.tsv").unlink()
    code, message = augment("few.tsv", "--amount", "1%", cwd=few)
    assert code == 2
    assert "--amount 1%: of 4 triples that is less than one" in message


def test_too_many_by_default_says_what_the_default_was_and_how_many_there_are(tmp_path: Path) -> None:
    code, message = augment("umls", "--clusters", "3", "--relation", "isa", "--head", "alga", cwd=tmp_path)
    assert code == 1
    assert "10% of train, 521 triples, is the default amount, but only " in message
    assert "--all" in message
    code, message = augment("umls", "--clusters", "3", "--amount", "1000000", cwd=tmp_path)
    assert code == 1
    assert "1,000,000 new triples were requested, but only" in message
    assert "pass --all" in message
    code, message = augment("umls", "--clusters", "3", "--quota", "isa=1000000", cwd=tmp_path)
    assert code == 1
    assert "relation 'isa': 1,000,000 new triples were requested" in message
    assert "--all" not in message


def test_where_nothing_is_possible_the_reason_is_said_and_not_to_ask_for_less(few: Path) -> None:
    assert augment("few.tsv", "--all", cwd=few)[0] == 0
    (few / "x.tsv").rename(few / "rest.tsv")
    for arguments, reason in (
        (("--exclude", "rest.tsv"), "all triples that are possible, 12, are known"),
        (("--head", "e1", "--tail", "e1"), "only 'e1' could be head and tail"),
    ):
        code, message = augment("few.tsv", *arguments, cwd=few)
        assert code == 1
        assert reason in message
        assert "ask for less" not in message
        assert "--all" not in message


@pytest.mark.parametrize("source", ["umls", "folder"])
def test_what_is_no_file_cannot_be_excluded_and_the_command_that_makes_one_is_shown(
    tmp_path: Path, source: str
) -> None:
    (tmp_path / "folder").mkdir()
    code, message = augment("umls", "--exclude", source, cwd=tmp_path)
    assert code == 2
    assert f"nnmfaug convert {source} known.tsv --split all" in message
    code, message = augment("umls", "--exclude", "nowhere.tsv", cwd=tmp_path)
    assert code == 2
    assert message == "error: nowhere.tsv: --exclude: no such file\n"


@pytest.mark.parametrize("smoothing", ["inf", "nan", "-1"])
def test_smoothing_is_a_finite_number_from_zero(tmp_path: Path, smoothing: str) -> None:
    code, message = augment("umls", "--smoothing", smoothing, cwd=tmp_path)
    assert code == 2
    assert "must be a finite number from 0" in message


def test_with_quotas_the_possible_triples_are_those_of_their_relations(tmp_path: Path) -> None:
    code, message = augment("umls", "--clusters", "3", "--quota", "isa=3", "--quota", "affects=2", cwd=tmp_path)
    assert code == 0
    dist = na.NNMFAug(cluster=na.Agglomerative(3)).fit(na.read_splits("umls").train)
    possible = dist.restrict(relations=["isa", "affects"])
    assert f"5 new triples of {possible.n_new:,} possible ones ({possible.support_size:,} with" in message
    assert json.loads((tmp_path / "x.tsv.json").read_text())["new_in_support"] == possible.n_new


def test_a_clustering_that_takes_long_or_is_approximate_is_announced_to_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    announced = "note: clustering will take about 20 s and 18 MB\n"
    monkeypatch.setattr(na.Counts, "n_distinct_rows", lambda _: 25_000)
    assert augment("umls", "--clusters", "3", cwd=tmp_path)[1].startswith(announced)
    assert (
        announced
        not in run(
            "augment", "umls", "--method", "nnmf", "--clusters", "3", "--json", "-o", "y.tsv", cwd=tmp_path
        ).stderr
    )
    auto = augment("umls", "--clusters", "3", "--components", "auto", cwd=tmp_path)[1]
    assert "will take about 40 s and 34 MB for each setting that auto compares" in auto
    large = augment("umls", "--clusters", "3", "--clusterer", "average", cwd=tmp_path)[1]
    assert "will take about 31 s and 5.0 GB" in large
    monkeypatch.undo()
    assert "will take" not in augment("umls", "--clusters", "3", cwd=tmp_path)[1]
    monkeypatch.setattr(clustering, "MAX_EXACT_ROWS", 100)
    said = augment("umls", "--clusters", "3", cwd=tmp_path)[1]
    assert said.startswith(
        "note: clustering by the approximate tier (Ward of 40 micro-clusters instead of entities)"
    )
    assert "135 distinct rows are more than 100: approximate tier" in said
