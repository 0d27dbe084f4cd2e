"""The same bits on every machine: children compute with the kernels of other CPUs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.machines import COMMAND, machines, run_on

DIGESTS = """
import hashlib
import numpy as np
import nnmfaug as na
from nnmfaug.augmenters.nnmf.micro_clusters import micro_clusters
from nnmfaug.evaluation.bootstrap import resample
from nnmfaug.quality.holdout import refit
from nnmfaug.quality.membership import fit_membership

def show(name, array):
    print(name, hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest())

for name in ("nations", "umls"):
    train = na.read_splits(name).train
    for nmf in (na.NMF(), na.NMF(12, 1.0, 0.5, tol=0, max_iter=5), na.NMF(4, init="random", max_iter=20)):
        show(f"factors of {name}", nmf.fit(train.counts).features)
method = na.NNMFAug(cluster=na.Agglomerative(4), pairs=na.PairsByDegree(), relations=na.CountProduct(0.1, 3.0))
for dist in (method.fit(train), na.NNMFAug(cluster=na.Agglomerative(5)).fit(train), na.TypedTriples().fit(train)):
    part = dist.restrict(relations=train.vocabulary.relations[:20])
    sample = part.sample(200, seed=0)
    show("triples", sample.triples)
    show("log-probabilities", sample.log_prob)
rng = np.random.default_rng(0)
show("micro-clusters", micro_clusters(rng.random((3000, 16)), np.ones(3000), 500))
graph = na.family(60, seed=0).given
rules = na.Rules(combine="noisy-or").fit(graph)
show("confidences", rules.confidence)
show("log-probabilities of rules", rules.log_prob(rules.triples))
membership = fit_membership(refit(na.Rules().fit, na.Rules().fit(graph)), graph.n_relations)
show("slopes", membership.slopes)
extra = na.Auto().fit(graph)
show("probabilities", extra.confidence)
show("likely triples", extra.triples)
(resampled,) = resample([rng.normal(size=(5, 3000))], 500, seed=0)
show("resampled means", resampled.means(0.95))
"""


def test_factors_samples_probabilities_and_resamples_are_the_same_bits(tmp_path: Path) -> None:
    results = {name: run_on(machine, DIGESTS, folder=tmp_path) for name, machine in machines().items()}
    first = results.pop("this")
    assert len(first.splitlines()) == 19
    assert results == dict.fromkeys(results, first)


@pytest.mark.slow
@pytest.mark.usefixtures("archives")
@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("dl50a", "nnmf"),
        ("wn18rr", "nnmf"),
        ("dl50a", "rules"),
        ("wn18rr", "rules"),
        ("dl50a", "auto"),
        ("umls", "auto"),
    ],
)
def test_files_of_triples_and_scores_are_the_same_bytes(name: str, method: str, tmp_path: Path) -> None:
    contents = []
    for machine in machines().values():
        run_on(
            machine,
            COMMAND,
            "augment",
            name,
            "--method",
            method,
            "-o",
            "extra.tsv",
            "--overwrite",
            folder=tmp_path,
        )
        files = (tmp_path / "extra.tsv", tmp_path / "extra.tsv.scores.tsv")
        contents.append([file.read_bytes() for file in files])
    assert len(contents[0][0]) > 1000
    assert all(other == contents[0] for other in contents)
