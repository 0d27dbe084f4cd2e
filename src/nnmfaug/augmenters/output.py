"""One run of an augmenter, from a train graph to files: the triples, their scores, and a manifest."""

from __future__ import annotations

import json
import platform
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from nnmfaug.augmenters.base import Augmenter
from nnmfaug.augmenters.listed import Listed
from nnmfaug.augmenters.nnmf.distribution import TripleDistribution
from nnmfaug.augmenters.nnmf.nnmfaug import NNMFAug
from nnmfaug.augmenters.samples import Sample
from nnmfaug.core.errors import SamplingError
from nnmfaug.core.parallel import Engine
from nnmfaug.core.settings import describe_settings
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import Vocabulary
from nnmfaug.io.files import replacing
from nnmfaug.io.write import check_writable, write_draft

AnyLaw = TypeVar("AnyLaw", TripleDistribution, Listed)

PACKAGES = ("nnmfaug", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Conditions:
    """Which triples may be generated: of these relations, heads and tails, none of ``exclude``; None is any.

    With ``quotas``, so many of each relation, and ``relations`` is not asked.
    """

    relations: tuple[str, ...] | None = None
    heads: tuple[str, ...] | None = None
    tails: tuple[str, ...] | None = None
    exclude: KnowledgeGraph | None = None
    quotas: Mapping[str, int] | None = None

    def settings(self) -> dict[str, Any]:
        """Plain data for the manifest."""
        exclude = None if self.exclude is None else self.exclude.digest()
        quotas = None if self.quotas is None else dict(self.quotas)
        names = {"relations": self.relations, "heads": self.heads, "tails": self.tails}
        return {**names, "quotas": quotas, "exclude_sha256": exclude}

    def check(self, names: Vocabulary) -> None:
        """Raise if a name is not one of the graph."""
        asked = [
            ("relation", name, names.relation_ids) for name in (*(self.relations or ()), *(self.quotas or {}))
        ]
        for ends in (self.heads, self.tails):
            asked += [("entity", name, names.entity_ids) for name in ends or ()]
        for kind, name, ids in asked:
            if name not in ids:
                msg = f"{name!r} is not the name of a known {kind}"
                raise ValueError(msg)

    def apply(self, dist: AnyLaw) -> AnyLaw:
        """Return the law under these conditions; with quotas, that of their relations."""
        relations = self.relations if self.quotas is None else tuple(self.quotas)
        if (relations, self.heads, self.tails, self.exclude) == (None, None, None, None):
            return dist
        return dist.restrict(relations=relations, heads=self.heads, tails=self.tails, exclude=self.exclude)


@dataclass(frozen=True)
class Generation:
    """Generated triples and how they came about; ``manifest`` is plain data for JSON."""

    sample: Sample
    manifest: dict[str, Any]


def generate(
    method: NNMFAug,
    train: KnowledgeGraph,
    amount: int | None,
    *,
    seed: int,
    conditions: Conditions,
    engine: Engine,
) -> Generation:
    """Fit, then draw ``amount`` new triples, or all there are for None; with quotas, so many of each relation."""
    started = time.perf_counter()
    chosen, selection = method.resolve(train, seed=seed)
    dist = conditions.apply(chosen.fit(train, seed=seed))
    fitted = time.perf_counter()
    if conditions.quotas is None:
        sample = dist.sample(dist.n_new if amount is None else amount, seed=seed, engine=engine)
    else:
        sample = dist.sample_each(conditions.quotas, seed=seed, engine=engine)
    own: dict[str, Any] = {
        "acceptance": dist.acceptance,
        "log_prob_exact": dist.exact,
        "clusters": dist.partition.n_clusters,
    }
    if selection is not None:
        own["selection"] = asdict(selection)
    manifest = _manifest(chosen, train, sample, dist, conditions, seed, (started, fitted))
    return Generation(sample, {**manifest, **own})


def list_best(
    method: Augmenter[Listed],
    train: KnowledgeGraph,
    amount: int | None,
    *,
    seed: int,
    conditions: Conditions,
    at_most: bool = False,
) -> Generation:
    """Fit, then take the ``amount`` most probable triples, or all there are for None; quotas as above.

    Of what is worth adding, there may be fewer: ``amount`` is a limit then (``at_most``).
    """
    started = time.perf_counter()
    listed = method.fit(train, seed=seed)
    dist = _under(conditions, listed, at_most=at_most)
    fitted = time.perf_counter()
    if conditions.quotas is None:
        limit = dist.n_new if amount is None else amount
        sample = dist.top(min(limit, dist.n_new) if at_most else limit)
    else:
        sample = dist.top_each(conditions.quotas)
    manifest = _manifest(method, train, sample, dist, conditions, seed, (started, fitted))
    confidence = dist.confidence_of(sample.triples)
    return Generation(sample, {**manifest, "mean_confidence": float(confidence.mean()) if len(sample) else None})


def _under(conditions: Conditions, listed: Listed, *, at_most: bool) -> Listed:
    """A list under conditions; nothing, if nothing is left and that is allowed."""
    if not listed.support_size:
        return listed
    try:
        return conditions.apply(listed)
    except SamplingError as error:
        if not at_most:
            raise
        msg = f"no triple is worth adding: of {listed.support_size:,} that are, none is as wanted ({error})"
        warnings.warn(msg, UserWarning, stacklevel=2)
        return Listed(listed.graph, listed.triples[:0], listed.confidence[:0])


def _manifest(
    method: object,
    train: KnowledgeGraph,
    sample: Sample,
    dist: TripleDistribution | Listed,
    conditions: Conditions,
    seed: int,
    times: tuple[float, float],
) -> dict[str, Any]:
    started, fitted = times
    return {
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
    }


def write_generation(generation: Generation, path: Path, *, prefix: str | None = None) -> list[Path]:
    """Write the triples to ``path``, and beside it their scores (``.scores.tsv``) and the manifest (``.json``)."""
    targets = generated_files(path)
    check_writable(path)
    with ExitStack() as drafts:
        draft, scores, manifest = (drafts.enter_context(replacing(target)) for target in targets)
        write_draft(generation.sample.graph, draft, path, prefix=prefix)
        scores.write_text("".join(_scores(generation.sample)), encoding="utf-8")
        manifest.write_text(_json(generation.manifest), encoding="utf-8")
    return targets


def generated_files(path: Path) -> list[Path]:
    """The files that a run writes: triples, scores, manifest."""
    return [path, path.with_name(path.name + ".scores.tsv"), path.with_name(path.name + ".json")]


def _scores(sample: Sample) -> Iterator[str]:
    """One line per triple, in their order; a line is known by its number, since names may hold tabs."""
    if isinstance(sample.source, Listed):
        yield from _reasons(sample, sample.source)
        return
    yield "line\tlog_prob\tcluster\n"
    for line, (log_prob, cluster) in enumerate(
        zip(sample.log_prob.tolist(), sample.clusters.tolist(), strict=True), 1
    ):
        yield f"{line}\t{log_prob!r}\t{cluster}\n"


def _reasons(sample: Sample, source: Listed) -> Iterator[str]:
    """Confidence and evidence; what holds names is JSON, so a name cannot break a line."""
    yield "line\tconfidence\tsource\treason\tevidence\n"
    confidence, reasons = source.confidence_of(sample.triples).tolist(), source.explain(sample.triples)
    for line, (sure, why) in enumerate(zip(confidence, reasons, strict=True), 1):
        reason, evidence = (json.dumps(part, ensure_ascii=False) for part in (why.reason, why.triples))
        yield f"{line}\t{sure!r}\t{why.source}\t{reason}\t{evidence}\n"


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
