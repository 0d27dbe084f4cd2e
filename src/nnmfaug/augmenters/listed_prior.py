"""Any list of triples with confidences as a prior over the answers to a query, and its file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nnmfaug.augmenters.base import Answers, Evidence
from nnmfaug.augmenters.listed import Listed
from nnmfaug.core.arrays import Ids, IntArray
from nnmfaug.core.checks import require
from nnmfaug.graph.completions import Completions
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.vocabulary import LabelledTriple, Vocabulary
from nnmfaug.io.documents import encode, parse
from nnmfaug.io.npz import Arrays, read_arrays, write_arrays
from nnmfaug.io.shapes import check_shape


@dataclass(frozen=True, eq=False)
class ListedPrior:
    """The listed triples that complete a query; the probability of each is its confidence.

    Triples of train are never listed, so they get no probability.

    Examples
    --------
    >>> graph = KnowledgeGraph.from_labels([("a", "likes", "b"), ("b", "likes", "c")])
    >>> dist = Listed(graph, np.array([[0, 0, 2], [1, 0, 0]], dtype=np.int32), np.array([0.75, 0.25]))
    >>> tails = ListedPrior(dist).answers(np.array([[0, 0]]), heads=False)
    >>> tails.entities.tolist(), tails.probability.tolist()
    ([2], [0.75])
    """

    dist: Listed

    @property
    def graph(self) -> KnowledgeGraph:
        """The train graph."""
        return self.dist.graph

    @cached_property
    def _heads(self) -> Completions:
        triples = self.dist.triples.astype(np.int64)
        return Completions(triples[:, [2, 1]], triples[:, 0], self.graph.n_relations)

    @cached_property
    def _tails(self) -> Completions:
        triples = self.dist.triples.astype(np.int64)
        return Completions(triples[:, [0, 1]], triples[:, 2], self.graph.n_relations)

    def answers(self, pairs: Ids, *, heads: bool) -> Answers:
        """Return the listed heads of (?, relation, entity), or tails of (entity, relation, ?)."""
        completions = self._heads if heads else self._tails
        rows, places = completions.triples_of(pairs)
        entities = self.dist.triples[places, 0 if heads else 2].astype(np.int64)
        return Answers(rows, entities, self.dist.confidence[places])

    def explain(self, triples: ArrayLike) -> list[Evidence]:
        """Return the evidence for each row of ids, shape (n, 3)."""
        return self.dist.explain(triples)


@dataclass(frozen=True, eq=False)
class StoredEvidence:
    """Evidence that was read from a file.

    Parameters
    ----------
    listed
        The listed triples.
    evidence
        That for each of them.
    """

    listed: KnowledgeGraph
    evidence: tuple[Evidence, ...]

    @cached_property
    def _by_key(self) -> dict[int, Evidence]:
        keys = self.listed.vocabulary.keys(self.listed.triples)
        return dict(zip(keys.tolist(), self.evidence, strict=True))

    def explain(self, triples: IntArray) -> list[Evidence]:
        """Return the evidence for each row of ids; an empty one for triples that are not listed."""
        keys = self.listed.vocabulary.keys(triples)
        return [self._by_key.get(key, Evidence("", "")) for key in keys.tolist()]


_TYPES = {"train": "<i4", "triples": "<i4", "confidence": "<f8", "evidence": "|u1"}
"""The type of each array of the file; the last is JSON."""
_EVIDENCE = {
    "source": str,
    "reason": str,
    "triples": [[str]],
    "rules": [[(str, float)]],
    "confidence": (None, float),
}


def write_listed_prior(prior: ListedPrior, draft: Path) -> None:
    """Write the train graph and the listed triples with their confidences and evidence, but without names."""
    dist = prior.dist
    evidence = [asdict(each) for each in dist.explain(dist.triples)]
    arrays: Arrays = {
        "train": dist.graph.triples,
        "triples": dist.triples,
        "confidence": dist.confidence,
        "evidence": np.frombuffer(encode(json.dumps(evidence)), dtype=np.uint8),
    }
    write_arrays(draft, arrays)


def read_listed_prior(path: Path, vocabulary: Vocabulary) -> ListedPrior:
    """Read what :func:`write_listed_prior` wrote; a damaged file raises one of the errors in ``BROKEN``."""
    arrays = read_arrays(path, _TYPES)
    require(set(arrays) == set(_TYPES), f"it must contain {', '.join(_TYPES)}")
    graph = KnowledgeGraph(vocabulary, arrays["train"])
    listed = KnowledgeGraph(vocabulary, arrays["triples"])
    confidence = arrays["confidence"]
    require(confidence.shape == (len(listed),), "there must be one confidence for each of the triples")
    is_good = (confidence > 0) & (confidence <= 1)
    require(bool(is_good.all()), "confidence must be above 0 and at most 1")
    evidence = _parse_evidence(arrays["evidence"].tobytes(), len(listed))
    return ListedPrior(Listed(graph, listed.triples, confidence, explainer=StoredEvidence(listed, evidence)))


def _parse_evidence(data: bytes, n: int) -> tuple[Evidence, ...]:
    entries: Any = parse(data)
    check_shape({"evidence": entries}, {"evidence": [_EVIDENCE]})
    require(len(entries) == n, "there must be one evidence for each of the triples")
    return tuple(
        Evidence(
            source=each["source"],
            reason=each["reason"],
            triples=_named(each["triples"]),
            rules=tuple((str(rule), float(confidence)) for rule, confidence in each["rules"]),
            confidence=each["confidence"],
        )
        for each in entries
    )


def _named(rows: list[list[str]]) -> tuple[LabelledTriple, ...]:
    return tuple((head, relation, tail) for head, relation, tail in rows)
