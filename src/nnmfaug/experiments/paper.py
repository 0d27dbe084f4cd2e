"""What the paper prints: the numbers of its Table 1 and Table 2."""

from __future__ import annotations

from collections.abc import Mapping

Metrics = Mapping[str, float]
"""Metric → value; Hits@k are fractions, as everywhere in this package."""


def _row(h1: float, h3: float, h5: float, h10: float, mrr: float, mr: float) -> Metrics:
    """Return a row of Table 1, whose Hits@k are percentages."""
    hits = {"hits@1": h1, "hits@3": h3, "hits@5": h5, "hits@10": h10}
    return {**{name: value / 100 for name, value in hits.items()}, "mrr": mrr, "mr": mr}


TABLE1: Mapping[tuple[str, str, str], Metrics] = {
    ("dl50a", "transe", "baseline"): _row(8.13, 19.27, 25.03, 33.21, 0.1597, 506),
    ("dl50a", "transe", "nnmf"): _row(9.97, 21.76, 27.25, 34.25, 0.1797, 490),
    ("dl50a", "rotate", "baseline"): _row(35.05, 45.62, 49.56, 54.82, 0.4221, 156),
    ("dl50a", "rotate", "nnmf"): _row(35.62, 46.08, 50.10, 55.34, 0.4276, 152),
    ("wn18rr", "transe", "baseline"): _row(1.24, 35.41, 41.85, 47.29, 0.1974, 3920),
    ("wn18rr", "transe", "nnmf"): _row(1.31, 35.28, 41.99, 47.48, 0.1971, 3766),
    ("wn18rr", "rotate", "baseline"): _row(39.59, 47.89, 51.10, 55.39, 0.4527, 3115),
    ("wn18rr", "rotate", "nnmf"): _row(39.59, 48.09, 51.14, 55.67, 0.4537, 3195),
}
"""(Data set, model, arm) → metrics, means over five runs."""

TABLE2: Mapping[str, Mapping[str, int]] = {
    "wn18rr": {
        "entities": 40_943,
        "relations": 11,
        "train": 86_835,
        "valid": 3_034,
        "test": 3_134,
        "total": 93_003,
    },
    "dl50a": {"entities": 2_705, "relations": 20, "train": 6_000, "valid": 770, "test": 1_249, "total": 8_019},
}
"""Data set → number of entities, relations and triples."""
