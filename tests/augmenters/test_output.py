"""Generated triples as files: what is generated, what the manifest records, which columns the scores have."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnmfaug as na
from nnmfaug.augmenters.base import Augmenter, Distribution
from nnmfaug.augmenters.conditions import Conditions
from nnmfaug.augmenters.output import Manifest, generate, sample_files, take, write_sample
from nnmfaug.core.settings import describe_settings

NNMF = na.NNMFAug(cluster=na.Agglomerative(3))
RULES = na.Rules(depth=1)
RANDOM = na.RandomTriples()
KINDS: dict[str, Augmenter[Distribution]] = {"clusters": NNMF, "list": RULES, "uniform": RANDOM}
every_kind = pytest.mark.parametrize("method", KINDS.values(), ids=KINDS)


@pytest.fixture(scope="module")
def train() -> na.KnowledgeGraph:
    return na.read_splits("nations").train


def generated(
    method: Augmenter[Distribution], train: na.KnowledgeGraph, amount: int | None = 20, **options: Any
) -> tuple[na.Sample, Manifest]:
    return generate(method, train, amount, **{"seed": 1, "conditions": Conditions(), **options})


# generate


@every_kind
def test_the_triples_are_those_of_the_distribution(
    train: na.KnowledgeGraph, method: Augmenter[Distribution]
) -> None:
    sample, _ = generated(method, train)
    assert sample.labels == take(method.fit(train, seed=1), 20, seed=1).labels


def test_a_list_gives_its_best_triples_and_others_draw(train: na.KnowledgeGraph) -> None:
    listed = RULES.fit(train)
    assert take(listed, 5, seed=1).labels == listed.top(5).labels
    uniform = RANDOM.fit(train)
    assert take(uniform, 5, seed=1).labels == uniform.sample(5, seed=1).labels


@every_kind
def test_the_manifest_records_how_the_triples_were_generated(
    train: na.KnowledgeGraph, method: Augmenter[Distribution]
) -> None:
    sample, manifest = generated(method, train)
    dist = method.fit(train, seed=1)
    expected = {
        "method": describe_settings(method),
        "amount": len(sample),
        "conditions": Conditions().settings(),
        "seed": 1,
        "train_sha256": train.digest(),
        "train_triples": len(train),
        "support_size": dist.support_size,
        "new_in_support": dist.n_new,
    }
    assert {key: manifest[key] for key in expected} == expected
    assert set(manifest["seconds"]) == {"fit", "sample"}
    assert manifest["versions"]["nnmfaug"] == na.__version__
    assert [len(library.split()) for library in manifest["blas"]] == [3] * len(manifest["blas"])
    assert json.loads(json.dumps(manifest))


def test_the_manifest_has_details_of_clusters(train: na.KnowledgeGraph) -> None:
    _, manifest = generated(NNMF, train)
    assert manifest["clusters"] == 3
    assert 0 < manifest["acceptance"] <= 1
    assert manifest["log_prob_exact"] is True


def test_the_manifest_has_the_mean_confidence_of_a_list(train: na.KnowledgeGraph) -> None:
    _, manifest = generated(RULES, train)
    assert manifest["mean_confidence"] == pytest.approx(RULES.fit(train).confidence[:20].mean())


def test_a_number_that_is_left_to_the_data_is_recorded(train: na.KnowledgeGraph) -> None:
    _, manifest = generated(na.NNMFAug(cluster=na.Agglomerative("auto")), train)
    assert manifest["method"]["cluster"]["n_clusters"] == manifest["clusters"]
    assert manifest["selection"]["reason"]


@every_kind
def test_none_takes_all_new_triples(train: na.KnowledgeGraph, method: Augmenter[Distribution]) -> None:
    conditions = Conditions(heads=("china",), tails=("usa", "cuba"))
    sample, manifest = generated(method, train, None, conditions=conditions)
    assert len(sample) == manifest["new_in_support"] > 0
    assert {(h, t) for h, _, t in sample.labels} <= {("china", "usa"), ("china", "cuba")}


@every_kind
def test_quotas_replace_the_amount(train: na.KnowledgeGraph, method: Augmenter[Distribution]) -> None:
    conditions = Conditions(quotas={"embassy": 3, "treaties": 2})
    sample, _ = generated(method, train, 999, conditions=conditions)
    relations = [r for _, r, _ in sample.labels]
    assert sorted(relations) == ["embassy"] * 3 + ["treaties"] * 2


@every_kind
def test_the_engine_changes_nothing(train: na.KnowledgeGraph, method: Augmenter[Distribution]) -> None:
    alone = generated(method, train)[0].labels
    with na.running_on(na.Processes(2)):
        assert generated(method, train)[0].labels == alone


@every_kind
def test_more_than_there_are_is_an_error(train: na.KnowledgeGraph, method: Augmenter[Distribution]) -> None:
    with pytest.raises(na.SamplingError, match="10,000,000 new triples were requested, but only"):
        generated(method, train, 10**7)


# at_most


@every_kind
def test_a_limit_may_exceed_the_number_of_new_triples(
    train: na.KnowledgeGraph, method: Augmenter[Distribution]
) -> None:
    conditions = Conditions(relations=("embassy",))
    sample, manifest = generated(method, train, 10**7, conditions=conditions, at_most=True)
    assert len(sample) == manifest["new_in_support"]


def test_a_limit_is_kept(train: na.KnowledgeGraph) -> None:
    assert len(generated(RULES, train, 5, at_most=True)[0]) == 5


IMPOSSIBLE = Conditions(heads=("china",), tails=("china",))


def test_with_a_limit_conditions_that_no_triple_meets_give_none_and_a_warning(train: na.KnowledgeGraph) -> None:
    with pytest.warns(UserWarning, match=r"[\d,]+ triples pass the threshold, but none meets the conditions"):
        sample, manifest = generated(RULES, train, None, conditions=IMPOSSIBLE, at_most=True)
    assert len(sample) == manifest["new_in_support"] == 0
    assert manifest["mean_confidence"] is None


def test_without_a_limit_conditions_that_no_triple_meets_are_an_error(train: na.KnowledgeGraph) -> None:
    with pytest.raises(na.SamplingError, match="no triple is possible"):
        generated(RULES, train, None, conditions=IMPOSSIBLE)


# files


def test_the_files_of_a_sample_share_a_name() -> None:
    names = [path.name for path in sample_files(Path("out") / "x.tsv.gz")]
    assert names == ["x.tsv.gz", "x.tsv.gz.scores.tsv", "x.tsv.gz.json"]


@every_kind
def test_the_files_have_the_triples_the_scores_and_the_manifest(
    train: na.KnowledgeGraph, tmp_path: Path, method: Augmenter[Distribution]
) -> None:
    sample, manifest = generated(method, train)
    paths = write_sample(sample, manifest, tmp_path / "x.tsv")
    assert paths == sample_files(tmp_path / "x.tsv")
    assert sorted(tmp_path.iterdir()) == sorted(paths), "no drafts are left"
    rows = [tuple(line.split("\t")) for line in paths[0].read_text().splitlines()]
    assert rows == sample.labels
    assert len(paths[1].read_text().splitlines()) == 1 + len(sample)
    checksums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths[:2]}
    assert json.loads(paths[2].read_text()) == json.loads(json.dumps({**manifest, "sha256": checksums}))


def test_a_suffix_that_cannot_be_written_leaves_no_file(train: na.KnowledgeGraph, tmp_path: Path) -> None:
    sample, manifest = generated(RANDOM, train)
    with pytest.raises(na.DataError, match="name the file"):
        write_sample(sample, manifest, tmp_path / "x.xyz")
    assert not list(tmp_path.iterdir())


# scores


def scores(sample: na.Sample, folder: Path) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of the scores file."""
    path = write_sample(sample, {}, folder / "x.tsv")[1]
    header, *rows = [line.split("\t") for line in path.read_text().splitlines()]
    return header, rows


