"""Generate triples by a method, and write them: FILE, FILE.scores.tsv, and the manifest FILE.json."""

from __future__ import annotations

import json
import math
import platform
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nnmfaug.augmenters.base import Augmenter, Distribution, Evidence, Ranked, Sample, is_ranked
from nnmfaug.augmenters.conditions import Conditions, take_each
from nnmfaug.augmenters.listed import Listed
from nnmfaug.augmenters.nnmf.distribution import TripleDistribution
from nnmfaug.augmenters.nnmf.nnmfaug import NNMFAug
from nnmfaug.core.blas import blas_libraries
from nnmfaug.core.blocks import blocks
from nnmfaug.core.errors import SamplingError
from nnmfaug.core.progress import report
from nnmfaug.core.settings import describe_settings
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.io.files import checksum, replacing_all
from nnmfaug.io.write import check_writable, write_draft

PACKAGES = ("nnmfaug", "numpy", "scipy", "scikit-learn")
EXPLAINED_TRIPLES = 1 << 12
"""Number of triples whose evidence is in memory at a time."""
Manifest = dict[str, Any]
"""Plain data about a sample, for JSON."""


def generate(
    method: Augmenter[Distribution],
    train: KnowledgeGraph,
    amount: int | None,
    *,
    seed: int,
    conditions: Conditions,
    at_most: bool = False,
) -> tuple[Sample, Manifest]:
    """Fit a method to train and take new triples under conditions; return them with their manifest.

    Parameters
    ----------
    amount
        Number of triples; None for all. Ignored if the conditions have quotas.
    at_most
        Whether ``amount`` is a limit: fewer triples, or none, are no error then.
    """
    started = time.perf_counter()
    selection = None
    if isinstance(method, NNMFAug):
        method, selection = method.resolve(train, seed=seed)
    dist = _restrict(conditions, method.fit(train, seed=seed), at_most=at_most)
    fitted = time.perf_counter()
    sample = _take(dist, amount, conditions, seed=seed, at_most=at_most)
    manifest = {
        "method": describe_settings(method),
        "amount": len(sample),
        "conditions": conditions.settings(),
        "seed": seed,
        "train_sha256": train.digest(),
        "train_triples": len(train),
        "support_size": dist.support_size,
        "new_in_support": dist.n_new,
        "seconds": {"fit": fitted - started, "sample": time.perf_counter() - fitted},
        "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        "blas": blas_libraries(),
        **_details(dist, sample),
    }
    if selection is not None:
        manifest["selection"] = asdict(selection)
    return sample, manifest


def take(dist: Distribution, n: int, *, seed: int) -> Sample:
    """Return n new triples: the most confident of a distribution that ranks them, else drawn ones."""
    return dist.top(n) if is_ranked(dist) else dist.sample(n, seed=seed)


def write_sample(
    sample: Sample, manifest: Manifest, path: Path, *, prefix: str | None = None, overwrite: bool = False
) -> list[Path]:
    """Write the triples to ``path``, and beside it their scores (``.scores.tsv``) and the manifest (``.json``).

    The three files appear together. The manifest has the checksums of the other two.
    """
    targets = sample_files(path)
    check_writable(path)
    with replacing_all(targets, overwrite=overwrite) as (triples_draft, scores_draft, manifest_draft):
        write_draft(sample.graph, triples_draft, path, prefix=prefix)
        with scores_draft.open("w", encoding="utf-8") as scores:
            scores.writelines(_scores(sample))
        checksums = {targets[0].name: checksum(triples_draft), targets[1].name: checksum(scores_draft)}
        text = json.dumps({**manifest, "sha256": checksums}, indent=2, ensure_ascii=False)
        # UTF-8 cannot represent half a surrogate pair in a name; its JSON escape can.
        manifest_draft.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
    return targets


def sample_files(path: Path) -> list[Path]:
    """Return the files of a sample: triples, scores, manifest."""
    return [path, path.with_name(path.name + ".scores.tsv"), path.with_name(path.name + ".json")]


