"""From ranks to the metrics of link prediction: MRR, MR and Hits@k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from nnmfaug.core.arrays import Array
from nnmfaug.core.checks import check_argument, require

Kind = Literal["filtered", "raw"]
METRICS = ("mrr", "mr", "hits@1", "hits@3", "hits@5", "hits@10")
"""All metrics, in the order of tables. A new ``hits@k`` needs no other change."""


@dataclass(frozen=True, eq=False)
class Ranks:
    """Rank of the true entity among all entities, for both sides of each test triple.

    Ranks start at 1. Ties are realistic: entities with equal scores share the mean of their best and worst rank.

    Parameters
    ----------
    filtered : ndarray of shape (n_triples, 2)
        Rank of the true head and of the true tail, without the other true answers.
    raw : ndarray of shape (n_triples, 2)
        The same among all entities.

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
        sizes = f"{len(self.filtered)} filtered and {len(self.raw)} raw ranks"
        require(self.filtered.shape == self.raw.shape, f"{sizes}: must be of the same triples")

    def __len__(self) -> int:
        return len(self.filtered)

    def __repr__(self) -> str:
        return f"<Ranks: {len(self)} triples>"

    def of_kind(self, kind: Kind) -> Array:
        """Return the filtered or the raw ranks, shape (n_triples, 2)."""
        check_argument("kind", kind, kind in ("filtered", "raw"), "'filtered' or 'raw'")
        return self.filtered if kind == "filtered" else self.raw


def contributions(ranks: Array, metric: str) -> Array:
    """Return the contribution of each triple to a metric: the mean of its two sides.

    The metric is the mean of the contributions. For ranks (ρ_head, ρ_tail) of a triple they are

    - mrr: (1/ρ_head + 1/ρ_tail) / 2
    - mr: (ρ_head + ρ_tail) / 2
    - hits@k: ([ρ_head ≤ k] + [ρ_tail ≤ k]) / 2

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
        k = int(metric.removeprefix("hits@"))
        values = (ranks <= k).astype(np.float64)
    return np.asarray(values.mean(axis=1))


def summary(ranks: Array) -> dict[str, float]:
    """Return all metrics of ranks of shape (n_triples, 2).

    Examples
    --------
    >>> summary(np.array([[1.0, 2.0], [4.0, 8.0]]))
    {'mrr': 0.46875, 'mr': 3.75, 'hits@1': 0.25, 'hits@3': 0.5, 'hits@5': 0.75, 'hits@10': 1.0}
    """
    return {metric: float(contributions(ranks, metric).mean()) for metric in METRICS}


def check_metric(metric: str) -> None:
    """Raise a ``ValueError`` unless this is the name of a metric."""
    check_argument("metric", metric, metric in METRICS, f"one of {', '.join(METRICS)}")


def higher_is_better(metric: str) -> bool:
    """Return whether a larger value of the metric means a better model.

    Examples
    --------
    >>> higher_is_better("hits@10"), higher_is_better("mr")
    (True, False)
    """
    return metric != "mr"


def title(metric: str) -> str:
    """Return the name of a metric as it is written in a sentence.

    Examples
    --------
    >>> title("mrr"), title("hits@10")
    ('MRR', 'Hits@10')
    """
    return metric.capitalize() if metric.startswith("hits@") else metric.upper()


def realistic_rank(scores: ArrayLike, target: int, mask: ArrayLike | None = None) -> float:
    """Rank one candidate by the definition, ((1 + n_higher) + n_not_lower) / 2.

    ``n_higher`` candidates have a higher score than the target; ``n_not_lower`` have a higher or an equal score,
    the target included. This function is slow and plain: faster code is tested against it.

    Parameters
    ----------
    scores : array of shape (n_candidates,)
        Higher is better.
    target
        Position of the true candidate.
    mask : array of bool of shape (n_candidates,), optional
        Candidates to ignore. The target is never ignored.

    Examples
    --------
    >>> realistic_rank([0.9, 0.5, 0.5, 0.1], target=1)
    2.5
    >>> realistic_rank([0.9, 0.5, 0.5, 0.1], target=1, mask=[True, True, False, False])
    1.5
    """
    values = np.asarray(scores, dtype=np.float64)
    candidates = np.ones(len(values), dtype=np.bool_)
    if mask is not None:
        candidates = ~np.asarray(mask, dtype=np.bool_)
    candidates[target] = True
    compared = values[candidates]
    if np.isnan(compared).any():
        msg = "a score is not a number: the model has diverged, or the scores are not those of a model"
        raise ValueError(msg)
    n_higher = int((compared > values[target]).sum())
    n_not_lower = int((compared >= values[target]).sum())
    return (1 + n_higher + n_not_lower) / 2


def _check_ranks(name: str, ranks: Array) -> None:
    good_shape = ranks.ndim == 2 and ranks.shape[1] == 2 and len(ranks) > 0
    if not good_shape:
        msg = f"{name} ranks of shape {ranks.shape}: must be (n_triples, 2), of at least one triple"
        raise ValueError(msg)
    if not (np.isfinite(ranks).all() and (ranks >= 1).all()):
        msg = f"{name} ranks from {ranks.min()} to {ranks.max()}: must be finite and at least 1"
        raise ValueError(msg)
