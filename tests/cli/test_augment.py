"""``nnmfaug augment`` by the paper's method: notes before the work, summaries after it, and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nnmfaug as na
from nnmfaug.augmenters.nnmf import clusterers
from tests.cli.commands import run


def augment(*arguments: str, cwd: Path) -> tuple[int, str]:
    """Run the command; check that the file exists exactly if it succeeded."""
    done = run("augment", "--method", "nnmf", *arguments, "-o", "x.tsv", cwd=cwd)
    assert "Traceback" not in done.stderr
    assert (cwd / "x.tsv").exists() == (done.returncode == 0)
    return done.returncode, done.stderr


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """A folder with a ring of four triples; every head with every other tail makes eight more."""
    rows = [(f"e{i}", "next", f"e{(i + 1) % 4}") for i in range(4)]
    na.write_triples(na.KnowledgeGraph.from_labels(rows), tmp_path / "few.tsv")
    return tmp_path


# options


@pytest.mark.parametrize(
    ("arguments", "names"),
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
        (("--clusters", "0"), ("--clusters 0", "a number from 1")),
    ],
)
def test_options_that_cannot_be_combined_are_refused_by_name(
    tmp_path: Path, arguments: tuple[str, ...], names: tuple[str, str]
) -> None:
    code, message = augment("umls", *arguments, cwd=tmp_path)
    assert code == 2
    assert all(name in message for name in names)


@pytest.mark.parametrize("smoothing", ["inf", "nan", "-1"])
def test_smoothing_is_a_finite_number_from_zero(tmp_path: Path, smoothing: str) -> None:
    code, message = augment("umls", "--smoothing", smoothing, cwd=tmp_path)
    assert code == 2
    assert "must be a finite number from 0" in message


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--relation", "affect"), "unknown relation 'affect'; did you mean 'affects'"),
        (("--quota", "affect=2"), "unknown relation 'affect'; did you mean 'affects'"),
        (("--head", "vius"), "unknown entity 'vius'; did you mean 'virus'"),
        (("--tail", "vius"), "unknown entity 'vius'; did you mean 'virus'"),
    ],
)
def test_a_name_with_a_typo_is_answered_with_similar_ones(
    tmp_path: Path, option: tuple[str, str], message: str
) -> None:
    code, stderr = augment("umls", *option, cwd=tmp_path)
    assert code == 2
    assert message in stderr


@pytest.mark.parametrize("source", ["umls", "folder"])
def test_only_a_file_can_be_excluded_and_the_command_that_makes_one_is_shown(tmp_path: Path, source: str) -> None:
    (tmp_path / "folder").mkdir()
    code, message = augment("umls", "--exclude", source, cwd=tmp_path)
    assert code == 2
    assert f"nnmfaug convert {source} known.tsv --split all" in message


def test_a_file_to_exclude_must_exist(tmp_path: Path) -> None:
    code, message = augment("umls", "--exclude", "nowhere.tsv", cwd=tmp_path)
    assert code == 2
    assert message == "error: nowhere.tsv: --exclude: no such file\n"


@pytest.mark.parametrize("source", ["few.tsv", "other.tsv"])
def test_a_file_that_was_read_is_not_overwritten(few: Path, source: str) -> None:
    (few / "other.tsv").write_text("e0\tnext\te2\n")
    before = (few / source).read_bytes()
    done = run(
        "augment", "few.tsv", "--method", "nnmf", "--exclude", "other.tsv", "-o", source, "--overwrite", cwd=few
    )
    assert done.returncode == 2
    assert "would be overwritten" in done.stderr
    assert (few / source).read_bytes() == before


# amounts


def test_the_default_amount_is_at_least_one(few: Path) -> None:
    assert augment("few.tsv", cwd=few)[0] == 0
    assert len(na.read_triples(few / "x.tsv")) == 1


def test_a_fraction_of_less_than_one_triple_is_refused(few: Path) -> None:
    code, message = augment("few.tsv", "--amount", "1%", cwd=few)
    assert code == 2
    assert "--amount 1%: less than one of 4 triples" in message


@pytest.mark.parametrize(
    ("arguments", "problem", "advice"),
    [
        (
            ("--relation", "isa", "--head", "alga"),
            "the default amount is 10% of train, 521 triples, but only ",
            ": pass --amount, pass --all to get them all or use fewer clusters\n",
        ),
        (
            ("--amount", "1000000"),
            "1,000,000 new triples were requested, but only ",
            ": request fewer, pass --all to get them all or use fewer clusters\n",
        ),
        (
            ("--quota", "isa=1000000"),
            "relation 'isa': 1,000,000 new triples were requested, but only ",
            ": request fewer or use fewer clusters\n",
        ),
    ],
    ids=["default", "amount", "quota"],
)
def test_too_many_triples_are_refused_with_advice(
    tmp_path: Path, arguments: tuple[str, ...], problem: str, advice: str
) -> None:
    code, message = augment("umls", "--clusters", "3", *arguments, cwd=tmp_path)
    assert code == 1
    assert problem in message
    assert message.endswith(advice)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--exclude", "rest.tsv"), "no new triple is possible: all 12 possible triples are known"),
        (("--head", "e1", "--tail", "e1"), "only 'e1' could be head and tail"),
    ],
    ids=["all known", "no pair"],
)
def test_where_nothing_is_possible_the_reason_is_stated_without_advice_to_request_fewer(
    few: Path, arguments: tuple[str, ...], reason: str
) -> None:
    assert augment("few.tsv", "--all", cwd=few)[0] == 0
    (few / "x.tsv").rename(few / "rest.tsv")
    code, message = augment("few.tsv", *arguments, "--overwrite", cwd=few)
    assert code == 1
    assert reason in message
    assert "request fewer" not in message
    assert "--all" not in message


# outcomes


def test_with_quotas_the_possible_triples_are_those_of_their_relations(tmp_path: Path) -> None:
    code, message = augment("umls", "--clusters", "3", "--quota", "isa=3", "--quota", "affects=2", cwd=tmp_path)
    assert code == 0
    dist = na.NNMFAug(cluster=na.Agglomerative(3)).fit(na.read_splits("umls").train)
    possible = dist.restrict(relations=["isa", "affects"])
    assert f"wrote 5 of {possible.n_new:,} possible new triples (support: {possible.support_size:,})" in message
    assert json.loads((tmp_path / "x.tsv.json").read_text())["new_in_support"] == possible.n_new


def test_a_second_run_writes_the_same_bytes(few: Path) -> None:
    contents = []
    for _ in range(2):
        assert augment("few.tsv", "--amount", "3", "--overwrite", cwd=few)[0] == 0
        contents.append([(few / name).read_bytes() for name in ("x.tsv", "x.tsv.scores.tsv")])
    assert contents[0] == contents[1]


def test_json_has_the_manifest_and_the_files(few: Path) -> None:
    done = run("augment", "few.tsv", "--method", "nnmf", "--json", "-o", "x.tsv", cwd=few)
    document = json.loads(done.stdout)
    assert document["method_name"] == "nnmf"
    assert document["files"] == ["x.tsv", "x.tsv.scores.tsv", "x.tsv.json"]
    manifest = json.loads((few / "x.tsv.json").read_text())
    assert {key: document[key] for key in manifest} == manifest


# announcements

MANY_ROWS = 25_000


@pytest.fixture
def many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph that seems to have so many distinct rows that clustering them takes long."""
    monkeypatch.setattr(na.Counts, "n_distinct_rows", lambda _: MANY_ROWS)


