"""From ranks to the numbers of link prediction: MRR, MR and Hits@k."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from nnmfaug.core.arrays import Array

METRICS = ("mrr", "mr", "hits@1", "hits@3", "hits@5", "hits@10")
HIGHER_IS_BETTER: Mapping[str, bool] = MappingProxyType({metric: metric != "mr" for metric in METRICS})


@dataclass(frozen=True, eq=False)
class Ranks:
    """Where the true entity stands among all entities, for each test triple and both of its sides.

    Ranks begin at 1 and are realistic: among entities of the same score, the mean of the best and the worst place.

    Parameters
    ----------
    filtered : ndarray of shape (n_triples, 2)
        Rank of the true head and of the true tail, other true answers left out.
    raw : ndarray of shape (n_triples, 2)
        The same with all entities.

    Examples
    --------
    >>> ranks = Ranks(filtered=np.array([[1, 2], [4, 1.5]]), raw=np.array([[1, 2], [7, 1.5]]))
    >>> summary(ranks.filtered)["hits@3"]
    0.75
    """

    filtered: Array
    raw: Array

    def __post_init__(self) -> None:
        for name in ("filtered", "raw"):
            ranks = np.array(getattr(self, name), dtype=np.float64, order="C")
            _check_ranks(name, ranks)
            ranks.setflags(write=False)
            object.__setattr__(self, name, ranks)
        if self.filtered.shape != self.raw.shape:
            msg = f"{len(self.filtered)} filtered and {len(self.raw)} raw ranks: must be of the same triples"
            raise ValueError(msg)

    def __len__(self) -> int:
        return len(self.filtered)

    def __repr__(self) -> str:
        return f"<Ranks: {len(self)} triples>"


def contributions(ranks: Array, metric: str) -> Array:
    """Return what each triple adds to a metric, the mean of its two sides; their mean is the metric.

    Parameters
    ----------
    ranks : ndarray of shape (n_triples, 2)
    metric
        One of ``METRICS``.

    Returns
    -------
    ndarray of shape (n_triples,)

    Examples
    --------
    >>> contributions(np.array([[1.0, 2.0], [4.0, 4.0]]), "mrr")
    array([0.75, 0.25])
    """
    check_metric(metric)
    if metric == "mr":
        values = ranks
    elif metric == "mrr":
        values = 1 / ranks
    else:
        values = (ranks <= int(metric.removeprefix("hits@"))).astype(np.float64)
    return np.asarray(values.mean(axis=1))


def summary(ranks: Array) -> dict[str, float]:
    """Return all metrics of the ranks, shape (n_triples, 2).

    Examples
    --------
    >>> summary(np.array([[1.0, 2.0], [4.0, 8.0]]))
    {'mrr': 0.46875, 'mr': 3.75, 'hits@1': 0.25, 'hits@3': 0.5, 'hits@5': 0.75, 'hits@10': 1.0}
    """
    return {metric: float(contributions(ranks, metric).mean()) for metric in METRICS}


def realistic_rank(scores: ArrayLike, target: int, mask: ArrayLike | None = None) -> float:
    """Rank one candidate by the definition: the mean of 1 + #(higher) and #(higher or equal, itself among them).

    Slow and plain: what faster code is checked against.

    Parameters
    ----------
    scores : array of shape (n_candidates,)
        Higher is better.
    target
        The place of the true candidate.
    mask : array of bool of shape (n_candidates,), optional
        Candidates to leave out; the target itself always stays.

    Examples
    --------
    >>> realistic_rank([0.9, 0.5, 0.5, 0.1], target=1)
    2.5
    >>> realistic_rank([0.9, 0.5, 0.5, 0.1], target=1, mask=[True, True, False, False])
    1.5
    """
    values = np.asarray(scores, dtype=np.float64)
    kept = np.ones(len(values), dtype=np.bool_) if mask is None else ~np.asarray(mask, dtype=np.bool_)
    kept[target] = True
    if np.isnan(values[kept]).any():
        msg = "a score is not a number: the model has diverged, or the scores are not those of a model"
        raise ValueError(msg)
    higher = int((values[kept] > values[target]).sum())
    not_lower = int((values[kept] >= values[target]).sum())
    return (1 + higher + not_lower) / 2


def check_metric(metric: str) -> None:
    """Raise unless this is the name of a metric."""
    if metric not in METRICS:
        msg = f"metric={metric!r}: must be one of {', '.join(METRICS)}"
        raise ValueError(msg)


def _check_ranks(name: str, ranks: Array) -> None:
    if ranks.ndim != 2 or ranks.shape[1] != 2 or not len(ranks):
        msg = f"{name} ranks of shape {ranks.shape}: must be (n_triples, 2), of at least one triple"
        raise ValueError(msg)
    if not (np.isfinite(ranks).all() and (ranks >= 1).all()):
        msg = f"{name} ranks from {ranks.min()} to {ranks.max()}: must be finite and at least 1"
        raise ValueError(msg)