def test_scores_of_clusters_have_log_prob_and_cluster(train: na.KnowledgeGraph, tmp_path: Path) -> None:
    sample, _ = generated(NNMF, train)
    header, rows = scores(sample, tmp_path)
    assert header == ["line", "log_prob", "cluster"]
    labels = NNMF.fit(train, seed=1).partition.labels
    assert [int(row[0]) for row in rows] == list(range(1, 21))
    np.testing.assert_array_equal([float(row[1]) for row in rows], sample.log_prob)
    np.testing.assert_array_equal([int(row[2]) for row in rows], labels[sample.triples[:, 0]])


def test_scores_of_a_list_have_confidence_and_evidence(train: na.KnowledgeGraph, tmp_path: Path) -> None:
    sample, _ = generated(RULES, train)
    header, rows = scores(sample, tmp_path)
    assert header == ["line", "confidence", "source", "reason", "rules", "evidence"]
    confidence = RULES.fit(train).confidence_of(sample.triples)
    np.testing.assert_array_equal([float(row[1]) for row in rows], confidence)
    known = set(train.labels())
    for _, _, source, reason, _, evidence in rows:
        assert source == "rules"
        assert "←" in json.loads(reason)
        assert {tuple(triple) for triple in json.loads(evidence)} <= known


def test_scores_of_a_list_have_the_best_rules_with_the_confidence_that_mining_finds(
    train: na.KnowledgeGraph, tmp_path: Path
) -> None:
    mined = RULES.mine(train)
    confidence = {mined.describe(i): mined.confidence[i] for i in range(len(mined))}
    _, rows = scores(generated(RULES, train)[0], tmp_path)
    n_rules = []
    for row in rows:
        best = json.loads(row[4])
        assert [c for _, c in best] == sorted((confidence[text] for text, _ in best), reverse=True)
        assert best[0] == [json.loads(row[3]), float(row[1])], "the confidence of a list is that of its best rule"
        n_rules.append(len(best))
    assert max(n_rules) == 3


