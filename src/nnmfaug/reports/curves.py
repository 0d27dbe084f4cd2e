"""What figures show: estimates of metrics at points of a curve."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nnmfaug.core.checks import require
from nnmfaug.evaluation.metrics import check_metric


@dataclass(frozen=True)
class Estimate:
    """A number and the bounds of its interval; without an interval all three are equal.

    Examples
    --------
    >>> Estimate(0.42, low=0.44, high=0.40)
    Traceback (most recent call last):
    ValueError: Estimate(value=0.42, low=0.44, high=0.4): must be finite, and low at most high
    """

    value: float
    low: float
    high: float

    def __post_init__(self) -> None:
        is_finite = all(map(math.isfinite, (self.value, self.low, self.high)))
        require(is_finite and self.low <= self.high, f"{self}: must be finite, and low at most high")


@dataclass(frozen=True)
class Point:
    """One setting: its place on the x axis, how it is written there, and an estimate of each metric."""

    x: float
    label: str
    estimates: Mapping[str, Estimate]


@dataclass(frozen=True)
class Curve:
    """Points that belong together, and what they are compared with, if anything."""

    name: str
    points: tuple[Point, ...]
    baseline: Point | None = None


def check_curves(curves: Sequence[Curve], metrics: Sequence[str]) -> None:
    """Raise a ``ValueError`` unless there is something to draw in each panel."""
    require(len(curves) > 0, "curves=[]: must be at least one")
    require(len(metrics) > 0, "metrics=[]: must be at least one")
    for metric in metrics:
        check_metric(metric)
    for curve in curves:
        require(len(curve.points) > 0, f"curve {curve.name!r}: must have at least one point")
        for point in (*curve.points, *([curve.baseline] if curve.baseline else [])):
            missing = [metric for metric in metrics if metric not in point.estimates]
            place = f"curve {curve.name!r}, point {point.label!r}"
            require(not missing, f"{place}: has no estimate of {', '.join(missing)}")
            require(math.isfinite(point.x), f"{place}: x={point.x}, must be finite")


def in_categories(curves: Sequence[Curve], spread: float = 0.12) -> list[Curve]:
    """Return the curves with x = 0, 1, … for the labels in the order of appearance, a little apart.

    Examples
    --------
    >>> curve = Curve("", (Point(7, "a", {}), Point(5, "b", {})))
    >>> [point.x for point in in_categories([curve])[0].points]
    [0.0, 1.0]
    >>> [each.points[0].x for each in in_categories([curve, curve])]
    [-0.06, 0.06]
    """
    places = {label: place for place, label in enumerate(labels(curves))}
    spread = min(spread, 0.7 / len(curves))
    shifts = [spread * (i - (len(curves) - 1) / 2) for i in range(len(curves))]
    return [
        replace(curve, points=tuple(replace(point, x=places[point.label] + shift) for point in curve.points))
        for curve, shift in zip(curves, shifts, strict=True)
    ]


def labels(curves: Sequence[Curve]) -> list[str]:
    """Return the labels of all points, each once, in the order of appearance."""
    return list(dict.fromkeys(point.label for curve in curves for point in curve.points))


def baselines(curves: Sequence[Curve]) -> list[tuple[int, Point]]:
    """Return the different baselines, each with the number of the first curve that has it."""
    distinct: list[tuple[int, Point]] = []
    for i, curve in enumerate(curves):
        if curve.baseline is not None and all(curve.baseline != other for _, other in distinct):
            distinct.append((i, curve.baseline))
    return distinct