def _take(
    dist: Distribution,
    amount: int | None,
    conditions: Conditions,
    *,
    seed: int,
    at_most: bool,
) -> Sample:
    if conditions.quotas is not None:
        return _take_each(dist, conditions, seed=seed)
    n = dist.n_new if amount is None else amount
    if at_most:
        n = min(n, dist.n_new)
    if isinstance(dist, TripleDistribution):
        return dist.sample(n, seed=seed)
    return take(dist, n, seed=seed)


def _take_each(dist: Distribution, conditions: Conditions, *, seed: int) -> Sample:
    quotas = conditions.quotas or {}
    if isinstance(dist, TripleDistribution):
        return dist.sample_each(quotas, seed=seed)
    if isinstance(dist, Listed):
        return dist.top_each(quotas)
    triples = take_each(dist, quotas, lambda part, n: take(part, n, seed=seed))
    return Sample(KnowledgeGraph(dist.graph.vocabulary, triples), dist)


def _restrict(conditions: Conditions, dist: Distribution, *, at_most: bool) -> Distribution:
    """Apply the conditions; if they leave nothing and that is allowed, return an empty list and warn."""
    if not dist.support_size:
        return dist
    try:
        return conditions.apply(dist)
    except SamplingError as error:
        if not at_most or not isinstance(dist, Listed):
            raise
        msg = f"{dist.support_size:,} triples pass the threshold, but none meets the conditions ({error})"
        warnings.warn(msg, UserWarning, stacklevel=2)
        return dist.above(math.inf)


def _details(dist: Distribution, sample: Sample) -> Manifest:
    """Return what only some distributions have."""
    if isinstance(dist, TripleDistribution):
        return {
            "acceptance": dist.acceptance,
            "log_prob_exact": dist.exact,
            "clusters": dist.partition.n_clusters,
        }
    if not is_ranked(dist):
        return {}
    name = "mean_confidence" if sample.probability is None else "estimated_precision"
    return {name: float(dist.confidence_of(sample.triples).mean()) if len(sample) else None}


def _scores(sample: Sample) -> Iterator[str]:
    """Yield a header and one line per triple; a line is identified by its number, since names may contain tabs."""
    if is_ranked(sample.source):
        yield from _evidence_lines(sample, sample.source)
    elif isinstance(sample.source, TripleDistribution):
        yield from _cluster_lines(sample, sample.source)
    else:
        yield "line\tlog_prob\n"
        for line, log_prob in enumerate(sample.log_prob.tolist(), 1):
            yield f"{line}\t{log_prob!r}\n"


def _cluster_lines(sample: Sample, source: TripleDistribution) -> Iterator[str]:
    yield "line\tlog_prob\tcluster\n"
    clusters = source.clusters_of(sample.triples).tolist()
    for line, (log_prob, cluster) in enumerate(zip(sample.log_prob.tolist(), clusters, strict=True), 1):
        yield f"{line}\t{log_prob!r}\t{cluster}\n"


def _evidence_lines(sample: Sample, source: Ranked) -> Iterator[str]:
    """Yield the ratings and the evidence; a probability only if the confidences of the source are calibrated."""
    is_calibrated = sample.probability is not None
    probability = ("probability",) if is_calibrated else ()
    yield _line("line", *probability, "confidence", "source", "reason", "rules", "evidence")
    ratings = source.confidence_of(sample.triples).tolist()
    for line, (rating, evidence) in enumerate(zip(ratings, _evidence(sample, source), strict=True), 1):
        confidence = rating if evidence.confidence is None else evidence.confidence
        numbers = (rating, confidence) if is_calibrated else (confidence,)
        yield _line(line, *numbers, evidence.source, *_named(evidence))


def _line(*fields: object) -> str:
    return "\t".join(map(str, fields)) + "\n"


def _named(evidence: Evidence) -> Iterator[str]:
    """Yield the fields that contain names, as JSON, so that no name can break a line."""
    for field in (evidence.reason, evidence.rules, evidence.triples):
        yield json.dumps(field, ensure_ascii=False)


def _evidence(sample: Sample, source: Ranked) -> Iterator[Evidence]:
    """Yield the evidence for each triple; some are explained at a time, for that of millions fills the memory."""
    for block in blocks(len(sample), size=EXPLAINED_TRIPLES):
        yield from source.explain(sample.triples[block])
        report("explaining triples", block.stop, len(sample))