def test_scores_of_a_calibrated_list_have_both_the_probability_and_the_confidence(
    train: na.KnowledgeGraph, tmp_path: Path
) -> None:
    method = na.Mixture((RULES,))
    sample, _ = generated(method, train)
    header, rows = scores(sample, tmp_path)
    assert header == ["line", "probability", "confidence", "source", "reason", "rules", "evidence"]
    probability, confidence = np.array([[float(cell) for cell in row[1:3]] for row in rows]).T
    np.testing.assert_array_equal(probability, method.fit(train, seed=1).confidence_of(sample.triples))
    np.testing.assert_array_equal(confidence, RULES.fit(train).confidence_of(sample.triples))


def test_without_evidence_the_confidence_is_that_of_the_list(train: na.KnowledgeGraph, tmp_path: Path) -> None:
    triples = RULES.fit(train).top(2).triples
    _, rows = scores(na.Listed(train, triples, np.array([0.75, 0.25])).top(2), tmp_path)
    assert rows == [[line, rating, "", '""', "[]", "[]"] for line, rating in (("1", "0.75"), ("2", "0.25"))]


def test_scores_of_other_distributions_have_log_prob(train: na.KnowledgeGraph, tmp_path: Path) -> None:
    sample, _ = generated(RANDOM, train)
    header, rows = scores(sample, tmp_path)
    assert header == ["line", "log_prob"]
    np.testing.assert_array_equal([float(row[1]) for row in rows], sample.log_prob)


def test_a_name_with_tabs_and_line_breaks_does_not_break_a_line(tmp_path: Path) -> None:
    rows = [(f"a\t{i}", "is\nnext to", f"b\t{i}") for i in range(9)]
    reverse = [(t, "is\nnext to", h) for h, _, t in rows[:8]]
    graph = na.KnowledgeGraph.from_labels(rows + reverse)
    sample = na.Rules(depth=1).fit(graph).top(1)
    path = write_sample(sample, {}, tmp_path / "x.parquet")[1]
    _, line = path.read_text().splitlines()
    reason = json.loads(line.split("\t")[3])
    assert reason == "is\nnext to(x, y) ← is\nnext to(y, x)"
