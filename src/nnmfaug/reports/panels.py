"""The parts of a figure: panels, what is drawn in them, and the legend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Literal

from nnmfaug.evaluation.metrics import higher_is_better, title as metric_title
from nnmfaug.reports.curves import Curve, Estimate, Point, baselines
from nnmfaug.reports.output import one_line
from nnmfaug.reports.tick_labels import hidden_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Scale = Literal["linear", "symlog", "category"]

PANEL_HEIGHT = 1.7
"""Of one of three panels beside each other, in inches."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Of Okabe and Ito: they can be told apart with any colour vision."""
MARKERS = "osD^vPX*"
GREY = "#555555"
BAND = 0.18
"""Opacity of the interval of a line."""
LINE_HEIGHT = 0.17
"""Of the legend, in inches."""
LINE_LENGTH = 105
"""So many characters of the legend fit beside each other."""
MAX_LABEL = 24
MAX_NAME = 60
"""Longest text of a tick and of the legend, in characters; a longer one is cut."""


def make_panels(figure: Figure, metrics: Sequence[str]) -> list[Axes]:
    """Add a panel for each metric, up to three beside each other; only the lowest have labels on the x axis."""
    n_columns = 2 if len(metrics) == 4 else min(len(metrics), 3)
    n_rows = math.ceil(len(metrics) / n_columns)
    figure.set_figheight(0.7 + PANEL_HEIGHT * n_rows / math.sqrt(n_columns / 3))
    panels = [figure.add_subplot(n_rows, n_columns, place) for place in range(1, len(metrics) + 1)]
    for place, (axes, metric) in enumerate(zip(panels, metrics, strict=True)):
        axes.set_title(metric_title(metric) + ("" if higher_is_better(metric) else " (lower is better)"))
        axes.tick_params(labelbottom=place + n_columns >= len(metrics))
    return panels


def draw_panel(axes: Axes, curves: Sequence[Curve], metric: str, scale: Scale) -> None:
    """Draw one metric of all curves and baselines."""
    for i, baseline in baselines(curves):
        estimate = baseline.estimates[metric]
        axes.axhspan(estimate.low, estimate.high, color=_baseline_colour(curves, i), alpha=BAND / 2, linewidth=0)
        axes.axhline(estimate.value, color=_baseline_colour(curves, i), linestyle="--", linewidth=1)
    for i, curve in enumerate(curves):
        points = sorted(curve.points, key=lambda point: point.x)
        draw = _draw_apart if scale == "category" or len(points) == 1 else _draw_line
        draw(axes, [point.x for point in points], [point.estimates[metric] for point in points], i)
    _set_up_y(axes)


def set_up_x(axes: Axes, points: Sequence[Point], scale: Scale) -> None:
    """Put a tick with its label at the x of each point, and nowhere else."""
    from matplotlib.ticker import NullLocator

    if scale == "symlog":
        closest = min((abs(point.x) for point in points if point.x), default=1.0)
        axes.set_xscale("symlog", linthresh=closest, linscale=0.5)
    ticks = {round(point.x) if scale == "category" else point.x: point.label for point in reversed(points)}
    axes.set_xticks(sorted(ticks), [_cut(ticks[x], MAX_LABEL) for x in sorted(ticks)])
    axes.xaxis.set_minor_locator(NullLocator())
    if scale == "category":
        axes.set_xlim(-0.5, len(ticks) - 0.5)


def draw_legend(figure: Figure, curves: Sequence[Curve], scale: Scale, title: str) -> None:
    """Name the curves and the baselines once for all panels, below the title."""
    from matplotlib.lines import Line2D

    line: Literal["none", "-"] = "none" if scale == "category" else "-"
    entries = [
        (curve.name, Line2D([], [], linestyle=line, color=_colour(i), marker=_marker(i)))
        for i, curve in enumerate(curves)
    ]
    for i, baseline in baselines(curves):
        colour = _baseline_colour(curves, i)
        entries.append((baseline.label, Line2D([], [], linestyle="--", linewidth=1, color=colour)))
    names = [_cut(name, MAX_NAME) for name, _ in entries]
    n_columns = max(1, LINE_LENGTH // max(len(name) + 7 for name in names))
    legend = figure.legend(
        [handle for _, handle in entries],
        names,
        title=wrapped(title),
        loc="outside upper center",
        ncols=n_columns,
        columnspacing=2 + max(map(hidden_width, names)),
    )
    legend.get_title().set_multialignment("center")
    n_lines = math.ceil(len(names) / n_columns) + wrapped(title).count("\n")
    figure.set_figheight(figure.get_figheight() + LINE_HEIGHT * (n_lines - 1))


def wrapped(text: str) -> str:
    """Return text on as many lines as it needs to be no wider than the figure."""
    return fill(one_line(text), LINE_LENGTH // 2 if hidden_width(text) else LINE_LENGTH)


def _draw_line(axes: Axes, x: Sequence[float], estimates: Sequence[Estimate], i: int) -> None:
    """Draw a line through the values and a band for the intervals."""
    low, high = [each.low for each in estimates], [each.high for each in estimates]
    axes.fill_between(x, low, high, color=_colour(i), alpha=BAND, linewidth=0)
    axes.plot(x, [each.value for each in estimates], color=_colour(i), marker=_marker(i))


def _draw_apart(axes: Axes, x: Sequence[float], estimates: Sequence[Estimate], i: int) -> None:
    """Draw each value with a bar for its interval; nothing connects them."""
    low, high = [each.low for each in estimates], [each.high for each in estimates]
    axes.vlines(x, low, high, color=_colour(i), linewidth=1.2)
    axes.plot(x, [each.value for each in estimates], color=_colour(i), marker=_marker(i), linestyle="none")


def _set_up_y(axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    axes.margins(y=0.08)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, min_n_ticks=3, steps=[1, 2, 2.5, 5, 10]))
    formatter = ScalarFormatter(useOffset=False)
    formatter.set_scientific(False)
    axes.yaxis.set_major_formatter(formatter)


def _colour(i: int) -> str:
    return COLOURS[i % len(COLOURS)]


def _marker(i: int) -> str:
    return MARKERS[i % len(MARKERS)]


def _baseline_colour(curves: Sequence[Curve], i: int) -> str:
    """That of the curve, or grey for the only baseline."""
    return GREY if len(baselines(curves)) == 1 else _colour(i)


def _cut(text: str, length: int) -> str:
    text = one_line(text)
    return text if len(text) <= length else text[: length - 1] + "…"
