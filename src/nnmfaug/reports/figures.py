"""Figures of metrics against a setting, and how they are written: SVG, PDF and PNG.

Everything is drawn on a ``Figure`` of its own, in one style, whatever the user's settings of matplotlib are; none
of them changes. The same data and version of matplotlib give the same bytes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from nnmfaug.core.checks import check_argument
from nnmfaug.core.errors import DataError
from nnmfaug.reports.curves import Curve, Estimate, Point, check_curves, in_categories
from nnmfaug.reports.output import write_together
from nnmfaug.reports.panels import (
    Scale,
    draw_legend,
    draw_panel,
    make_panels,
    set_up_x,
    wrapped,
)
from nnmfaug.reports.tick_labels import fit_tick_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Curve", "Estimate", "Point", "draw_curves", "write_figure"]

WIDTH = 7.0
"""Of a figure, in inches."""
STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#888888",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 8,
    "figure.labelsize": 8,
    "figure.constrained_layout.h_pad": 0.06,
    "figure.constrained_layout.w_pad": 0.06,
    "font.size": 8,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "legend.borderaxespad": 0.2,
    "legend.borderpad": 0.2,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "legend.title_fontsize": 9,
    "lines.linewidth": 1.4,
    "lines.markersize": 3.8,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "nnmfaug",
    "text.parse_math": False,
    "xtick.color": "#888888",
    "xtick.labelcolor": "black",
    "xtick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.color": "#888888",
    "ytick.labelcolor": "black",
    "ytick.labelsize": 7,
    "ytick.major.width": 0.6,
}
"""What differs from the style that matplotlib comes with. A dollar in a name is a dollar."""
NO_GLYPH = ("Glyph .* missing from", "Matplotlib currently does not support .* natively")
"""Warnings about scripts that the font lacks. SVG keeps the text; the others show boxes."""


def draw_curves(
    curves: Sequence[Curve],
    *,
    metrics: Sequence[str],
    x_label: str,
    title: str = "",
    scale: Scale = "linear",
) -> Figure:
    """Draw a small panel for each metric: values with their intervals against the setting, and baselines.

    Parameters
    ----------
    curves
        One legend names them and their baselines. A baseline is a dashed line; one that all curves share is grey.
    metrics
        Names from :data:`nnmfaug.evaluation.metrics.METRICS`, in the order of the panels.
    x_label
        What the x axis shows.
    title
        Stands above all panels.
    scale
        ``"symlog"`` is logarithmic from the x closest to 0 on, and has a place for 0. With ``"category"`` points
        of equal label stand at one place, in the order in which the labels first appear; ``x`` is not used.

    Returns
    -------
    Figure
        7 inches wide, for :func:`write_figure`.

    Examples
    --------
    >>> def point(x, mrr):
    ...     return Point(x, f"{x} %", {"mrr": Estimate(mrr, mrr - 0.01, mrr + 0.01)})
    >>> curve = Curve("auto", (point(0, 0.41), point(10, 0.43), point(50, 0.46)), baseline=point(0, 0.41))
    >>> figure = draw_curves([curve], metrics=["mrr"], x_label="generated triples")
    >>> [panel.get_title(loc="left") for panel in figure.axes]
    ['MRR']
    """
    check_matplotlib()
    check_argument("scale", scale, scale in get_args(Scale), f"one of {', '.join(get_args(Scale))}")
    check_curves(curves, metrics)
    from matplotlib.figure import Figure

    curves = in_categories(curves) if scale == "category" else curves
    with _drawing():
        figure = Figure(figsize=(WIDTH, WIDTH), layout="constrained")
        panels = make_panels(figure, metrics)
        for metric, axes in zip(metrics, panels, strict=True):
            set_up_x(axes, [point for curve in curves for point in curve.points], scale)
            draw_panel(axes, curves, metric, scale)
        figure.supxlabel(wrapped(x_label))
        draw_legend(figure, curves, scale, title)
        _settle(figure, panels)
    return figure


def write_figure(figure: Figure, folder: str | Path, stem: str) -> list[Path]:
    """Write a figure to ``stem.svg``, ``stem.pdf`` and ``stem.png``, all or none of them.

    Text is text in SVG and PDF; the fonts are in the PDF. No file contains a date or the name of a program.

    Parameters
    ----------
    figure
        From :func:`draw_curves`.
    folder
        Made if it does not exist; an earlier figure of the same name is replaced.
    stem
        Name of the files without ending.

    Returns
    -------
    list of Path
        The files.

    Examples
    --------
    >>> curve = Curve("auto", (Point(1, "1", {"mr": Estimate(80, 75, 90)}),))
    >>> figure = draw_curves([curve], metrics=["mr"], x_label="growth")
    >>> [path.name for path in write_figure(figure, "figures", "growth")]
    ['growth.svg', 'growth.pdf', 'growth.png']
    """
    check_matplotlib()
    svg = {"Date": None, "Creator": None}
    pdf = {"CreationDate": None, "Creator": None, "Producer": None}
    with _drawing():
        return write_together(
            folder,
            stem,
            {
                "svg": lambda draft: figure.savefig(draft, format="svg", metadata=svg),
                "pdf": lambda draft: figure.savefig(draft, format="pdf", metadata=pdf),
                "png": lambda draft: figure.savefig(draft, format="png", metadata={"Software": None}, dpi=200),
            },
        )


def check_matplotlib() -> None:
    """Raise with advice if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise DataError("figures need matplotlib: pip install 'nnmfaug[report]'") from None


@contextmanager
def _drawing() -> Iterator[None]:
    """Apply the style, and nothing else, inside the ``with`` block."""
    import matplotlib.style

    with warnings.catch_warnings(), matplotlib.style.context(["default", STYLE]):
        for message in NO_GLYPH:
            warnings.filterwarnings("ignore", message=message)
        yield


def _settle(figure: Figure, panels: Sequence[Axes]) -> None:
    """Lay out the figure once and for all, so that no file depends on those that are written before it."""
    fit_tick_labels(figure, panels)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
