"""The whole method on real graphs: what it generates is valid, sees train only, and is the same every time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import nnmfaug as na
from tests.cli.commands import run


def faults(train: na.KnowledgeGraph, sample: na.Sample, labels: list[int]) -> list[str]:
    """Check by names and sets alone, without the counts that the sampler used."""
    known = set(train.labels())
    as_head, as_tail = defaultdict(set), defaultdict(set)
    for h, r, t in known:
        if h != t:
            as_head[r].add(h)
            as_tail[r].add(t)
    cluster = dict(zip(train.vocabulary.entities, labels, strict=True))
    found = []
    if len(set(sample.labels)) != len(sample.labels):
        found.append("repeated")
    for h, r, t in sample.labels:
        if (h, r, t) in known:
            found.append(f"known {h, r, t}")
        if h == t or h not in as_head[r] or t not in as_tail[r]:
            found.append(f"impossible {h, r, t}")
        if cluster[h] != cluster[t] or cluster[h] < 0:
            found.append(f"two clusters {h, r, t}")
    return found


@pytest.mark.parametrize("name", ["dl50a", "wn18rr", "fb15k-237"])
def test_generated_sets_are_valid_in_every_respect(archives: Path, name: str) -> None:
    assert archives.is_dir()
    train = na.read_splits(name).train
    dist = na.NNMFAug(cluster=na.Agglomerative(n_clusters=20 if name == "dl50a" else 50)).fit(train)
    for seed in range(3):
        sample = dist.sample(len(train) // 10, seed=seed)
        assert len(sample) == len(train) // 10
        assert faults(train, sample, dist.partition.labels.tolist()) == []


@pytest.mark.parametrize("name", ["nations", "umls", "kinships"])
def test_probabilities_of_the_whole_support_sum_to_one(name: str) -> None:
    train = na.read_splits(name).train
    dist = na.NNMFAug(cluster=na.Agglomerative(n_clusters=5)).fit(train)
    everything = np.stack(
        np.meshgrid(*(np.arange(n) for n in (train.n_entities, train.n_relations, train.n_entities))), axis=-1
    ).reshape(-1, 3)
    logs = dist.log_prob(everything)
    assert np.exp(logs).sum() == pytest.approx(1, abs=1e-9)
    assert np.isfinite(logs).sum() == dist.support_size


def test_valid_and_test_change_nothing() -> None:
    splits = na.read_splits("umls")
    strangers = na.KnowledgeGraph.from_labels([("aaa", "new relation", "zzz"), ("mmm", "affects", "zzz")])
    with_strangers = na.Splits.merge("x", train=splits.train, valid=strangers, test=splits.test)
    alone = na.Splits.merge("x", train=na.KnowledgeGraph.from_labels(splits.train.labels()))
    method = na.NNMFAug(cluster=na.Agglomerative(n_clusters=6))
    samples = [method.fit(s.train, seed=0).sample(500, seed=1) for s in (splits, with_strangers, alone)]
    assert samples[0].labels == samples[1].labels == samples[2].labels
    assert samples[0].log_prob == pytest.approx(samples[1].log_prob)
    assert method.fit(with_strangers.train).partition.labels[0] == -1


SCRIPT = """
import sys, warnings, hashlib
warnings.simplefilter("ignore")
import nnmfaug as na
if __name__ == "__main__":
    rows = [(f"e{i:04}", f"r{i % 2}", f"e{(i + j) % 2000:04}") for i in range(2000) for j in (1, 2)]
    dist = na.NNMFAug(na.NMF(1), na.Agglomerative(1)).fit(na.KnowledgeGraph.from_labels(rows))
    with na.running_on(na.Processes(int(sys.argv[1]))):
        sample = dist.sample(140_000, seed=0)  # several blocks a round
    print(dist.support_size, hashlib.sha256(sample.triples.tobytes() + sample.log_prob.tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_workers_and_hash_seeds_give_the_same_bytes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    found = set()
    for workers, hash_seed in ((1, "0"), (2, "1"), (4, "random")):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        command = [sys.executable, str(script), str(workers)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found.add(done.stdout)
    assert len(found) == 1


def test_spectral_and_other_clusterers_fit_the_same_frame() -> None:
    train = na.read_splits("nations").train
    for embed in (na.NMF(4), na.Spectral(4), na.Spectral(3, directed=True)):
        for clusterer in (na.Agglomerative(3), na.Agglomerative(3, "average"), na.KMeans(3)):
            dist = na.NNMFAug(embed, clusterer).fit(train)
            assert dist.partition.n_clusters == 3
            assert len(dist.sample(10, seed=0)) == 10


def test_the_command_writes_triples_scores_and_a_manifest(tmp_path: Path) -> None:
    arguments = (
        "augment",
        "umls",
        "--method",
        "nnmf",
        "--amount",
        "5%",
        "--clusters",
        "8",
        "--seed",
        "7",
        "-o",
        "extra.tsv",
        "--overwrite",
    )
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    train = na.read_splits("umls").train
    extra = na.read_generated(tmp_path / "extra.tsv", train.vocabulary)
    assert len(extra) == 260
    scores = (tmp_path / "extra.tsv.scores.tsv").read_text().splitlines()
    assert scores[0] == "line\tlog_prob\tcluster"
    dist = na.NNMFAug(cluster=na.Agglomerative(8)).fit(train, seed=7)
    assert [float(line.split("\t")[1]) for line in scores[1:]] == dist.log_prob(extra.triples).tolist()
    manifest = json.loads((tmp_path / "extra.tsv.json").read_text())
    assert manifest["train_sha256"] == train.digest()
    assert manifest["support_size"] == dist.support_size
    assert manifest["method"]["cluster"] == {"name": "Agglomerative", "n_clusters": 8, "linkage": "ward"}
    before = (tmp_path / "extra.tsv").read_bytes()
    assert run(*arguments, "--workers", "2", cwd=tmp_path).returncode == 0
    assert (tmp_path / "extra.tsv").read_bytes() == before


def test_the_command_keeps_conditions_and_says_what_is_impossible(tmp_path: Path) -> None:
    common = ("augment", "umls", "--method", "nnmf", "--clusters", "3", "-o", "x.tsv", "--overwrite")
    assert run(*common, "--relation", "affects", "--amount", "20", cwd=tmp_path).returncode == 0
    first = na.read_triples(tmp_path / "x.tsv")
    assert {r for _, r, _ in first.labels()} == {"affects"}
    again = (
        "augment",
        "umls",
        "--method",
        "nnmf",
        "--clusters",
        "3",
        "-o",
        "y.tsv",
        "--relation",
        "affects",
        "--exclude",
        "x.tsv",
    )
    assert run(*again, "--all", cwd=tmp_path).returncode == 0
    assert not set(na.read_triples(tmp_path / "y.tsv").labels()) & set(first.labels())
    too_many = run(*common, "--amount", "10000000", cwd=tmp_path)
    assert too_many.returncode == 1
    assert "are possible" in too_many.stderr
    unknown = run(*common, "--relation", "afects", cwd=tmp_path)
    assert unknown.returncode == 2
    assert "'afects'" in unknown.stderr


@pytest.mark.slow
def test_the_command_knows_quotas_and_every_clusterer(tmp_path: Path) -> None:
    quotas = ("--quota", "affects=7", "--quota", "isa=3", "--clusters", "3")
    assert run("augment", "umls", "--method", "nnmf", *quotas, "-o", "q.tsv", cwd=tmp_path).returncode == 0
    relations = [r for _, r, _ in na.read_triples(tmp_path / "q.tsv").labels()]
    assert sorted(relations) == ["affects"] * 7 + ["isa"] * 3
    assert (
        run("augment", "umls", "--method", "nnmf", "--quota", "affects", "-o", "x.tsv", cwd=tmp_path).returncode
        == 2
    )
    for name in ("ward", "average", "complete", "single", "kmeans", "hdbscan", "dbscan"):
        sizes = {"dbscan": ("--eps", "40"), "hdbscan": ()}.get(name, ("--clusters", "4"))
        arguments = ("--clusterer", name, *sizes, "--amount", "5", "-o", f"{name}.tsv")
        done = run("augment", "umls", "--method", "nnmf", *arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert len(na.read_triples(tmp_path / f"{name}.tsv")) == 5


def test_excluded_triples_may_have_names_that_nobody_knows() -> None:
    train = na.read_splits("nations").train
    dist = na.NNMFAug(cluster=na.Agglomerative(2)).fit(train)
    first = dist.sample(5, seed=0).labels
    strange = na.KnowledgeGraph.from_labels([*first, ("atlantis", "embassy", "usa")])
    assert dist.restrict(exclude=strange).n_new == dist.n_new - 5


def test_a_clusterer_that_leaves_everything_out_is_refused() -> None:
    train = na.read_splits("nations").train
    with pytest.raises(ValueError, match="left every entity out"):
        na.NNMFAug(cluster=na.DBSCAN(eps=1e-9, min_samples=50)).fit(train)


def test_a_graph_of_few_kinds_of_entities_works_with_the_defaults(tmp_path: Path) -> None:
    rows = [(f"p{i}", "lives_in", "paris") for i in range(300)] + [
        ("paris", "in", "france"),
        ("p1", "lives_in", "france"),
    ]
    na.write_triples(na.KnowledgeGraph.from_labels(rows), tmp_path / "star.tsv")
    done = run("augment", "star.tsv", "--method", "nnmf", "--amount", "5", "-o", "x.tsv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_what_a_run_reads_is_never_overwritten_and_nothing_is_half_written(tmp_path: Path) -> None:
    assert run("augment", "umls", "--method", "nnmf", "--amount", "5", "-o", "p.tsv", cwd=tmp_path).returncode == 0
    before = (tmp_path / "p.tsv").read_bytes()
    assert (
        run(
            "augment",
            "umls",
            "--method",
            "nnmf",
            "--amount",
            "5",
            "--exclude",
            "p.tsv",
            "-o",
            "p.tsv",
            cwd=tmp_path,
        ).returncode
        == 2
    )
    assert (tmp_path / "p.tsv").read_bytes() == before
    (tmp_path / "h.tsv.json").mkdir()
    assert run("augment", "umls", "--method", "nnmf", "--amount", "5", "-o", "h.tsv", cwd=tmp_path).returncode == 2
    assert not (tmp_path / "h.tsv").exists()


def test_conditions_are_in_the_manifest(tmp_path: Path) -> None:
    run("augment", "umls", "--method", "nnmf", "--relation", "isa", "--amount", "3", "-o", "x.tsv", cwd=tmp_path)
    conditions = json.loads((tmp_path / "x.tsv.json").read_text())["conditions"]
    assert conditions["relations"] == ["isa"]