@pytest.mark.usefixtures("many_rows")
@pytest.mark.parametrize(
    ("arguments", "announcement"),
    [
        ((), "note: clustering will take about 20 s and 18 MB\n"),
        (("--components", "auto"), "will take about 40 s and 34 MB for each setting that auto compares"),
        (("--clusterer", "average"), "will take about 31 s and 5.0 GB"),
    ],
    ids=["ward", "auto", "average"],
)
def test_a_clustering_that_takes_long_is_announced(
    tmp_path: Path, arguments: tuple[str, ...], announcement: str
) -> None:
    assert announcement in augment("umls", "--clusters", "3", *arguments, cwd=tmp_path)[1]


@pytest.mark.usefixtures("many_rows")
def test_machines_get_no_announcement(tmp_path: Path) -> None:
    arguments = ("--method", "nnmf", "--clusters", "3", "--json", "-o", "x.tsv")
    assert "will take" not in run("augment", "umls", *arguments, cwd=tmp_path).stderr


def test_a_quick_clustering_is_not_announced(tmp_path: Path) -> None:
    assert "will take" not in augment("umls", "--clusters", "3", cwd=tmp_path)[1]


def test_an_approximate_clustering_is_announced_and_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusterers, "MAX_EXACT_ROWS", 100)
    message = augment("umls", "--clusters", "3", cwd=tmp_path)[1]
    assert message.startswith("note: clustering (approximate: Ward on 40 micro-clusters) will take about 0 s")
    assert "135 distinct rows are more than 100: approximate tier" in message


# cost


def test_the_counts_of_train_are_computed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs: list[na.KnowledgeGraph] = []
    of = na.Counts.of

    def record(_: type[na.Counts], graph: na.KnowledgeGraph) -> na.Counts:
        graphs.append(graph)
        return of(graph)

    monkeypatch.setattr(na.Counts, "of", classmethod(record))
    assert augment("nations", cwd=tmp_path)[0] == 0
    train = na.read_splits("nations").train
    assert graphs.count(train) == 1


def test_an_amount_may_be_thousands_or_millions(tmp_path: Path) -> None:
    done = run("augment", "umls", "--method", "random", "--amount", "1.5k", "-o", "extra.tsv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "extra.tsv").read_text().splitlines()) == 1500


def test_an_amount_that_is_none_is_refused_before_reading(tmp_path: Path) -> None:
    done = run("augment", "missing.tsv", "--amount", "1X", "-o", "extra.tsv", cwd=tmp_path)
    assert "--amount 1X: must be a fraction such as 5% or a number such as 500 or 1M" in done.stderr
